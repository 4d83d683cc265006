import { describe, expect, it } from 'vitest'
import { explainSpelling, makeAgentProvider, splitModel } from './provider.ts'

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

describe('a model that begins with no provider', () => {
  const providers = ['main', 'anthropic']
  const explain = (name: string, more = {}) => explainSpelling({ model: { name }, ...more }, providers)

  it.each([
    ['antropic/claude-x', 'anthropic/claude-x'],
    ['Main/maker/large', 'main/maker/large'],
    ['mian/large', 'main/large'],
  ])('is asked what it means when it nearly does: %s', (name, meant) => {
    expect(explain(name)).toBe(
      `model.name "${name}" begins with no provider's name, so all of it is asked for as a model; did you mean "${meant}"?`,
    )
  })

  it.each(['main/large', 'openai/gpt-x', 'large', 'meta-llama/large', 'qwen/large', 'man2/large', 'ai/large'])(
    'is not asked about %s',
    (name) => {
      expect(explain(name)).toBeUndefined()
    },
  )

  it('is a model of the provider that the agent names', () => {
    expect(explain('antropic/claude-x', { providerRef: { name: 'main' } })).toBeUndefined()
  })
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
