import { describe, expect, it } from 'vitest'
import { ProviderSpec, ProviderStatus, providerProblems, VendorType } from './provider.ts'

describe('provider spec', () => {
  it.each([
    ['llma', 'llma'],
    ['anthropic', 'llma'],
    ['llmo', 'llmo'],
    ['openai', 'llmo'],
    ['azure-llmo', 'azure-llmo'],
    ['azure-openai', 'azure-llmo'],
    ['demo', 'demo'],
  ])('takes type %s and keeps %s [NAME-006] [NAME-009] [NAME-017]', (sent, stored) => {
    expect(ProviderSpec.parse({ type: sent }).type).toBe(stored)
    expect(VendorType.parse(sent)).toBe(stored)
  })

  it('has defaults for the key, the currency and server tools', () => {
    expect(ProviderSpec.parse({ type: 'llma', secretRef: { name: 's' }, price: {} })).toEqual({
      type: 'llma',
      secretRef: { name: 's', key: 'api-key' },
      price: { currency: 'USD' },
      serverTools: true,
    })
  })

  it('accepts the secret, its key and the default model', () => {
    const spec = { type: 'llma', secretRef: { name: 's', key: 'k' }, defaultModel: 'm', serverTools: false }
    expect(ProviderSpec.parse(spec)).toEqual(spec)
  })

  it.each([
    [{ type: 'vertex' }],
    [{ type: 'constructor' }],
    [{ type: 'llma', apiKey: 'secret' }],
    [{ type: 'llma', baseURL: 'localhost:1' }],
    [{ type: 'llma', baseURL: 'file:///etc/passwd' }],
    [{ type: 'llma', rateLimit: { requestsPerMinute: 0 } }],
    [{ type: 'llma', price: { inputPerMillion: -1 } }],
    [{ type: 'llma', price: { currency: 'dollars' } }],
    [{ type: 'llma', secretRef: { name: 's', key: '../k' } }],
  ])('refuses %j', (spec) => {
    expect(ProviderSpec.safeParse(spec).success).toBe(false)
  })

  it('refers to its credential and has no field for one [PROV-001]', () => {
    const parsed = ProviderSpec.safeParse({
      type: 'llma',
      secretRef: { name: 's' },
      apiKey: 'k',
      secret: 'k',
      token: 'k',
    })
    expect(parsed.error?.issues).toMatchObject([{ code: 'unrecognized_keys', keys: ['apiKey', 'secret', 'token'] }])
  })

  it('wants deployment and address of Azure, and of Azure only', () => {
    const paths = (spec: object) => providerProblems(ProviderSpec.parse(spec)).map((problem) => problem.path)
    expect(paths({ type: 'azure-openai' })).toEqual(['azure.deploymentName', 'baseURL'])
    expect(paths({ type: 'azure-llmo', azure: { deploymentName: 'd' }, baseURL: 'https://x/' })).toEqual([])
    expect(paths({ type: 'llmo', azure: { deploymentName: 'd' } })).toEqual(['azure'])
  })

  it('says in its status when the vendor was reached and what it said', () => {
    const status = {
      ready: false,
      lastReached: '2026-01-01T00:00:00.000Z',
      lastError: '529',
      lastErrorAt: '2026-01-01T00:00:00.500Z',
      coolingDownUntil: '2026-01-01T00:00:30.000Z',
    }
    expect(ProviderStatus.parse(status)).toEqual(status)
  })
})
