import { describe, expect, it } from 'vitest'
import { Agent } from '../../contract/kinds/agents/agent.ts'
import { Task } from '../../contract/kinds/tasks/task.ts'
import { chooseIsolation, type IsolationSettings } from './isolation.ts'

const metadata = {
  name: 'report',
  namespace: 'team-a',
  uid: 'uid-report',
  resourceVersion: '1',
  generation: 1,
  creationTimestamp: '2026-01-01T00:00:00Z',
}
const apiVersion = 'core.svc.ai/v1alpha1'
const sharing: IsolationSettings = { usual: 'shared', processNamespaces: [] }

const makeTask = (spec: object = {}) =>
  Task.parse({ apiVersion, kind: 'Task', metadata, spec: { type: 'ai', prompt: 'x', ...spec } })
const makeAgent = (spec: object) => Agent.parse({ apiVersion, kind: 'Agent', metadata, spec })

const isolate = (spec: object, agent?: object, circumstances: Partial<Parameters<typeof chooseIsolation>[2]> = {}) =>
  chooseIsolation(makeTask(spec), agent && makeAgent(agent), { settings: sharing, ...circumstances })

const own = (reason: string) => ({ mode: 'own', reason })

describe('an attempt of an ai task', () => {
  it('shares a process where the service does, whatever model, tools, Secrets and session it has', () => {
    expect(isolate({})).toEqual({ mode: 'shared' })
    const spec = {
      secretRef: { name: 'keys' },
      sessionRef: { name: 'support' },
      env: [{ name: 'A', value: 'b' }],
      ai: { tools: ['code_exec', 'file_write'] },
    }
    expect(isolate(spec, { secretRef: { name: 'keys' }, coordination: { enabled: true } })).toEqual({ mode: 'shared' })
  })

  it('has its own when it works in a repository', () => {
    expect(isolate({ workspace: { gitRepo: 'https://example.com/a/b.git' } })).toEqual(own('Checkout'))
  })

  it.each([
    [{ runtimeClassName: 'gvisor' }],
    [{ nodeSelector: { disk: 'ssd' } }],
    [{ tolerations: [{ key: 'gpu', operator: 'Exists' }] }],
    [{ affinity: { nodeAffinity: {} } }],
    [{ queue: 'team-a' }],
  ])('has its own when %j places it or its agent', (execution) => {
    expect(isolate({ execution })).toEqual(own('Placement'))
    expect(isolate({}, { execution })).toEqual(own('Placement'))
  })

  it('has its own when it or its agent sets resources', () => {
    expect(isolate({ resources: { limits: { memory: '1Gi' } } })).toEqual(own('Resources'))
    expect(isolate({}, { resources: { requests: { cpu: '1' } } })).toEqual(own('Resources'))
  })

  it('shares one when placement and resources are there and empty, or when the task empties those of its agent', () => {
    const nothing = { execution: { nodeSelector: {}, tolerations: [] }, resources: { limits: {} } }
    expect(isolate(nothing)).toEqual({ mode: 'shared' })
    expect(isolate({ resources: {} }, { resources: { limits: { cpu: '1' } } })).toEqual({ mode: 'shared' })
    expect(isolate({ execution: { nodeSelector: {} } }, { execution: { nodeSelector: { disk: 'ssd' } } })).toEqual({
      mode: 'shared',
    })
  })

  it('has its own after it is suspected to have ended a process that it shared', () => {
    expect(isolate({}, undefined, { isSuspect: true })).toEqual(own('Suspect'))
    expect(isolate({}, undefined, { isSuspect: false })).toEqual({ mode: 'shared' })
  })

  it('has its own when task, agent, namespace or service ask for it', () => {
    const execution = { isolation: 'process' }
    expect(isolate({ execution })).toEqual(own('TaskIsolation'))
    expect(isolate({}, { execution })).toEqual(own('AgentIsolation'))
    const settings = { usual: 'shared', processNamespaces: ['team-b', 'team-a'] } as const
    expect(isolate({}, undefined, { settings })).toEqual(own('NamespaceIsolation'))
    expect(isolate({}, undefined, { settings: { ...settings, processNamespaces: ['team-b'] } })).toEqual({
      mode: 'shared',
    })
    expect(isolate({}, undefined, { settings: { ...sharing, usual: 'process' } })).toEqual(own('ServiceIsolation'))
  })

  it('cannot ask for less than its agent does', () => {
    expect(isolate({ execution: {} }, { execution: { isolation: 'process' } })).toEqual(own('AgentIsolation'))
    expect(() => makeTask({ execution: { isolation: 'shared' } })).toThrow('isolation')
  })
})

describe('an attempt of another task', () => {
  it.each([
    [{ type: 'container', command: ['true'], prompt: undefined }],
    [{ type: 'agent', agentRef: { name: 'coder' } }],
    [{ type: 'agent', agentRef: { name: 'coder' }, execution: { workspace: { enabled: true } } }],
  ])('has its own: %j', (spec) => {
    expect(isolate(spec)).toEqual(own('TaskType'))
  })
})
