import { describe, expect, it } from 'vitest'
import {
  type ActorPool,
  type ActorTemplate,
  describeToolActor,
  findPoolProblem,
  findTemplateProblem,
  isActorOfTool,
} from './actor-templates.ts'

const template: ActorTemplate = {
  name: 'agents',
  namespace: 'templates',
  labels: { 'svc.ai/execution-workspace': 'true', 'svc.ai/workspace-provider': 'actor' },
  annotations: {
    'svc.ai/workspace-protocol': 'http-json-v1',
    'svc.ai/workspace-daemon-port': '80',
    'svc.ai/workspace-staging-root': '/app',
    'svc.ai/agent-runtimes': 'llma-cli, opencode',
  },
  variables: [['SVC_WORKSPACE_BOOTSTRAP_TOKEN']],
  phase: 'Ready',
}

describe('a template of actors', () => {
  it('can be a workspace with its marks, its daemon, the variable of the token, and once it is ready', () => {
    expect(findTemplateProblem(template)).toBeUndefined()
    expect(findTemplateProblem(template, 'opencode')).toBeUndefined()
  })

  it.each<[Partial<ActorTemplate>, string]>([
    [{ labels: { 'svc.ai/workspace-provider': 'actor' } }, 'the label svc.ai/execution-workspace: "true"'],
    [
      { labels: { ...template.labels, 'svc.ai/workspace-provider': 'x' } },
      'the label svc.ai/workspace-provider: "actor"',
    ],
    [
      { annotations: { ...template.annotations, 'svc.ai/workspace-protocol': 'v0' } },
      'svc.ai/workspace-protocol: http-json-v1',
    ],
    [
      { annotations: { ...template.annotations, 'svc.ai/workspace-daemon-port': '0' } },
      'svc.ai/workspace-daemon-port with a port',
    ],
    [{ annotations: { ...template.annotations, 'svc.ai/workspace-staging-root': 'app' } }, 'with an absolute path'],
    [{ variables: [['PATH']] }, 'the variable SVC_WORKSPACE_BOOTSTRAP_TOKEN in a container'],
    [{ variables: [] }, 'the variable SVC_WORKSPACE_BOOTSTRAP_TOKEN in a container'],
  ])('cannot be one without all of them: %j', (change, message) => {
    const problem = findTemplateProblem({ ...template, ...change })
    expect(problem).toMatchObject({ reason: 'TemplateIncompatible', isFinal: true })
    expect(problem?.message).toContain(message)
  })

  it('cannot be one for a program that it does not have', () => {
    expect(findTemplateProblem(template, 'llmo-cli')?.message).toContain('has no agent program llmo-cli')
    const { 'svc.ai/agent-runtimes': _, ...none } = template.annotations
    expect(findTemplateProblem({ ...template, annotations: none }, 'opencode')?.message).toContain('names none')
  })

  it('is waited for until it is ready, and not when it has failed', () => {
    const waiting = findTemplateProblem({ ...template, phase: 'WaitGoldenActor' })
    expect(waiting).toMatchObject({ reason: 'TemplateNotReady', isFinal: false })
    expect(findTemplateProblem({ ...template, phase: 'Failed' })).toMatchObject({ isFinal: true })
  })
})

describe('a pool of actors', () => {
  const pool: ActorPool = {
    name: 'warm',
    namespace: 'templates',
    labels: { 'svc.ai/actor-pool': 'warm' },
    annotations: { 'svc.ai/actor-template': 'agents', 'svc.ai/target-actors': '1' },
  }

  it('serves the template that it names, of its own namespace unless it names another', () => {
    expect(findPoolProblem(pool, template)).toBeUndefined()
    const far = { ...pool, namespace: 'far' }
    expect(findPoolProblem(far, template)).toContain('has actors of template "far/agents"')
    const named = { ...far, annotations: { ...far.annotations, 'svc.ai/actor-template': 'templates/agents' } }
    expect(findPoolProblem(named, template)).toBeUndefined()
  })

  it.each([
    [{ annotations: {} }, 'names no template'],
    [{ annotations: { ...pool.annotations, 'svc.ai/target-actors': '0' } }, 'must be 1 to 1000'],
    [{ annotations: { ...pool.annotations, 'svc.ai/target-actors': '1001' } }, 'must be 1 to 1000'],
    [{ labels: {} }, 'lacks the label svc.ai/actor-pool'],
  ])('serves none that is incomplete: %j', (change, message) => {
    expect(findPoolProblem({ ...pool, ...change }, template)).toContain(message)
  })
})

describe('the actor of a tool', () => {
  const metadata = { name: 'the.weather', namespace: 'team-a', uid: 'u-1' }
  const of = (actor: object, templateNamespace?: string, uid = 'u-1', installation = 'here') =>
    describeToolActor({ metadata: { ...metadata, uid }, spec: { mcp: { path: '/mcp', actor } } } as never, {
      templateNamespace,
      installation,
    })
  const templateRef = { name: 't' }

  it('has a template of the namespace that the tool names, or the settings name, or of its own [MCP-006]', () => {
    expect(of({ templateRef: { name: 't', namespace: 'named' } }, 'usual').template.namespace).toBe('named')
    expect(of({ templateRef }, 'usual').template.namespace).toBe('usual')
    expect(of({ templateRef }).template.namespace).toBe('team-a')
  })

  it('has a pool of the namespace of the tool unless it names another, and none without a name [MCP-007] [MCP-009]', () => {
    expect(of({ templateRef }).pool).toBeUndefined()
    expect(of({ templateRef, poolRef: {} }).pool).toBeUndefined()
    expect(of({ templateRef, poolRef: { name: 'warm' } }).pool).toEqual({ name: 'warm', namespace: 'team-a' })
    expect(of({ templateRef, poolRef: { name: 'warm', namespace: 'b' } }).pool?.namespace).toBe('b')
  })

  it('has a name that is a DNS label, and another one for another tool, template, pool or installation', () => {
    const names = [
      of({ templateRef }),
      of({ templateRef: { name: 'other' } }),
      of({ templateRef, poolRef: { name: 'warm' } }),
      of({ templateRef }, 'usual'),
      of({ templateRef }, undefined, 'u-2'),
      of({ templateRef }, undefined, 'u-1', 'elsewhere'),
    ].map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    for (const name of names) expect(name).toMatch(/^svc-tool-the-weather-[0-9a-f]{16}-[0-9a-f]{8}$/)
    expect(of({ templateRef }).name).toBe(names[0])
    expect(of({ templateRef }).boot).toBe(false)
  })

  it('is known by its name, whatever it was made from: no other is its own, of this installation or another', () => {
    const isOwn = (name: string, installation = 'here') => isActorOfTool({ metadata }, name, installation)
    expect([of({ templateRef }), of({ templateRef: { name: 'other' } })].map(({ name }) => isOwn(name))).toEqual([
      true,
      true,
    ])
    expect(isOwn(of({ templateRef }, undefined, 'u-2').name)).toBe(false)
    expect(isOwn(of({ templateRef }).name, 'elsewhere')).toBe(false)
    expect(isOwn(`${of({ templateRef }).name}-x`)).toBe(false)
    expect(isOwn('svc-ws-0123')).toBe(false)
  })
})
