import { describe, expect, it } from 'vitest'
import type { Agent } from '../../contract/kinds/agents/agent.ts'
import type { Provider } from '../../contract/kinds/providers/provider.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { listUsesElsewhere, readUses, writeUses } from './uses-elsewhere.ts'

const task = (spec: object) => ({ metadata: { namespace: 'b', name: 't' }, spec: { type: 'ai', ...spec } }) as Task
const agent = (spec: object) => ({ metadata: { namespace: 'a', name: 'helper' }, spec }) as Agent
const provider = (namespace: string, name: string, fallback?: object) =>
  ({
    metadata: { namespace, name },
    spec: { fallbacks: fallback && [{ providerRef: fallback }] },
  }) as unknown as Provider
const agentRef = { name: 'helper', namespace: 'a' }
const secretRef = { name: 's' }
const textsOf = (of: Task, by?: Agent, providers: Provider[] = []) => writeUses(listUsesElsewhere(of, by, providers))

describe('what tasks use elsewhere', () => {
  it('is each part in another namespace than a Secret, by kind and name', () => {
    const by = agent({ providerRef: { name: 'p' }, skills: [{ name: 'k' }], tools: [{ name: 'w', enabled: true }] })
    expect(textsOf(task({ agentRef, secretRef }), by)).toEqual({
      'a.agents': 'helper b',
      'a.providers': 'p b',
      'a.skills': 'k b',
      'a.tools': 'w b',
    })
  })

  it('is an agent that does not exist yet, and any provider where none is named', () => {
    expect(textsOf(task({ agentRef, secretRef }))).toEqual({ 'a.agents': 'helper b' })
    expect(textsOf(task({ agentRef, secretRef }), agent({}))).toMatchObject({ 'a.providers': '* b' })
  })

  it('is what a provider of it falls back on', () => {
    const providers = [provider('a', 'p', { name: 'q' }), provider('a', 'other', { name: 'r' })]
    const by = agent({ providerRef: { name: 'p' } })
    expect(textsOf(task({ agentRef, secretRef }), by, providers)['a.providers']).toBe('p b\nq b')
  })

  it('is judged by where the Secrets are: also those of the agent, and those that a task names far away', () => {
    const by = agent({ providerRef: { name: 'p', namespace: 'c' }, secretRef })
    expect(textsOf(task({ agentRef, secretRef: { name: 's', namespace: 'd' } }), by)).toEqual({
      'a.agents': 'helper d',
      'c.providers': 'p a\np d',
    })
  })

  it('is nothing without a Secret, and where all is in one namespace', () => {
    expect(textsOf(task({ agentRef }), agent({ providerRef: { name: 'p' } }))).toEqual({})
    const ai = { providerRef: { name: 'p' }, tools: ['w'], skills: [{ name: 'k' }] }
    expect(textsOf(task({ ai, secretRef, agentRef: { name: 'own' } }))).toEqual({})
  })
})

describe('the texts of what is used elsewhere', () => {
  const use = (name: string) => ({ entry: 'a.tools', name, space: 'b' })

  it('say what they were made of', () => {
    const texts = { 'a.agents': 'x b\nx c\ny b', 'c.tools': '* b' }
    expect(writeUses(readUses(texts))).toEqual(texts)
    expect(readUses({ 'a.agents': '' })).toEqual([])
  })

  it('name each at most a hundred, and any of them beyond', () => {
    const names = Array.from({ length: 101 }, (_, at) => `t${at}`)
    expect(writeUses(names.slice(1).map(use))['a.tools']?.split('\n')).toHaveLength(100)
    expect(writeUses(names.map(use))).toEqual({ 'a.tools': '* b' })
    expect(writeUses([use('x'), use('*')])).toEqual({ 'a.tools': '* b' })
  })
})
