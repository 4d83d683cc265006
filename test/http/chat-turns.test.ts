// Turns of chat in process: what they write and when, what they keep in mind, what they cut, how their tools run.
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { readChatSettings } from '../../src/compose/settings.ts'
import { loadConfig } from '../../src/config/load.ts'
import { createEgress } from '../../src/egress/egress.ts'
import {
  readResults,
  readText,
  type ScriptedVendor,
  startVendor,
  type VendorRequest,
} from '../fixtures/llm/scripted-vendor.ts'
import { type Service, type ServiceOptions, startService } from './service.ts'

let service: Service
let vendor: ScriptedVendor
let script: Parameters<typeof startVendor>[0]

async function start(options: ServiceOptions = {}): Promise<void> {
  service = await startService(options)
  Object.assign(service.ports, { egress: createEgress() })
  vendor = await startVendor((request, count) => script(request, count))
  await makeProvider('default')
}

async function makeProvider(name: string, spec: object = {}): Promise<void> {
  const whole = { type: 'llmo', baseURL: vendor.url, defaultModel: 'm', ...spec }
  const made = await service.call('POST /api/v1/providers', { payload: { name, spec: whole } })
  expect(made.statusCode).toBe(201)
}

beforeEach(() => {
  script = () => [{ text: 'ok' }]
})
afterEach(async () => {
  vi.restoreAllMocks()
  await service.stop()
  await vendor?.close()
})

async function chat(payload: object) {
  const answer = await service.call('POST /api/v1/chat', { payload, headers: { accept: 'application/json' } })
  return { status: answer.statusCode, body: answer.json() }
}

/** Calls these tools in one turn, then ends. */
function callOnce(...calls: { name: string; args: object }[]) {
  return (request: VendorRequest) =>
    readResults(request).length === 0 ? calls.map((call) => ({ call })) : [{ text: 'done' }]
}

const promptOf = (request: VendorRequest | undefined) => readText(request?.messages[0]?.content)

describe('a turn of an agent', () => {
  it('uses the rate limit of the agent, which it shares with tasks', async () => {
    await start()
    const rateLimit = { requestsPerMinute: 2 }
    await service.call('POST /api/v1/agents', { payload: { name: 'poet', spec: { rateLimit } } })
    expect(await chat({ message: 'hello', agentRef: 'poet' })).toMatchObject({ status: 200 })
    await service.call('POST /api/v1/tasks', {
      payload: { name: 'poem', spec: { type: 'ai', prompt: 'p', agentRef: { name: 'poet' } } },
    })
    const { token } = await service.runTask('poem')
    const payload = { kind: 'Agent', requests: 1, tokens: 1 }
    const take = () => service.call('POST /internal/v1/leases/default/poet', { token, payload })
    expect((await take()).json().granted).toBe(true)
    expect((await take()).json().granted).toBe(false)
  })
})

describe('a turn without a session', () => {
  it('gets a session, created and locked before the model is first asked [CHAT-005] [CHAT-029] [SESS-003] [SESS-013]', async () => {
    await start()
    const { sessions } = service.ports.records
    const append = vi.spyOn(sessions, 'append')
    const held: unknown[] = []
    script = async () => {
      const { items } = await sessions.list({ limit: 10 })
      held.push(items.map(({ name, activeTask }) => ({ name, isHeld: activeTask !== undefined })))
      return [{ text: 'ok' }]
    }
    const { body } = await chat({ message: 'hello' })
    expect(held).toEqual([[{ name: body.sessionId, isHeld: true }]])
    expect(append).toHaveBeenCalledTimes(1)
    const key = { namespace: 'default', name: body.sessionId }
    expect((await sessions.transcript(key)).map(({ content }) => content)).toEqual(['hello', 'ok'])
    expect(await sessions.get(key)).toMatchObject({ sessionType: 'chat', messageCount: 2, inputTokens: 20 })
    expect((await sessions.get(key))?.activeTask).toBeUndefined()
  })

  it('unlocks its session after a turn with tools', async () => {
    await start()
    script = callOnce({ name: 'list_tasks', args: {} })
    const { body } = await chat({ message: 'what runs?' })
    const session = await service.ports.records.sessions.get({ namespace: 'default', name: body.sessionId })
    expect(session?.activeTask).toBeUndefined()
    expect(session?.messageCount).toBe(4)
  })
})

describe('the system prompt', () => {
  it('stays the same for all model calls of a turn, whatever changes meanwhile [CHAT-030]', async () => {
    await start()
    script = callOnce({ name: 'create_agent', args: { name: 'made-meanwhile', systemPrompt: 'help' } })
    const { body } = await chat({ message: 'create an agent' })
    expect(body.toolCalls[0]?.result).toMatchObject({ success: true })
    const [before, after] = vendor.requests.map(promptOf)
    expect(after).toBe(before)
    await chat({ message: 'and now?' })
    expect(promptOf(vendor.requests.at(-1))).toContain('made-meanwhile')
    expect(before).not.toContain('made-meanwhile')
  })

  it('comes before calls that are shown with their name, arguments and result [CHAT-018]', async () => {
    await start()
    script = callOnce({ name: 'list_tasks', args: { limit: 3 } }, { name: 'cancel_task', args: { name: 'nobody' } })
    const { body } = await chat({ message: 'what runs?' })
    expect(body.toolCalls).toEqual([
      { name: 'list_tasks', args: { limit: 3 }, result: { success: true, data: [] } },
      { name: 'cancel_task', args: { name: 'nobody' }, result: expect.objectContaining({ errorType: 'not_found' }) },
    ])
  })
})

describe('the caches of chat', () => {
  it('are rebuilt when an agent, a provider or a secret changes [CHAT-035]', async () => {
    await start()
    const keys: (string | undefined)[] = []
    const { openPipe } = service.ports.egress
    Object.assign(service.ports.egress, {
      openPipe: async (...args: Parameters<typeof openPipe>) => {
        const pipe = await openPipe(...args)
        const send: typeof pipe.send = (request, sink) => {
          keys.push(request.headers[request.headers.indexOf('authorization') + 1])
          return pipe.send(request, sink)
        }
        return { send }
      },
    })
    const remember = (key: string) =>
      service.call('POST /api/v1/secrets', { payload: { name: 'vendor', stringData: { key } } })
    await remember('made-up-key-one-111')
    await makeProvider('keyed', { secretRef: { name: 'vendor', key: 'key' } })
    await chat({ message: 'x', provider: 'keyed' })
    await service.call('DELETE /api/v1/secrets/vendor')
    expect((await chat({ message: 'x', provider: 'keyed' })).status).toBe(400)
    await remember('made-up-key-two-222')
    await chat({ message: 'x', provider: 'keyed' })
    expect(keys).toEqual(['Bearer made-up-key-one-111', 'Bearer made-up-key-two-222'])
    expect(promptOf(vendor.requests.at(-1))).not.toContain('newcomer')
    await service.call('POST /api/v1/agents', { payload: { name: 'newcomer', spec: {} } })
    await chat({ message: 'x' })
    expect(promptOf(vendor.requests.at(-1))).toContain('newcomer')
    await service.call('DELETE /api/v1/providers/default')
    expect((await chat({ message: 'x' })).status).toBe(200)
    expect(keys.at(-1)).toBe('Bearer made-up-key-two-222')
    await service.call('DELETE /api/v1/providers/keyed')
    expect((await chat({ message: 'x' })).status).toBe(400)
  })
})

describe('secrets', () => {
  it('are removed from tool results and task output before a model or a client sees them [SECRET-008]', async () => {
    await start()
    const word = 'hunter-two-is-secret'
    await service.call('POST /api/v1/secrets', { payload: { name: 'vendor', stringData: { key: word } } })
    await makeProvider('keyed', { secretRef: { name: 'vendor', key: 'key' } })
    const spec = { description: `asks with ${word}`, http: { url: 'https://a.example/' } }
    await service.call('POST /api/v1/tools', { payload: { name: 'leaky', spec } })
    const task = { name: 'talker', spec: { type: 'container', command: ['true'] } }
    await service.call('POST /api/v1/tasks', { payload: task })
    const { identity } = await service.runTask('talker')
    await service.ports.records.results.put(identity, Readable.from([Buffer.from(`it is ${word}!`)]), 'text/plain')
    await service.setStatus('Task', 'talker', { phase: 'Succeeded', attempts: 1, resultRef: { available: true } })
    script = callOnce({ name: 'list_tools', args: {} }, { name: 'fetch_task_output', args: { name: 'talker' } })
    const { body } = await chat({ message: 'tell me all', provider: 'keyed' })
    expect(body.toolCalls[1].result).toMatchObject({
      success: true,
      data: { output: expect.stringMatching(/^it is .+!$/) },
    })
    expect(body.toolCalls[0].result.data).toMatchObject([{ name: 'leaky' }])
    const { sessions } = service.ports.records
    const kept = await sessions.transcript({ namespace: 'default', name: body.sessionId })
    for (const seen of [body, vendor.requests, kept]) expect(JSON.stringify(seen)).not.toContain(word)
  })
})

describe('tool calls of one model turn', () => {
  it('run concurrently, and their results are in the order of the calls [CHAT-046]', async () => {
    await start()
    const { list } = service.ports.resources
    let reached = () => {}
    const second = new Promise<void>((resolve) => {
      reached = resolve
    })
    let isListing = false
    // The first call can only end once the second has begun.
    vi.spyOn(service.ports.resources, 'list').mockImplementation(async (kind, query) => {
      if (kind === 'Task') {
        isListing = true
        await second
      } else if (isListing && kind === 'Tool') reached()
      return list(kind, query)
    })
    script = callOnce(
      { name: 'list_tasks', args: {} },
      { name: 'list_tools', args: {} },
      { name: 'list_agents', args: {} },
    )
    const { body } = await chat({ message: 'look at all' })
    expect(body.toolCalls.map(({ name }: { name: string }) => name)).toEqual([
      'list_tasks',
      'list_tools',
      'list_agents',
    ])
    const calls = vendor.requests[1]?.messages.flatMap(({ tool_calls }) => (tool_calls ?? []) as { id: string }[])
    const results = vendor.requests[1]?.messages.flatMap(({ tool_call_id }) => tool_call_id ?? [])
    expect(results).toEqual(calls?.map(({ id }) => id))
  })

  it('end at a timeout, which the model is told [LIM-009]', async () => {
    await start({ usecases: { chat: { toolTimeoutMs: 50 } } })
    const { list } = service.ports.resources
    vi.spyOn(service.ports.resources, 'list').mockImplementation((kind, query) =>
      kind === 'Task' ? new Promise(() => {}) : list(kind, query),
    )
    script = callOnce({ name: 'list_tasks', args: {} })
    const { body } = await chat({ message: 'what runs?' })
    expect(body.toolCalls[0].result).toMatchObject({ success: false, errorType: 'timeout' })
    expect(body.message).toBe('done')
  })
})

describe('the conversation that a model sees', () => {
  it('has no messages that nobody wrote, except progress prompts and the closing prompt [CHAT-041] [CHAT-042] [CHAT-047]', async () => {
    await start({ usecases: { chat: { maxIterations: 12 } } })
    script = (request, count) =>
      (request.tools ?? []).length === 0
        ? [{ text: 'the end' }]
        : [{ call: { name: 'list_tasks', args: { limit: count } } }]
    const { body } = await chat({ message: 'go on', systemPrompt: 'be brief' })
    expect(body.message).toBe('the end')
    const { messages = [] } = vendor.requests.at(-1) ?? {}
    const texts = messages.filter(({ role }) => role === 'user').map(({ content }) => readText(content))
    expect(texts).toEqual([
      'go on',
      ...[1, 2].map(() => expect.stringMatching(/^Sum up /)),
      expect.stringMatching(/^The step limit/),
    ])
    expect(new Set(messages.map(({ role }) => role))).toEqual(new Set(['system', 'user', 'assistant', 'tool']))
    expect(messages.filter(({ role }) => role === 'system')).toHaveLength(1)
  })
})

describe('list_tasks', () => {
  it('shows the newest of a namespace, whatever their names [CTOOL-011]', async () => {
    await start()
    const make = (name: string) =>
      service.ports.resources.create('Task', {
        metadata: { namespace: 'default', name },
        spec: { type: 'container', command: ['true'] } as never,
      })
    await Promise.all(Array.from({ length: 510 }, (_, index) => make(`old-${String(index).padStart(3, '0')}`)))
    await make('the-last')
    script = callOnce({ name: 'list_tasks', args: { limit: 1 } })
    const { body } = await chat({ message: 'what is new?' })
    expect(body.toolCalls[0].result.data).toMatchObject([{ name: 'the-last' }])
  })
})

describe('blocked namespaces', () => {
  it('include those of the cluster and the one that the service runs in [CHAT-037] [CHAT-038] [MODE-018]', async () => {
    const config = loadConfig({ flags: {}, env: { HOME: '/nowhere' } })
    expect(readChatSettings(config, undefined).blockedNamespaces).not.toContain('operators')
    const settings = readChatSettings(config, 'operators')
    await start({ usecases: { chat: settings } })
    expect(settings.blockedNamespaces).toEqual([
      ...['svc-system', 'kube-system', 'kube-public', 'kube-node-lease', 'operators'],
    ])
    for (const namespace of settings.blockedNamespaces) {
      const { status, body } = await chat({ message: 'x', namespace })
      expect([status, body.error.message]).toEqual([403, `namespace "${namespace}" is not allowed for chat`])
    }
    expect(vendor.requests).toEqual([])
  })
})

describe('DELETE of a session whose turn does not end', () => {
  it('is 409 and says so', async () => {
    await start()
    const { sessions } = service.ports.records
    const { append } = sessions
    let go = () => {}
    const gate = new Promise<void>((resolve) => {
      go = resolve
    })
    vi.spyOn(sessions, 'append').mockImplementation(async (...args) => {
      await gate
      return append(...args)
    })
    const running = chat({ message: 'x', sessionId: 'slow' })
    await expect.poll(() => vi.mocked(sessions.append).mock.calls.length).toBe(1)
    const { sleep } = service.ports.clock
    Object.assign(service.ports, {
      // Its patience is over at once.
      clock: {
        ...service.ports.clock,
        sleep: (ms: number, signal?: AbortSignal) => sleep(ms === 5000 ? 0 : ms, signal),
      },
    })
    const answer = await service.call('DELETE /api/v1/chat/slow')
    expect(answer.statusCode).toBe(409)
    expect(answer.json().error.message).toContain('chat cancellation is still in progress')
    go()
    expect((await running).status).toBe(200)
    expect((await service.call('DELETE /api/v1/chat/slow')).statusCode).toBe(204)
  })
})
