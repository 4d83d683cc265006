import { describe, expect, it } from 'vitest'
import { Agent } from '../../contract/kinds/agents/agent.ts'
import type { NetworkSource } from '../../contract/kinds/tasks/network.ts'
import { Task } from '../../contract/kinds/tasks/task.ts'
import { addHost, findAlwaysProblem, readAskedHost } from './network-answers.ts'

const times = { uid: 'u', resourceVersion: '1', generation: 1, creationTimestamp: '2026-01-01T00:00:00Z' }
const apiVersion = 'core.svc.ai/v1alpha1'
const task = (spec: object) =>
  Task.parse({ apiVersion, kind: 'Task', metadata: { name: 't', namespace: 'team', ...times }, spec })
const agent = (namespace: string) =>
  Agent.parse({ apiVersion, kind: 'Agent', metadata: { name: 'a', namespace, ...times }, spec: {} })
const program = { type: 'agent', agentRef: { name: 'a' }, prompt: 'x' }

describe('a question about a host', () => {
  it.each([
    [{ tool: 'network', arguments: { host: 'A.example:443' } }, ['a.example:443']],
    [{ tool: 'network', arguments: { host: 'not a host' } }, []],
    [{ tool: 'network', arguments: {} }, []],
    [{ tool: 'tool network', arguments: { host: 'a.example:443' } }, []],
  ])('is read from %j', (question, host) => expect(readAskedHost(question)).toEqual(host))

  it('is remembered by the agent of the same namespace, and else says what to do', () => {
    const find = (spec: object, namespace: string | undefined, from: NetworkSource = 'service') => {
      const applied = { allow: [], onUnknown: 'ask' as const, from }
      const found = namespace === undefined ? undefined : agent(namespace)
      return findAlwaysProblem({ task: task(spec), agent: found, applied, host: 'a.example:443' })
    }
    expect(find(program, 'team')).toBeUndefined()
    expect(find(program, 'team', 'agent')).toBeUndefined()
    expect(find(program, 'team', 'task')).toContain('has a network of its own')
    expect(find(program, 'other')).toContain('is of namespace "other"')
    expect(find(program, undefined)).toContain('add a.example:443 to spec.network of the next task')
    expect(find({ type: 'container', command: ['true'] }, undefined)).toContain('has no agent')
  })
})

it('adds a host as a list writes it, once, and not beside none', () => {
  const add = (allow: string[], host: string) => addHost({ allow, onUnknown: 'ask' }, host, [443])
  expect(add(['packages'], 'a.example:443')).toEqual({ allow: ['packages', 'a.example'], onUnknown: 'ask' })
  expect(add(['a.example'], 'a.example:443').allow).toEqual(['a.example'])
  expect(add(['none'], '[2606:4700::1111]:8443').allow).toEqual(['[2606:4700::1111]:8443'])
})
