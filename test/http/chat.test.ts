// Chat at the HTTP edge: what is refused before a turn begins, its settings, heartbeats, and two replicas on one store.
import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createEgress } from '../../src/egress/egress.ts'
import { createChatUsecases } from '../../src/usecases/chat/chat.ts'
import { createBudgetLedger } from '../../src/usecases/index.ts'
import { type ScriptedVendor, startVendor } from '../fixtures/llm/scripted-vendor.ts'
import { pause } from '../fixtures/time.ts'
import { ownerToken, type Service, type ServiceOptions, startService } from './service.ts'

let service: Service
let vendor: ScriptedVendor
let script: Parameters<typeof startVendor>[0]

async function start(options: ServiceOptions = {}): Promise<void> {
  service = await startService(options)
  // This side of the service calls a model that plays a script.
  Object.assign(service.ports, { egress: createEgress() })
  vendor = await startVendor((request, count) => script(request, count))
  const spec = { type: 'llmo', baseURL: vendor.url, defaultModel: 'm' }
  await service.call('POST /api/v1/providers', { payload: { name: 'default', spec } })
}

beforeEach(() => {
  script = () => [{ text: 'ok' }]
})
afterEach(async () => {
  await service.stop()
  await vendor?.close()
})

const json = { accept: 'application/json' }
const chat = (payload: object, token?: string) =>
  service.call('POST /api/v1/chat', { payload, headers: json, ...(token === undefined ? {} : { token }) })

describe('POST /api/v1/chat', () => {
  it('refuses a body without a message and names every problem [CHAT-003]', async () => {
    await start()
    for (const payload of [{}, { message: '' }, { message: '  ' }, { message: 7 }]) {
      const answer = await chat(payload)
      expect(answer.statusCode).toBe(400)
      expect(answer.json().error.details).toMatchObject([{ path: 'message' }])
    }
    const answer = await chat({ message: 'x', sessionId: '-no-', temperature: 9, maxTokens: 0, colour: 'red' })
    const paths = answer.json().error.details.map(({ path }: { path: string }) => path)
    expect(paths.toSorted()).toEqual(['colour', 'maxTokens', 'sessionId', 'temperature'])
    expect(vendor.requests).toEqual([])
  })

  it('is refused without a token, and to one that may only read', async () => {
    await start()
    expect((await service.call('POST /api/v1/chat', { payload: { message: 'x' }, token: null })).statusCode).toBe(401)
    const made = await service.call('POST /api/v1/tokens', { payload: { name: 'reader', role: 'viewer' } })
    expect((await chat({ message: 'x' }, made.json().token)).statusCode).toBe(403)
  })

  it('does not continue the session of a task', async () => {
    await start()
    const key = { namespace: 'default', name: 'tasks' }
    await service.ports.records.sessions.ensure(key, { create: true, sessionType: 'task' })
    const answer = await chat({ message: 'x', sessionId: 'tasks' })
    expect(answer.statusCode).toBe(404)
    expect(answer.json().error.message).toContain('chat session not found')
  })

  it('records the usage of a turn under its session and caller', async () => {
    await start()
    await chat({ message: 'x', sessionId: 'counted' })
    const usage = await service.call('GET /api/v1/usage?groupBy=session')
    expect(usage.json().items).toMatchObject([
      { key: 'default/counted', inputTokens: 20, outputTokens: 10, llmCalls: 1 },
    ])
  })

  it('reports what a turn cost, and which calls had no price', async () => {
    await start()
    const price = { currency: 'EUR', inputPerMillion: 1_000_000, outputPerMillion: 2_000_000 }
    const spec = { type: 'llmo', baseURL: vendor.url, defaultModel: 'm', price }
    await service.call('POST /api/v1/providers', { payload: { name: 'priced', spec } })
    expect((await chat({ message: 'x', provider: 'priced' })).json().usage.costs).toEqual({ EUR: 40 })
    const { usage } = (await chat({ message: 'x' })).json()
    expect(usage).toMatchObject({ inputTokens: 20, unpricedCalls: 1 })
    expect(usage.costs).toBeUndefined()
  })

  it('writes an audit record for each write of the model, with its session, request and address', async () => {
    await start()
    script = (_request, count) =>
      count === 1 ? [{ call: { name: 'create_ai_task', args: { name: 'work', prompt: 'work' } } }] : [{ text: 'done' }]
    const headers = { ...json, 'x-request-id': 'turn-1' }
    await service.call('POST /api/v1/chat', { payload: { message: 'x', sessionId: 'noted' }, headers })
    const { items } = (await service.call('GET /api/v1/audit?kind=Task')).json()
    expect(items).toMatchObject([
      { via: 'chat', verb: 'create', session: 'noted', requestId: 'turn-1', address: '127.0.0.1', allowed: true },
    ])
    expect(items[0].caller).toEqual({ kind: 'token', id: 'owner', name: 'owner' })
  })

  it('sends a comment line as a heartbeat while the model is silent [SSE-014]', async () => {
    await start({ http: { heartbeatMs: 20 } })
    let beats = 0
    let go = () => {}
    const gate = new Promise<void>((resolve) => {
      go = resolve
    })
    script = () => [{ wait: gate }, { text: 'at last' }]
    const url = await service.listen()
    const response = await fetch(`${url}/api/v1/chat`, {
      method: 'POST',
      headers: { authorization: 'Bearer owner-token-of-the-tests', 'content-type': 'application/json' },
      body: JSON.stringify({ message: 'x' }),
    })
    let text = ''
    for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += part
      beats = text.split('\n').filter((line) => line === ': heartbeat').length
      if (beats >= 2) go()
    }
    expect(beats).toBeGreaterThanOrEqual(2)
    expect(text).toContain('at last')
  })
})

describe('the heartbeat of a stream', () => {
  afterEach(() => {
    vi.useRealTimers()
  })

  it('is a comment line after 15 s of silence [SSE-017]', async () => {
    await start()
    const asked = new Promise<void>((resolve) => {
      script = () => {
        resolve()
        return [{ wait: new Promise(() => {}) }]
      }
    })
    const url = await service.listen()
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const response = await fetch(`${url}/api/v1/chat`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ownerToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ message: 'x' }),
    })
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    expect((await reader?.read())?.value).toMatch(/^id: 1\nevent: status\n/)
    await asked
    const next = reader?.read()
    let isThere = false
    void next?.then(() => {
      isThere = true
    })
    vi.advanceTimersByTime(14_999)
    await pause(20)
    expect(isThere).toBe(false)
    vi.advanceTimersByTime(1)
    expect((await next)?.value).toBe(': heartbeat\n\n')
    await reader?.cancel()
  })
})

describe('GET /api/v1/chat/config', () => {
  it('lists the settings and the names of all tools [CHAT-023] [CTOOL-022]', async () => {
    await start()
    const answer = await service.call('GET /api/v1/chat/config')
    expect(answer.json()).toEqual({
      enabled: true,
      provider: '',
      model: '',
      maxIterations: 50,
      maxDuration: '30m',
      toolTimeout: '1m',
      maxTasksPerTurn: 5,
      maxConcurrent: 10,
      maxSessionSize: 512_000,
      availableTools: expect.arrayContaining(['create_ai_task', 'list_tasks', 'create_agent', 'delete_session']),
    })
    expect(answer.json().availableTools).toHaveLength(17)
  })

  it('does not exist when chat is disabled, and neither does chat', async () => {
    await start({ usecases: { chat: { enabled: false } } })
    for (const answer of [
      await service.call('GET /api/v1/chat/config'),
      await chat({ message: 'x' }),
      await service.call('DELETE /api/v1/chat/some'),
    ]) {
      expect(answer.statusCode).toBe(404)
      expect(answer.json().error.reason).toBe('ChatDisabled')
    }
  })
})

describe('two replicas on one store', () => {
  const owner = {
    authType: 'token' as const,
    username: 'owner',
    groups: [],
    role: 'owner' as const,
    serverTools: true,
  }

  it('lock a session for one turn at a time, and either one cancels what the other runs [SESS-011] [SESS-014]', async () => {
    await start()
    const { resources, tasks, sessions } = service.usecases
    const other = createChatUsecases({
      resources,
      tasks,
      sessions,
      ports: service.ports,
      settings: {
        allowDemoProvider: true,
        ownAddresses: () => [],
        allowNetworks: [],
        idempotencyKey: randomBytes(32),
      },
      builtinTools: { names: [], list: async () => [] },
      ledger: createBudgetLedger(service.ports),
    })
    script = () => [{ text: 'x' }, { wait: new Promise(() => {}) }]
    const running = chat({ message: 'x', sessionId: 'shared' })
    await expect.poll(() => vendor.requests.length).toBe(1)
    await expect(
      other.begin(owner, 'default', { message: 'y', sessionId: 'shared' }, { origin: {} }),
    ).rejects.toMatchObject({
      reason: 'Conflict',
    })
    await other.cancel(owner, { namespace: 'default', name: 'shared' })
    expect((await running).statusCode).toBe(409)
    expect(await service.ports.records.sessions.get({ namespace: 'default', name: 'shared' })).toBeUndefined()
    await expect.poll(() => vendor.aborted).toBe(1)
  })

  it('take over the session of a replica that died', async () => {
    await start()
    const key = { namespace: 'default', name: 'left' }
    await service.ports.records.sessions.lock(key, `chat-turn.abc.${Date.now() - 1}`, { create: 'chat' })
    expect((await chat({ message: 'x', sessionId: 'left' })).statusCode).toBe(200)
    await service.ports.records.sessions.lock(key, `chat-turn.abc.${Date.now() + 60_000}`)
    expect((await chat({ message: 'x', sessionId: 'left' })).statusCode).toBe(409)
  })
})
