// What every store of findings and of patches for them does.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { FindingDraft, ReviewOutcome } from '../../src/ports/scans/findings.ts'
import { dismiss, requireState } from '../../src/rules/scans/finding-state.ts'
import { hardTexts, type OpenBench, useBench } from './record-bench.ts'
import { makeSlice, readPages, scan } from './scans.contract.ts'

const again = { ...scan, uid: 'uid-2' }

function draft(fingerprint: string, more: Partial<FindingDraft> = {}): FindingDraft {
  const words = { title: fingerprint, summary: 'text is joined', category: 'injection', filePath: 's.go', line: 3 }
  return { fingerprint, ...words, severity: 'high', confidence: 'high', evidence: [], ...more }
}

export function describeFindings(name: string, open: OpenBench): void {
  describe(`findings on ${name}`, () => {
    const bench = useBench(open, { beforeEach, afterEach })
    const findings = () => bench().stores().findings
    const scans = () => bench().stores().scans
    let runs = 0

    async function review(accepted: FindingDraft[], more: Partial<ReviewOutcome> = {}, of = scan) {
      const run = `r${++runs}`
      bench().advance(1000)
      const slice = 'slice' in more ? more.slice : 's'
      const ids = [...new Set(['s', 't', slice ?? 's'])]
      await scans().cutSlices(
        of,
        run,
        ids.map((id) => ({ ...makeSlice(id), status: 'pending' }) as const),
      )
      const origin = { commitSHA: 'c1', model: 'm', policyDigest: 'sha256:1' }
      const outcome = { run, slice: 's', taskName: 'task', covered: ['s.go'], accepted, dropped: [], origin, ...more }
      return { run, outcome, isNew: await findings().recordReview(of, outcome) }
    }
    const list = async (query: Parameters<ReturnType<typeof findings>['list']>[1] = { limit: 100 }) =>
      (await findings().list(scan.uid, query)).items
    const titles = async (query: object = {}) => (await list({ limit: 100, ...query })).map(({ title }) => title)
    const find = async (title: string) => {
      const found = (await list()).find((one) => one.title === title)
      if (found === undefined) throw new Error(`no finding ${title}`)
      return found
    }

    it('keeps each part of an import once', async () => {
      const part = (name: string, title: string) =>
        findings().recordReview(scan, {
          run: 'import_1',
          part: name,
          taskName: 'import_1',
          covered: [],
          accepted: [draft(title)],
          dropped: [],
          origin: { importedFrom: name },
        })
      expect([await part('one', 'a'), await part('two', 'b'), await part('one', 'c')]).toEqual([true, true, false])
      expect((await list()).map(({ title, importedFrom }) => `${title} ${importedFrom}`).toSorted()).toEqual([
        'a one',
        'b two',
      ])
      expect(await scans().reviewTotals(scan.uid, 'import_1')).toMatchObject({ reviews: 2, added: 2 })
    })

    it('knows the files in which something is left to do', async () => {
      await review([draft('a'), draft('b', { filePath: hardTexts[0] ?? '' }), draft('c', { filePath: 'c.go' })])
      const { id } = await find('c')
      await findings().change('default', id, (one) => dismiss(one, { reason: 'r', by: 'ada', at: one.updatedAt }))
      expect((await findings().openPaths(scan.uid)).toSorted()).toEqual([hardTexts[0], 's.go'].toSorted())
      const open = await findings().listOpen(scan.uid, ['c.go', 's.go', hardTexts[0] ?? ''])
      expect(open.map(({ title }) => title).toSorted()).toEqual(['a', 'b'])
      expect(await findings().listOpen(scan.uid, [])).toEqual([])
      expect(await findings().openPaths('uid-2')).toEqual([])
    })

    it('keeps a review with where it came from, once, over a restart', async () => {
      const { run, outcome, isNew } = await review([draft('a', { summary: hardTexts.join() })])
      expect(isNew).toBe(true)
      expect(await findings().recordReview(scan, { ...outcome, accepted: [draft('b')] })).toBe(false)
      await bench().reopen()
      const [finding] = await list()
      expect(finding).toMatchObject({
        id: expect.stringMatching(/^fnd_[0-9a-f]{12}$/),
        namespace: 'default',
        repositoryScan: 'shop',
        scanRunID: run,
        scanTaskName: 'task',
        sliceID: 's',
        commitSHA: 'c1',
        model: 'm',
        policyDigest: 'sha256:1',
        state: 'open',
        validationStatus: 'unvalidated',
        summary: hardTexts.join(),
      })
      expect(await findings().get('default', finding?.id ?? '')).toEqual({ scanUid: scan.uid, finding })
      expect(await findings().get('other', finding?.id ?? '')).toBeUndefined()
      expect(await scans().getSlice(scan.uid, 's')).toMatchObject({ status: 'reviewed', taskName: 'task' })
      expect((await list()).length).toBe(1)
    })

    it('brings a known finding up to date, and keeps what was decided', async () => {
      await review([draft('a')])
      const before = await find('a')
      const now = bench().now().toISOString()
      await findings().change('default', before.id, (one) => dismiss(one, { reason: 'constant', by: 'ada', at: now }))
      await review([draft('a', { line: 9, severity: 'low' })])
      expect(await find('a')).toMatchObject({ id: before.id, line: 9, severity: 'low', state: 'dismissed' })
      expect((await find('a')).createdAt).toBe(before.createdAt)
      expect(await titles()).toEqual(['a'])
    })

    it('marks as fixed what a review of its slice and file no longer sees, and opens it when it returns', async () => {
      await review([draft('a'), draft('b', { filePath: 'other.go' })])
      await review([draft('c', { filePath: 't.go' })], { slice: 't', covered: ['t.go', 's.go'] })
      expect((await find('a')).state).toBe('open')
      await review([])
      expect(await find('a')).toMatchObject({ state: 'fixed', fixedAt: expect.any(String) })
      expect((await find('b')).state).toBe('open')
      expect((await find('c')).state).toBe('open')
      await review([draft('a')])
      const returned = await find('a')
      expect(returned).toMatchObject({ state: 'open', reopenedAt: expect.any(String), validationStatus: 'unvalidated' })
      expect(returned.fixedAt).toBeUndefined()
    })

    it('marks as fixed what belonged to a slice that there is no more', async () => {
      await review([draft('a')], { slice: 'old' })
      await review([], { slice: 's' })
      expect((await find('a')).state).toBe('fixed')
    })

    it('opens what a run that began after the merge of its pull request still sees', async () => {
      await review([draft('a')])
      const { id } = await find('a')
      const merged = bench().now().toISOString()
      await findings().change('default', id, (one) => ({
        ...one,
        state: 'pr_open',
        prNumber: 1,
        prState: 'merged',
        prMergedAt: merged,
      }))
      for (const startedAt of [undefined, merged]) await review([draft('a')], { startedAt })
      expect((await find('a')).state).toBe('pr_open')
      await review([draft('a')], { startedAt: bench().now().toISOString() })
      expect(await find('a')).toMatchObject({ id, state: 'open', reopenReason: expect.stringContaining('merged') })
    })

    it('knows when the next dismissal runs out', async () => {
      await review([draft('a'), draft('b'), draft('c')])
      expect(await findings().nextDismissalEnd(scan.uid)).toBeUndefined()
      const at = bench().now().toISOString()
      for (const [title, until] of [
        ['a', '2040-01-02T00:00:00.000Z'],
        ['b', '2040-01-01T00:00:00.000Z'],
        ['c', undefined],
      ] as const) {
        const { id } = await find(title)
        const dismissal = { reason: 'r', by: 'ada', at, ...(until !== undefined && { until }) }
        await findings().change('default', id, (one) => dismiss(one, dismissal))
      }
      const first = new Date('2040-01-01T00:00:00.000Z')
      expect(await findings().nextDismissalEnd(scan.uid)).toEqual(first)
      expect(await findings().endDismissals(scan.uid, first)).toBe(1)
      expect(await find('b')).toMatchObject({ state: 'open', reopenReason: 'its dismissal has run out' })
    })

    it('filters by all that is given, and pages in a stable order', async () => {
      for (let at = 0; at < 5; at += 1) await review([draft(`f${at}`)])
      await review([draft('odd', { severity: 'low', category: hardTexts[0] })], { slice: 't' })
      expect(await titles({ severity: 'low' })).toEqual(['odd'])
      expect(await titles({ category: hardTexts[0] })).toEqual(['odd'])
      expect(await titles({ sliceID: 't', state: 'open', validationStatus: 'unvalidated' })).toEqual(['odd'])
      expect(await titles({ category: 'Injection' })).toEqual([])
      expect(await titles({ state: 'dismissed' })).toEqual([])
      const pages = await readPages((page) => findings().list(scan.uid, page), 2)
      expect(pages.map((page) => page.length)).toEqual([2, 2, 2])
      expect(new Set(pages.flat().map(({ id }) => id)).size).toBe(6)
      expect(pages[0]?.[0]?.title).toBe('odd')
    })

    it('recommends the most pressing first, and nothing that is settled', async () => {
      await review([
        draft('low', { severity: 'low' }),
        draft('unsure', { confidence: 'low' }),
        draft('sure'),
        draft('worst', { severity: 'critical', confidence: 'low' }),
        draft('valid', { severity: 'high', confidence: 'low' }),
        draft('refuted'),
        draft('gone'),
      ])
      const set = async (title: string, change: object) =>
        findings().change('default', (await find(title)).id, (one) => ({ ...one, ...change }))
      await set('valid', { validationStatus: 'validated' })
      await set('refuted', { validationStatus: 'failed' })
      await set('gone', { state: 'dismissed' })
      const pages = await readPages((page) => findings().list(scan.uid, { ...page, recommended: true }), 2)
      expect(pages.flat().map(({ title }) => title)).toEqual(['worst', 'valid', 'sure', 'unsure', 'low'])
      expect(await titles({ recommended: true, severity: 'low' })).toEqual(['low'])
    })

    it('counts what nobody has dealt with', async () => {
      await review([draft('a'), draft('b', { severity: 'critical' }), draft('c', { severity: 'low' })])
      await findings().change('default', (await find('c')).id, (one) => ({ ...one, state: 'fixed' }))
      expect(await findings().count(scan.uid)).toEqual({ total: 2, critical: 1, high: 1, medium: 0, low: 0 })
    })

    it('changes nothing when the decision is refused', async () => {
      await review([draft('a')])
      const { id } = await find('a')
      const refused = findings().change('default', id, (one) => {
        requireState(one, 'reopen')
        return one
      })
      await expect(refused).rejects.toMatchObject({
        reason: 'Conflict',
        message: expect.stringContaining('it is open'),
      })
      expect(await findings().change('default', 'fnd_none', (one) => one)).toBeUndefined()
      expect(await findings().change('other', id, (one) => ({ ...one, state: 'fixed' }))).toBeUndefined()
      expect((await find('a')).state).toBe('open')
    })

    it('ends dismissals that have run out', async () => {
      await review([draft('a'), draft('b')])
      const now = bench().now()
      const until = new Date(now.getTime() + 1000).toISOString()
      const dismissal = { reason: 'later', by: 'ada', at: now.toISOString() }
      await findings().change('default', (await find('a')).id, (one) => dismiss(one, { ...dismissal, until }))
      await findings().change('default', (await find('b')).id, (one) => dismiss(one, dismissal))
      expect(await findings().endDismissals(scan.uid, now)).toBe(0)
      bench().advance(1000)
      expect(await findings().endDismissals(scan.uid, bench().now())).toBe(1)
      expect(await find('a')).toMatchObject({ state: 'open' })
      expect((await find('a')).dismissal).toBeUndefined()
      expect((await find('b')).state).toBe('dismissed')
    })

    it('lists what was dropped by run, slice, layer and reason', async () => {
      const dropped = [
        { id: 'd1', reason: 'title is required', layer: 'validation', sampleJSON: '{}' },
        { id: 'd2', reason: `100% sure_${hardTexts.join()}`, layer: 'filter' },
        { id: 'd3', reason: 'maxFindingsPerRun limit 10 reached', layer: 'cap' },
      ] as const
      const { run } = await review([], { dropped: [...dropped] })
      const ids = async (query: object) =>
        (await scans().listDropped(scan.uid, { limit: 10, ...query })).items.map(({ id }) => id).sort()
      expect(await ids({ scanRunID: run, sliceID: 's' })).toEqual(['d1', 'd2', 'd3'])
      expect(await ids({ scanRunID: 'other' })).toEqual([])
      expect(await ids({ sliceID: 't' })).toEqual([])
      expect(await ids({ layer: 'cap' })).toEqual(['d3'])
      expect(await ids({ reason: 'title is required' })).toEqual(['d1'])
      expect(await ids({ reason: 'title' })).toEqual([])
      expect(await ids({ reasonPart: 'IS REQ' })).toEqual(['d1'])
      expect(await ids({ reasonPart: '0% sure_' })).toEqual(['d2'])
      expect(await ids({ reasonPart: '%' })).toEqual(['d2'])
      const pages = await readPages((page) => scans().listDropped(scan.uid, page), 2)
      expect(pages.flat()).toHaveLength(3)
    })

    it('decides a patch together with its finding', async () => {
      await review([draft('a')])
      const { id } = await find('a')
      const place = { namespace: 'default', repositoryScan: 'shop', findingID: id, taskName: 't', branch: 'b' }
      const propose = (patchId: string) =>
        findings().proposePatch(scan.uid, { ...place, id: patchId, status: 'pending' }, (one) => {
          requireState(one, 'patch')
          return { ...one, state: 'patch_pending', patchProposalID: patchId }
        })
      const patch = await propose('p1')
      expect(await propose('p1')).toEqual(patch)
      await expect(propose('p2')).rejects.toMatchObject({ reason: 'Conflict' })
      expect((await findings().listUndecided(scan.uid)).patches).toEqual([patch])
      await findings().decidePatch(id, 'p1', (one, finding) => ({
        patch: { ...one, status: 'failed', failure: hardTexts.join() },
        finding: { ...finding, state: 'open' },
      }))
      expect((await findings().listUndecided(scan.uid)).patches).toEqual([])
      bench().advance(1000)
      await propose('p2')
      const [second, first] = await findings().listPatches(id)
      expect([second?.id, first?.failure]).toEqual(['p2', hardTexts.join()])
      expect(await find('a')).toMatchObject({ state: 'patch_pending', patchProposalID: 'p2' })
    })

    it('has other findings for a scan that was made again, and removes those of the former one', async () => {
      const dropped = [{ id: 'd1', reason: 'r', layer: 'cap' }] as const
      await review([draft('a')], { dropped: [...dropped] })
      const { id } = await find('a')
      await review([draft('a')], {}, again)
      const [other] = (await findings().list(again.uid, { limit: 5 })).items
      expect(other?.id).not.toBe(id)
      const place = { namespace: 'default', repositoryScan: 'shop', findingID: id, taskName: 't', branch: 'b' }
      await findings().proposePatch(scan.uid, { ...place, id: 'p1', status: 'pending' }, (one) => one)
      await scans().removeScan(scan.uid)
      expect(await findings().get('default', id)).toBeUndefined()
      expect(await findings().listPatches(id)).toEqual([])
      expect((await scans().listDropped(scan.uid, { limit: 5 })).items).toEqual([])
      expect((await findings().list(again.uid, { limit: 5 })).items).toEqual([other])
    })
  })
}
