// Budgets of single tasks: what the controller ends because of them.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { BudgetSpec } from '../../src/contract/api/budgets/budgets.ts'
import type { Task } from '../../src/contract/kinds/tasks/task.ts'
import { waitFor } from '../fixtures/time.ts'
import { type Bench, openBench } from './bench.ts'

let bench: Bench
beforeEach(async () => {
  bench = await openBench()
  await bench.create('Provider', 'default', { type: 'demo' })
  await bench.create('Agent', 'lead', { coordination: { enabled: true, autonomous: true } })
})
afterEach(() => bench.dispose())

const ai = { type: 'ai', command: undefined, prompt: 'goal' }
const autonomous = { ...ai, agentRef: { name: 'lead' } }

let records = 0
async function use(task: Task, tokens: number, cost?: number) {
  const { namespace, uid: taskUid, name: taskName } = task.metadata
  const money = cost === undefined ? {} : { cost, currency: 'USD' }
  const counted = { inputTokens: tokens, outputTokens: 0, cachedTokens: 0, demo: false, ...money }
  const createdAt = bench.clock.now().toISOString()
  await bench.records.usage.record([
    { id: `u${++records}`, namespace, provider: 'p', model: 'm', taskUid, taskName, createdAt, ...counted },
  ])
}

async function succeed(name: string) {
  await bench.putResult(name, 'said')
  bench.workloads.succeed(name)
}

const failure = async (name: string) => {
  const { status } = await bench.phase(name, 'Failed')
  return status?.message ?? ''
}

describe('a task with a budget', () => {
  it('begins no iteration after its tokens are used', async () => {
    await bench.submitTask('goal', { ...autonomous, budget: { maxTokens: 100 } })
    await use(await bench.running('goal'), 60)
    await succeed('goal')
    const second = await bench.taskWhen('goal', ({ status }) => status?.attempts === 2, 'runs again')
    await waitFor(() => bench.workloads.running().includes('goal') || undefined, 'the attempt')
    await use(second, 50)
    await succeed('goal')
    expect(await failure('goal')).toMatch(/^the budget of 100 tokens for task "goal" .* 110 were used; raise/)
    const events = await bench.eventsOf('goal')
    expect(events.at(-1)).toMatchObject({ phase: 'Failed', reason: 'BudgetExceeded' })
  })

  it('counts what its children use, and they make no further attempt either', async () => {
    await bench.submitTask('parent', { ...ai, budget: { maxCost: 2 } })
    const parent = await bench.running('parent')
    const { apiVersion, kind, metadata } = parent
    const ownerReferences = [{ apiVersion, kind, name: 'parent', uid: metadata.uid, controller: true }]
    await bench.submitTask('child', { ...ai, retryPolicy: { maxRetries: 3 } }, { ownerReferences })
    await use(await bench.running('child'), 10, 2.5)
    bench.workloads.fail('child')
    await bench.taskWhen('child', ({ status }) => status?.queuedReason === 'RetryDelay', 'waits')
    await bench.jump(60_000)
    expect(await failure('child')).toMatch(/^the budget of 2 USD for task "parent" and the tasks that it created/)
    await bench.submitTask('other', { ...ai, budget: { maxCost: 2 } })
    await bench.running('other')
  })

  it('fails when its time is up: while it runs, while it waits, and while it rests', async () => {
    const budget = { maxDuration: '10m' }
    await bench.submitTask('command', { budget })
    await bench.submitTask('retried', { budget, retryPolicy: { maxRetries: 1, initialDelay: '60m' } })
    await bench.submitTask('goal', { ...autonomous, budget })
    for (const name of ['command', 'retried']) await bench.running(name)
    const goal = await bench.running('goal')
    await bench.resources.update('Task', { ...goal, spec: { ...goal.spec, suspend: true } })
    await succeed('goal')
    await bench.taskWhen('goal', ({ status }) => status?.message?.startsWith('suspended') === true, 'rests')
    bench.workloads.fail('retried')
    await bench.taskWhen('retried', ({ status }) => status?.queuedReason === 'RetryDelay', 'waits')
    await bench.jump(599_000)
    expect((await bench.getTask('command'))?.status?.phase).toBe('Running')
    await bench.jump(2000)
    for (const name of ['command', 'retried', 'goal']) {
      expect(await failure(name)).toMatch(/^the budget of 10m for task .* raise its spec\.budget\.maxDuration/)
    }
    expect(bench.workloads.stopped).toContain('command')
  })

  it('fails for the budget of its agent or namespace for each task, which names itself', async () => {
    const put = (name: string, spec: object) => bench.records.budgets.put({ name, spec: BudgetSpec.parse(spec) })
    await put('leads', { scope: { namespace: 'default', agent: 'lead' }, maxTaskIterations: 1 })
    await put('team', { scope: { namespace: 'default' }, maxTaskDuration: '10m' })
    await put('others', { scope: { namespace: 'other' }, maxTaskDuration: '1s', maxTaskIterations: 1 })
    await bench.submitTask('goal', autonomous)
    await bench.submitTask('command')
    await bench.running('goal')
    await bench.running('command')
    await succeed('goal')
    expect(await failure('goal')).toMatch(/^the budget "leads" of 1 iteration for task "goal" .* maxTaskIterations/)
    await bench.jump(601_000)
    expect(await failure('command')).toMatch(/^the budget "team" of 10m for task "command" .* maxTaskDuration/)
  })

  it('fails after its iterations, and goes on when they are raised in time', async () => {
    await bench.submitTask('goal', { ...autonomous, budget: { maxIterations: 1 } })
    const first = await bench.running('goal')
    await bench.resources.update('Task', {
      ...first,
      spec: { ...first.spec, budget: { currency: 'USD', maxIterations: 2 } },
    })
    await succeed('goal')
    await bench.taskWhen('goal', ({ status }) => status?.phase === 'Running' && status.iteration === 1, 'goes on')
    await waitFor(() => bench.workloads.running().includes('goal') || undefined, 'the attempt')
    await succeed('goal')
    expect(await failure('goal')).toMatch(/^the budget of 2 iterations for task "goal" is used up/)
  })
})
