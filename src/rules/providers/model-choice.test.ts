import { describe, expect, it } from 'vitest'
import { Agent } from '../../contract/kinds/agents/agent.ts'
import { Provider } from '../../contract/kinds/providers/provider.ts'
import { Task } from '../../contract/kinds/tasks/task.ts'
import { chooseTools } from '../tools/choice.ts'
import { chooseDefault, chooseModels, listProviderWishes } from './model-choice.ts'

function meta(name: string, namespace = 'default') {
  const stored = { uid: name, resourceVersion: '1', generation: 1, creationTimestamp: '2026-01-01T00:00:00Z' }
  return { apiVersion: 'core.svc.ai/v1alpha1', metadata: { name, namespace, ...stored } }
}
const task = (ai: object = {}) => Task.parse({ ...meta('t'), kind: 'Task', spec: { type: 'ai', prompt: 'x', ai } })
const agent = (spec: object, namespace = 'agents') => Agent.parse({ ...meta('a', namespace), kind: 'Agent', spec })
const provider = (name: string, spec: object = {}, namespace = 'default') =>
  Provider.parse({ ...meta(name, namespace), kind: 'Provider', spec: { type: 'llmo', ...spec } })

function choose(wanted: Task, its: Agent | undefined, ...there: Provider[]) {
  const found = chooseModels(listProviderWishes(wanted, its), ({ namespace, name }) =>
    there.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name),
  )
  if (found.outcome !== 'chosen') return found
  return found.choices.map(({ provider: { metadata }, model }) => `${metadata.namespace}/${metadata.name}:${model}`)
}

describe('the provider and model of a task', () => {
  const all = [
    provider('default', { defaultModel: 'm-default' }),
    provider('own', { defaultModel: 'm-own' }),
    provider('theirs', { defaultModel: 'm-theirs' }, 'agents'),
  ]

  it('come from the task, else from the agent, else from the namespace default', () => {
    const its = agent({ providerRef: { name: 'theirs' }, model: { name: 'm-agent' } })
    const own = { providerRef: { name: 'own' } }
    expect(choose(task({ ...own, model: 'm-task' }), its, ...all)).toEqual(['default/own:m-task'])
    expect(choose(task(own), its, ...all)).toEqual(['default/own:m-agent'])
    expect(choose(task(), its, ...all)).toEqual(['agents/theirs:m-agent'])
    expect(choose(task(), agent({}), ...all)).toEqual(['default/default:m-default'])
    expect(choose(task(), undefined, ...all)).toEqual(['default/default:m-default'])
  })

  it('fall back in order, leaving out fallbacks that are missing or have no model', () => {
    const fallbacks = [
      { providerRef: { name: 'gone' } },
      { providerRef: { name: 'bare' } },
      { providerRef: { name: 'theirs' } },
    ]
    const its = agent({ model: { name: 'm', fallbacks } })
    expect(choose(task(), its, ...all, provider('bare', {}, 'agents'))).toEqual([
      'default/default:m',
      'agents/theirs:m-theirs',
    ])
  })

  it('are missing with a message that says which object to create', () => {
    expect(choose(task(), undefined)).toMatchObject({
      outcome: 'missing',
      message: expect.stringContaining('"default"'),
    })
    const named = choose(task({ providerRef: { name: 'gone', namespace: 'far' } }), undefined, ...all)
    expect(named).toMatchObject({ outcome: 'missing', message: expect.stringMatching(/"gone".*"far"/) })
  })

  it('are refused when nobody names a model, since no default is built in [PROV-012]', () => {
    expect(choose(task(), undefined, provider('default'))).toMatchObject({
      outcome: 'invalid',
      message: expect.stringContaining('no model specified and no default model configured'),
    })
    expect(choose(task(), undefined, provider('default', { type: 'demo' }))).toEqual(['default/default:demo'])
  })
})

describe('the default provider of a namespace', () => {
  const named = (found: ReturnType<typeof chooseDefault>) =>
    found.outcome === 'chosen' ? found.provider.metadata.name : found
  const [standard, other, marked] = [provider('default'), provider('other'), provider('marked', { default: true })]

  it('is the marked one, whatever the others are called', () => {
    expect(named(chooseDefault([standard, other, marked]))).toBe('marked')
    expect(named(chooseDefault([provider('default', { default: true }), other]))).toBe('default')
    expect(named(chooseDefault([standard, marked], ['other', 'default']))).toBe('default')
  })

  it('is else the one of that name, else the only one', () => {
    expect(named(chooseDefault([other, standard]))).toBe('default')
    expect(named(chooseDefault([other, provider('demo', { type: 'demo' })]))).toBe('other')
  })

  it('is not chosen among several', () => {
    const second = provider('second', { default: true })
    expect(chooseDefault([standard, marked, second])).toEqual({ outcome: 'several', names: ['marked', 'second'] })
    expect(chooseDefault([other, provider('third')])).toEqual({ outcome: 'several', names: ['other', 'third'] })
    expect(chooseDefault([])).toEqual({ outcome: 'none' })
  })
})

describe('the tools of a task', () => {
  it('are the built-in ones together with those of its agent and its own', () => {
    const tools = [
      { name: 'crm' },
      { name: 'list_issues' },
      { name: 'code_exec', enabled: false },
      { name: 'old', enabled: false },
    ]
    const chosen = chooseTools(task({ tools: ['crm', 'web_fetch', 'weather'] }), agent({ tools }))
    expect(chosen.builtIn).toEqual(['web_search', 'file_read', 'web_fetch', 'file_write', 'list_issues'])
    expect(chosen.custom).toEqual([
      { name: 'crm', namespace: 'agents' },
      { name: 'weather', namespace: 'default' },
    ])
  })
})
