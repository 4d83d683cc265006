import { describe, expect, it } from 'vitest'
import { makeAgentProvider, splitModel } from './provider.ts'

const agent = {
  metadata: { namespace: 'team', name: 'coder', uid: 'u' },
  spec: { secretRef: { name: 'keys' } },
} as Parameters<typeof makeAgentProvider>[0]
const made = (values: Record<string, string>) => makeAgentProvider(agent, values)

it('reads the provider of a model name that has one', () => {
  expect(splitModel('main/large/model')).toEqual({ provider: 'main', model: 'large/model' })
  expect(splitModel('large-model')).toBeUndefined()
  expect(splitModel('/model')).toBeUndefined()
})

describe('the provider of an agent’s keys', () => {
  it.each(['VENDOR_API_KEY', 'ANTHROPIC_API_KEY'])('is of type llma for %s [NAME-016]', (key) => {
    const provider = made({ other: 'x', [key]: 'made-up' })
    expect(provider?.metadata).toMatchObject({
      namespace: 'team',
      name: 'agent-coder',
      ownerReferences: [{ uid: 'u' }],
    })
    expect(provider?.spec).toEqual({ type: 'llma', secretRef: { name: 'keys', key }, serverTools: false })
  })

  it.each(['VENDOR', 'ANTHROPIC'])('is at the address beside the key %s_FOUNDRY_API_KEY [NAME-016]', (vendor) => {
    const key = `${vendor}_FOUNDRY_API_KEY`
    expect(made({ [key]: 'made-up' })).toBeUndefined()
    const provider = made({ [key]: 'made-up', [`${vendor}_FOUNDRY_BASE_URL`]: 'https://foundry.example' })
    expect(provider?.spec).toMatchObject({ type: 'llma', secretRef: { key }, baseURL: 'https://foundry.example' })
  })

  it('is none where no entry is a key', () => {
    expect(made({ token: 'made-up', OPENAI_API_KEY: ' ' })).toBeUndefined()
  })
})
