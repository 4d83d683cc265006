// Tasks of autonomous agents: iteration after iteration, over the real stores.
import { afterEach, describe, expect, it } from 'vitest'
import { createWorkerRecords } from '../../src/usecases/tasks/worker/records.ts'
import { waitFor } from '../fixtures/time.ts'
import { type Bench, type BenchOptions, openBench } from './bench.ts'

let bench: Bench
afterEach(() => bench.dispose())

async function open(coordination: object = {}, options: BenchOptions = {}) {
  bench = await openBench(options)
  await bench.create('Provider', 'default', { type: 'demo' })
  await bench.create('Agent', 'lead', { coordination: { enabled: true, autonomous: true, ...coordination } })
}

const submit = (name: string, spec: object = {}) =>
  bench.submitTask(name, { type: 'ai', command: undefined, prompt: 'goal', agentRef: { name: 'lead' }, ...spec })

/** Runs in this iteration, with an attempt. */
async function inIteration(name: string, iteration: number) {
  const task = await bench.taskWhen(
    name,
    ({ status }) => status?.phase === 'Running' && status.iteration === iteration,
    `is in iteration ${iteration}`,
  )
  await waitFor(() => bench.workloads.running().includes(name) || undefined, `${name} has an attempt`)
  return task
}

async function savePlan(name: string, change: object = {}) {
  const task = await bench.getTask(name)
  if (task === undefined) throw new Error('no task')
  const { namespace, uid: taskUid } = task.metadata
  const path = { namespace, taskName: name }
  const worker = createWorkerRecords({ ports: { resources: bench.resources, records: bench.records } } as never)
  const plan = { summary: 'half', progress_pct: 50, goal_complete: false, plan_document: '- [x] one', ...change }
  return worker.savePlan({ ...path, taskUid, attempt: task.status?.attempts ?? 0 }, path, plan)
}

async function succeed(name: string, result = 'said') {
  await bench.putResult(name, result)
  bench.workloads.succeed(name)
}

function assignmentOf(name: string) {
  const { run } = bench.workloads.specOf(name)
  if (run.kind !== 'worker') throw new Error('no worker')
  return run.assignment
}

const suspend = async (name: string, value: boolean) => {
  const task = await bench.getTask(name)
  if (task !== undefined) await bench.resources.update('Task', { ...task, spec: { ...task.spec, suspend: value } })
}

describe('a task of an autonomous agent', () => {
  it('goes on with the plan alone until the goal is complete [PLAN-013]', async () => {
    await open({ maxIterations: 9 })
    await submit('goal')
    await inIteration('goal', 0)
    expect(assignmentOf('goal')).toMatchObject({
      coordination: { iteration: 0, autonomous: { maxIterations: 9 } },
      loop: { maxIterations: 100 },
    })
    expect((await savePlan('goal')).iteration).toBe(0)
    await succeed('goal', 'first')
    const second = await inIteration('goal', 1)
    expect(second.status).toMatchObject({ attempts: 2, earlierIterations: { attempts: 1, interruptions: 0 } })
    expect(assignmentOf('goal').coordination?.autonomous?.plan).toEqual({
      iteration: 0,
      summary: 'half',
      progressPct: 50,
      planDocument: '- [x] one',
    })
    expect((await savePlan('goal', { summary: 'done', goal_complete: true })).iteration).toBe(1)
    await succeed('goal', 'second')
    const ended = await bench.phase('goal', 'Succeeded')
    expect(ended.status).toMatchObject({
      iteration: 1,
      message: 'goal complete after 2 iterations: done',
      resultRef: { available: true },
    })
    const result = await bench.records.results.get(ended.metadata.uid)
    expect(result?.info.attempt).toBe(2)
    const events = await bench.eventsOf('goal')
    expect(events.filter(({ type }) => type === 'AutonomousIteration').map(({ message }) => message)).toEqual([
      'iteration 1 is done; iteration 2 follows',
    ])
  })

  it('ends after the most iterations, with or without a plan', async () => {
    await open({ maxIterations: 2 })
    await submit('goal')
    await inIteration('goal', 0)
    await succeed('goal')
    await inIteration('goal', 1)
    await succeed('goal')
    const { status } = await bench.phase('goal', 'Succeeded')
    expect(status?.message).toMatch(/^ended after 2 iterations, the most that coordination\.maxIterations allows/)
  })

  it('rests while it is suspended, without a place, also after a restart, and goes on when it is resumed', async () => {
    await open({}, { settings: { maxRunningTasks: 1 } })
    await submit('goal')
    await inIteration('goal', 0)
    await suspend('goal', true)
    await bench.submitTask('other')
    await succeed('goal')
    const isAtRest = (name: string) =>
      bench.taskWhen(name, ({ status }) => status?.message?.startsWith('suspended after') === true, 'rests')
    const resting = await isAtRest('goal')
    expect(resting.status).toMatchObject({ phase: 'Running', iteration: 0 })
    expect(resting.status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'Suspended', status: 'True', reason: 'Suspended' }),
    )
    await bench.running('other')
    expect(bench.workloads.running()).toEqual(['other'])
    await bench.crash()
    await bench.jump(1000)
    const again = await waitFor(async () => {
      const other = await bench.getTask('other')
      return other?.status?.attempts === 2 ? other : undefined
    }, 'the other one starts again')
    expect(again.status?.phase).toBe('Running')
    expect((await isAtRest('goal')).status).toMatchObject({ phase: 'Running', iteration: 0 })
    await suspend('goal', false)
    bench.workloads.succeed('other')
    const resumed = await inIteration('goal', 1)
    expect(resumed.status?.conditions?.map(({ type }) => type)).not.toContain('Suspended')
  })

  it('can be cancelled while it rests', async () => {
    await open()
    await submit('goal')
    await inIteration('goal', 0)
    await suspend('goal', true)
    await succeed('goal')
    const resting = await bench.taskWhen(
      'goal',
      ({ status }) => status?.message?.startsWith('suspended') === true,
      'rests',
    )
    const annotations = { 'svc.ai/cancel-requested': 'enough' }
    await bench.resources.update('Task', { ...resting, metadata: { ...resting.metadata, annotations } })
    expect((await bench.phase('goal', 'Cancelled')).status?.message).toBe('cancelled: enough')
  })

  it('leaves its place to those who wait before its next iteration', async () => {
    await open({}, { settings: { maxRunningTasks: 1 } })
    await submit('goal')
    await inIteration('goal', 0)
    for (const name of ['one', 'two']) {
      await bench.submitTask(name)
      await bench.taskWhen(name, ({ status }) => status?.queuedReason === 'Capacity', 'waits')
    }
    await succeed('goal')
    await bench.running('one')
    const waiting = await bench.taskWhen('goal', ({ status }) => status?.queuedReason === 'Capacity', 'waits')
    expect(waiting.status).toMatchObject({ phase: 'Pending', iteration: 1 })
    bench.workloads.succeed('one')
    await inIteration('goal', 1)
    await succeed('goal')
    await bench.running('two')
  })

  it('repeats a failed iteration as its retry policy says, each iteration anew, then fails', async () => {
    await open()
    await submit('goal', { retryPolicy: { maxRetries: 1 } })
    const attempt = (count: number) =>
      bench.taskWhen('goal', ({ status }) => status?.phase === 'Running' && status.attempts === count, `runs ${count}`)
    const failAgain = async () => {
      bench.workloads.fail('goal')
      await bench.taskWhen('goal', ({ status }) => status?.queuedReason === 'RetryDelay', 'waits')
      await bench.jump(60_000)
    }
    await inIteration('goal', 0)
    await failAgain()
    await attempt(2)
    await inIteration('goal', 0)
    await succeed('goal')
    await inIteration('goal', 1)
    await failAgain()
    await attempt(4)
    await inIteration('goal', 1)
    bench.workloads.fail('goal')
    const { status } = await bench.phase('goal', 'Failed')
    expect(status).toMatchObject({ iteration: 1, attempts: 4 })
    expect(status?.message).toMatch(/\(after 2 runs\)$/)
    expect(status?.resultRef?.available).toBe(false)
  })

  it('knows its iteration after a crash, and continues in it', async () => {
    await open()
    await submit('goal')
    await inIteration('goal', 0)
    await succeed('goal')
    await inIteration('goal', 1)
    await bench.crash()
    const again = await bench.taskWhen('goal', ({ status }) => status?.attempts === 3, 'runs again')
    expect(again.status).toMatchObject({ iteration: 1, interruptions: 1 })
  })

  it('does not begin an iteration with the conversation of the one before', async () => {
    await open()
    await submit('goal')
    const { metadata } = await inIteration('goal', 0)
    const worker = createWorkerRecords({ ports: { resources: bench.resources, records: bench.records } } as never)
    const path = { namespace: 'default', taskName: 'goal' }
    const read = (attempt: number) => worker.readCheckpoint({ ...path, taskUid: metadata.uid, attempt }, path)
    await bench.records.checkpoints.save({ taskUid: metadata.uid, attempt: 1 }, '{"a":1}')
    expect(await read(1)).toBe('[{"a":1}]')
    await succeed('goal')
    await inIteration('goal', 1)
    await expect(read(2)).rejects.toMatchObject({ reason: 'NotFound' })
    await bench.records.checkpoints.save({ taskUid: metadata.uid, attempt: 2 }, '{"a":2}')
    expect(await read(2)).toBe('[{"a":2}]')
  })
})

it('an agent that coordinates without being autonomous ends with its first success', async () => {
  await open({ autonomous: false })
  await submit('once')
  await bench.running('once')
  expect(assignmentOf('once')).toMatchObject({ coordination: { iteration: 0 }, loop: { maxIterations: 50 } })
  expect(assignmentOf('once').coordination).not.toHaveProperty('autonomous')
  await succeed('once')
  expect((await bench.phase('once', 'Succeeded')).status?.message).toBe('task completed successfully')
})
