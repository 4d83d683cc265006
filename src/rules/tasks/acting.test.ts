import { describe, expect, it } from 'vitest'
import type { Agent } from '../../contract/kinds/agents/agent.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { isAmong, type PartKind, partsOfTasks } from './acting.ts'

const here = { namespace: 'here', name: 'x' }
const there = { namespace: 'there', name: 'x' }
const far = { name: 'x', namespace: 'there' }
const task = (spec: object) => ({ metadata: { namespace: 'here', name: 't' }, spec: { type: 'ai', ...spec } }) as Task
const agent = (spec: object) => ({ metadata: { namespace: 'there', name: 'a' }, spec }) as Agent
const configMapRef = { name: 'x', key: 'k' }

describe('a part of what a task does', () => {
  it.each<[kind: PartKind, task: Task, agent: Agent | undefined, uses: [here: boolean, there: boolean]]>([
    ['Agent', task({ agentRef: { name: 'x' } }), undefined, [true, false]],
    ['Agent', task({ agentRef: far }), undefined, [false, true]],
    ['Agent', task({}), undefined, [false, false]],
    ['Skill', task({ ai: { skills: [{ name: 'x' }] } }), agent({}), [true, false]],
    ['Skill', task({}), agent({ skills: [{ name: 'x' }] }), [false, true]],
    ['Skill', task({}), agent({ skills: [{ configMapRef }] }), [false, false]],
    ['Provider', task({ ai: { providerRef: { name: 'x' } } }), agent({ providerRef: { name: 'y' } }), [true, false]],
    ['Provider', task({ ai: { providerRef: far } }), undefined, [false, true]],
    ['Provider', task({}), agent({ providerRef: { name: 'x' } }), [false, true]],
    ['Provider', task({}), agent({ providerRef: { name: 'y' } }), [false, false]],
    [
      'Provider',
      task({ ai: { providerRef: { name: 'y' } } }),
      agent({ model: { fallbacks: [{ providerRef: { name: 'x' } }] } }),
      [false, true],
    ],
    // None is named: any of its namespace, and of its agent's, may come to answer.
    ['Provider', task({}), undefined, [true, false]],
    ['Provider', task({ type: 'agent' }), agent({ model: { name: 'x/m' } }), [true, true]],
    ['Provider', task({ type: 'container' }), undefined, [false, false]],
    ['Tool', task({ ai: { tools: ['x'] } }), agent({}), [true, false]],
    ['Tool', task({}), agent({ tools: [{ name: 'x', enabled: true }] }), [false, true]],
    ['Tool', task({ ai: { tools: ['x'] } }), agent({ tools: [{ name: 'x', enabled: false }] }), [false, false]],
    ['Tool', task({ type: 'agent' }), agent({ tools: [{ name: 'x', enabled: true }] }), [false, false]],
    [
      'ConfigMap',
      task({ env: [{ name: 'E', valueFrom: { configMapKeyRef: configMapRef } }] }),
      undefined,
      [true, false],
    ],
    ['ConfigMap', task({}), agent({ systemPrompt: { configMapRef } }), [false, true]],
    ['ConfigMap', task({}), agent({ skills: [{ configMapRef }] }), [false, true]],
  ])('%s, of %j and its agent %j: %j', (kind, of, by, uses) => {
    const parts = partsOfTasks[kind](of, by)
    expect([isAmong(parts, here), isAmong(parts, there)]).toEqual(uses)
  })
})
