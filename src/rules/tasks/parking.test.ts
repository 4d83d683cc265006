import { describe, expect, it } from 'vitest'
import type { ParkWait } from '../../contract/api/tasks/parking.ts'
import { isParked, isResumed, probeDelayMs, viewParking } from './parking.ts'

const pauses = (every?: string) => [1, 2, 3, 100].map((asked) => probeDelayMs(every, asked))

it('asks less and less often, up to every two minutes', () => {
  expect(pauses()).toEqual([10_000, 15_000, 22_500, 120_000])
  expect(pauses('30s')).toEqual([30_000, 45_000, 67_500, 120_000])
})

it('keeps to what is wanted within bounds', () => {
  expect(pauses('5m')).toEqual([300_000, 300_000, 300_000, 300_000])
  expect(probeDelayMs('1ms', 1)).toBe(5_000)
  expect(probeDelayMs('300h', 1)).toBe(600_000)
})

const now = new Date('2026-03-01T12:00:00Z')
const later = '2026-03-01T12:10:00.000Z'
const tasks = (...uids: string[]): ParkWait => ({
  kind: 'tasks',
  call: '1-a',
  tasks: uids.map((uid) => ({ uid, name: `task-${uid}` })),
  until: later,
})
const approval: ParkWait = { kind: 'approval', call: '1-b', id: 'appr-1', until: later }
const tea: ParkWait = { kind: 'time', call: '1-c', what: 'tea', until: '2026-03-01T12:05:00.000Z' }
const checks: ParkWait = {
  kind: 'probe',
  call: '1-d',
  what: 'the checks of pull request 7',
  probe: 'pull-request-checks',
  args: { number: 7 },
  until: later,
}
const view = (waits: ParkWait[], ended: string[] = [], at = now) =>
  viewParking(waits, { now: at, hasEnded: (id) => ended.includes(id) })

describe('what a parked task waits for', () => {
  it('is over when all tasks of one wait have ended', () => {
    expect(view([tasks('a', 'b')], ['a']).isOver).toBe(false)
    expect(view([tasks('a', 'b')], ['b', 'a']).isOver).toBe(true)
    expect(view([tasks('a'), tasks('b')], ['b']).isOver).toBe(true)
  })

  it('is over when a person has answered, or its time has passed', () => {
    expect(view([approval]).isOver).toBe(false)
    expect(view([approval], ['appr-1']).isOver).toBe(true)
    expect(view([tea], ['tea']).isOver).toBe(false)
    expect(view([approval, tea], [], new Date(tea.until)).isOver).toBe(true)
    expect(view([tasks('a')], [], new Date(later)).isOver).toBe(true)
  })

  it('is over when what the service asks for has come to the call', () => {
    expect(view([checks])).toMatchObject({ isOver: false, isProbed: true, reason: 'WaitingForProbe' })
    expect(view([checks], ['1-d']).isOver).toBe(true)
    expect(view([approval])).not.toHaveProperty('isProbed')
  })

  it('is told in words, with the first time at which it ends by itself', () => {
    expect(view([tasks('a', 'b', 'c', 'd', 'e', 'f')])).toMatchObject({
      reason: 'WaitingForTasks',
      message: 'parked: waits for task-a, task-b, task-c, task-d, task-e and 1 more',
      leftMs: Date.parse(later) - now.getTime(),
    })
    expect(view([approval, tea])).toMatchObject({
      reason: 'WaitingForApproval',
      message: 'parked: waits for approval appr-1; tea, until 2026-03-01T12:05:00.000Z',
      leftMs: Date.parse(tea.until) - now.getTime(),
    })
  })
})

describe('the condition Parked', () => {
  const task = (phase: 'Running' | 'Pending', status: 'True' | 'False') => ({
    status: {
      phase,
      conditions: [{ type: 'Parked', status, reason: 'r', message: 'm', lastTransitionTime: '2026-03-01T12:00:00Z' }],
    },
  })

  it('tells a task that is parked from one that goes on', () => {
    expect([isParked(task('Running', 'True')), isResumed(task('Running', 'True'))]).toEqual([true, false])
    expect([isParked(task('Running', 'False')), isResumed(task('Running', 'False'))]).toEqual([false, true])
    expect([isParked(task('Pending', 'True')), isResumed(task('Pending', 'False'))]).toEqual([false, false])
    expect([isParked({}), isResumed({})]).toEqual([false, false])
  })
})
