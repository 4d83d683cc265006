import { describe, expect, it } from 'vitest'
import { Agent } from '../../contract/kinds/agents/agent.ts'
import { Task } from '../../contract/kinds/tasks/task.ts'
import { type InstalledAgentProgram, nameOfProgram } from '../agents/programs.ts'
import { type Abilities, findTaskProblem } from './validity.ts'

const abilities: Abilities = { program: { found: true }, isolateNamespaces: false }
const installed: Record<string, InstalledAgentProgram> = { 'llma-cli': { found: true } }
const stored = { uid: 'u', resourceVersion: '1', generation: 1, creationTimestamp: '2026-01-01T00:00:00Z' }
const base = { apiVersion: 'core.svc.ai/v1alpha1', metadata: { name: 'it', namespace: 'default', ...stored } }
const task = (spec: object) => Task.parse({ ...base, kind: 'Task', spec: { type: 'ai', prompt: 'x', ...spec } })
const agent = (spec: object) => Agent.parse({ ...base, kind: 'Agent', spec })
const judge = (one: Task, its: Agent | undefined, programs = installed) =>
  findTaskProblem(one, its, {
    ...abilities,
    program: its?.spec.runtime && programs[nameOfProgram(its.spec.runtime) ?? ''],
  })
const agentTask = { type: 'agent', agentRef: { name: 'it' } }
const runtime = { runtime: { type: 'llma-cli' } }

describe('findTaskProblem', () => {
  it('finds no problem in a task that can run', () => {
    expect(findTaskProblem(task({}), undefined, abilities)).toBeUndefined()
    expect(findTaskProblem(task({ agentRef: { name: 'it' } }), agent({}), abilities)).toBeUndefined()
    expect(findTaskProblem(task({ type: 'container', command: ['true'] }), undefined, abilities)).toBeUndefined()
  })

  it.each<[string, object, object | undefined, RegExp]>([
    ['an agent task without agent', { type: 'agent' }, undefined, /agentRef is required/],
    ['an agent task without prompt', { ...agentTask, prompt: ' ' }, runtime, /prompt is required/],
    ['an agent task whose agent has no runtime', agentTask, {}, /has no runtime; set/],
    [
      'an ai task whose agent has a runtime',
      { agentRef: { name: 'it' } },
      runtime,
      /only be used by tasks of type agent/,
    ],
    [
      'a runtime with model.provider',
      agentTask,
      { ...runtime, model: { provider: 'llma' } },
      /model.provider has no effect with runtime; name a Provider/,
    ],
    ['two kinds of runtime', agentTask, { runtime: { type: 'llma-cli', runtimeRef: { name: 'r' } } }, /either type or/],
    ['opencode without a model', agentTask, { runtime: { type: 'opencode' } }, /model.name is required/],
    ['a runtime that is not here', agentTask, { runtime: { type: 'llmo-cli' } }, /llmo-cli is not available/],
    [
      'approval without coordination',
      { agentRef: { name: 'it' } },
      { tools: [{ name: 'request_approval' }] },
      /approvals need an agent with coordination.enabled/,
    ],
    ['a container task without command and image', { type: 'container' }, undefined, /command is required/],
  ])('refuses %s in one sentence [TASK-046]', (_what, spec, its, message) => {
    expect(judge(task(spec), its && agent(its))).toMatch(message)
  })

  it.each([
    [{ allowBash: false }, /llmo-cli can do nothing without its shell; set agentRuntime.allowBash/],
    [{ allowedTools: ['view_image'] }, /cannot be limited; remove allowedTools/],
    [{ allowedTools: [] }, /cannot be limited/],
    [{ disallowedTools: ['view_image'] }, /cannot be limited/],
    [{ disallowedTools: [], allowBash: true, maxTurns: 5 }, undefined],
  ])('refuses limits that Codex cannot keep: %j', (agentRuntime, words) => {
    const agentPrograms = { 'llmo-cli': { found: true as const }, 'llma-cli': { found: true as const } }
    const find = (type: string) =>
      judge(task({ ...agentTask, agentRuntime }), agent({ runtime: { type } }), agentPrograms)
    if (words === undefined) expect(find('llmo-cli')).toBeUndefined()
    else expect(find('llmo-cli')).toMatch(words)
    expect(find('llma-cli')).toBeUndefined()
  })

  it('says how to install the program of a runtime that is missing', () => {
    const missing = { found: false as const, command: 'claude', install: 'npm install --global claude' }
    const here = { 'llma-cli': missing }
    expect(judge(task(agentTask), agent(runtime), here)).toMatch(/"claude".*run `npm install --global claude`/)
    expect(judge(task(agentTask), agent({ runtime: { type: 'llmo-cli' } }), here)).toMatch(/not available/)
    const added = { runtime: { runtimeRef: { name: 'qwen' } } }
    expect(judge(task(agentTask), agent(added), here)).toMatch(/--agent-program qwen=COMMAND/)
    const qwen = { found: true as const, command: ['qwen', '--acp'] }
    expect(judge(task(agentTask), agent(added), { qwen })).toBeUndefined()
    const asking = { ...added, coordination: { approvalRequiredTools: ['execute'] } }
    expect(judge(task(agentTask), agent(asking), { qwen })).toBeUndefined()
  })

  it('says what is wrong with a program that is there, and where it lies', () => {
    const old = {
      found: false as const,
      command: 'claude',
      file: '/opt/claude',
      problem: 'is version 1.0.0, and 2.0.0 is the lowest that works',
      install: 'npm install --global claude@latest',
    }
    expect(judge(task(agentTask), agent(runtime), { 'llma-cli': old })).toBe(
      'the program "claude" of agent runtime llma-cli (/opt/claude) is version 1.0.0, and 2.0.0 is the lowest that works; run `npm install --global claude@latest` where the service runs',
    )
  })

  it('says which setting names the image of a runtime that has none [TASK-046]', () => {
    const here = { 'llma-cli': { found: false, setting: '--agent-image llma-cli=IMAGE' } as const }
    expect(judge(task(agentTask), agent(runtime), here)).toMatch(/llma-cli has no image.*--agent-image llma-cli=IMAGE/)
  })

  it('refuses templates and pools of other namespaces that were stored before, and those that no sandbox can have', () => {
    const workspaces = {
      defaultProvider: 'agent-sandbox' as const,
      providers: {
        'agent-sandbox': { template: 't', cleanupPolicy: 'delete' as const },
        actor: { template: 't', templateNamespace: 'templates', cleanupPolicy: 'delete' as const },
      },
    }
    const find = (workspace: object, isolateNamespaces: boolean) =>
      findTaskProblem(
        task({ ...agentTask, execution: { workspace: { enabled: true, ...workspace } } }),
        agent({ runtime: { type: 'llma-cli' } }),
        { ...abilities, workspaces, isolateNamespaces },
      )
    const far = { name: 't', namespace: 'far' }
    for (const workspace of [{ templateRef: far }, { poolRef: far }]) {
      expect(find({ provider: 'actor', ...workspace }, true)).toMatch(/names namespace "far"/)
      expect(find({ provider: 'actor', ...workspace }, false)).toBeUndefined()
    }
    expect(find({ provider: 'actor', templateRef: { name: 't', namespace: 'templates' } }, true)).toBeUndefined()
    for (const isolated of [true, false]) expect(find({ templateRef: far }, isolated)).toMatch(/templateRef.namespace/)
  })

  it('refuses references into other namespaces only where namespaces are isolated', () => {
    const far = task({ agentRef: { name: 'it', namespace: 'far' } })
    expect(findTaskProblem(far, agent({}), abilities)).toBeUndefined()
    expect(findTaskProblem(far, agent({}), { ...abilities, isolateNamespaces: true })).toMatch(/names namespace "far"/)
  })
})
