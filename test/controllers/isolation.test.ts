// Whether an attempt may share a process: what the workload is told, and what the status shows.
import { afterEach, expect, it } from 'vitest'
import type { TaskSettings } from '../../src/controllers/tasks/context.ts'
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

it('is no question where every attempt has a process of its own', async () => {
  const { status, workload } = await startOne({})
  expect(status).toBeUndefined()
  expect(workload).not.toHaveProperty('isolation')
})
