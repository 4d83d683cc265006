import { describe, expect, it } from 'vitest'
import type { Access, TaskFacts } from '../../contract/api/identity/access.ts'
import {
  allowsTool,
  type ContextAction,
  type ContextRules,
  contextActions,
  decideContext,
  readConstraints,
} from './context-token.ts'

const everyScope = Object.values(contextActions)
const scopes = Object.fromEntries(Object.entries(contextActions).map(([action, scope]) => [action, [scope]]))
const rules: ContextRules = { mode: 'enforce', scopes: scopes as unknown as ContextRules['scopes'] }

const plainFacts: TaskFacts = { type: 'ai', workspaces: [], models: [], tools: [] }
const create = (task: Partial<TaskFacts> = {}, more: Partial<Access> = {}): Access => ({
  verb: 'create',
  kind: 'Task',
  namespace: 'team',
  name: 'build',
  task: { ...plainFacts, ...task },
  ...more,
})

function allows(context: object, access: Access, granted: readonly string[] = everyScope): boolean {
  return decideContext({ scopes: granted, context: context as Record<string, unknown> }, access, rules).allowed
}

const at = (name: string, namespace = 'team') => ({ namespace, name })
const repo = 'https://github.com/acme/site'

describe('a context token', () => {
  it.each([
    [{ verb: 'list', kind: 'RepositoryMonitor' }, 'svc:monitors:read', 'monitor-read'],
    [{ verb: 'get', kind: 'RepositoryMonitor' }, 'svc:monitors:read', 'monitor-read'],
    [{ verb: 'create', kind: 'RepositoryMonitor' }, 'svc:monitors:write', 'monitor-write'],
    [{ verb: 'update', kind: 'RepositoryMonitor' }, 'svc:monitors:write', 'monitor-write'],
    [{ verb: 'delete', kind: 'RepositoryMonitor' }, 'svc:monitors:write', 'monitor-write'],
    [{ verb: 'operate', kind: 'RepositoryMonitor' }, 'svc:monitors:operate', 'monitor-operate'],
    [{ verb: 'create', kind: 'Task' }, 'svc:tasks:create', 'task-create'],
    [{ verb: 'get', kind: 'Task' }, 'svc:tasks:get', 'task-read'],
    [{ verb: 'use', kind: 'Secret' }, 'svc:secrets:credentials:read', 'secret-credential-read'],
  ] as const)('needs the scope of the action: %o', (wanted, scope, action) => {
    const access: Access = { ...wanted, namespace: 'team', name: 'x' }
    expect(allows({}, access, [scope])).toBe(true)
    const others = everyScope.filter((other) => other !== scope)
    expect(decideContext({ scopes: others, context: {} }, access, rules)).toEqual({
      allowed: false,
      reason: `context token is not authorized for ${action}`,
      action,
      cause: 'scope',
    })
  })

  it('needs any one of the configured scopes, and none where none is configured', () => {
    const two: ContextRules = { ...rules, scopes: { ...rules.scopes, 'task-list': ['a', 'b'], 'task-read': [] } }
    const list: Access = { verb: 'list', kind: 'Task', namespace: 'team' }
    const decide = (granted: string[], access: Access) => decideContext({ scopes: granted, context: {} }, access, two)
    expect(decide(['b'], list).allowed).toBe(true)
    expect(decide(['c', 'ab'], list).allowed).toBe(false)
    expect(decide([...everyScope, ''], { ...list, verb: 'get' }).allowed).toBe(false)
  })

  it('gives no access to tokens and metrics', () => {
    for (const kind of ['Token', 'Metrics'] as const) expect(allows({}, { verb: 'list', kind })).toBe(false)
  })

  it('without constraints is limited by its scopes alone', () => {
    expect(allows({ purpose: 'tests', maxDepth: 3, unknown: [1] }, create({ tools: 'any' }))).toBe(true)
  })
})

describe('a constraint', () => {
  it.each<[string, object, Access, boolean]>([
    ['namespace: the same', { namespace: 'team' }, create(), true],
    ['namespace: another', { namespace: 'other' }, create(), false],
    ['namespace: of the whole service', { namespace: 'team' }, { verb: 'list', kind: 'Usage' }, false],
    ['namespace: of the agent', { namespace: 'team' }, create({ agent: at('bot', 'shared') }), false],
    [
      'namespace: of the provider',
      { namespace: 'team' },
      create({ models: [{ namespace: 'x', provider: 'p' }] }),
      false,
    ],
    ['taskType: the same', { taskType: 'ai' }, create(), true],
    ['taskType: another', { taskType: 'container' }, create(), false],
    ['task: by name', { task: 'build' }, create(), true],
    ['task: by namespace and name', { task: 'team/build' }, create(), true],
    ['task: another namespace', { task: 'other/build' }, create(), false],
    ['taskName: another', { taskName: 'deploy' }, create(), false],
    ['task: read another', { task: 'deploy' }, { verb: 'get', kind: 'Task', ...at('build') }, false],
    ['task: list them all', { task: 'build' }, { verb: 'list', kind: 'Task', namespace: 'team' }, false],
    ['agent: the same', { agent: 'bot' }, create({ agent: at('bot') }), true],
    ['agent: another', { agent: 'bot' }, create({ agent: at('rogue') }), false],
    ['agent: none', { agent: 'bot' }, create(), false],
    ['agent: of another namespace', { agent: 'team/bot' }, create({ agent: at('bot', 'x') }), false],
    ['allowedAgents: one of them', { allowedAgents: ['a', 'team/bot'] }, create({ agent: at('bot') }), true],
    ['allowedAgents: with commas', { allowedAgents: 'a, bot' }, create({ agent: at('bot') }), true],
    ['allowedAgents: none of them', { allowedAgents: ['a'] }, create({ agent: at('bot') }), false],
    ['allowedAgents: no agent', { allowedAgents: ['a'] }, create(), false],
    ['allowedAgents: empty', { allowedAgents: [] }, create({ agent: at('bot') }), false],
    ['allowedAgents: empty text', { allowedAgents: '' }, create({ agent: at('bot') }), false],
    ['agent and allowedAgents: both', { agent: 'bot', allowedAgents: ['x'] }, create({ agent: at('bot') }), false],
    ['repo: the same', { repo, branch: 'main' }, create({ workspaces: [{ repo, branch: 'main' }] }), true],
    ['repo: another', { repo }, create({ workspaces: [{ repo: `${repo}2` }] }), false],
    ['repo: a second one', { repo }, create({ workspaces: [{ repo }, { repo: `${repo}2` }] }), false],
    ['repo: none', { repo }, create(), false],
    ['branch: another', { branch: 'main' }, create({ workspaces: [{ repo, branch: 'dev' }] }), false],
    ['branch: none', { branch: 'main' }, create({ workspaces: [{ repo }] }), false],
    ['ref: the same', { ref: 'v1' }, create({ workspaces: [{ repo, ref: 'v1' }] }), true],
    ['ref: another', { ref: 'v1' }, create({ workspaces: [{ repo, ref: 'v2' }] }), false],
    ['provider: the same', { provider: 'p' }, create({ models: [{ namespace: 'team', provider: 'p' }] }), true],
    ['provider: a fallback', { provider: 'p' }, create({ models: [{ provider: 'p' }, { provider: 'q' }] }), false],
    [
      'allowedProviders',
      { allowedProviders: ['p', 'q'] },
      create({ models: [{ provider: 'p' }, { provider: 'q' }] }),
      true,
    ],
    ['provider: not known yet', { allowedProviders: ['p'] }, create({ models: [{}] }), false],
    ['model: the same', { model: 'm' }, create({ models: [{ provider: 'p', model: 'm' }] }), true],
    ['model: a fallback', { allowedModels: ['m'] }, create({ models: [{ model: 'm' }, { model: 'n' }] }), false],
    ['model: not known yet', { allowedModels: ['m'] }, create({ models: [{ provider: 'p' }] }), false],
    ['allowedTools: some', { allowedTools: ['a', 'b'] }, create({ tools: [at('a')] }), true],
    ['allowedTools: with its namespace', { allowedTools: ['team/a'] }, create({ tools: [at('a')] }), true],
    ['allowedTools: one more', { allowedTools: ['a'] }, create({ tools: [at('a'), at('b')] }), false],
    ['allowedTools: the runtime decides', { allowedTools: ['a'] }, create({ tools: 'any' }), false],
    ['allowedTools: of a tool', { allowedTools: ['a'] }, { verb: 'use', kind: 'Tool', ...at('b') }, false],
    ['secret: the same', { secret: 'key' }, { verb: 'get', kind: 'Secret', ...at('key') }, true],
    ['secret: another', { secret: 'key' }, { verb: 'get', kind: 'Secret', ...at('other') }, false],
    ['secret: all of them', { secret: 'key' }, { verb: 'list', kind: 'Secret', namespace: 'team' }, false],
    ['configMap: another', { configMap: 'c' }, { verb: 'get', kind: 'ConfigMap', ...at('d') }, false],
    ['provider: read another', { provider: 'p' }, { verb: 'get', kind: 'Provider', ...at('q') }, false],
  ])('%s', (_what, context, access, expected) => {
    expect(allows(context, access)).toBe(expected)
  })

  it.each([
    { namespace: '' },
    { namespace: null },
    { namespace: ['team'] },
    { taskType: 1 },
    { task: {} },
    { agent: false },
    { repo: [] },
    { secret: 0 },
    { allowedAgents: null },
    { allowedAgents: 5 },
    { allowedAgents: [1] },
    { allowedAgents: ['a', null] },
    { allowedAgents: [''] },
    { allowedAgents: 'a,,b' },
    { allowedProviders: {} },
    { allowedModels: [['m']] },
    { allowedTools: true },
  ])('that is malformed refuses everything: %o [CTX-019]', (context) => {
    expect(readConstraints(context as Record<string, unknown>)).toBeUndefined()
    const anything: Access[] = [create({ agent: at('a') }), { verb: 'get', kind: 'Skill', ...at('s') }]
    for (const access of anything) {
      const decision = decideContext({ scopes: everyScope, context: context as never }, access, rules)
      expect(decision).toMatchObject({ allowed: false, cause: 'malformed' })
    }
  })

  it('is read from own properties of the token, not from inherited ones', () => {
    expect(readConstraints(JSON.parse('{"purpose":"x"}'))).toEqual({})
    expect(allows(Object.create({ namespace: 'other' }), create())).toBe(true)
  })

  it('on tools applies to a running task in the mode enforce', () => {
    const kept = (context: object, mode: ContextRules['mode']) =>
      ['a', 'b'].filter((name) => allowsTool(at(name), context as Record<string, unknown>, mode))
    expect(kept({ allowedTools: ['b', 'c'] }, 'enforce')).toEqual(['b'])
    expect(kept({ allowedTools: 'team/b' }, 'enforce')).toEqual(['b'])
    expect(kept({ allowedTools: ['b', 'c'] }, 'audit')).toEqual(['a', 'b'])
    expect(kept({}, 'enforce')).toEqual(['a', 'b'])
    expect(kept({ allowedTools: 7 }, 'enforce')).toEqual([])
  })

  it('on tools applies to the service’s own tools; a tool that checks rights itself needs no scope', () => {
    const access = { verb: 'use', kind: 'Tool', ...at('cancel_task') } as const
    const ask = (serviceTool: NonNullable<Access['serviceTool']>, allowedTools: string[]) =>
      decideContext({ scopes: [], context: { allowedTools } }, { ...access, serviceTool }, rules).cause
    expect(ask('coordination', ['cancel_task'])).toBe('allowed')
    expect(ask('coordination', ['list_tasks'])).toBe('constraint')
    expect(ask('builtIn', ['cancel_task'])).toBe('scope')
  })
})

describe('every action', () => {
  it('has a scope of its own by default', () => {
    expect(new Set(everyScope).size).toBe(everyScope.length)
    expect(Object.keys(contextActions) as ContextAction[]).toContain('monitor-operate')
  })
})
