// Which iteration a task works in, and what a plan takes from it.
import { afterEach, expect, it } from 'vitest'
import { createWorkerRecords } from '../../src/usecases/tasks/worker/records.ts'
import { waitFor } from '../fixtures/time.ts'
import { type Bench, openBench } from './bench.ts'

let bench: Bench
afterEach(() => bench.dispose())

it('the iteration of an ai task is 0 at its start, outlasts a retry, and follows the plan that its worker saves [PLAN-013]', async () => {
  bench = await openBench()
  await bench.create('Provider', 'default', { type: 'demo' })
  await bench.submitTask('plans', { type: 'ai', command: undefined, prompt: 'plan', retryPolicy: { maxRetries: 1 } })
  const first = await bench.running('plans')
  expect(first.status?.iteration).toBe(0)
  const { resources, records } = bench
  const worker = createWorkerRecords({ ports: { resources, records } } as never)
  const path = { namespace: 'default', taskName: 'plans' }
  const save = (attempt: number) => {
    const identity = { ...path, taskUid: first.metadata.uid, attempt }
    return worker.savePlan(identity, path, { summary: 's', progress_pct: 1, goal_complete: false, plan_document: 'd' })
  }
  expect((await save(1)).iteration).toBe(0)
  // As whoever has a task work in iterations counts them.
  await bench.resources.updateStatus('Task', { ...first, status: { ...first.status, iteration: 3 } })
  expect((await save(1)).iteration).toBe(3)
  bench.workloads.fail('plans')
  await bench.taskWhen('plans', ({ status }) => status?.nextRetryTime !== undefined, 'waits for its retry')
  await bench.jump(60_000)
  const second = await bench.taskWhen('plans', ({ status }) => status?.attempts === 2, 'runs again')
  expect(second.status?.iteration).toBe(3)
  expect((await save(2)).iteration).toBe(3)
})

it('a command has no iteration', async () => {
  bench = await openBench()
  await bench.submitTask('command')
  expect((await bench.running('command')).status).not.toHaveProperty('iteration')
})

it('an ai task keeps its plan after every end, until it is deleted [PLAN-012]', async () => {
  bench = await openBench()
  await bench.create('Provider', 'default', { type: 'demo' })
  const { plans } = bench.records
  const saved = { namespace: 'default', iteration: 0, progressPct: 9, goalComplete: false, planDocument: '# d' }
  for (const [name, phase] of [
    ['done', 'Succeeded'],
    ['broken', 'Failed'],
  ] as const) {
    await bench.submitTask(name, { type: 'ai', command: undefined, prompt: 'plan' })
    const { metadata } = await bench.running(name)
    await plans?.save({ taskUid: metadata.uid, taskName: name, summary: name, ...saved })
    if (phase === 'Succeeded') await bench.putResult(name, 'done')
    if (phase === 'Succeeded') bench.workloads.succeed(name)
    else bench.workloads.fail(name)
    await bench.phase(name, phase)
    expect(await plans?.get(metadata.uid)).toMatchObject({ summary: name })
    await bench.resources.remove('Task', metadata, {})
    await waitFor(async () => (await plans?.get(metadata.uid)) === undefined || undefined, 'the plan goes')
  }
})
