import { describe, expect, it } from 'vitest'
import { AgentSpec } from './agent.ts'

describe('agent spec', () => {
  it('has the defaults of coordination, runtime and session', () => {
    const spec = AgentSpec.parse({ coordination: {}, runtime: {}, session: {}, tools: [{ name: 'web_search' }] })
    expect(spec).toEqual({
      coordination: { enabled: false, maxConcurrentChildren: 5, maxDepth: 3, autonomous: false, maxIterations: 0 },
      runtime: { defaultMaxTurns: 50, defaultAllowBash: true },
      session: { persistence: 'configmap', maxMessages: 50 },
      tools: [{ name: 'web_search', enabled: true }],
    })
  })

  it.each([
    [{ coordination: { maxDepth: 11 } }],
    [{ coordination: { maxConcurrentChildren: 0 } }],
    [{ model: { temperature: 2.1 } }],
    [{ model: { fallbacks: [{}] } }],
    [{ runtime: { type: 'shell' } }],
    [{ runtime: { defaultMaxTurns: 0 } }],
    [{ systemPrompt: { inline: 'a', configMapRef: { name: 'c', key: 'k' } } }],
    [{ systemPrompt: 'you are' }],
    [{ tools: ['web_search'] }],
    [{ ttlAfterLastTask: '1 day' }],
    [{ prompt: 'x' }],
  ])('refuses %j', (spec) => {
    expect(AgentSpec.safeParse(spec).success).toBe(false)
  })
})
