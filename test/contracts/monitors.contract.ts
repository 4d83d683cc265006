// What every store of what monitors keep does.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isSvcError } from '../../src/errors.ts'
import type { ItemState, MonitorKey, Publishing, RunDraft, StoredFinding } from '../../src/ports/monitors/monitors.ts'
import { hardTexts, type OpenBench, useBench } from './record-bench.ts'

const monitor: MonitorKey = { uid: 'uid-1', namespace: 'default', name: 'reviews' }
const other: MonitorKey = { ...monitor, uid: 'uid-2' }
const [shaA, shaB] = ['a'.repeat(40), 'b'.repeat(40)]

export function describeMonitors(name: string, open: OpenBench): void {
  describe(`records of monitors on ${name}`, () => {
    const bench = useBench(open, { beforeEach, afterEach })
    const records = () => bench().stores().monitors
    const now = () => bench().now().toISOString()

    const queue = (id: string, draft: Partial<RunDraft> = {}, of = monitor) =>
      records().queueRun(of, { id, trigger: 'manual', ...draft }, { runID: id, eventType: 'run_queued' })
    const exact = (id: string, targetSHA = shaA, targetNumber = 1) =>
      queue(id, { trigger: 'pull_request_event', targetKind: 'pull_request', targetNumber, targetSHA })
    const outcomeOf = async (work: ReturnType<typeof queue>) =>
      work.then(
        ({ outcome }) => outcome,
        (error: unknown) => (isSvcError(error) ? error.reason : String(error)),
      )
    const item = (number: number, more: Partial<ItemState> = {}): ItemState => ({
      kind: 'pull_request',
      itemKey: String(number),
      number,
      state: 'open',
      labels: [],
      updatedAt: now(),
      lastSeenAt: now(),
      ...more,
    })
    const put = (...given: Parameters<typeof item>) => records().putItem(monitor, item(...given))
    const numbers = async (query = {}) =>
      (await records().listItems(monitor, { limit: 50, ...query })).map(({ number }) => number)

    it('queue one run of a person at a time, and tell it in the same step [MON-032] [MON-033]', async () => {
      expect(await outcomeOf(queue('one'))).toBe('queued')
      expect(await outcomeOf(queue('two'))).toBe('Conflict')
      expect((await records().takeRun(monitor))?.id).toBe('one')
      expect(await outcomeOf(queue('two'))).toBe('Conflict')
      expect(await outcomeOf(queue('elsewhere', {}, other))).toBe('queued')
      await records().changeRun(monitor, 'one', { phase: 'succeeded', selectedCount: 2 })
      expect(await records().hasActiveRun(monitor)).toBe(false)
      expect(await outcomeOf(queue('two'))).toBe('queued')
      const events = await records().listEvents(monitor, { limit: 9 })
      expect(events.map(({ runID }) => runID)).toEqual(['two', 'one'])
      expect((await records().listRuns(monitor, { limit: 9 })).map(({ id, phase }) => [id, phase])).toEqual([
        ['two', 'queued'],
        ['one', 'succeeded'],
      ])
    })

    it('end a run that waits and that nobody wants any more, and none that has begun', async () => {
      const event = (runID: string) => ({ runID, eventType: 'run_succeeded', summary: 'it was closed' })
      await exact('d1')
      await exact('d2', shaB)
      expect((await records().takeRun(monitor))?.id).toBe('d1')
      expect(await records().withdrawRun(monitor, 'd1', event('d1'))).toBe(false)
      expect(await records().withdrawRun(other, 'd2', event('d2'))).toBe(false)
      expect(await records().withdrawRun(monitor, 'd2', event('d2'))).toBe(true)
      expect(await records().withdrawRun(monitor, 'd2', event('d2'))).toBe(false)
      const [run] = (await records().listRuns(monitor, { limit: 9 })).filter(({ id }) => id === 'd2')
      expect(run).toMatchObject({ phase: 'succeeded', skippedCount: 1, completedAt: now() })
      const events = await records().listEvents(monitor, { limit: 9, runID: 'd2' })
      expect(events.map(({ eventType }) => eventType)).toEqual(['run_succeeded', 'run_queued'])
      expect(await outcomeOf(exact('d3', shaB))).toBe('queued')
    })

    it('never queue the same commit twice, whoever asks at the same time [MON-019]', async () => {
      const outcomes = await Promise.all(['d1', 'd2', 'd3', 'd4'].map((id) => outcomeOf(exact(id))))
      expect(outcomes.toSorted()).toEqual(['cached', 'cached', 'cached', 'queued'])
      const first = ['d1', 'd2', 'd3', 'd4'][outcomes.indexOf('queued')] ?? ''
      expect(await outcomeOf(exact(first))).toBe('repeated')
      expect(await outcomeOf(exact('d5', shaB))).toBe('queued')
      expect(await outcomeOf(exact('d6', shaA, 2))).toBe('queued')
      expect((await records().takeRun(monitor))?.id).toBe(first)
      // What is under way may have looked already, so the next event waits behind it.
      expect(await outcomeOf(exact('d7'))).toBe('queued')
    })

    it('take the oldest run, and the same one again until it has ended', async () => {
      await exact('first')
      bench().advance(1000)
      await exact('second', shaB)
      expect((await records().takeRun(monitor))?.id).toBe('first')
      await bench().reopen()
      expect(await records().takeRun(monitor)).toMatchObject({
        id: 'first',
        phase: 'running',
        startedAt: expect.any(String),
      })
      await records().changeRun(monitor, 'first', { phase: 'failed', error: 'no token' })
      expect((await records().takeRun(monitor))?.id).toBe('second')
      await records().changeRun(monitor, 'second', { heldUpUntil: now() })
      await records().changeRun(monitor, 'second', { heldUpUntil: undefined, phase: 'succeeded' })
      expect(await records().takeRun(monitor)).toBeUndefined()
      const [second] = await records().listRuns(monitor, { limit: 1, trigger: 'pull_request_event' })
      expect(second).not.toHaveProperty('heldUpUntil')
      expect(await records().listRuns(monitor, { limit: 9, trigger: 'schedule' })).toEqual([])
      expect(await records().listRuns(monitor, { limit: 9, targetKind: 'pull_request' })).toHaveLength(2)
    })

    it('page through runs and events of one moment', async () => {
      for (const id of ['a', 'b', 'c']) {
        await queue(id)
        await records().takeRun(monitor)
        await records().changeRun(monitor, id, { phase: 'succeeded' })
      }
      const [first] = await records().listRuns(monitor, { limit: 1 })
      const rest = await records().listRuns(monitor, { limit: 9, before: [first?.queuedAt ?? '', first?.id ?? ''] })
      expect([first, ...rest].map((run) => run?.id)).toEqual(['c', 'b', 'a'])
      const [last] = await records().listEvents(monitor, { limit: 1 })
      const earlier = await records().listEvents(monitor, { limit: 9, before: [last?.createdAt ?? '', last?.id ?? ''] })
      expect([last, ...earlier].map((event) => event?.runID)).toEqual(['c', 'b', 'a'])
    })

    it('list items by change, and by everything they are filtered by [MON-044] [MON-045] [MON-046] [MON-047] [MON-048]', async () => {
      await put(3, { lastVerdict: 'passed', repairState: 'queued' })
      await put(1, { lastVerdict: 'needs_changes', automergeState: 'merged' })
      bench().advance(1000)
      await put(2, { state: 'out_of_scope', lastVerdict: 'failed' })
      expect(await numbers()).toEqual([2, 1, 3])
      const [newest] = await records().listItems(monitor, { limit: 1 })
      expect(await numbers({ before: [newest?.updatedAt ?? '', '2'] })).toEqual([1, 3])
      expect(await numbers({ kind: 'pull_request', state: 'open' })).toEqual([1, 3])
      expect(await numbers({ kind: 'issue' })).toEqual([])
      expect(await numbers({ verdict: 'failed' })).toEqual([2])
      expect(await numbers({ repairState: 'queued' })).toEqual([3])
      expect(await numbers({ automergeState: 'merged' })).toEqual([1])
      expect(await numbers({ verdict: 'a\0b' })).toEqual([])
      expect(await numbers({ number: 1 })).toEqual([1])
    })

    it('count what is skipped apart from what is blocked [MON-075]', async () => {
      await put(1, { lastVerdict: 'needs_changes' })
      await put(2, { lastVerdict: 'needs_changes', skipReason: 'draft' })
      await put(3, { skipReason: 'over_limit' })
      await put(4, { lastVerdict: 'queued' })
      await put(5, { lastVerdict: 'passed' })
      await put(6, { lastVerdict: 'failed', state: 'out_of_scope' })
      expect(await records().countItems(monitor)).toEqual({ open: 5, pending: 1, blocked: 1, skipped: 2 })
      expect(await records().countItems(other)).toEqual({ open: 0, pending: 0, blocked: 0, skipped: 0 })
    })

    it('know what is under way, and what no run has seen', async () => {
      await put(1, { progress: { runID: 'r', stage: 'reviewing', isTargeted: false } })
      await put(2, { lastPublishPhase: 'started' })
      await put(3)
      expect((await records().listUnderWay(monitor)).map(({ number }) => number)).toEqual([1, 2])
      expect((await records().getItem(monitor, 1))?.progress).toMatchObject({ stage: 'reviewing' })
      expect((await records().listItems(monitor, { limit: 1, number: 1 }))[0]).not.toHaveProperty('progress')
      bench().advance(1000)
      const since = now()
      await put(3)
      expect((await records().listUnseen(monitor, since)).map(({ number }) => number)).toEqual([1, 2])
    })

    const finding = (id: string, more: Partial<StoredFinding> = {}): StoredFinding => ({
      id,
      number: 1,
      priority: 'P1',
      title: 'a title',
      ...more,
    })
    const review = (id: string, more = {}) => ({
      id,
      kind: 'pull_request' as const,
      number: 1,
      headSHA: shaA,
      runID: 'r',
      taskName: 't',
      verdict: 'passed' as const,
      securityStatus: 'clear',
      summary: 'fine',
      findings: [],
      validation: { status: 'not_run' as const, commands: [] },
      createdAt: now(),
      ...more,
    })
    const publishing = (id: string, more: Partial<Publishing> = {}): Publishing => ({
      id,
      number: 1,
      headSHA: shaA,
      reviewID: 'v',
      phase: 'started',
      findings: [],
      startedAt: now(),
      ...more,
    })

    it('keep every text of a review over a restart, and add it once', async () => {
      for (const [at, text] of hardTexts.entries()) {
        await records().addReview(monitor, review(`v-${at}`, { summary: text, number: at + 1 }), [
          finding(`f-${at}`, { title: text, anchor: text, number: at + 1 }),
        ])
      }
      await records().addReview(monitor, review('v-0', { summary: 'other' }), [finding('late')])
      await bench().reopen()
      for (const [at, text] of hardTexts.entries()) {
        expect(await records().getReview(monitor, `v-${at}`)).toMatchObject({ summary: text, monitorName: 'reviews' })
        const known = await records().listFindings(monitor, at + 1)
        expect(known).toEqual([finding(`f-${at}`, { title: text, anchor: text, number: at + 1 })])
      }
      expect(await records().listReviews(monitor, { limit: 9, number: 2 })).toHaveLength(1)
      expect(await records().listReviews(other, { limit: 9 })).toEqual([])
      expect(await records().getReview(other, 'v-0')).toBeUndefined()
    })

    it('publish a commit once, and remember what was shown and dismissed', async () => {
      await records().addReview(monitor, review('v'), [finding('f1'), finding('f2')])
      const starts = await Promise.all(
        ['p1', 'p2', 'p3'].map((id) => records().startPublishing(monitor, publishing(id))),
      )
      expect(starts.filter(Boolean)).toHaveLength(1)
      const id = ['p1', 'p2', 'p3'][starts.indexOf(true)] ?? ''
      await records().endPublishing(monitor, publishing(id, { phase: 'failed', findings: ['f1'], endedAt: now() }))
      expect((await records().listFindings(monitor, 1)).some(({ shownAt }) => shownAt !== undefined)).toBe(false)
      bench().advance(1)
      expect(await records().startPublishing(monitor, publishing('again'))).toBe(true)
      const ended = publishing('again', { phase: 'succeeded', findings: ['f1'], endedAt: now(), url: 'https://x' })
      await records().endPublishing(monitor, ended)
      expect(await records().startPublishing(monitor, publishing('more'))).toBe(false)
      expect(await records().setDismissed(monitor, { number: 1, id: 'f2' }, true)).toBe(true)
      expect(await records().setDismissed(monitor, { number: 2, id: 'f2' }, true)).toBe(false)
      expect(await records().listFindings(monitor, 1)).toEqual([
        finding('f1', { shownAt: now() }),
        finding('f2', { dismissedAt: now() }),
      ])
      await records().setDismissed(monitor, { number: 1, id: 'f2' }, false)
      expect((await records().listFindings(monitor, 1))[1]).toEqual(finding('f2'))
      await records().endPublishing(monitor, publishing('skipped', { phase: 'skipped', reason: 'publish_disabled' }))
      expect((await records().listPublishings(monitor, 1)).map(({ phase }) => phase).toSorted()).toEqual([
        'failed',
        'skipped',
        'succeeded',
      ])
    })

    it('go with the monitor, and old ones by age', async () => {
      await queue('one')
      await queue('one', {}, other)
      await put(1)
      await records().addReview(monitor, review('v'), [finding('f1')])
      await records().startPublishing(monitor, publishing('p'))
      expect(await records().monitorUids(undefined, 9)).toEqual(['uid-1', 'uid-2'])
      expect(await records().monitorUids('uid-1', 9)).toEqual(['uid-2'])
      await records().removeMonitor('uid-1')
      expect(await records().monitorUids(undefined, 9)).toEqual(['uid-2'])
      expect(await records().listRuns(monitor, { limit: 9 })).toEqual([])
      expect(await numbers()).toEqual([])
      expect(await records().listFindings(monitor, 1)).toEqual([])
      expect(await records().listPublishings(monitor, 1)).toEqual([])
      expect(await records().listEvents(monitor, { limit: 9 })).toEqual([])
      bench().advance(10)
      // The event; the run still waits.
      expect(await records().sweep(bench().now())).toBe(1)
      expect(await records().listRuns(other, { limit: 9 })).toHaveLength(1)
    })

    it('filter events by everything there is [MON-050] [MON-051] [MON-052] [MON-053]', async () => {
      await records().append(monitor, {
        runID: 'r',
        itemKind: 'pull_request',
        itemNumber: 7,
        eventType: 'item_skipped',
      })
      await records().append(monitor, { runID: 's', eventType: 'run_started', metadata: { a: 'a\0' } })
      const count = async (query: object) => (await records().listEvents(monitor, { limit: 9, ...query })).length
      expect(await count({})).toBe(2)
      for (const query of [
        { runID: 'r' },
        { itemKind: 'pull_request' },
        { itemNumber: 7 },
        { eventType: 'item_skipped' },
      ]) {
        expect(await count(query)).toBe(1)
      }
      expect(await count({ runID: 'r', eventType: 'run_started' })).toBe(0)
      expect((await records().listEvents(monitor, { limit: 1 }))[0]?.metadata).toEqual({ a: 'a\0' })
    })
  })
}
