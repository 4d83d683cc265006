import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Name } from '../../contract/kinds/resources/metadata.ts'
import { Task, TaskSpec } from '../../contract/kinds/tasks/task.ts'
import {
  decideSchedule,
  listExpiredRuns,
  makeScheduledRun,
  nameScheduledRun,
  type ScheduleFacts,
  type ScheduleSpec,
} from './schedule.ts'
import { parentOf } from './stamp.ts'

type Parts = { spec?: object; status?: object; labels?: Record<string, string>; annotations?: Record<string, string> }

function makeTask(name: string, parts: Parts = {}): Task {
  return Task.parse({
    apiVersion: 'core.svc.ai/v1alpha1',
    kind: 'Task',
    metadata: {
      name,
      namespace: 'default',
      uid: `uid-${name}`,
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: parts.labels ?? { team: 'a', 'svc.ai/retry-of': 'before' },
      annotations: parts.annotations,
    },
    spec: { type: 'ai', prompt: 'x', ...parts.spec },
    status: parts.status,
  })
}

const tick = new Date('2026-01-10T12:00:00Z')

describe('scheduled runs', () => {
  it('are named by the second of their tick', () => {
    expect(nameScheduledRun('nightly', tick)).toBe('nightly-1768046400')
  })

  it('have names that are valid and distinct though the task name is long', () => {
    const names = ['a', 'b'].map((end) => nameScheduledRun(`${'x'.repeat(62)}${end}`, tick))
    for (const name of names) expect(Name.safeParse(name).success).toBe(true)
    expect(new Set(names).size).toBe(2)
    expect(nameScheduledRun(`${'x'.repeat(62)}a`, tick)).toBe(names[0])
  })

  it('have the spec of their task without its schedule, and the task as owner and parent', () => {
    const schedule = { schedule: '@hourly', timeZone: 'Europe/Berlin', suspend: false, successfulRunsHistoryLimit: 9 }
    const parent = makeTask('nightly', { spec: { ...schedule, priority: 700, timeout: '5m' } })
    const run = makeScheduledRun(parent, tick)
    expect(run.spec).toEqual(TaskSpec.parse({ type: 'ai', prompt: 'x', priority: 700, timeout: '5m' }))
    expect(run.metadata.ownerReferences).toMatchObject([{ kind: 'Task', uid: 'uid-nightly', controller: true }])
    expect(run.metadata.labels).toEqual({
      team: 'a',
      'svc.ai/parent-task': 'nightly',
      'svc.ai/scheduled-run': 'true',
    })
    expect(parentOf({ metadata: { ...parent.metadata, ...run.metadata } })).toEqual({
      uid: parent.metadata.uid,
      name: 'nightly',
    })
  })

  it('count for the caller who made the schedule, and copy no other annotation [USAGE-002]', () => {
    const annotations = { 'svc.ai/caller': 'ann', 'svc.ai/cancel-requested': '', note: 'x' }
    const run = makeScheduledRun(makeTask('nightly', { spec: { schedule: '@hourly' }, annotations }), tick)
    expect(run.metadata.annotations).toEqual({ 'svc.ai/parent-task-name': 'nightly', 'svc.ai/caller': 'ann' })
    const orphan = makeScheduledRun(makeTask('nightly', { spec: { schedule: '@hourly' } }), tick)
    expect(orphan.metadata.annotations).toEqual({ 'svc.ai/parent-task-name': 'nightly' })
  })

  it('are removed beyond the history limits, oldest first, but never cancelled or active ones', () => {
    const labels = { 'svc.ai/scheduled-run': 'true' }
    const ended = (name: string, phase: string, hour: number) =>
      makeTask(name, { labels, status: { phase, completionTime: `2026-01-02T0${hour}:00:00Z` } })
    const children = [
      ended('s3', 'Succeeded', 3),
      ended('s1', 'Succeeded', 1),
      ended('s2', 'Succeeded', 2),
      ended('f1', 'Failed', 1),
      ended('f2', 'Failed', 2),
      ended('c1', 'Cancelled', 1),
      makeTask('r1', { labels, status: { phase: 'Running' } }),
      makeTask('other', { status: { phase: 'Succeeded', completionTime: '2026-01-01T00:00:00Z' } }),
    ]
    const limits = { successfulRunsHistoryLimit: 1, failedRunsHistoryLimit: 0 }
    const expired = listExpiredRuns(makeTask('nightly', { spec: { schedule: '@hourly', ...limits } }), children)
    expect(expired.map((task) => task.metadata.name)).toEqual(['s1', 's2', 'f1', 'f2'])
  })
})

const base: ScheduleSpec = {
  schedule: '*/5 * * * *',
  startingDeadlineSeconds: 100,
  concurrencyPolicy: 'Forbid',
  suspend: false,
}
const facts: ScheduleFacts = { createdAt: new Date('2026-01-10T11:58:00Z'), hasActiveRun: false }

function decide(spec: Partial<ScheduleSpec>, at: string, known: Partial<ScheduleFacts> = {}) {
  const decision = decideSchedule({ ...base, ...spec }, { ...facts, ...known }, new Date(at))
  const text = (date: Date | undefined) => date?.toISOString().replace('.000', '')
  return {
    ...decision,
    ...('tick' in decision && { tick: text(decision.tick) }),
    ...('next' in decision && { next: text(decision.next) }),
  }
}

describe('decideSchedule', () => {
  it('waits for the first tick after creation', () => {
    expect(decide({}, '2026-01-10T11:59:00Z')).toEqual({ action: 'wait', next: '2026-01-10T12:00:00Z' })
  })

  it('runs a tick from the exact second on, once', () => {
    const expected = { action: 'run', tick: '2026-01-10T12:00:00Z', next: '2026-01-10T12:05:00Z' }
    expect(decide({}, '2026-01-10T12:00:00Z')).toEqual(expected)
    expect(decide({}, '2026-01-10T12:00:30.250Z')).toEqual(expected)
    const lastTick = new Date('2026-01-10T12:00:00Z')
    expect(decide({}, '2026-01-10T12:00:30Z', { lastTick })).toEqual({ action: 'wait', next: '2026-01-10T12:05:00Z' })
  })

  it('skips a tick that is noticed after its deadline', () => {
    expect(decide({}, '2026-01-10T12:01:41Z')).toMatchObject({ action: 'missed', tick: '2026-01-10T12:00:00Z' })
    expect(decide({ startingDeadlineSeconds: 200 }, '2026-01-10T12:01:41Z')).toMatchObject({ action: 'run' })
  })

  it('runs only the latest of several due ticks', () => {
    const decision = decide({ startingDeadlineSeconds: 86_400 }, '2026-01-11T12:01:00Z')
    expect(decision).toMatchObject({ action: 'run', tick: '2026-01-11T12:00:00Z' })
  })

  it('skips a tick under Forbid while a run is active, and runs it under Allow', () => {
    const active = { hasActiveRun: true }
    expect(decide({}, '2026-01-10T12:00:01Z', active)).toMatchObject({ action: 'skip', tick: '2026-01-10T12:00:00Z' })
    expect(decide({ concurrencyPolicy: 'Allow' }, '2026-01-10T12:00:01Z', active)).toMatchObject({ action: 'run' })
  })

  it('runs nothing while suspended', () => {
    expect(decide({ suspend: true }, '2026-01-10T12:00:01Z')).toEqual({ action: 'suspended' })
  })

  it('reports a schedule that cannot be parsed', () => {
    expect(decide({ schedule: '61 * * * *' }, '2026-01-10T12:00:01Z')).toMatchObject({ action: 'invalid' })
  })

  it('counts intervals from the last tick, else from creation', () => {
    const every = { schedule: '@every 90s' }
    expect(decide(every, '2026-01-10T11:59:00Z')).toEqual({ action: 'wait', next: '2026-01-10T11:59:30Z' })
    expect(decide(every, '2026-01-10T11:59:31Z')).toMatchObject({ action: 'run', tick: '2026-01-10T11:59:30Z' })
    const lastTick = new Date('2026-01-10T11:59:30Z')
    expect(decide(every, '2026-01-10T12:00:00Z', { lastTick })).toEqual({
      action: 'wait',
      next: '2026-01-10T12:01:00Z',
    })
  })

  it('reports that a schedule never fires again', () => {
    expect(decide({ schedule: '0 0 30 2 *' }, '2026-01-10T12:00:00Z')).toEqual({ action: 'wait', next: undefined })
  })

  it('reads the time zone, and UTC where none is given', () => {
    const noon = { schedule: '0 12 * * *' }
    expect(decide(noon, '2026-01-10T11:59:00Z')).toMatchObject({ next: '2026-01-10T12:00:00Z' })
    const tokyo = decide({ ...noon, timeZone: 'Asia/Tokyo' }, '2026-01-10T11:59:00Z', {
      lastTick: new Date('2026-01-10T03:00:00Z'),
    })
    expect(tokyo).toMatchObject({ next: '2026-01-11T03:00:00Z' })
  })
})

/** Every tick that is run when somebody looks each minute from `from` to `to`. */
function listRuns(spec: ScheduleSpec, from: string, to: string): string[] {
  const runs: string[] = []
  let lastTick: Date | undefined
  const createdAt = new Date(from)
  for (let at = createdAt.getTime(); at <= Date.parse(to); at += 60_000) {
    const decision = decideSchedule(spec, { createdAt, lastTick, hasActiveRun: false }, new Date(at))
    if (!('tick' in decision)) continue
    lastTick = decision.tick
    if (decision.action === 'run') runs.push(decision.tick.toISOString().slice(0, 16))
  }
  return runs
}

describe('schedules when clocks change', () => {
  const berlin = { ...base, timeZone: 'Europe/Berlin' }

  it('runs a time that does not exist in spring once, right after the gap', () => {
    const runs = listRuns({ ...berlin, schedule: '30 2 * * *' }, '2026-03-28T12:00:00Z', '2026-03-30T12:00:00Z')
    expect(runs).toEqual(['2026-03-29T01:00', '2026-03-30T00:30'])
  })

  it('runs a time that exists twice in autumn once', () => {
    const runs = listRuns({ ...berlin, schedule: '30 2 * * *' }, '2026-10-24T12:00:00Z', '2026-10-26T12:00:00Z')
    expect(runs).toEqual(['2026-10-25T00:30', '2026-10-26T01:30'])
  })

  it('keeps a schedule of every half hour going through both changes', () => {
    const half = { ...berlin, schedule: '*/30 * * * *' }
    expect(listRuns(half, '2026-10-24T23:59:00Z', '2026-10-25T03:01:00Z')).toHaveLength(7)
    expect(listRuns(half, '2026-03-28T23:59:00Z', '2026-03-29T03:01:00Z')).toHaveLength(7)
  })
})

describe('schedules, at whatever moments they are checked', () => {
  const looks = fc.array(fc.record({ seconds: fc.integer({ min: 1, max: 900 }), active: fc.boolean() }), {
    maxLength: 40,
  })
  const schedules = fc.constantFrom('*/5 * * * *', '@every 70s', '@hourly', '13 */2 * * *')

  it('never run a tick twice, never overlap under Forbid and never run one that is too late', () => {
    fc.assert(
      fc.property(schedules, looks, (schedule, steps) => {
        const ticks = playLooks({ ...base, schedule }, steps)
        const times = ticks.map(({ tick }) => tick)
        expect(times).toEqual([...new Set(times)].toSorted((a, b) => a - b))
        const runs = ticks.filter(({ action }) => action === 'run')
        expect(runs.filter(({ active }) => active)).toEqual([])
        expect(runs.filter(({ tick, at }) => at - tick > 100_000)).toEqual([])
      }),
    )
  })
})

/** Every tick that was decided about, with what was known then. */
function playLooks(spec: ScheduleSpec, steps: { seconds: number; active: boolean }[]) {
  const { createdAt } = facts
  let at = createdAt.getTime()
  let lastTick: Date | undefined
  return steps.flatMap(({ seconds, active }) => {
    at += seconds * 1000
    const decision = decideSchedule(spec, { createdAt, lastTick, hasActiveRun: active }, new Date(at))
    if (!('tick' in decision)) return []
    lastTick = decision.tick
    return [{ action: decision.action, tick: decision.tick.getTime(), at, active }]
  })
}
