import { describe, expect, it } from 'vitest'
import { awaitedFields, findAwaited, writeAwaitedRule } from './awaited.ts'
import { AgentSpec } from './resources/agent.ts'
import type { Kind } from './resources/index.ts'
import { TaskSpec } from './resources/task.ts'

const pathsOf = (kind: Kind, spec: object) => findAwaited(kind, spec).map(({ path }) => path)
const ruleOf = (kind: Kind, path: string) => {
  const field = awaitedFields.find((one) => one.kind === kind && one.path === path)
  return field && writeAwaitedRule(field, 'object.spec')
}

describe('what the service cannot do yet', () => {
  it('is nothing of what it can do, defaults included', () => {
    expect(pathsOf('Task', TaskSpec.parse({ type: 'ai', prompt: 'x', ai: { tools: ['web_search'] } }))).toEqual([])
    const inRepository = { workspace: { gitRepo: 'https://example.com/a' }, priorTaskRef: { name: 'a' } }
    expect(pathsOf('Task', { type: 'agent', ...inRepository })).toEqual([])
    const agent = { coordination: {}, tools: [{ name: 'weather' }], providerRef: { name: 'p' } }
    expect(pathsOf('Agent', AgentSpec.parse(agent))).toEqual([])
    expect(pathsOf('Tool', { description: 'd', http: { url: 'https://example.com' } })).toEqual([])
  })

  it.each<[Kind, object, string[]]>([['Tool', { mcp: { actor: { templateRef: { name: 't' } } } }, ['mcp.actor']]])(
    'is named where it stands: %s %j',
    (kind, spec, paths) => {
      expect(pathsOf(kind, spec)).toEqual(paths)
    },
  )

  it('is told with the value, what it waits for and what to do instead', () => {
    const found = findAwaited('Tool', { mcp: { actor: { templateRef: { name: 't' } } } })
    expect(found.map(({ message }) => message)).toEqual([
      'waits for MCP tools on actors, which this service does not have yet; name the address of the server (mcp.url)',
    ])
  })

  it('is said in CEL, which asks for every part on the way', () => {
    expect(ruleOf('Tool', 'mcp.actor')).toBe('has(object.spec.mcp) && has(object.spec.mcp.actor)')
    const field = { kind: 'Agent', path: 'tools[].name', values: ['a', 'b'] } as const
    expect(writeAwaitedRule({ ...field, capability: 'mcpActors', instead: '' }, 'object.spec')).toBe(
      "has(object.spec.tools) && object.spec.tools.exists(entry, entry.name in ['a', 'b'])",
    )
    expect(writeAwaitedRule({ kind: 'Tool', path: '', capability: 'mcpActors', instead: '' }, 'object.spec')).toBe(
      'true',
    )
  })
})
