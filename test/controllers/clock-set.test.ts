// Somebody sets the clock of the machine by hours while tasks run, wait and are repeated: durations go on as they were.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Task } from '../../src/contract/kinds/tasks/task.ts'
import { waitFor } from '../fixtures/time.ts'
import { type Bench, openBench } from './bench.ts'

let bench: Bench
beforeEach(async () => {
  bench = await openBench()
})
afterEach(() => bench.dispose())

/** Lets time pass until it is so, and says how much: on a busy machine a controller goes to sleep some time after what it wrote can be read. */
async function passUntil(is: (task: Task) => boolean, stepMs: number): Promise<number> {
  let passedMs = 0
  await waitFor(async () => {
    passedMs += stepMs
    await bench.clock.advance(stepMs)
    return is(await taskOf('build'))
  }, 'what time brings')
  return passedMs
}

const taskOf = (name: string) => bench.taskWhen(name, () => true, 'is there')
const isParked = ({ status }: Task) =>
  status?.phase === 'Running' && status.conditions?.some(({ type, status: is }) => type === 'Parked' && is === 'True')

async function submitParked(spec: object, until = '2100-01-01T00:00:00.000Z'): Promise<Task> {
  await bench.create('Provider', 'default', { type: 'demo' })
  await bench.submitTask('lead', { type: 'ai', command: undefined, prompt: 'lead', ...spec })
  const task = await bench.running('lead')
  const owner = {
    apiVersion: 'core.svc.ai/v1alpha1',
    kind: 'Task',
    name: 'lead',
    uid: task.metadata.uid,
    controller: true,
  }
  const labels = { 'svc.ai/coordinator': 'true', 'svc.ai/parent-task': 'lead' }
  await bench.submitTask('other', {}, { ownerReferences: [owner], labels })
  const { uid } = (await bench.running('other')).metadata
  const wait = {
    kind: 'tasks' as const,
    call: '0-1-w',
    tasks: [{ name: 'other', uid }],
    until,
  }
  await bench.records.parkings.park({ taskUid: task.metadata.uid, attempt: 1 }, [wait])
  bench.workloads.fail('lead', 'ExitCode', 'the run waits', 'Parked')
  return bench.taskWhen('lead', (found) => isParked(found) === true, 'is parked')
}

describe.each([7_200_000, -7_200_000])('where the clock is set by %d ms', (ms) => {
  it('a running task ends at its timeout, neither before nor hours after', async () => {
    await bench.submitTask('build', { timeout: '10m' })
    await bench.running('build')
    bench.clock.set(ms)
    await bench.clock.advance(590_000)
    expect((await taskOf('build')).status?.phase).toBe('Running')
    await bench.clock.advance(20_000)
    expect((await bench.phase('build', 'Failed')).status?.failureReason).toBe('TimedOut')
  })

  it('a parked task keeps its time, and goes on with what is left of it', async () => {
    await submitParked({ timeout: '10m' })
    bench.clock.set(ms)
    await bench.clock.advance(240_000)
    expect(isParked(await taskOf('lead'))).toBe(true)
    bench.workloads.succeed('other')
    await bench.taskWhen('lead', (task) => task.status?.attempts === 2, 'goes on')
    await bench.running('lead')
    const { limits, run } = bench.workloads.specOf('lead')
    expect(limits.deadlineSeconds).toBeGreaterThan(300)
    expect(limits.deadlineSeconds).toBeLessThanOrEqual(360)
    if (run.kind !== 'worker') throw new Error('no worker')
    expect(run.assignment).toMatchObject({ timeoutMs: expect.any(Number) })
  })

  it('a failed task is tried again after its delay', async () => {
    await bench.submitTask('build', { retryPolicy: { maxRetries: 1, initialDelay: '60s' } })
    await bench.running('build')
    bench.workloads.fail('build')
    const waits = await bench.taskWhen('build', ({ status }) => status?.nextRetryTime !== undefined, 'waits')
    // The delay is a random one.
    const delayMs = Date.parse(waits.status?.nextRetryTime ?? '') - bench.clock.now().getTime()
    bench.clock.set(ms)
    await bench.clock.advance(delayMs / 2)
    expect((await taskOf('build')).status?.phase).toBe('Pending')
    const passedMs = await passUntil(({ status }) => status?.attempts === 2, 1000)
    expect(passedMs).toBeLessThan(3_600_000)
  })

  it('a task that waits for its agent is given as long as ever', async () => {
    await bench.submitTask('build', { type: 'agent', command: undefined, prompt: 'x', agentRef: { name: 'late' } })
    const waits = ({ status }: Task) => status?.queuedReason === 'WaitingForReferences'
    await bench.taskWhen('build', waits, 'waits for its agent')
    bench.clock.set(ms)
    await bench.clock.advance(30_000)
    expect((await taskOf('build')).status).toMatchObject({ phase: 'Pending', queuedReason: 'WaitingForReferences' })
    await bench.clock.advance(3_600_000)
    expect((await bench.phase('build', 'Failed')).status?.failureReason).toBe('MissingReference')
  })
})

// Until when a task waits, and when a question expires, is a moment that people were told: it follows the clock on the wall.
it('a wait whose end has passed because the clock was set forward ends no task, which goes on when it is looked at', async () => {
  const until = new Date(bench.clock.now().getTime() + 3_600_000).toISOString()
  await submitParked({ timeout: '4h' }, until)
  bench.clock.set(7_200_000)
  await bench.clock.advance(3_700_000)
  const task = await bench.taskWhen('lead', ({ status }) => status?.attempts === 2, 'goes on')
  expect(task.status?.phase).toBe('Running')
})
