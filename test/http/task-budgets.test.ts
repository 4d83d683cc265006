// Budgets of single tasks at the doors: refused fields, the worker's next model call, and what usage shows is left.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { aiTask, type Service, startService } from './service.ts'

let service: Service
beforeEach(async () => {
  service = await startService()
  const price = { currency: 'USD', inputPerMillion: 1_000_000, outputPerMillion: 1_000_000 }
  const payload = { name: 'default', spec: { type: 'llmo', defaultModel: 'm', price } }
  expect((await service.call('POST /api/v1/providers', { payload })).statusCode).toBe(201)
})
afterEach(() => service.stop())

async function start(name: string, spec: object = {}) {
  const made = await service.call('POST /api/v1/tasks', { payload: aiTask(name, spec) })
  expect(made.statusCode).toBe(201)
  return service.runTask(name)
}

async function adopt(name: string, owner: string): Promise<void> {
  const { resources } = service.ports
  const [child, task] = await Promise.all(
    [name, owner].map((one) => resources.get('Task', { namespace: 'default', name: one })),
  )
  if (child === undefined || task === undefined) throw new Error('no task')
  const { apiVersion, kind, metadata } = task
  const reference = { apiVersion, kind, name: owner, uid: metadata.uid, controller: true }
  await resources.update('Task', { ...child, metadata: { ...child.metadata, ownerReferences: [reference] } })
}

let calls = 0
/** One model call as a worker reports it; each token costs a dollar. */
function makeCall(tokens: number) {
  return {
    id: `call-${++calls}`,
    provider: { namespace: 'default', name: 'default' },
    model: 'm',
    inputTokens: tokens,
    outputTokens: 0,
    cachedTokens: 0,
    demo: true,
  }
}

async function report(name: string, token: string, tokens: number): Promise<string> {
  const payload = makeCall(tokens)
  const answer = await service.call(`POST /internal/v1/usage/default/${name}`, { payload, token })
  return answer.statusCode < 300 ? '' : `${answer.json().error.reason}: ${answer.json().error.message}`
}

const leftOf = async (groupBy: string, name: string) => {
  const { items } = (await service.call(`GET /api/v1/usage?groupBy=${groupBy}&name=${name}`)).json()
  return items[0]?.budgets
}

describe('the budget of a task', () => {
  it('stops its worker before the next model call', async () => {
    const { token } = await start('goal', { budget: { maxTokens: 100 } })
    expect(await report('goal', token, 60)).toBe('')
    expect(await report('goal', token, 60)).toMatch(
      /^BudgetExceeded: the budget of 100 tokens for task "goal" .*: 120 were used; raise its spec\.budget\.maxTokens/,
    )
  })

  it('counts what its descendants use, in both directions', async () => {
    const parent = await start('parent', { budget: { maxCost: 100 } })
    const child = await start('child')
    const grandchild = await start('grandchild', { budget: { maxCost: 50 } })
    await adopt('child', 'parent')
    await adopt('grandchild', 'child')
    await service.setStatus('Task', 'child', { phase: 'Running', attempts: 1, childTasks: [{ name: 'grandchild' }] })
    expect(await report('grandchild', grandchild.token, 40)).toBe('')
    expect(await report('child', child.token, 40)).toBe('')
    expect(await report('grandchild', grandchild.token, 10)).toMatch(/budget of 50 USD for task "grandchild"/)
    expect(await report('parent', parent.token, 10)).toMatch(
      /budget of 100 USD for task "parent" .*: 100 USD were used/,
    )
    expect(await report('child', child.token, 1)).toMatch(/for task "parent"/)
  })

  it('counts what a descendant hands in with its end, which asks for nothing more', async () => {
    const parent = await start('parent', { budget: { maxTokens: 100 } })
    expect(await report('parent', parent.token, 10)).toBe('')
    const child = await start('child')
    await adopt('child', 'parent')
    const payload = { ok: true, result: 'done', usage: [makeCall(40)] }
    const ended = await service.call('POST /internal/v1/attempts/default/child/end', { payload, token: child.token })
    expect(ended.statusCode).toBe(204)
    expect(await leftOf('task', 'parent')).toEqual([{ tokens: 50, usedUp: false }])
  })

  it('can be raised while the task runs, and not after its end', async () => {
    const { token } = await start('goal', { budget: { maxTokens: 10 } })
    expect(await report('goal', token, 10)).toMatch(/^BudgetExceeded/)
    const { spec } = (await service.call('GET /api/v1/tasks/goal')).json()
    const put = (maxTokens: number) =>
      service.call('PUT /api/v1/tasks/goal', { payload: { spec: { ...spec, budget: { maxTokens } } } })
    expect((await put(50)).statusCode).toBe(200)
    expect(await report('goal', token, 10)).toBe('')
    await service.setStatus('Task', 'goal', { phase: 'Failed', attempts: 1 })
    expect((await put(60)).statusCode).toBe(409)
  })

  it.each([
    [{ budget: {} }, 'spec.budget'],
    [{ budget: { maxTokens: 0 } }, 'spec.budget.maxTokens'],
    [{ budget: { maxDuration: '-1s' } }, 'spec.budget.maxDuration'],
    [{ type: 'container', command: ['true'], prompt: undefined, budget: { maxCost: 1 } }, 'spec.budget.maxCost'],
  ])('is refused when it can have no effect: %j', async (spec, path) => {
    const payload = { metadata: { name: 'wrong' }, spec: { type: 'ai', prompt: 'say hello', ...spec } }
    const answer = await service.call('POST /api/v1/tasks', { payload })
    expect(answer.statusCode).toBe(400)
    expect(answer.json().error.details.map((problem: { path: string }) => problem.path)).toContain(path)
  })
})

describe('usage', () => {
  it('shows what is left of the budget of a task', async () => {
    const { token } = await start('goal', {
      budget: { maxTokens: 100, maxCost: 90, maxIterations: 3, maxDuration: '1h' },
    })
    await report('goal', token, 60)
    expect(await leftOf('task', 'goal')).toEqual([
      { tokens: 40, cost: 30, currency: 'USD', seconds: 3600, iterations: 3, usedUp: false },
    ])
    await report('goal', token, 40)
    expect(await leftOf('task', 'goal')).toMatchObject([{ tokens: 0, cost: 0, usedUp: true }])
    const plain = await start('plain')
    await report('plain', plain.token, 1)
    expect(await leftOf('task', 'plain')).toBeUndefined()
  })

  it('shows what is left of the budgets of exactly this agent and namespace', async () => {
    const put = (name: string, payload: object) => service.call(`PUT /api/v1/budgets/${name}`, { payload })
    await put('all-of-default', { scope: { namespace: 'default' }, maxTokens: 1000, period: 'day' })
    await put('lead', { scope: { namespace: 'default', agent: 'lead' }, maxCost: 50, period: 'total' })
    await put('everything', { maxTokens: 5000 })
    const payload = { name: 'lead', spec: { providerRef: { name: 'default' } } }
    expect((await service.call('POST /api/v1/agents', { payload })).statusCode).toBe(201)
    const { token } = await start('goal', { agentRef: { name: 'lead' } })
    await report('goal', token, 60)
    expect(await leftOf('namespace', 'default')).toEqual([
      { name: 'all-of-default', tokens: 940, resetsAt: expect.stringMatching(/T00:00:00/), usedUp: false },
    ])
    expect(await leftOf('agent', 'lead')).toEqual([{ name: 'lead', cost: 0, currency: 'USD', usedUp: true }])
    expect(await leftOf('model', 'm')).toBeUndefined()
    await put('each', { scope: { namespace: 'default' }, maxTaskDuration: '2h', maxTaskIterations: 5 })
    expect(await leftOf('task', 'goal')).toEqual([{ name: 'each', seconds: 7200, iterations: 5, usedUp: false }])
    expect(await leftOf('namespace', 'default')).toHaveLength(1)
  })
})
