// Lists show what a context token allows and leave out the rest, page by page; only a refused request or call is a refusal.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ContextAuthorization } from '../../src/auth/context-token/authorizer.ts'
import { type ContextMode, contextActions } from '../../src/rules/identity/context-token.ts'
import { type Issuer, startIssuer } from '../fixtures/issuer.ts'
import { type Proxied, simpleMessage, startProxied } from '../fixtures/proxy/proxied.ts'
import { answerJson, llmaAnswer } from '../fixtures/proxy/upstream.ts'
import { trustIssuer } from './identity-members.ts'

const scope = Object.values(contextActions).join(' ')
const told: ContextAuthorization[] = []
const refusals = () => told.filter(({ result }) => result !== 'allowed')
const modes: Exclude<ContextMode, 'off'>[] = ['enforce', 'audit']
let issuer: Issuer
let services: Record<'enforce' | 'audit', Proxied>

async function open(mode: ContextMode): Promise<Proxied> {
  const proxied = await startProxied(trustIssuer(issuer, { mode, observe: (one) => told.push(one) }))
  const http = { url: 'https://tools.example.com/' }
  for (const name of ['one', 'three', 'two']) {
    await proxied.addProvider(`p-${name}`, { defaultModel: 'm' })
    await proxied.create('/api/v1/tools', { name: `t-${name}`, spec: { description: 'd', http } })
    await proxied.create('/api/v1/agents', { name: `a-${name}`, spec: {} })
  }
  return proxied
}

beforeAll(async () => {
  issuer = await startIssuer()
  services = { enforce: await open('enforce'), audit: await open('audit') }
})
afterAll(async () => {
  for (const mode of modes) await services[mode].stop()
  await issuer.stop()
})
beforeEach(() => {
  told.length = 0
  for (const mode of modes) services[mode].upstream.reset()
})

async function send(
  mode: 'enforce' | 'audit',
  path: string,
  tctx: object,
  more: { body?: object; scope?: string } = {},
) {
  const context = { scope, ...more, tctx: { namespace: 'default', ...tctx } }
  const token = await issuer.signTransaction({ scope: context.scope, tctx: context.tctx })
  return fetch(`${services[mode].url}${path}`, {
    method: more.body === undefined ? 'GET' : 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json', 'txn-token': token },
    ...(more.body === undefined ? {} : { body: JSON.stringify(more.body) }),
  })
}

type Page = {
  items: { name?: string; metadata?: { name: string } }[]
  metadata: { continue?: string; remainingItemCount?: number }
}

/** The names on each page. */
async function list(path: string, tctx: object, limit = 100): Promise<string[][]> {
  const pages: string[][] = []
  let next = ''
  do {
    const answer = await send('enforce', `${path}?limit=${limit}${next}`, tctx)
    expect(answer.status).toBe(200)
    const { items, metadata } = (await answer.json()) as Page
    pages.push(items.map(({ name, metadata: given }) => name ?? given?.name ?? ''))
    expect(metadata.remainingItemCount).toBeUndefined()
    next = metadata.continue === undefined ? '' : `&continue=${metadata.continue}`
  } while (next !== '')
  return pages
}

describe('a list for a context token', () => {
  it.each([
    ['/api/v1/providers', { allowedProviders: ['p-three', 'p-two'] }, ['p-three', 'p-two']],
    ['/api/v1/providers', { provider: 'p-two' }, ['p-two']],
    ['/api/v1/providers', { allowedProviders: 'default/p-one' }, ['p-one']],
    ['/api/v1/providers', { allowedProviders: [] }, []],
    ['/api/v1/agents', { allowedAgents: ['a-three', 'a-two'] }, ['a-three', 'a-two']],
    ['/api/v1/agents', { agent: 'a-two' }, ['a-two']],
    ['/api/v1/tools', { allowedTools: ['t-two', 'web_fetch', 't-one'] }, ['web_fetch', 't-one', 't-two']],
    ['/api/v1/tools', { allowedTools: [] }, []],
    ['/api/v1/tools', { allowedTools: ['t-three'] }, ['t-three']],
  ])('%s with %j shows only those items, on pages of any size', async (path, tctx, names) => {
    expect(await list(path, tctx)).toEqual([names])
    for (const limit of [1, 2]) expect((await list(path, tctx, limit)).flat()).toEqual(names)
    expect(refusals()).toEqual([])
  })

  it('shows the allowed models only, and none where none is allowed', async () => {
    for (const path of ['/llma/v1/models', '/llmo/v1/models']) {
      const read = async (tctx: object) => {
        const answer = await send('enforce', path, tctx)
        expect(answer.status).toBe(200)
        return ((await answer.json()) as { data: { id: string }[] }).data.map(({ id }) => id)
      }
      expect(await read({ allowedProviders: ['p-one'] })).toEqual(['p-one/m'])
      expect(await read({ allowedProviders: [] })).toEqual([])
      expect(await read({ allowedModels: ['other'] })).toEqual([])
    }
    expect(refusals()).toEqual([])
  })

  it.each([
    ['/api/v1/providers', 'p-one', { allowedProviders: ['p-two'] }],
    ['/api/v1/agents', 'a-one', { allowedAgents: ['a-two'] }],
    ['/api/v1/tools', 't-one', { allowedTools: ['t-two'] }],
    ['/api/v1/tools', 'web_fetch', { allowedTools: ['t-two'] }],
  ])('does not make another object readable at %s/%s, and that refusal is recorded', async (path, name, tctx) => {
    expect((await send('enforce', `${path}/${name}`, tctx)).status).toBe(403)
    expect(refusals()).toMatchObject([{ result: 'denied', reason: 'constraint' }])
  })

  it('still needs its scope, its namespace and valid constraints', async () => {
    for (const path of ['/api/v1/providers', '/api/v1/tools', '/api/v1/agents']) {
      expect((await send('enforce', path, {}, { scope: 'svc:tasks:list' })).status).toBe(403)
      expect((await send('enforce', `${path}?namespace=other`, {})).status).toBe(403)
      expect((await send('enforce', path, { allowedTools: [1] })).status).toBe(403)
    }
    expect((await send('enforce', '/api/v1/tasks', { task: 'build' })).status).toBe(403)
    expect((await send('enforce', '/api/v1/secrets', { secret: 'key' })).status).toBe(403)
  })
})

const tctx = { allowedTools: ['list_tasks'], allowedProviders: ['p-one'], allowedModels: ['m'] }
const turn = { message: 'delete the agent and start a task', provider: 'p-one' }
const ways: [string, string, object][] = [
  ['chat', '/api/v1/chat', turn],
  ['the llma proxy', '/llma/v1/messages', simpleMessage('p-one/m')],
  ['the llmo proxy', '/llmo/v1/chat/completions', { model: 'p-one/m', messages: [{ role: 'user', content: 'hi' }] }],
]

describe.each(modes)('in mode %s', (mode) => {
  it.each(ways)('what %s does not offer is not recorded as a refusal [CTX-020]', async (_way, path, body) => {
    expect((await send(mode, path, tctx, { body })).status).toBe(200)
    expect(refusals()).toEqual([])
    expect(told).not.toEqual([])
  })

  it('what a list leaves out is not recorded as a refusal', async () => {
    for (const path of ['/api/v1/providers', '/api/v1/tools', '/llma/v1/models', '/llmo/v1/models']) {
      expect((await send(mode, path, tctx)).status).toBe(200)
    }
    expect(refusals()).toEqual([])
  })
})

it.each([
  ['/api/v1/chat', 'list_agents', turn],
  ['/llma/v1/messages', 'file_read', simpleMessage('p-one/m')],
])('in audit mode a call at %s of the tool %s is recorded once [CTX-020]', async (path, name, body) => {
  const call = { type: 'tool_use', id: 'toolu_1', name, input: name === 'file_read' ? { path: 'x' } : {} }
  services.audit.upstream.script.answer = (one) =>
    answerJson(
      one.body.includes('"toolu_1"') ? llmaAnswer : { ...llmaAnswer, content: [call], stop_reason: 'tool_use' },
    )(one)
  expect((await send('audit', path, tctx, { body })).status).toBe(200)
  const access = { verb: 'use', kind: 'Tool', name }
  expect(refusals()).toMatchObject([{ action: 'tool-use', result: 'audit', reason: 'constraint', access }])
})
