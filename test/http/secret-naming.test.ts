// Who may send a credential somewhere: naming a Secret needs the right to read it, and so does changing where it goes.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Issuer, startIssuer } from '../fixtures/issuer.ts'
import { trustIssuer } from './identity-members.ts'
import { type Service, startService } from './service.ts'

let issuer: Issuer
let service: Service
beforeAll(async () => {
  issuer = await startIssuer()
  service = await startService(trustIssuer(issuer, { mode: 'enforce' }))
  const secret = { name: 'key', stringData: { token: 'value' } }
  await service.call('POST /api/v1/secrets', { payload: secret })
  await service.call('POST /api/v1/providers', {
    payload: { name: 'vendor', spec: provider('https://vendor.example.com') },
  })
  await service.call('POST /api/v1/tools', { payload: { name: 'search', spec: tool('https://search.example.com/') } })
})
afterAll(async () => {
  await service.stop()
  await issuer.stop()
})

const provider = (baseURL: string) => ({ type: 'llma', baseURL, defaultModel: 'm', secretRef: { name: 'key' } })
const tool = (url: string) => ({ description: 'd', http: { url, authSecretRef: { name: 'key', key: 'token' } } })

const write = 'svc:providers:write svc:tools:write'
const read = 'svc:secrets:read'
const spend = 'svc:secrets:credentials:read'

async function put(line: string, spec: object, scope: string, more: { tctx?: object; labels?: object } = {}) {
  const headers = { 'txn-token': await issuer.signTransaction({ scope, tctx: more.tctx ?? {} }) }
  const metadata = more.labels === undefined ? {} : { metadata: { labels: more.labels } }
  return (await service.call(line, { token: null, headers, payload: { ...metadata, spec } })).statusCode
}

describe('the address that a credential is sent to', () => {
  it('can be changed only by somebody who may read the secret and use the object [SECRET-005]', async () => {
    const places = [
      ['PUT /api/v1/providers/vendor', provider('https://elsewhere.example.com')],
      ['PUT /api/v1/tools/search', tool('https://elsewhere.example.com/')],
    ] as const
    for (const [line, spec] of places) {
      expect([line, await put(line, spec, write)]).toEqual([line, 403])
      expect([line, await put(line, spec, `${write} ${spend}`)]).toEqual([line, 403])
      expect([line, await put(line, spec, `${write} ${read}`)]).toEqual([line, 403])
      expect([line, await put(line, spec, `${write} ${read} ${spend}`, { tctx: { secret: 'other' } })]).toEqual([
        line,
        403,
      ])
    }
    for (const [line, spec] of places)
      expect(await put(line, spec, `${write} ${read} ${spend}`, { tctx: { secret: 'key' } })).toBe(200)
  })

  it('needs no check when a label changes', async () => {
    const spec = provider('https://vendor.example.com')
    const named = (name: string) => service.call('POST /api/v1/providers', { payload: { name, spec } })
    expect((await named('labelled')).statusCode).toBe(201)
    const labels = { team: 'a' }
    expect(await put('PUT /api/v1/providers/labelled', spec, write, { labels })).toBe(200)
    const elsewhere = { ...spec, defaultModel: 'other' }
    expect(await put('PUT /api/v1/providers/labelled', elsewhere, write, { labels })).toBe(403)
  })

  it('stays with its credential: somebody who may not read the secret can only remove it', async () => {
    const { secretRef: _gone, ...bare } = provider('https://elsewhere.example.com')
    expect(await put('PUT /api/v1/providers/vendor', bare, write)).toBe(200)
    expect(await put('PUT /api/v1/providers/vendor', provider('https://elsewhere.example.com'), write)).toBe(403)
  })
})
