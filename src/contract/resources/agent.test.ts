import { describe, expect, it } from 'vitest'
import { AgentSpec, agentProblems } from './agent.ts'

const paths = (spec: object) => agentProblems(AgentSpec.parse(spec)).map((problem) => problem.path)

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

  it.each(['llma-cli', 'llmo-cli', 'opencode'])('accepts the runtime %s', (type) => {
    const model = type === 'opencode' ? { model: { name: 'm' } } : {}
    expect(paths({ runtime: { type }, ...model })).toEqual([])
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

  it.each([
    [['runtime'], { runtime: { type: 'llma-cli', runtimeRef: { name: 'r' } } }],
    [['runtime.type'], { runtime: {} }],
    [
      ['providerRef', 'model.provider'],
      { runtime: { type: 'llma-cli' }, providerRef: { name: 'p' }, model: { provider: 'llma' } },
    ],
    [['model.name'], { runtime: { type: 'opencode' } }],
    [['execution.workspace'], { execution: { workspace: {} } }],
    [[], { providerRef: { name: 'p' }, model: { provider: 'openai', name: 'm' } }],
    [[], {}],
  ])('finds %j in %j', (expected, spec) => {
    expect(paths(spec)).toEqual(expected)
  })
})
