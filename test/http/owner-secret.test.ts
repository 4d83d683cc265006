// The keys of the service's own environment are the owner's to send somewhere.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Service, startService } from './service.ts'

let service: Service
let token: string
beforeAll(async () => {
  service = await startService({ usecases: { ownerSecret: { namespace: 'default', name: 'environment' } } })
  token = (await service.ports.tokens.create({ name: 'writer', role: 'editor', serverTools: true })).token
})
afterAll(() => service.stop())

const key = { name: 'environment', key: 'VENDOR_API_KEY' }
const command = { type: 'container', command: ['true'] }
const naming: [string, object][] = [
  ['providers', { type: 'llma', baseURL: 'https://elsewhere.example', secretRef: key }],
  ['tools', { description: 'x', http: { url: 'https://elsewhere.example', authSecretRef: key, authInject: 'header' } }],
  ['tasks', { ...command, env: [{ name: 'KEY', valueFrom: { secretKeyRef: key } }] }],
]

function post(kind: string, body: { name: string; spec: object; namespace?: string }, as?: string) {
  const { name, namespace, spec } = body
  const payload = kind === 'tasks' ? { metadata: { name, ...(namespace ? { namespace } : {}) }, spec } : body
  return service.call(`POST /api/v1/${kind}`, { payload, ...(as === undefined ? {} : { token: as }) })
}

describe('the secret that stands for the environment of the service', () => {
  it.each(naming)('may be named in %s by the owner only [SECRET-004]', async (kind, spec) => {
    const refused = await post(kind, { name: 'by-another', spec }, token)
    expect(refused.statusCode).toBe(403)
    expect(refused.json().error.message).toContain('only the owner of the service may name the secret')
    expect((await post(kind, { name: 'by-the-owner', spec })).statusCode).toBe(201)
  })

  it('cannot be sent elsewhere by changing an address that the owner set', async () => {
    const made = await post('providers', { name: 'vendor', spec: { type: 'llma', secretRef: key } })
    expect(made.statusCode).toBe(201)
    const spec = { type: 'llma', secretRef: key, baseURL: 'https://elsewhere.example' }
    expect((await service.call('PUT /api/v1/providers/vendor', { payload: { spec }, token })).statusCode).toBe(403)
    expect((await service.call('PUT /api/v1/providers/vendor', { payload: { spec } })).statusCode).toBe(200)
  })

  it('does not protect secrets of the same name in other namespaces', async () => {
    const body = { name: 'own', namespace: 'team', spec: { type: 'llma', secretRef: key } }
    expect((await post('providers', body, token)).statusCode).toBe(201)
  })
})
