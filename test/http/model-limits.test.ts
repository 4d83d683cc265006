// The models that a context token allows hold wherever a model is asked: in both proxies, chat, new tasks and their fallbacks.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { contextActions } from '../../src/rules/identity/context-token.ts'
import { type Issuer, startIssuer } from '../fixtures/issuer.ts'
import { type Proxied, simpleMessage, startProxied } from '../fixtures/proxy/proxied.ts'
import { answerJson, llmaAnswer } from '../fixtures/proxy/upstream.ts'
import { trustIssuer } from './identity-members.ts'

const scope = Object.values(contextActions).join(' ')
let issuer: Issuer
let proxied: Proxied

const at = (name: string) => ({ baseURL: `${proxied.upstream.url}/${name}` })

beforeAll(async () => {
  issuer = await startIssuer()
  proxied = await startProxied(trustIssuer(issuer, { mode: 'enforce' }))
  await proxied.addProvider('spare', { ...at('spare'), defaultModel: 'spare-model' })
  const fallbacks = [{ providerRef: { name: 'spare' }, model: 'spare-model' }]
  await proxied.addProvider('main', { ...at('main'), defaultModel: 'm', fallbacks })
})
afterAll(async () => {
  await proxied.stop()
  await issuer.stop()
})
beforeEach(() => {
  proxied.upstream.reset()
  proxied.upstream.script.answer = answerJson(llmaAnswer)
})

const asked = () => proxied.upstream.received.map(({ path }) => path.split('/')[1])

/** A request with a token whose context is held to `tctx`. */
async function send(path: string, tctx: object, body?: object, headers: Record<string, string> = {}) {
  const token = await issuer.signTransaction({ scope, tctx: { namespace: 'default', ...tctx } })
  return fetch(`${proxied.url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json', 'txn-token': token, ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
}

const bytes = { 'x-svc-tools': 'disabled' }
const llmo = (model: string) => ({ model, messages: [{ role: 'user', content: 'hi' }] })
const ways: [string, (tctx: object, model: string) => Promise<Response>][] = [
  ['bytes passed on', (tctx, model) => send('/llma/v1/messages', tctx, simpleMessage(`main/${model}`), bytes)],
  ['the tool loop', (tctx, model) => send('/llma/v1/messages', tctx, simpleMessage(`main/${model}`))],
  ['a translation', (tctx, model) => send('/llmo/v1/chat/completions', tctx, llmo(`main/${model}`))],
  ['chat', (tctx, model) => send('/api/v1/chat', tctx, { message: 'hi', provider: 'main', model })],
]

describe.each(ways)('the models of a context token hold for %s', (_way, ask) => {
  it.each([
    ['model', { model: 'm' }],
    ['allowedModels', { allowedModels: ['m', 'x'] }],
    ['allowedProviders', { allowedProviders: ['main'] }],
  ])('%s', async (_limit, tctx) => {
    expect((await ask(tctx, 'm')).status).toBe(200)
    if (!('allowedProviders' in tctx)) expect((await ask(tctx, 'other')).status).toBe(403)
    expect((await ask({ allowedProviders: ['spare'] }, 'm')).status).toBe(403)
    expect(asked()).toEqual(['main'])
  })

  it.each([{ model: 'm' }, { allowedModels: ['m'] }, { allowedProviders: ['main'] }])(
    'and with %j no fallback that they exclude takes over',
    async (tctx) => {
      const refusal = { type: 'error', error: { type: 'authentication_error', message: 'bad key' } }
      proxied.upstream.script.answer = answerJson(refusal, 401)
      expect((await ask(tctx, 'm')).status).toBe(502)
      expect(asked()).toEqual(['main'])
      proxied.upstream.reset()
      proxied.upstream.script.answer = answerJson(refusal, 401)
      await ask({}, 'm')
      expect(asked()).toEqual(['main', 'spare'])
    },
  )
})

it.each(['/llma/v1/models', '/llmo/v1/models'])('%s lists the models that the token may use', async (path) => {
  const list = async (tctx: object) => {
    const { data } = (await (await send(path, tctx)).json()) as { data: { id: string }[] }
    return data.map(({ id }) => id)
  }
  expect(await list({})).toEqual(['main/m', 'spare/spare-model'])
  expect(await list({ allowedModels: ['m'] })).toEqual(['main/m'])
  expect(await list({ model: 'spare-model' })).toEqual(['spare/spare-model'])
  expect(await list({ allowedProviders: ['main'] })).toEqual(['main/m'])
})

it('a new task is limited to them, as are the fallbacks of its provider', async () => {
  const make = async (name: string, tctx: object) => {
    const ai = { providerRef: { name: 'main' }, model: 'm' }
    return (await send('/api/v1/tasks', tctx, { name, type: 'ai', prompt: 'hi', ai })).status
  }
  expect(await make('a', { allowedModels: ['m', 'spare-model'] })).toBe(201)
  expect(await make('b', { allowedProviders: ['main', 'spare'] })).toBe(201)
  expect(await make('c', { allowedModels: ['m'] })).toBe(403)
  expect(await make('d', { allowedProviders: ['main'] })).toBe(403)
})
