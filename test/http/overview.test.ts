// The overview: what it counts, and that everybody gets the numbers of what they may list.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Overview } from '../../src/contract/api/service/overview.ts'
import type { RunSums } from '../../src/contract/api/service/runs.ts'
import type { Authorizer } from '../../src/ports/identity/identity.ts'
import { aiTask, type Service, startService } from './service.ts'

/** What the place where resources live lets be listed: `Kind namespace`; absent: everything. */
let listable: ((kind: string, namespace: string | undefined) => boolean) | undefined
const authorizer: Authorizer = {
  async authorize(_caller, { verb, kind, namespace }) {
    const isAllowed = verb !== 'list' || (listable?.(kind, namespace) ?? true)
    return isAllowed ? { allowed: true } : { allowed: false, reason: `no ${kind} of ${namespace}` }
  },
}

let service: Service
const now = Date.now()
const hourOf = (time: number) => `${new Date(time).toISOString().slice(0, 13)}:00:00.000Z`

async function endTask(namespace: string, name: string, status: object): Promise<void> {
  const task = await service.ports.resources.get('Task', { namespace, name })
  if (task !== undefined) await service.ports.resources.updateStatus('Task', { ...task, status: status as never })
}

beforeAll(async () => {
  service = await startService({ identity: { authorizer } })
  const post = async (path: string, payload: object) =>
    expect((await service.call(`POST /api/v1/${path}`, { payload })).statusCode).toBe(201)
  for (const namespace of ['one', 'two']) {
    for (const name of ['waits', 'runs', 'fails', 'succeeds', 'long-ago'])
      await post('tasks', aiTask(name, { namespace }))
    await endTask(namespace, 'runs', { phase: 'Running' })
    const completionTime = new Date(now - 2 * 3_600_000).toISOString()
    await endTask(namespace, 'fails', { phase: 'Failed', completionTime, failureReason: 'TimedOut' })
    await endTask(namespace, 'succeeds', { phase: 'Succeeded', completionTime: new Date(now).toISOString() })
    await endTask(namespace, 'long-ago', { phase: 'Failed', completionTime: '2020-01-01T00:00:00.000Z' })
    await post('providers', { namespace, name: 'main', spec: { type: 'llmo' } })
    await post('memory-proposals', { namespace, type: 'memory', title: 't', content: 'c' })
    const asked = { namespace, task: { uid: `uid-${namespace}`, name: 'runs' }, call: 'a', tool: 't', arguments: {} }
    await service.ports.records.approvals.ask({ ...asked, message: 'm', expiresAt: new Date(now + 3_600_000) })
  }
  const main = await service.ports.resources.get('Provider', { namespace: 'two', name: 'main' })
  if (main === undefined) throw new Error('the provider is missing')
  const status = {
    ready: true,
    lastError: 'the vendor refused the key (401)',
    coolingDownUntil: '2020-01-01T00:00:00Z',
  }
  await service.ports.resources.updateStatus('Provider', { ...main, status })
  const call = { namespace: 'one', provider: 'main', model: 'm', inputTokens: 10, outputTokens: 5, cachedTokens: 0 }
  const record = { ...call, demo: false, createdAt: new Date(now).toISOString() }
  await service.ports.records.usage.record([
    { ...record, id: '1', cost: 0.5, currency: 'USD' },
    { ...record, id: '2', cost: 0.25, currency: 'USD' },
    { ...record, id: '3', namespace: 'two', createdAt: new Date(now - 30 * 3_600_000).toISOString() },
  ])
})
afterAll(() => service.stop())

async function read(query: string, token?: string): Promise<Overview> {
  const answer = await service.call(`GET /api/v1/overview${query}`, token === undefined ? {} : { token })
  expect([query, answer.statusCode]).toEqual([query, 200])
  return answer.json()
}

describe('runs by the day', () => {
  it('are counted with the causes of failures, within what the caller may list', async () => {
    listable = undefined
    const read = async (query: string) => (await service.call(`GET /api/v1/runs?days=3&${query}`)).json<RunSums>()
    const { days, causes } = await read('namespace=one')
    expect(days.map(({ start }) => start.slice(0, 10)).at(-1)).toBe(new Date(now).toISOString().slice(0, 10))
    expect(days.reduce((sum, { succeeded, failed }) => sum + 10 * succeeded + failed, 0)).toBe(11)
    expect(causes).toEqual([{ reason: 'TimedOut', namespace: 'one', count: 1 }])
    expect((await read('allNamespaces=true')).causes.map(({ namespace }) => namespace).sort()).toEqual(['one', 'two'])
    expect((await read('namespace=one&agent=nobody')).causes).toEqual([])
    listable = (_, namespace) => namespace === 'two'
    expect((await read('allNamespaces=true')).causes.map(({ namespace }) => namespace)).toEqual(['two'])
    listable = undefined
  })
})

describe('the overview', () => {
  it('counts what there is in a namespace', async () => {
    listable = undefined
    const shown = await read('?namespace=one')
    expect(shown.tasks).toEqual({ Pending: 1, Running: 1, Succeeded: 1, Failed: 2, Scheduled: 0, Cancelled: 0 })
    const waits = await service.ports.resources.get('Task', { namespace: 'one', name: 'waits' })
    expect(shown.queue).toEqual({ pending: 1, oldest: waits?.metadata.creationTimestamp })
    expect(shown.hours).toHaveLength(24)
    expect(shown.hours.map(({ start }) => start)).toEqual(shown.hours.map(({ start }) => start).toSorted())
    const ended = shown.hours.filter(({ succeeded, failed, cancelled }) => succeeded + failed + cancelled > 0)
    expect(ended).toEqual([
      { start: hourOf(now - 2 * 3_600_000), succeeded: 0, failed: 1, cancelled: 0 },
      { start: hourOf(now), succeeded: 1, failed: 0, cancelled: 0 },
    ])
    expect(shown.failures).toEqual([{ reason: 'TimedOut', count: 1 }])
    expect(shown.running).toEqual([{ namespace: 'one', count: 1 }])
    expect([shown.approvals, shown.proposals]).toEqual([1, 1])
    const used = { llmCalls: 2, inputTokens: 20, outputTokens: 10, costs: { USD: 0.75 } }
    expect(shown.usage?.hours.filter(({ llmCalls }) => llmCalls > 0)).toEqual([{ start: hourOf(now), ...used }])
    expect(shown.usage?.today).toEqual(used)
    expect(shown.providers).toEqual([{ name: 'main', namespace: 'one', type: 'llmo', state: 'unknown' }])
  })

  it('counts all namespaces, providers with trouble first', async () => {
    listable = undefined
    const shown = await read('?allNamespaces=true')
    expect(shown.tasks).toMatchObject({ Pending: 2, Running: 2, Failed: 4 })
    expect([shown.approvals, shown.proposals, shown.failures[0]?.count]).toEqual([2, 2, 2])
    expect(shown.providers?.map(({ namespace, state }) => [namespace, state])).toEqual([
      ['two', 'failing'],
      ['one', 'unknown'],
    ])
    expect(shown.providers?.[0]?.message).toBe('the vendor refused the key (401)')
  })

  it('follows what is written', async () => {
    listable = undefined
    const before = await read('?namespace=one')
    await service.call('POST /api/v1/tasks', { payload: aiTask('another', { namespace: 'one' }) })
    expect((await read('?namespace=one')).queue.pending).toBe(before.queue.pending + 1)
    await endTask('one', 'another', { phase: 'Cancelled' })
    expect((await read('?namespace=one')).queue).toEqual(before.queue)
  })

  it('leaves out namespaces and parts that the caller may not list', async () => {
    listable = (_kind, namespace) => namespace === 'one'
    const shown = await read('?allNamespaces=true')
    expect(shown.tasks).toMatchObject({ Pending: 1, Failed: 2 })
    expect([shown.approvals, shown.proposals, shown.providers?.length]).toEqual([1, 1, 1])
    expect(shown.usage?.today.llmCalls).toBe(2)
    expect((await service.call('GET /api/v1/overview?namespace=two')).statusCode).toBe(403)
    listable = (kind) => kind === 'Task'
    const tasksOnly = await read('?namespace=one')
    expect(tasksOnly.tasks.Pending).toBe(1)
    expect([tasksOnly.usage, tasksOnly.providers, tasksOnly.proposals]).toEqual([undefined, undefined, undefined])
  })

  it('is of the one namespace that a token is bound to', async () => {
    listable = undefined
    const made = { name: 'bound', namespace: 'two', role: 'viewer', serverTools: true } as const
    const { token } = await service.ports.tokens.create(made)
    expect((await read('?allNamespaces=true', token)).tasks.Pending).toBe(1)
    expect((await service.call('GET /api/v1/overview?namespace=one', { token })).statusCode).toBe(403)
  })
})
