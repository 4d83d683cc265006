// Stored responses and tokens that are for some providers or models: of one account, each reads what it may ask for.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Issuer, startIssuer } from '../fixtures/issuer.ts'
import { type Proxied, startProxied } from '../fixtures/proxy/proxied.ts'
import { answerJson } from '../fixtures/proxy/upstream.ts'
import { trustIssuer } from './identity-members.ts'

type Answered = { id: string; output: { id: string }[] }

let issuer: Issuer
let proxied: Proxied
beforeAll(async () => {
  issuer = await startIssuer()
  proxied = await startProxied(trustIssuer(issuer, { mode: 'enforce', observe: () => {} }))
  await proxied.addProvider('one')
  await proxied.addProvider('two')
  proxied.upstream.script.answer = answerJson({
    id: 'm',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [{ type: 'text', text: 'fine' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 1, output_tokens: 1 },
  })
})
afterAll(async () => {
  await proxied.stop()
  await issuer.stop()
})

const signed = async (tctx: object) => ({
  'txn-token': await issuer.signTransaction({ scope: 'svc:providers:use', tctx }),
})

async function ask(body: object, tctx: object): Promise<Response> {
  return proxied.ask('/llmo/v1/responses', body, { token: null, headers: await signed(tctx) })
}

async function call(method: 'GET' | 'DELETE', id: string, tctx: object): Promise<number> {
  return (await fetch(`${proxied.url}/llmo/v1/responses/${id}`, { method, headers: await signed(tctx) })).status
}

const keep = async () => (await (await ask({ model: 'one/m', input: 'secret question' }, {})).json()) as Answered

it.each([
  ['another provider', { allowedProviders: ['two'] }, 'two/x'],
  ['another model', { allowedModels: ['x'] }, 'one/x'],
  ['another provider alone', { provider: 'two' }, 'two/x'],
])('a token for %s reads and deletes none, and goes on from none', async (_what, tctx, model) => {
  const { id, output } = await keep()
  expect(await call('GET', id, tctx)).toBe(403)
  expect(await call('DELETE', id, tctx)).toBe(403)
  expect((await ask({ model, input: 'more', previous_response_id: id }, tctx)).status).toBe(403)
  const reference = { type: 'item_reference', id: output[0]?.id }
  expect((await ask({ model, input: [reference, { role: 'user', content: 'more' }] }, tctx)).status).toBe(403)
  expect(await call('GET', id, {})).toBe(200)
})

it('a token for its provider and model reads it, goes on from it, and deletes it', async () => {
  const { id, output } = await keep()
  const tctx = { allowedProviders: ['one'], allowedModels: ['m'] }
  expect(await call('GET', id, tctx)).toBe(200)
  expect((await ask({ model: 'one/m', input: 'more', previous_response_id: id }, tctx)).status).toBe(200)
  const reference = { type: 'item_reference', id: output[0]?.id }
  expect((await ask({ model: 'one/m', input: [reference, { role: 'user', content: 'more' }] }, tctx)).status).toBe(200)
  expect(await call('DELETE', id, tctx)).toBe(200)
  expect(await call('GET', id, {})).toBe(404)
})
