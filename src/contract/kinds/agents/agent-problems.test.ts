import { describe, expect, it } from 'vitest'
import { AgentModel, AgentRuntime, AgentSpec } from './agent.ts'
import { agentProblems } from './agent-problems.ts'

const paths = (spec: object) => agentProblems(AgentSpec.parse(spec)).map((problem) => problem.path)
const type = 'llma-cli'

/** What each field is to a program: the part of the service that heeds it, or a value with which it is refused. */
const fields: Record<string, { heeded: string } | { refused: unknown; allowed?: unknown }> = {
  providerRef: { heeded: 'its provider' },
  'model.provider': { refused: 'llma' },
  'model.name': { heeded: 'its provider and model' },
  'model.temperature': { refused: 0.5 },
  'model.maxTokens': { refused: 100 },
  'model.fallbacks': { refused: [{ providerRef: { name: 'p' } }], allowed: [] },
  systemPrompt: { heeded: 'added to the system prompt of the program' },
  tools: { refused: [{ name: 'web_fetch', enabled: false }], allowed: [] },
  skills: { heeded: 'laid beside the workspace' },
  resources: { heeded: 'limits of the attempt' },
  execution: { heeded: 'where its pods run' },
  network: { heeded: 'what the program may reach' },
  secretRef: { heeded: 'keys of its own provider' },
  session: { heeded: 'what stands above the prompt, and how long it is kept' },
  rateLimit: { refused: { requestsPerMinute: 1 } },
  coordination: { refused: { enabled: true }, allowed: { enabled: false } },
  maxIterations: { refused: 5 },
  'runtime.type': { heeded: 'the program' },
  'runtime.runtimeRef': { refused: { name: 'own' } },
  'runtime.defaultMaxTurns': { heeded: 'counted by the service' },
  'runtime.defaultAllowedTools': { heeded: 'arguments of the program' },
  'runtime.defaultAllowBash': { heeded: 'arguments of the program' },
  'runtime.defaultReasoningEffort': { heeded: 'arguments of the program' },
  'runtime.trustRepository': { heeded: 'what of the repository the program is shown' },
  ttlAfterLastTask: { heeded: 'when the agent is deleted' },
}

function specWith(path: string, value: unknown, runtime: object = { type }): object {
  const [first = '', second] = path.split('.')
  const whole: Record<string, unknown> = { runtime }
  const nested = { ...(whole[first] as object | undefined), [second ?? '']: value }
  return { ...whole, [first]: second === undefined ? value : nested }
}

describe('an agent with a runtime', () => {
  it.each(['llma-cli', 'llmo-cli', 'opencode'])('accepts the runtime %s', (type) => {
    const model = type === 'opencode' ? { model: { name: 'm' } } : {}
    expect(paths({ runtime: { type }, ...model })).toEqual([])
  })

  it('has no field of which it is not known whether the program heeds it', () => {
    const parts = { model: AgentModel, runtime: AgentRuntime }
    const known = AgentSpec.keyof().options.flatMap((name) =>
      name === 'model' || name === 'runtime' ? Object.keys(parts[name].shape).map((part) => `${name}.${part}`) : [name],
    )
    expect(Object.keys(fields).toSorted()).toEqual(known.toSorted())
  })

  const refusals = Object.entries(fields).flatMap(([path, what]) => ('refused' in what ? [[path, what] as const] : []))
  it.each(refusals)('is refused with %s, and told what to do instead', (path, { refused, allowed }) => {
    const [problem] = agentProblems(AgentSpec.parse(specWith(path, refused)))
    const at: Record<string, string> = { 'runtime.runtimeRef': 'runtime', coordination: 'coordination.enabled' }
    expect(problem?.path).toBe(at[path] ?? path)
    expect(problem?.message).toMatch(/(;|, not both)/)
    if (allowed !== undefined) expect(paths(specWith(path, allowed))).toEqual([])
    if (!path.startsWith('runtime')) expect(paths({ ...specWith(path, refused), runtime: undefined })).toEqual([])
  })

  const llmo = { type: 'llmo-cli' }
  const own = { runtimeRef: { name: 'own' } }
  it.each([
    ['runtime.defaultAllowedTools', { ...llmo, defaultAllowedTools: [] }],
    ['runtime.defaultAllowBash', { ...llmo, defaultAllowBash: false }],
    ['runtime.defaultReasoningEffort', { ...own, defaultReasoningEffort: 'low' }],
  ])('is refused with %s where its program cannot be told of it', (path, runtime) => {
    expect(paths({ runtime })).toEqual([path])
    expect(paths({ runtime: { ...runtime, type, runtimeRef: undefined } })).toEqual([])
  })
})

describe('fields of an agent', () => {
  it.each([
    [['runtime'], { runtime: { type: 'llma-cli', runtimeRef: { name: 'r' } } }],
    [['runtime.type'], { runtime: {} }],
    [['model.provider'], { runtime: { type: 'llma-cli' }, providerRef: { name: 'p' }, model: { provider: 'llma' } }],
    [['model.name'], { runtime: { type: 'opencode' } }],
    [['coordination.autonomous'], { coordination: { autonomous: true } }],
    [[], { coordination: { enabled: true, autonomous: true } }],
    [['coordination.approvalRequiredTools'], { coordination: { approvalRequiredTools: ['edit'] } }],
    [
      ['coordination.approvalRequiredTools'],
      { runtime: { type: 'llma-cli' }, coordination: { approvalRequiredTools: ['edit'] } },
    ],
    [[], { runtime: { runtimeRef: { name: 'own' } }, coordination: { approvalRequiredTools: ['edit'] } }],
    [['execution.workspace'], { execution: { workspace: {} } }],
    [[], { providerRef: { name: 'p' }, model: { provider: 'openai', name: 'm' } }],
    [[], {}],
  ])('finds %j in %j', (expected, spec) => {
    expect(paths(spec)).toEqual(expected)
  })
})
