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

  it.each<[Kind, object, string[]]>([
    ['Task', { type: 'ai', ai: { tools: ['weather', 'list_issues', 'get_issue'] } }, ['ai.tools[1]', 'ai.tools[2]']],
    ['Task', { execution: { workspace: { enabled: true } } }, ['execution.workspace.enabled']],
    ['Agent', { tools: [{ name: 'a' }, { name: 'list_issues' }] }, ['tools[1].name']],
  ])('is named where it stands: %s %j', (kind, spec, paths) => {
    expect(pathsOf(kind, spec)).toEqual(paths)
  })

  it('is told with the value, what it waits for and what to do instead', () => {
    expect(findAwaited('Agent', { tools: [{ name: 'list_issues' }] })).toEqual([
      {
        path: 'tools[0].name',
        message:
          '"list_issues" waits for the code host, which this service does not have yet; remove the tool from the list',
      },
    ])
  })

  it('is said in CEL, which asks for every part on the way', () => {
    expect(ruleOf('Tool', 'mcp.actor')).toBe('has(object.spec.mcp) && has(object.spec.mcp.actor)')
    expect(ruleOf('Task', 'execution.workspace.enabled')).toBe(
      'has(object.spec.execution) && has(object.spec.execution.workspace) && has(object.spec.execution.workspace.enabled) && object.spec.execution.workspace.enabled in [true]',
    )
    expect(ruleOf('Agent', 'tools[].name')).toMatch(
      /^has\(object.spec.tools\) && object.spec.tools.exists\(entry, entry.name in \['create_pull_request', /,
    )
    expect(ruleOf('RepositoryMonitor', '')).toBe('true')
  })
})
