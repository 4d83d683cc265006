// The limits of chat, set low by their flags and by their environment names.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { readResults, readText, type ScriptedVendor, startVendor } from '../fixtures/llm/scripted-vendor.ts'
import { chatJson, chatStream, makeProvider, readSession, textOf } from './chat-client.ts'
import { removeFolder, type Service, startService } from './service.ts'

let service: Service
let vendor: ScriptedVendor
let script: Parameters<typeof startVendor>[0]

beforeAll(async () => {
  service = await startService({
    flags: ['--chat-max-iterations', '4', '--chat-max-duration', '3s', '--chat-tool-timeout', '1500ms'].concat([
      ...['--chat-max-tasks-per-turn', '2', '--chat-provider', 'chosen', '--allow-network', '127.0.0.0/8'],
    ]),
    env: { SVC_CHAT_MAX_SESSION_SIZE: '4000', SVC_CHAT_MODEL: 'last-resort' },
  })
  vendor = await startVendor((request, count) => script(request, count))
  const modelless = { name: 'chosen', spec: { type: 'llmo', baseURL: vendor.url } }
  await service.call('POST', '/api/v1/providers', modelless)
  await makeProvider(service, 'default', vendor.url)
})
afterAll(async () => {
  await service.stop()
  await vendor.close()
  removeFolder(service.folder)
})
afterEach(() => {
  vendor.requests.length = 0
})

describe('--chat-enabled', () => {
  it('is on unless it is said otherwise, and turns chat off [LIM-001] [LIM-002]', async () => {
    const { body } = await service.call<{ enabled: boolean }>('GET', '/api/v1/chat/config')
    expect(body.enabled).toBe(true)
    const off = await startService({ flags: ['--chat-enabled=false'] })
    try {
      for (const [method, path] of [
        ['POST', '/api/v1/chat'],
        ['GET', '/api/v1/chat/config'],
        ['DELETE', '/api/v1/chat/some'],
      ] as const) {
        const sent = method === 'POST' ? { message: 'x' } : undefined
        const answer = await off.call<{ error: { reason: string } }>(method, path, sent)
        expect([answer.status, answer.body.error.reason]).toEqual([404, 'ChatDisabled'])
      }
    } finally {
      await off.stop()
      removeFolder(off.folder)
    }
  })
})

describe('the limits of a chat turn', () => {
  it('begin with the default provider and model [LIM-003] [LIM-004]', async () => {
    script = () => [{ text: 'ok' }]
    const [status] = await chatStream(service, { message: 'x' })
    expect(status?.data).toMatchObject({ provider: 'chosen', model: 'last-resort' })
    const named = await chatStream(service, { message: 'x', provider: 'default' })
    expect(named[0]?.data).toMatchObject({ provider: 'default', model: 'test-model' })
  })

  it('cap the model calls: the last one sums up without tools [LIM-005] [CHAT-032]', async () => {
    let calls = 0
    script = (request) => {
      calls += 1
      if (request.tools === undefined || request.tools.length === 0) return [{ text: 'In short: nothing.' }]
      return [{ call: { name: 'list_tasks', args: { limit: calls } } }]
    }
    const { body } = await chatJson(service, { message: 'go on and on' })
    expect(vendor.requests).toHaveLength(4)
    expect(body.message).toBe('In short: nothing.')
    expect(body.usage.llmCalls).toBe(4)
  })

  it('cap the tasks of a turn, also when they are asked for side by side [LIM-012] [CHAT-032]', async () => {
    const task = {
      call: { name: 'create_container_task', args: { name: 'a', command: ['true'], schedule: '0 0 1 1 *' } },
    }
    script = (request) =>
      readResults(request).length === 0 ? [task, task, task, task] : [{ text: 'made what I could' }]
    const { body } = await chatJson(service, { message: 'make four' })
    const outcomes = body.toolCalls.map(({ result }) => result.errorType ?? 'made')
    expect(outcomes).toEqual(['made', 'made', 'limit_reached', 'limit_reached'])
    expect(body.usage.tasksCreated).toBe(2)
    // The next message has a share of its own.
    const next = await chatJson(service, { message: 'two more', sessionId: body.sessionId })
    expect(next.body.usage.tasksCreated).toBe(2)
  })

  it('let wait_for_task answer before the tool timeout, with the phase', async () => {
    script = (request, count) => {
      const [result] = readResults(request)
      const name = (result?.data as { name?: string } | undefined)?.name ?? ''
      if (count === 1)
        return [{ call: { name: 'create_container_task', args: { name: 's', command: ['sleep', '20'] } } }]
      if (count === 2) return [{ call: { name: 'wait_for_task', args: { name, timeout: 60 } } }]
      return count === 3 ? [{ call: { name: 'cancel_task', args: { name } } }] : [{ text: 'ok' }]
    }
    const { body } = await chatJson(service, { message: 'wait for it' })
    const waited = body.toolCalls[1]?.result as { success: boolean; data?: { phase: string; elapsed: string } }
    expect(waited).toMatchObject({ success: true, data: { phase: expect.stringMatching(/Pending|Running/) } })
  })

  it('end the turn with what there is when the time is over [CHAT-032] [LIM-007] [SESS-013]', async () => {
    script = () => [{ text: 'So far so good.' }, { wait: new Promise(() => {}) }]
    const frames = await chatStream(service, { message: 'take your time' })
    expect(textOf(frames)).toMatch(/^So far so good\.\n\n.*time limit/)
    expect(frames.at(-1)?.event).toBe('done')
    expect(frames.some(({ event }) => event === 'error')).toBe(false)
    const { entries } = await readSession(service, frames[0]?.data.sessionId ?? '')
    expect(entries.at(-1)?.content).toMatch(/^So far so good\.\n\n.*time limit/)
  })

  it('cut a session that grows too large, but never its first message or half an exchange [LIM-013] [SESS-004] [SESS-009]', async () => {
    const sessionId = 'growing'
    let calls = 0
    script = (request) => {
      calls += 1
      const isAnswered = request.messages.at(-1)?.role === 'tool'
      return isAnswered
        ? [{ text: `answer ${calls} ${'y'.repeat(300)}` }]
        : [{ call: { name: 'list_agents', args: {} } }]
    }
    await chatJson(service, { message: 'remember the number 4711', sessionId })
    for (let turn = 0; turn < 12; turn += 1) {
      const { status } = await chatJson(service, { message: `turn ${turn} ${'x'.repeat(300)}`, sessionId })
      expect(status).toBe(200)
      const messages = vendor.requests.at(-1)?.messages ?? []
      expect(readText(messages.find(({ role }) => role === 'user')?.content)).toContain('4711')
    }
    const { entries, detail } = await readSession(service, sessionId)
    expect(entries[0]).toMatchObject({ role: 'user', content: 'remember the number 4711' })
    expect(JSON.stringify(entries).length).toBeLessThan(6000)
    expect(detail.messageCount).toBe(entries.length)
    const called = new Set(entries.flatMap(({ toolCalls = [] }) => toolCalls.map(({ id }) => id)))
    for (const entry of entries.filter(({ role }) => role === 'tool')) expect(called).toContain(entry.toolCallID)
  })
})

describe('the same flags bind the proxies', () => {
  type Message = { content: { type: string; text?: string }[]; stop_reason: string }

  /** A message without streaming, with the tools of the service. */
  async function ask(): Promise<Message> {
    const answer = await fetch(`${service.url}/llma/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': service.token },
      body: JSON.stringify({ model: 'default/m', max_tokens: 99, messages: [{ role: 'user', content: 'go on' }] }),
    })
    expect(answer.status).toBe(200)
    return (await answer.json()) as Message
  }
  const textIn = ({ content }: Message) => content.map(({ text = '' }) => text).join('\n')

  it('in the number of model calls [LIM-006] [LIM-014]', async () => {
    let calls = 0
    script = (request) => {
      calls += 1
      if (request.tools === undefined || request.tools.length === 0) return [{ text: 'In short: nothing.' }]
      return [{ call: { name: 'file_read', args: { path: `${calls}.txt` } } }]
    }
    expect(textIn(await ask())).toContain('In short: nothing.')
    expect(vendor.requests).toHaveLength(4)
  })

  it('in the time of a whole request, passed through or not [LIM-008] [LIM-017]', async () => {
    script = () => [{ text: 'So far so good.' }, { wait: new Promise(() => {}) }]
    const message = await ask()
    expect(textIn(message)).toMatch(/time limit/)
    expect(message.stop_reason).toBe('end_turn')
    const passed = await fetch(`${service.url}/llmo/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': service.token, 'x-svc-tools': 'disabled' },
      body: JSON.stringify({ model: 'default/m', stream: true, messages: [{ role: 'user', content: 'go on' }] }),
    })
    expect(await passed.text()).toMatch(/So far so good\.[\s\S]*time limit[\s\S]*\[DONE\]/)
  })

  it('in the time of one tool, after which the model goes on [LIM-010] [LIM-017]', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`
    const made = await service.call('POST', '/api/v1/tools', {
      name: 'slow',
      spec: { description: 'd', http: { url } },
    })
    expect(made.status).toBe(201)
    script = (_request, count) => (count === 1 ? [{ call: { name: 'slow', args: {} } }] : [{ text: 'without it then' }])
    expect(textIn(await ask())).toContain('without it then')
    const [result] = vendor.requests[1]?.messages.filter(({ role }) => role === 'tool') ?? []
    expect(String(result?.content)).toMatch(/"success":false.*1\.5 ?s|"success":false.*time/i)
    silent.closeAllConnections()
    silent.close()
    await service.call('DELETE', '/api/v1/tools/slow')
  })
})
