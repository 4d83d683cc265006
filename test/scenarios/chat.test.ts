// Whole chat turns over a real socket, with tasks that really run.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Task } from '../../src/contract/kinds/tasks/task.ts'
import {
  readResults,
  readText,
  type ScriptedVendor,
  startVendor,
  type VendorAnswer,
  type VendorRequest,
} from '../fixtures/llm/scripted-vendor.ts'
import { pause, waitFor } from '../fixtures/time.ts'
import { chatJson, chatStream, makeProvider, openChat, readSession, textOf } from './chat-client.ts'
import { getTask, removeFolder, type Service, startService } from './service.ts'

let service: Service
const vendors: ScriptedVendor[] = []
let count = 0

beforeAll(async () => {
  service = await startService({ flags: ['--chat-max-concurrent', '10'] })
})
afterAll(async () => {
  await service.stop()
  removeFolder(service.folder)
})
afterEach(async () => {
  for (const vendor of vendors.splice(0)) await vendor.close()
})

/** A provider that plays the script. */
async function play(script: (request: VendorRequest, count: number) => VendorAnswer | Promise<VendorAnswer>) {
  const vendor = await startVendor(script)
  vendors.push(vendor)
  count += 1
  const provider = `scripted-${count}`
  await makeProvider(service, provider, vendor.url)
  return { vendor, provider }
}

/** The name of what a tool has made or looked at. */
function nameOf(result: Record<string, unknown> | undefined): string {
  return (result?.data as { name?: string } | undefined)?.name ?? ''
}

describe('a turn that plans three tasks', () => {
  it('creates, watches, fetches and sums up tasks that really run [CHAT-001] [CHAT-031] [CTOOL-002]', async () => {
    const words = ['ash', 'birch', 'cedar']
    const { vendor, provider } = await play((request, call) => {
      const results = readResults(request)
      if (call === 1) {
        return words.map((word) => ({
          call: { name: 'create_container_task', args: { name: word, command: ['sh', '-c', `echo ${word}`] } },
        }))
      }
      const names = results.map(nameOf)
      if (call === 2) return names.map((name) => ({ call: { name: 'wait_for_task', args: { name, timeout: 50 } } }))
      if (call === 3) return names.map((name) => ({ call: { name: 'fetch_task_output', args: { name } } }))
      return [
        { text: 'They said ' },
        { text: results.map((r) => (r.data as { output: string }).output.trim()).join(', ') },
      ]
    })
    const frames = await chatStream(service, { message: 'say three trees', provider })
    expect(textOf(frames)).toBe('They said ash, birch, cedar')
    expect(vendor.requests).toHaveLength(4)
    const done = frames.at(-1)
    expect(done?.event).toBe('done')
    expect(done?.data.usage).toMatchObject({ llmCalls: 4, toolCalls: 9, tasksCreated: 3, inputTokens: 80 })
    const sessionId = frames[0]?.data.sessionId ?? ''
    const list = await service.call<{ items: Task[] }>(
      'GET',
      `/api/v1/tasks?labelSelector=${encodeURIComponent(`svc.ai/chat-session=${sessionId}`)}`,
    )
    expect(list.body.items.map((task) => task.status?.phase)).toEqual(['Succeeded', 'Succeeded', 'Succeeded'])
    expect(new Set(list.body.items.map(({ spec }) => spec.type))).toEqual(new Set(['container']))
    // The prompt is one and the same in all calls of the turn.
    expect(new Set(vendor.requests.map(({ messages }) => readText(messages[0]?.content))).size).toBe(1)
  })

  it('says so when a task still runs at the end, whatever the model claims', async () => {
    const { provider } = await play((_request, call) =>
      call === 1
        ? [{ call: { name: 'create_container_task', args: { name: 'slow', command: ['sleep', '30'] } } }]
        : [{ text: 'All done.' }],
    )
    const { body } = await chatJson(service, { message: 'start a slow one', provider })
    expect(body.message).toMatch(/^All done\.\n\n\[Not finished yet: chat-.* \((Pending|Running)\)/)
    const name = nameOf(body.toolCalls[0]?.result)
    const { provider: second } = await play((_request, call) =>
      call === 1 ? [{ call: { name: 'cancel_task', args: { name } } }] : [{ text: 'Cancelled.' }],
    )
    const cancelled = await chatJson(service, { message: 'stop it', provider: second, sessionId: body.sessionId })
    expect(cancelled.body.toolCalls[0]?.result).toMatchObject({ success: true })
    await waitFor(async () => (await getTask(service, name)).status?.phase === 'Cancelled', 'the end of the task')
  })

  it('waits no longer than asked, and goes on [CTOOL-007]', async () => {
    const make = { name: 'create_container_task', args: { name: 'slow', command: ['sleep', '30'] } }
    const steps = [
      (name: string) => ({ name: 'wait_for_task', args: { name, timeout: 0.2 } }),
      (name: string) => ({ name: 'check_task_progress', args: { name } }),
      (name: string) => ({ name: 'cancel_task', args: { name } }),
    ]
    const { provider } = await play((request, call) => {
      if (call === 1) return [{ call: make }]
      const step = steps[call - 2]
      return step === undefined ? [{ text: 'Stopped it.' }] : [{ call: step(nameOf(readResults(request)[0])) }]
    })
    const { body } = await chatJson(service, { message: 'start and stop', provider })
    expect(body.toolCalls.map((call) => call.name)).toEqual([
      'create_container_task',
      'wait_for_task',
      'check_task_progress',
      'cancel_task',
    ])
    expect(body.toolCalls[1]?.result).toMatchObject({
      success: true,
      data: { phase: expect.stringMatching(/Pending|Running/) },
    })
    expect(body.toolCalls[2]?.result).toMatchObject({
      data: { phase: expect.any(String), message: expect.any(String) },
    })
  })

  it('tells the phase and the conditions of a task [CTOOL-004]', async () => {
    const command = ['sh', '-c', 'exit 3']
    const { provider } = await play((request, call) => {
      if (call === 1) return [{ call: { name: 'create_container_task', args: { name: 'fails', command } } }]
      const name = nameOf(readResults(request)[0])
      if (call === 2) return [{ call: { name: 'wait_for_task', args: { name, timeout: 30 } } }]
      return call === 3 ? [{ call: { name: 'check_task_progress', args: { name } } }] : [{ text: 'It failed.' }]
    })
    const { body } = await chatJson(service, { message: 'what became of it?', provider })
    const name = nameOf(body.toolCalls[0]?.result)
    const { status } = await getTask(service, name)
    expect(status?.conditions?.length).toBeGreaterThan(0)
    const conditions = status?.conditions?.map(({ type, status: state, reason, message }) => ({
      type,
      status: state,
      reason,
      message,
    }))
    expect(body.toolCalls[2]?.result).toMatchObject({ data: { phase: 'Failed', message: status?.message, conditions } })
  })
})

describe('a wrong tool argument', () => {
  it('comes back with what is wrong and what to do, and is corrected [ERR-001]', async () => {
    const { provider } = await play((request, call) => {
      if (call === 1) {
        const args = { name: 'x', command: ['true'], timeout: 'soon', colour: 'red' }
        return [{ call: { name: 'create_container_task', args } }]
      }
      const [result] = readResults(request)
      if (call === 2) {
        expect(result).toMatchObject({ success: false, errorType: 'invalid_arguments' })
        expect(result?.error).toMatch(/timeout.*duration.*colour/)
        expect(result?.suggestion).toMatch(/call again/)
        return [{ call: { name: 'create_container_task', args: { name: 'x', command: ['true'], timeout: '10s' } } }]
      }
      return call === 3 && result?.success
        ? [{ call: { name: 'wait_for_task', args: { name: nameOf(result) } } }]
        : [{ text: 'ok' }]
    })
    const { body } = await chatJson(service, { message: 'make a task', provider })
    expect(body.toolCalls.map((call) => call.result.success)).toEqual([false, true, true])
    expect(body.message).toBe('ok')
  })
})

describe('a stuck model', () => {
  it('is warned at the third identical call and ends with a summary without tools [CHAT-032]', async () => {
    const { vendor, provider } = await play((request) =>
      request.tools === undefined || request.tools.length === 0
        ? [{ text: 'Nothing more to find.' }]
        : [{ call: { name: 'list_tasks', args: { limit: 1 } } }],
    )
    const { body } = await chatJson(service, { message: 'look again and again', provider })
    expect(body.message).toBe('Nothing more to find.')
    expect(vendor.requests.length).toBeLessThan(15)
    const shown = vendor.requests.map(({ messages }) => JSON.stringify(messages))
    expect(shown.findIndex((text) => text.includes('Warning: list_tasks'))).toBe(3)
    const { entries } = await readSession(service, body.sessionId)
    const prompts = entries.filter((entry) => entry.role === 'system').map(({ content }) => content)
    expect(prompts.length).toBeGreaterThan(1)
    for (const prompt of prompts) expect(prompt).toMatch(/^(Warning: list_tasks has|Sum up |The step limit is reached)/)
    expect(entries.at(-1)).toMatchObject({ role: 'assistant', content: 'Nothing more to find.' })
  })
})

describe('an upstream that fails', () => {
  it('before the first word: an error event and done, and the question is kept [SSE-006] [SSE-012] [SESS-013]', async () => {
    const { provider } = await play(() => ({ status: 401, message: 'bad key', type: 'authentication_error' }))
    const frames = await chatStream(service, { message: 'hello', provider })
    expect(frames.map(({ event }) => event)).toEqual(['status', 'error', 'done'])
    expect(frames[1]?.data.error).toMatchObject({
      code: 'UpstreamFailed',
      message: expect.stringContaining('API key'),
    })
    const { entries } = await readSession(service, frames[0]?.data.sessionId ?? '')
    expect(entries).toMatchObject([{ role: 'user', content: 'hello' }])
  })

  it('before the first word: a JSON error with the upstream meaning and the session', async () => {
    const { provider } = await play(() => ({ status: 404, message: 'no such model', type: 'not_found_error' }))
    const answer = await chatJson<{ error: { reason: string; details: { path: string; message: string }[] } }>(
      service,
      {
        message: 'hello',
        provider,
      },
    )
    expect(answer.status).toBe(404)
    expect(answer.body.error.details).toContainEqual({
      path: 'sessionId',
      message: expect.stringMatching(/^chat-session-[0-9a-f]{12}$/),
    })
  })

  it('in the middle of a text: what came is kept [SESS-013]', async () => {
    const { provider } = await play(() => [{ text: 'Half a sen' }, { wait: pause(50) }, { cut: true }])
    const frames = await chatStream(service, { message: 'tell me', provider })
    expect(frames.at(-2)?.event).toBe('error')
    expect(frames.at(-1)?.event).toBe('done')
    const { entries } = await readSession(service, frames[0]?.data.sessionId ?? '')
    expect(entries.at(-1)).toMatchObject({ role: 'assistant', content: 'Half a sen' })
  })

  it('after tools: calls and results are kept, and the next turn goes on [SESS-013] [CHAT-004]', async () => {
    const { provider } = await play((_request, call) =>
      call === 1 ? [{ call: { name: 'list_agents', args: {} } }] : { status: 400, message: 'odd request' },
    )
    const frames = await chatStream(service, { message: 'who is there', provider })
    const sessionId = frames[0]?.data.sessionId ?? ''
    const { entries, detail } = await readSession(service, sessionId)
    expect(entries.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
    expect(detail.activeTask).toBeUndefined()
    const next = await play((request) => [{ text: `${request.messages.map(({ role }) => role).slice(1)}` }])
    const { body } = await chatJson(service, { message: 'go on', provider: next.provider, sessionId })
    expect(body.message).toBe('user,assistant,tool,user')
  })
})

describe('a client that goes away', () => {
  it('ends the turn, the upstream call and the slot at once [CHAT-033] [CHAT-044] [SESS-013]', async () => {
    const { vendor, provider } = await play(() => [{ text: 'One, ' }, { wait: new Promise(() => {}) }])
    const stream = await openChat(service, { message: 'count', provider })
    await stream.next('message')
    stream.leave()
    await waitFor(() => vendor.aborted === 1, 'the upstream call to be cancelled')
    const sessionId = stream.frames[0]?.data.sessionId ?? ''
    const { entries } = await waitFor(async () => {
      const session = await readSession(service, sessionId)
      return session.detail.activeTask === undefined ? session : undefined
    }, 'the session to be let go')
    expect(entries.map(({ content }) => content)).toEqual(['count', 'One, '])
  })

  it('ends a JSON turn as well [CHAT-044]', async () => {
    const { vendor, provider } = await play(() => [{ text: 'x' }, { wait: new Promise(() => {}) }])
    const leaving = new AbortController()
    const asked = fetch(new URL('/api/v1/chat', service.url), {
      method: 'POST',
      headers: {
        authorization: `Bearer ${service.token}`,
        'content-type': 'application/json',
        accept: 'application/json',
      },
      body: JSON.stringify({ message: 'wait', provider }),
      signal: leaving.signal,
    })
    await waitFor(() => vendor.requests.length === 1, 'the upstream call')
    leaving.abort()
    await expect(asked).rejects.toThrow()
    await waitFor(() => vendor.aborted === 1, 'the upstream call to be cancelled')
  })
})

describe('the end of a session by DELETE', () => {
  it('cancels the running turn and removes the session [SESS-005] [SESS-014]', async () => {
    const { vendor, provider } = await play(() => [{ text: 'x' }, { wait: new Promise(() => {}) }])
    const stream = await openChat(service, { message: 'wait', provider })
    await stream.next('message')
    const sessionId = stream.frames[0]?.data.sessionId ?? ''
    expect((await service.call('DELETE', `/api/v1/chat/${sessionId}`)).status).toBe(204)
    const frames = await stream.ended
    expect(frames.slice(-2).map(({ event }) => event)).toEqual(['error', 'done'])
    await waitFor(() => vendor.aborted === 1, 'the upstream call to be cancelled')
    expect((await service.call('GET', `/api/v1/sessions/${sessionId}`)).status).toBe(404)
    expect((await service.call('DELETE', `/api/v1/chat/${sessionId}`)).status).toBe(404)
  })
})

describe('two turns of one session', () => {
  it('are not run at once: the second is 409 [SESS-011]', async () => {
    let go = () => {}
    const gate = new Promise<void>((resolve) => {
      go = resolve
    })
    const { provider } = await play(() => [{ text: 'x' }, { wait: gate }])
    const sessionId = 'chat-session-shared'
    const stream = await openChat(service, { message: 'wait', provider, sessionId })
    await stream.next('message')
    const second = await chatJson<{ error: { reason: string } }>(service, { message: 'me too', provider, sessionId })
    expect(second.status).toBe(409)
    go()
    await stream.ended
    expect((await chatJson(service, { message: 'now', provider, sessionId })).status).toBe(200)
  })
})

describe('fifty callers at ten slots', () => {
  it('get an answer or a 429 with Retry-After, and all slots come back [CHAT-043] [LIM-011]', async () => {
    let go = () => {}
    const gate = new Promise<void>((resolve) => {
      go = resolve
    })
    const { vendor, provider } = await play(() => [{ wait: gate }, { text: 'ok' }])
    const answers = Array.from({ length: 50 }, (_, index) =>
      chatJson<{ message?: string }>(service, { message: `caller ${index}`, provider }),
    )
    const refused: Awaited<(typeof answers)[number]>[] = []
    for (const answer of answers) void answer.then((given) => given.status === 429 && refused.push(given))
    await waitFor(() => vendor.requests.length === 10 && refused.length === 40, 'ten turns and forty refusals')
    go()
    const all = await Promise.all(answers)
    expect(all.filter(({ status }) => status === 200)).toHaveLength(10)
    expect(refused).toHaveLength(40)
    expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThan(0)
    const after = await Promise.all(Array.from({ length: 10 }, () => chatJson(service, { message: 'again', provider })))
    expect(after.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200))
  })
})
