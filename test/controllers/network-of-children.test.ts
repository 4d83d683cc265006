// The network that attempts are started with, of tasks that others made.
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Task } from '../../src/contract/kinds/tasks/task.ts'
import { makeOwner } from '../../src/rules/tasks/schedule.ts'
import { waitFor } from '../fixtures/time.ts'
import { type Bench, openBench } from './bench.ts'

let bench: Bench
let lead: Task
const network = { allow: ['pypi.org'], onUnknown: 'ask' as const }
beforeEach(async () => {
  bench = await openBench()
  await bench.create('Provider', 'default', { type: 'demo' })
  await bench.create('Agent', 'lead', { network, coordination: { enabled: true } })
  lead = (await bench.submitTask('lead', {
    type: 'ai',
    command: undefined,
    prompt: 'x',
    agentRef: { name: 'lead' },
  })) as Task
})
afterEach(() => bench.dispose())

const below = (task: Task) => ({ ownerReferences: [makeOwner(task)] })
const startedWith = (name: string) => bench.workloads.started.findLast(({ taskName }) => taskName === name)?.network

it('is that of the task above, at each attempt', async () => {
  await bench.submitTask('child', { retryPolicy: { maxRetries: 1, initialDelay: '1s' } }, below(lead))
  await bench.running('child')
  expect(startedWith('child')).toMatchObject({ rules: network, from: 'agent' })
  bench.workloads.fail('child')
  await bench.taskWhen('child', ({ status }) => status?.nextRetryTime !== undefined, 'waits')
  bench.workloads.started.splice(0)
  await bench.jump(60_000)
  await waitFor(() => startedWith('child'), 'its second attempt')
  expect(startedWith('child')).toMatchObject({ rules: network, from: 'agent' })
})

it('is that of the task above its schedule', async () => {
  await bench.submitTask('nightly', { schedule: '*/5 * * * *' }, below(lead))
  await bench.phase('nightly', 'Scheduled')
  await bench.jump(300_000)
  const run = `nightly-${Date.parse('2026-03-01T12:05:00Z') / 1000}`
  await bench.running(run)
  expect(startedWith(run)).toMatchObject({ rules: network, from: 'agent' })
})

it('is the machine’s where nobody has said anything', async () => {
  await bench.create('Agent', 'plain', { coordination: { enabled: true } })
  const plain = { type: 'ai', command: undefined, prompt: 'x', agentRef: { name: 'plain' } }
  const above = (await bench.submitTask('plain', plain)) as Task
  await bench.submitTask('child', {}, below(above))
  await bench.running('child')
  expect(startedWith('child')).toBeUndefined()
})
