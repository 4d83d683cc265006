// Whether an attempt may share a process: what the workload is told, and what the status shows.
import { afterEach, describe, expect, it } from 'vitest'
import type { TaskSettings } from '../../src/controllers/tasks/context.ts'
import { waitFor } from '../fixtures/time.ts'
import { type Bench, openBench } from './bench.ts'

let bench: Bench
afterEach(() => bench.dispose())

const aiTask = { type: 'ai', prompt: 'p', command: undefined }

async function startOne(settings: Partial<TaskSettings>, spec: object = {}) {
  bench = await openBench({ settings })
  await bench.create('Provider', 'default', { type: 'demo' })
  await bench.submitTask('poem', { ...aiTask, ...spec })
  const { status } = await bench.running('poem')
  return { status: status?.isolation, workload: bench.workloads.specOf('poem') }
}

const sharing: Partial<TaskSettings> = { isolation: { usual: 'shared', processNamespaces: [] } }

it('is decided and shown where a service lets tasks share processes', async () => {
  const { status, workload } = await startOne(sharing)
  expect([status, workload.isolation]).toEqual([{ mode: 'shared' }, { mode: 'shared' }])
})

it('is shown with the reason, and no part of where a pod is placed', async () => {
  const { status, workload } = await startOne(sharing, { execution: { isolation: 'process' } })
  expect(status).toEqual({ mode: 'own', reason: 'TaskIsolation' })
  expect(workload).toMatchObject({ isolation: status, placement: {} })
  expect(workload.placement).not.toHaveProperty('isolation')
})

async function nextAttempt(attempt: number): Promise<void> {
  await bench.taskWhen('poem', ({ status }) => status?.attempts === attempt, `has attempt ${attempt}`)
  await bench.running('poem')
}

describe('the end of a process that tasks shared', () => {
  it('is no run and no interruption of those in it, however often it happens: they go on', async () => {
    await startOne(sharing)
    for (const attempt of [2, 3, 4, 5, 6]) {
      bench.workloads.loseShared('poem', 'bystander')
      await nextAttempt(attempt)
    }
    const { status } = await bench.running('poem')
    expect(status).toMatchObject({ sharedLosses: 5, isolation: { mode: 'shared' } })
    expect(status?.interruptions).toBeUndefined()
    bench.workloads.fail('poem')
    expect((await bench.phase('poem', 'Failed')).status?.message).not.toContain('runs')
  })

  it('sends a suspect on alone, for good; what ends it there counts', async () => {
    await startOne(sharing)
    bench.workloads.loseShared('poem', 'suspect')
    await nextAttempt(2)
    const own = { mode: 'own', reason: 'Suspect' }
    expect((await bench.running('poem')).status?.isolation).toEqual(own)
    expect(bench.workloads.specOf('poem').isolation).toEqual(own)
    bench.workloads.fail('poem', 'Stopped', 'it was ended')
    await nextAttempt(3)
    const { status } = await bench.running('poem')
    expect(status).toMatchObject({ interruptions: 1, sharedLosses: 1, isolation: own })
  })
})

it('has room of its own: what shares a process waits for none, and none waits for what shares', async () => {
  bench = await openBench({ settings: sharing })
  await bench.create('Provider', 'default', { type: 'demo' })
  bench.workloads.setCapacity(0)
  bench.workloads.setShared(1)
  await bench.submitTask('alone', { ...aiTask, execution: { isolation: 'process' } })
  await bench.submitTask('together', aiTask)
  await bench.submitTask('later', aiTask)
  await bench.running('together')
  expect(bench.workloads.running()).toEqual(['together'])
  bench.workloads.setCapacity(1)
  bench.workloads.fail('together')
  await waitFor(() => bench.workloads.running().length === 2, 'both start')
  expect(bench.workloads.running().toSorted()).toEqual(['alone', 'later'])
})

it('is no question where every attempt has a process of its own', async () => {
  const { status, workload } = await startOne({})
  expect(status).toBeUndefined()
  expect(workload).not.toHaveProperty('isolation')
})
