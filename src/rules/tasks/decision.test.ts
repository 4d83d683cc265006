import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isTerminalPhase, Task, type TaskStatus } from '../../contract/kinds/tasks/task.ts'
import { type AttemptState, cancelAnnotation, decideTask, type TaskDecision, watchIntervalMs } from './decision.ts'
import { maxInterruptions } from './retry.ts'

const now = new Date('2026-03-01T12:00:00Z')

type Change = { spec?: object; status?: TaskStatus; metadata?: object }

function makeTask({ spec, status, metadata }: Change = {}): Task {
  return Task.parse({
    apiVersion: 'core.svc.ai/v1alpha1',
    kind: 'Task',
    metadata: {
      name: 'report',
      namespace: 'default',
      uid: 'uid-1',
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: '2026-03-01T11:59:00Z',
      ...metadata,
    },
    spec: { type: 'ai', prompt: 'do it', ...spec },
    ...(status && { status }),
  })
}

function decide(change: Change, attempt?: AttemptState, hasResult = false): TaskDecision {
  return decideTask({ task: makeTask(change), attempt, hasResult }, { now, random: 0.5 })
}

const running: TaskStatus = { phase: 'Running', attempts: 1, startTime: '2026-03-01T11:59:30Z' }
const failed = { phase: 'Failed', reason: 'ExitCode', message: 'the command ended with exit code 3' } as const

describe('decideTask', () => {
  describe('for a task that is parked', () => {
    const waiting = {
      reason: 'WaitingForTasks',
      message: 'parked: waits for a',
      leftMs: 600_000,
      isOver: false,
    } as const
    const at = { reason: 'WaitingForTasks', message: 'm', lastTransitionTime: '2026-03-01T11:59:40Z' }
    const parked: TaskStatus = {
      ...running,
      parkings: 1,
      conditions: [{ type: 'Parked', status: 'True', ...at }],
    }
    const park = (change: Change, parking?: Parameters<typeof decideTask>[0]['parking'], attempt?: AttemptState) =>
      decideTask({ task: makeTask(change), attempt, hasResult: false, parking }, { now, random: 0.5 })

    it('parks it however its attempt ended, and never while one runs', () => {
      const { reason, message } = waiting
      for (const attempt of [failed, { phase: 'Missing' }, { phase: 'Succeeded' }] as const) {
        expect(park({ status: running }, waiting, attempt)).toEqual({ action: 'park', reason, message })
      }
      expect(park({ status: running }, waiting, { phase: 'Running' })).toMatchObject({ action: 'watch' })
    })

    it('lets it rest until the first end of its waits or its time', () => {
      expect(park({ status: parked }, waiting)).toEqual({ action: 'rest', lookAgainMs: 600_000 })
      expect(park({ status: parked, spec: { timeout: '1m' } }, waiting)).toEqual({
        action: 'rest',
        lookAgainMs: 30_000,
      })
      expect(park({ status: parked }, { ...waiting, leftMs: undefined as never })).toEqual({ action: 'rest' })
    })

    it('goes on when a wait is over, and when nothing is known of it, but not while it is suspended', () => {
      expect(park({ status: parked }, { ...waiting, isOver: true })).toEqual({ action: 'resume' })
      expect(park({ status: parked })).toEqual({ action: 'resume' })
      expect(park({ status: parked, spec: { suspend: true } }, { ...waiting, isOver: true })).toEqual({
        action: 'rest',
      })
    })

    it('ends it at its own time and on request', () => {
      expect(park({ status: parked, spec: { timeout: '20s' } }, waiting)).toMatchObject({ reason: 'TimedOut' })
      const metadata = { annotations: { [cancelAnnotation]: 'enough' } }
      expect(park({ status: parked, metadata }, waiting)).toEqual({ action: 'cancel', message: 'cancelled: enough' })
    })

    it('does not start its time anew when it goes on, and counts no retry for having waited', () => {
      const resumed: TaskStatus = {
        ...running,
        attempts: 2,
        parkings: 1,
        conditions: [{ type: 'Parked', status: 'False', ...at, reason: 'Resumed' }],
      }
      const attempt = { phase: 'Running', startedAt: new Date('2026-03-01T11:59:55Z') } as const
      const spec = { timeout: '20s', retryPolicy: { maxRetries: 1 } }
      expect(park({ status: resumed, spec }, undefined, attempt)).toMatchObject({ reason: 'TimedOut' })
      expect(park({ status: resumed, spec: { retryPolicy: { maxRetries: 1 } } }, undefined, failed)).toMatchObject({
        action: 'retry',
      })
    })
  })

  it('starts nothing of a suspended task until it is changed, not even a retry', () => {
    const spec = { suspend: true }
    expect(decide({ spec })).toMatchObject({ action: 'suspend', reason: 'Suspended' })
    expect(decide({ spec, status: { phase: 'Pending' } })).toMatchObject({ action: 'suspend' })
    expect(decide({ spec, status: { phase: 'Pending', attempts: 1 } })).toMatchObject({ action: 'suspend' })
    expect(decide({ spec, status: running }, { phase: 'Running' })).toMatchObject({ action: 'watch' })
  })

  it('starts a new task, and one that is Pending', () => {
    expect(decide({})).toEqual({ action: 'start' })
    expect(decide({ status: { phase: 'Pending' } })).toEqual({ action: 'start' })
  })

  it('does nothing for a task that has ended, whatever is requested', () => {
    for (const phase of ['Succeeded', 'Failed', 'Cancelled'] as const) {
      const metadata = { annotations: { [cancelAnnotation]: 'late' } }
      expect(decide({ status: { phase }, metadata, spec: { schedule: '@hourly' } }, failed)).toEqual({ action: 'none' })
    }
  })

  it('removes a task that is being deleted, ended or not', () => {
    const metadata = { deletionTimestamp: '2026-03-01T12:00:00Z' }
    for (const status of [undefined, running, { phase: 'Succeeded' } as const]) {
      expect(decide({ metadata, ...(status && { status }) })).toEqual({ action: 'delete' })
    }
  })

  it('leaves a task with a schedule to the schedule', () => {
    expect(decide({ spec: { schedule: '@hourly' } })).toEqual({ action: 'schedule' })
    expect(decide({ spec: { schedule: '@hourly' }, status: { phase: 'Scheduled' } })).toEqual({ action: 'schedule' })
  })

  it.each([undefined, 'Pending', 'Running', 'Scheduled'] as const)(
    'cancels a task of phase %s with the reason given',
    (phase) => {
      const metadata = { annotations: { [cancelAnnotation]: 'no longer needed' } }
      const status = phase === undefined ? {} : { status: { ...running, phase } }
      const schedule = phase === 'Scheduled' ? { schedule: '@hourly' } : {}
      const decision = decide({ metadata, ...status, spec: schedule }, { phase: 'Running' })
      expect(decision).toEqual({ action: 'cancel', message: 'cancelled: no longer needed' })
    },
  )

  it('keeps a success that came before the cancellation', () => {
    const metadata = { annotations: { [cancelAnnotation]: '' } }
    expect(decide({ status: running, metadata }, { phase: 'Succeeded' }, true).action).toBe('succeed')
  })

  it('waits until the retry time even when something else happens [TASK-042]', () => {
    const status: TaskStatus = { phase: 'Pending', attempts: 1, nextRetryTime: '2026-03-01T12:00:07Z', message: 'm' }
    expect(decide({ status })).toEqual({ action: 'wait', reason: 'RetryDelay', message: 'm', lookAgainMs: 7000 })
    expect(decide({ status: { ...status, nextRetryTime: '2026-03-01T12:00:00Z' } })).toEqual({ action: 'start' })
  })

  it('checks a running attempt at its deadline at the latest', () => {
    expect(decide({ status: running }, { phase: 'Running' })).toEqual({ action: 'watch', lookAgainMs: watchIntervalMs })
    const watched = decide({ status: running, spec: { timeout: '40s' } }, { phase: 'Running' })
    expect(watched).toEqual({ action: 'watch', lookAgainMs: 10_000 })
  })

  it('does not time out an attempt that waits for a node, and counts from when it runs [TASK-041]', () => {
    const spec = { timeout: '10s' }
    const waiting = { phase: 'Pending', reason: 'Unschedulable', message: 'no room' } as const
    expect(decide({ status: running, spec }, waiting)).toEqual({
      action: 'watch',
      lookAgainMs: watchIntervalMs,
      blocked: { reason: 'Unschedulable', message: 'no room' },
    })
    const begun = { phase: 'Running', startedAt: new Date('2026-03-01T11:59:54Z') } as const
    expect(decide({ status: running, spec }, begun)).toEqual({ action: 'watch', lookAgainMs: 4000 })
    const overdue = { phase: 'Running', startedAt: new Date('2026-03-01T11:59:50Z') } as const
    expect(decide({ status: running, spec }, overdue)).toMatchObject({ action: 'fail', reason: 'TimedOut' })
  })

  it('does nothing but schedule the next check for an attempt that is starting normally', () => {
    const decision = decide({ status: running }, { phase: 'Pending', message: 'its pod is being started' })
    expect(decision).toEqual({ action: 'watch', lookAgainMs: watchIntervalMs })
  })

  it('fails a task that timed out and never retries it', () => {
    const spec = { timeout: '30s', retryPolicy: { maxRetries: 5 } }
    for (const attempt of [
      { phase: 'Running' },
      { phase: 'Missing' },
      { phase: 'Failed', reason: 'DeadlineExceeded', message: 'x' },
    ] as const) {
      const decision = decide({ status: running, spec }, attempt)
      expect(decision).toMatchObject({ action: 'fail', reason: 'TimedOut' })
      expect(decision).toHaveProperty(
        'message',
        'task timed out after 30s; raise spec.timeout or make the work smaller',
      )
    }
  })

  it('succeeds when the result is stored, even if the worker died afterwards', () => {
    expect(decide({ status: running }, { phase: 'Succeeded' }, true).action).toBe('succeed')
    expect(decide({ status: running }, { phase: 'Missing' }, true).action).toBe('succeed')
    expect(decide({ status: running }, { ...failed, reason: 'Signal' }, true).action).toBe('succeed')
  })

  it('fails a worker that ended well without a result, but not a command', () => {
    expect(decide({ status: running }, { phase: 'Succeeded' })).toMatchObject({ action: 'fail', reason: 'NoResult' })
    const spec = { type: 'container', command: ['true'], prompt: undefined }
    expect(decide({ status: running, spec }, { phase: 'Succeeded' }).action).toBe('succeed')
  })

  it('repeats a failed run while the policy allows it, then fails with the cause [TASK-046]', () => {
    const spec = { retryPolicy: { maxRetries: 1 } }
    expect(decide({ status: running, spec }, failed)).toEqual({
      action: 'retry',
      reason: 'ExitCode',
      message: 'run 1 failed and will be repeated: the command ended with exit code 3',
      delayMs: 5000,
    })
    expect(decide({ status: { ...running, attempts: 2 }, spec }, failed)).toEqual({
      action: 'fail',
      reason: 'ExitCode',
      message: 'the command ended with exit code 3 (after 2 runs)',
    })
  })

  it('closes a lost attempt as interrupted without a retry, three at most [TASK-043]', () => {
    const lost = { phase: 'Missing' } as const
    for (let interruptions = 0; interruptions < maxInterruptions; interruptions += 1) {
      const status = { ...running, attempts: interruptions + 1, interruptions }
      expect(decide({ status }, lost).action).toBe('interrupt')
    }
    expect(decide({ status: { ...running, attempts: 4, interruptions: 3 } }, lost)).toMatchObject({
      action: 'fail',
      reason: 'Interrupted',
    })
    expect(decide({ status: running }, { ...failed, reason: 'Stopped' }).action).toBe('interrupt')
  })

  it('says why an attempt was lost where that is known', () => {
    const stopped = { phase: 'Failed', reason: 'Stopped', message: 'its node evicted its pod: low on memory' } as const
    expect(decide({ status: running }, stopped)).toEqual({
      action: 'interrupt',
      message: 'attempt 1 was interrupted and will be repeated: its node evicted its pod: low on memory',
    })
    const last = decide({ status: { ...running, attempts: 4, interruptions: 3 } }, stopped)
    expect(last).toMatchObject({ action: 'fail', message: expect.stringContaining('low on memory') })
  })

  it('uses the cause that the worker itself reported', () => {
    const spec = { retryPolicy: { maxRetries: 3 } }
    const decision = decide({ status: running, spec }, { ...failed, cause: 'MissingApiKey', message: 'no key' })
    expect(decision).toEqual({ action: 'fail', reason: 'MissingApiKey', cause: 'MissingApiKey', message: 'no key' })
    const overloaded = decide({ status: running, spec }, { ...failed, cause: 'ProviderOverloaded' })
    expect(overloaded).toMatchObject({ action: 'retry', reason: 'ProviderOverloaded' })
    expect(decide({ status: running, spec }, { ...failed, cause: 'Stopped' }).action).toBe('interrupt')
  })

  it('does not count interrupted attempts as runs of the retry policy', () => {
    const status = { ...running, attempts: 3, interruptions: 2 }
    expect(decide({ status, spec: { retryPolicy: { maxRetries: 1 } } }, failed).action).toBe('retry')
  })
})

type Outcome = AttemptState['phase'] | 'Killed' | 'Wait' | 'Cancel'

/** Plays the controller: applies a decision to the status. */
function apply(task: Task, decision: TaskDecision, at: Date): { task: Task; started: boolean } {
  const status = task.status ?? {}
  const change = (next: TaskStatus) => ({ ...task, status: { ...status, ...next } })
  switch (decision.action) {
    case 'start':
      return {
        task: change({ phase: 'Running', attempts: (status.attempts ?? 0) + 1, startTime: at.toISOString() }),
        started: true,
      }
    case 'retry': {
      const nextRetryTime = new Date(at.getTime() + decision.delayMs).toISOString()
      return { task: change({ phase: 'Pending', nextRetryTime }), started: false }
    }
    case 'interrupt':
      return { task: change({ phase: 'Pending', interruptions: (status.interruptions ?? 0) + 1 }), started: false }
    case 'succeed':
      return { task: change({ phase: 'Succeeded' }), started: false }
    case 'fail':
      return { task: change({ phase: 'Failed' }), started: false }
    case 'cancel':
      return { task: change({ phase: 'Cancelled' }), started: false }
    default:
      return { task, started: false }
  }
}

function toAttempt(outcome: Outcome): AttemptState {
  if (outcome === 'Killed') return { phase: 'Failed', reason: 'Signal', message: 'killed' }
  if (outcome === 'Failed') return failed
  return { phase: outcome === 'Wait' || outcome === 'Cancel' ? 'Running' : outcome }
}

const step = fc.record({
  outcome: fc.constantFrom<Outcome>('Running', 'Succeeded', 'Failed', 'Killed', 'Missing', 'Wait', 'Cancel'),
  hasResult: fc.boolean(),
  seconds: fc.integer({ min: 0, max: 400 }),
  random: fc.double({ min: 0, max: 0.999, noNaN: true }),
})

type Step = { outcome: Outcome; hasResult: boolean; seconds: number; random: number }

function playStep(task: Task, { outcome, hasResult, random }: Step, at: Date) {
  const annotations = outcome === 'Cancel' ? { [cancelAnnotation]: '' } : task.metadata.annotations
  const asked = { ...task, metadata: { ...task.metadata, annotations } }
  const view = { task: asked, attempt: toAttempt(outcome), hasResult }
  return apply(asked, decideTask(view, { now: at, random }), at)
}

/** What became of the task at each step. */
function playHistory(first: Task, steps: Step[]) {
  let task = first
  let at = now.getTime()
  return steps.map((next) => {
    at += next.seconds * 1000
    const before = task.status
    const notBefore = Date.parse(before?.nextRetryTime ?? '1970-01-01T00:00:00Z')
    const { task: after, started } = playStep(task, next, new Date(at))
    task = after
    return { before, after: after.status, started, at, notBefore }
  })
}

describe('the phase machine, whatever happens', () => {
  const histories = fc.tuple(fc.integer({ min: 0, max: 4 }), fc.array(step, { maxLength: 60 }))

  it('never leaves a terminal phase, never makes too many attempts and never starts before the retry time', () => {
    fc.assert(
      fc.property(histories, ([maxRetries, steps]) => {
        const task = makeTask({ spec: { retryPolicy: { maxRetries }, timeout: '10m' } })
        const seen = playHistory(task, steps)
        const left = seen.filter(({ before, after }) => isTerminalPhase(before?.phase) && after !== before)
        expect(left).toEqual([])
        expect(seen.filter(({ started, at, notBefore }) => started && at < notBefore)).toEqual([])
        const { attempts = 0, interruptions = 0 } = seen.at(-1)?.after ?? {}
        expect(interruptions).toBeLessThanOrEqual(maxInterruptions)
        expect(attempts).toBeLessThanOrEqual(maxRetries + 1 + interruptions)
      }),
      { numRuns: 300 },
    )
  })

  it('never starts another attempt once a result was stored at the end of one', () => {
    fc.assert(
      fc.property(
        fc.constantFrom<Outcome>('Succeeded', 'Failed', 'Killed', 'Missing'),
        histories,
        (end, [maxRetries]) => {
          const spec = { retryPolicy: { maxRetries } }
          const view = { task: makeTask({ spec, status: running }), attempt: toAttempt(end), hasResult: true }
          expect(decideTask(view, { now, random: 0 }).action).toBe('succeed')
        },
      ),
    )
  })
})
