// The tools that a context token allows hold wherever a model is offered some: in chat with its prompt, and in both proxies.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { contextActions } from '../../src/rules/identity/context-token.ts'
import { type Issuer, startIssuer } from '../fixtures/issuer.ts'
import { type Proxied, simpleMessage, startProxied } from '../fixtures/proxy/proxied.ts'
import { answerJson, llmaAnswer } from '../fixtures/proxy/upstream.ts'
import { trustIssuer } from './identity-members.ts'

const scope = Object.values(contextActions).join(' ')
let issuer: Issuer
let proxied: Proxied

beforeAll(async () => {
  issuer = await startIssuer()
  proxied = await startProxied(trustIssuer(issuer, { mode: 'enforce' }))
  await proxied.addProvider('main', { defaultModel: 'm' })
  const http = { url: 'https://tools.example.com/' }
  for (const name of ['lookup', 'other']) {
    await proxied.create('/api/v1/tools', { name, spec: { description: `${name} things`, http } })
  }
})
afterAll(async () => {
  await proxied.stop()
  await issuer.stop()
})
beforeEach(() => {
  proxied.upstream.reset()
})

async function send(path: string, tctx: object, body: object, words = scope): Promise<Response> {
  const token = await issuer.signTransaction({ scope: words, tctx: { namespace: 'default', ...tctx } })
  return fetch(`${proxied.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json', 'txn-token': token },
    body: JSON.stringify(body),
  })
}

const turn = { message: 'delete the agent and start a task', provider: 'main' }
const chat = (tctx: object, words?: string) => send('/api/v1/chat', tctx, turn, words)
const llmo = { model: 'main/m', messages: [{ role: 'user', content: 'hi' }] }

type Sent = { tools?: { name: string }[]; system?: unknown; messages: unknown[] }
const received = (): Sent[] => proxied.upstream.received.map(({ body }) => JSON.parse(body.toString()))
const offered = () => (received()[0]?.tools ?? []).map(({ name }) => name).toSorted()

/** Calls the tool once, then ends. */
function callOnce(name: string): void {
  const call = { type: 'tool_use', id: 'toolu_1', name, input: name === 'list_tasks' ? {} : { name: 'x', prompt: 'x' } }
  proxied.upstream.script.answer = (one) =>
    answerJson(
      one.body.includes('"toolu_1"') ? llmaAnswer : { ...llmaAnswer, content: [call], stop_reason: 'tool_use' },
    )(one)
}

describe('the tools of a context token', () => {
  const two = { allowedTools: ['list_tasks', 'lookup'] }

  it('are all that chat offers and tells of', async () => {
    expect((await chat(two)).status).toBe(200)
    expect(offered()).toEqual(['list_tasks', 'lookup'])
    const prompt = JSON.stringify(received()[0]?.system)
    expect(prompt).toContain('- lookup - lookup things')
    expect(prompt).not.toMatch(/- other - |web_search \(built-in|code_exec \(built-in/)
    proxied.upstream.reset()
    expect((await chat({})).status).toBe(200)
    expect(offered()).toEqual(
      expect.arrayContaining(['cancel_task', 'create_ai_task', 'delete_agent', 'list_tasks', 'lookup', 'other']),
    )
    expect(JSON.stringify(received()[0]?.system)).toMatch(/web_search \(built-in.*- lookup - .*- other - /)
  })

  it('are all that chat runs: a call of another is refused', async () => {
    const run = async (name: string) => {
      callOnce(name)
      return ((await (await chat(two)).json()) as { toolCalls: { result: object }[] }).toolCalls
    }
    for (const name of ['create_ai_task', 'other']) {
      expect(await run(name)).toMatchObject([{ result: { success: false, errorType: 'not_found' } }])
    }
    expect((await proxied.service.call('GET /api/v1/tasks')).json().items).toEqual([])
    expect(await run('list_tasks')).toMatchObject([{ result: { success: true } }])
  })

  it('leave chat without any when none is allowed; the rights that a call asks for hold beside them', async () => {
    expect((await chat({ allowedTools: [] })).status).toBe(200)
    expect(offered()).toEqual([])
    // Without the scope for tools the rest of chat works: its own tools ask for their own scopes.
    proxied.upstream.reset()
    expect((await chat(two, scope.replace('svc:tools:use', ''))).status).toBe(200)
    expect(offered()).toEqual(['list_tasks'])
  })

  it.each([
    ['/llma/v1/messages', simpleMessage('main/m')],
    ['/llmo/v1/chat/completions', llmo],
  ])('are all that %s offers, with their namespace or without', async (path, body) => {
    for (const allowedTools of [['web_fetch', 'lookup'], 'default/web_fetch,default/lookup']) {
      proxied.upstream.reset()
      expect((await send(path, { allowedTools }, body)).status).toBe(200)
      expect(offered()).toEqual(['lookup', 'web_fetch'])
    }
    callOnce('other')
    proxied.upstream.received.length = 0
    await send(path, { allowedTools: ['web_fetch'] }, body)
    expect(offered()).toEqual(['web_fetch'])
    expect(JSON.stringify(received()[1]?.messages)).toMatch(/success[^}]*false|not offered|no tool/)
  })
})
