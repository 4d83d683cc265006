import { describe, expect, it } from 'vitest'
import { Agent } from '../../contract/kinds/agents/agent.ts'
import type { Network } from '../../contract/kinds/tasks/network.ts'
import { Task } from '../../contract/kinds/tasks/task.ts'
import {
  applyNetwork,
  createHostJudge,
  defaultNetworkSettings,
  findUnreached,
  limitNetwork,
  type Member,
  makeNetworkRules,
  type NetworkSettings,
} from './network.ts'
import { goneBound, narrowedAnnotation, narrowNetwork, noteNarrowed } from './network-narrowing.ts'

const apiVersion = 'core.svc.ai/v1alpha1'
const metadata = {
  namespace: 'team-a',
  uid: 'u',
  resourceVersion: '1',
  generation: 1,
  creationTimestamp: '2026-01-01T00:00:00Z',
}
type Made = { name?: string; spec?: object; agent?: object; annotations?: object }
const make = ({ name = 'one', spec = {}, agent, annotations }: Made): Member => ({
  task: Task.parse({ apiVersion, kind: 'Task', metadata: { ...metadata, name, annotations }, spec }),
  agent: agent && Agent.parse({ apiVersion, kind: 'Agent', metadata: { ...metadata, name: 'a' }, spec: agent }),
})
const container = { type: 'container', command: ['true'] }
const program = { type: 'agent', agentRef: { name: 'a' }, prompt: 'x' }
const ai = { type: 'ai', ai: { prompt: 'x' } }
const network = (allow: string[], onUnknown: Network['onUnknown'] = 'refuse'): Network => ({ allow, onUnknown })
const settings = (parts: Partial<NetworkSettings> = {}): NetworkSettings => ({ ...defaultNetworkSettings, ...parts })
const command = make({ spec: container })
const lead = (allow: string[], onUnknown?: Network['onUnknown']) =>
  make({ name: 'lead', spec: ai, agent: { network: network(allow, onUnknown) } })

describe('the network of a task that another one made', () => {
  const apply = (child: Member, ancestors: (Member | undefined)[], parts: Partial<NetworkSettings> = {}) =>
    applyNetwork({ ...child, ancestors }, settings(parts))

  it('is no more than what is said of that one, whatever commands and agents have', () => {
    const said = { allow: ['a.example'], onUnknown: 'ask', narrowedBy: { task: 'lead', from: 'agent' } }
    expect(apply(command, [lead(['a.example'], 'ask')])).toEqual({ ...said, from: 'service' })
    const helper = make({ spec: program, agent: { network: network(['a.example', 'b.example']) } })
    expect(apply(helper, [lead(['a.example'], 'ask')])).toEqual({ ...said, onUnknown: 'refuse', from: 'agent' })
    const own = make({ spec: { ...container, network: network(['b.example']) } })
    expect(apply(own, [lead(['a.example'])])).toMatchObject({ allow: [], from: 'task' })
    const open = make({ spec: { ...container, network: network(['open']) } })
    expect(apply(open, [lead(['none'])], { allowsOpen: true })).toMatchObject({ allow: [], onUnknown: 'refuse' })
  })

  it.each<[string, Member, Partial<NetworkSettings>, string[]]>([
    ['the task', make({ name: 'up', spec: { ...program, network: network(['pypi.org']) } }), {}, ['pypi.org']],
    [
      'its namespace',
      make({ name: 'up', spec: ai }),
      { namespaces: { 'team-a': network(['pypi.org']) } },
      ['pypi.org'],
    ],
    ['the default of agent programs', make({ name: 'up', spec: program }), {}, ['model', 'codehost', 'packages']],
    ['a setting', make({ name: 'up', spec: program }), { agents: ['packages'] }, ['packages']],
  ])('is bound by what %s says of the one above', (_who, above, parts, allow) => {
    const wide = make({ spec: { ...container, network: network(['open']) } })
    const { narrowedBy, ...applied } = apply(wide, [above], { allowsOpen: true, ...parts })
    expect(applied.allow).toEqual(allow)
    expect(narrowedBy?.task).toBe('up')
  })

  it('is its own where the ones above have no bound, or no less', () => {
    expect(apply(command, [make({ spec: ai })])).toEqual({ ...network(['open']), from: 'service' })
    expect(apply(command, [make({ spec: ai, agent: {} }), command])).toEqual({ ...network(['open']), from: 'service' })
    const same = { ...program, network: network(['packages', 'none.example', '*.b.example'], 'ask') }
    expect(apply(make({ spec: same }), [make({ name: 'up', spec: same })])).toEqual({ ...same.network, from: 'task' })
    const none = { ...container, network: network(['none']) }
    expect(apply(make({ spec: none }), [lead(['packages'])])).toEqual({ ...none.network, from: 'task' })
  })

  it('is bound by all above, at any distance, also where one of them has more than those above it', () => {
    const grandchild = apply(command, [
      make({ spec: ai }),
      lead(['a.example', 'b.example']),
      lead(['b.example', 'c.example']),
    ])
    expect(grandchild).toMatchObject({ allow: ['b.example'], narrowedBy: { task: 'lead' } })
    const wide = make({ spec: ai, agent: { network: network(['packages', 'b.example'], 'allow') } })
    expect(apply(command, [wide, lead(['b.example'])]).allow).toEqual(['b.example'])
  })

  it('is bound by an agent of another namespace, also where that one says more than may be had here', () => {
    const { task, agent } = lead(['packages', 'x.example'])
    const foreign = agent && { ...agent, metadata: { ...agent.metadata, namespace: 'other' } }
    const child = make({ spec: { ...container, network: network(['y.example']) } })
    const { allow } = apply(child, [{ task, agent: foreign }], { commands: ['packages'] })
    expect(allow).toEqual([])
  })

  it('is none where one above is gone, and its own where the namespace says that tasks are independent', () => {
    expect(apply(command, [undefined])).toMatchObject({ allow: [], onUnknown: 'refuse', narrowedBy: { from: 'task' } })
    const parts = { independent: ['team-a'] }
    expect(apply(command, [lead(['a.example'])], parts)).toEqual({ ...network(['open']), from: 'service' })
    expect(apply(command, [lead(['a.example'])], { independent: ['team-b'] }).allow).toEqual(['a.example'])
  })

  it('stays narrow in a task that repeats it, and in what that one makes', () => {
    const annotations = noteNarrowed(apply(command, [lead(['a.example'])]))
    const again = make({ name: 'again', spec: container, annotations })
    const left = { allow: ['a.example'], narrowedBy: { task: 'lead', from: 'agent' } }
    expect(apply(again, [])).toMatchObject(left)
    expect(apply(command, [again])).toMatchObject({ allow: ['a.example'] })
    expect(noteNarrowed(apply(command, []))).toEqual({})
    const many = Array.from({ length: 300 }, (_, at) => `h${at}.example`)
    const noted = noteNarrowed({ ...apply(command, [lead(['a.example'])]), allow: many })
    expect(apply(make({ spec: container, annotations: noted }), []).allow).toEqual(many)
    for (const text of ['{', '{}', '{"allow":["a.example"],"onUnknown":"maybe"}'])
      expect(apply(make({ spec: container, annotations: { [narrowedAnnotation]: text } }), []).allow).toEqual([])
  })

  it('has to hold where what bounds it has to', () => {
    const limit = (above: Member) =>
      limitNetwork({ ...command, ancestors: [above] }, { settings: settings(), contextMode: 'off', model: [] })
    expect(limit(lead(['a.example']))).toEqual({
      rules: { allow: ['a.example'], onUnknown: 'refuse', ports: [22, 80, 443] },
      from: 'agent',
    })
    expect(limit(make({ spec: program }))?.from).toBe('service')
    expect(limit(make({ spec: ai }))).toBeUndefined()
  })
})

describe('what two networks allow', () => {
  const unknowns = ['refuse', 'ask', 'allow'] as const
  const lists = [
    [],
    ['packages', 'codehost'],
    ['codehost', 'model'],
    ['*.example.com', 'pypi.org'],
    ['a.example.com', '*.b.example.com:8443', 'db.example:5432'],
    ['b.example.com:8443', '*.b.example.com', 'db.example', 'PyPI.org.'],
    ['x.b.example.com:443', 'github.com:443', 'git.one.example', '192.0.2.1'],
    ['[2001:db8::1]:8080', '192.0.2.1:80', 'one.example:8443'],
  ]
  const hosts = [
    'pypi.org',
    'github.com',
    'a.example.com',
    'b.example.com',
    'x.b.example.com',
    'db.example',
    'example.com',
  ]
  const more = [
    'git.one.example',
    'git.two.example',
    'api.openai.com',
    '192.0.2.1',
    '2001:db8::1',
    'else.example',
    'one.example',
  ]
  const ports = [22, 80, 443]
  const judge = (one: Network, codehost: string[]) =>
    createHostJudge(makeNetworkRules(one, { own: { codehost, model: [] }, ports }))
  const ranks = { refuse: 0, ask: 1, allow: 2 }
  const [ours, theirs] = [['git.one.example'], ['git.two.example']]
  const targets = [...hosts, ...more].flatMap((host) => [443, 8443, 5432, 80, 8080].map((port) => ({ host, port })))

  /** Where what is left is not the less of the two. */
  function findWrong(one: Network, other: Network): object[] {
    const bound = { network: other, by: { task: 'up', from: 'task' as const }, repositories: theirs }
    const left = narrowNetwork({ ...one, from: 'task' }, bound, { repositories: ours, ports })
    const [a, b, both] = [judge(one, ours), judge(other, theirs), judge(left, ours)]
    const asks = [one, other].some(({ onUnknown }) => onUnknown === 'ask')
    return targets.flatMap(({ host, port }) => {
      const wanted = Math.min(ranks[a(host, port)], ranks[b(host, port)])
      const found = ranks[both(host, port)]
      return found > wanted || (!asks && found < wanted) ? [{ one, other, left, host, port, found, wanted }] : []
    })
  }

  it('is never more than either, and less only where one asks about what the other lists', () => {
    const networks = lists.flatMap((allow) => unknowns.map((onUnknown) => network(allow, onUnknown)))
    expect(networks.flatMap((one) => networks.flatMap((other) => findWrong(one, other)))).toEqual([])
  })

  it('are the repositories of both only, and those of the bound where the network was open', () => {
    const bound = {
      network: network(['codehost']),
      by: { task: 'up', from: 'task' as const },
      repositories: ['git.two.example'],
    }
    const narrow = (allow: string[], repositories: string[]) =>
      narrowNetwork({ ...network(allow), from: 'task' }, bound, { repositories, ports }).allow
    expect(narrow(['codehost'], [])).toEqual(['codehost'])
    expect(narrow(['codehost'], ['git.two.example'])).toEqual(['codehost'])
    expect(narrow(['codehost'], ['git.one.example'])).not.toContain('codehost')
    expect(narrow(['open'], [])).toEqual(['codehost', 'git.two.example'])
  })

  it('are limits of which the smaller holds', () => {
    const by = { task: 'up', from: 'task' as const }
    const narrow = (own: Network['limits'], limits: Network['limits']) =>
      narrowNetwork(
        { ...network(['a.example']), ...(own && { limits: own }), from: 'task' },
        { network: { ...network(['a.example']), ...(limits && { limits }) }, by, repositories: [] },
        { repositories: [], ports },
      )
    expect(narrow({ connections: 5, bytes: '2Gi' }, { connections: 9, bytes: '1Mi' }).limits).toEqual({
      connections: 5,
      bytes: '1Mi',
    })
    expect(narrow(undefined, { bytes: '1Mi' })).toMatchObject({ limits: { bytes: '1Mi' }, narrowedBy: by })
    expect(narrow({ connections: 5 }, undefined)).not.toHaveProperty('narrowedBy')
    expect(goneBound.network).toEqual(network([]))
  })
})

it('a task gives nobody work at a host that it does not have, but for that of its own repository', () => {
  const at = (host: string) => make({ spec: { ...container, workspace: { gitRepo: `https://${host}/o/r` } } }).task
  const find = (above: Member, host: string, parts = {}) =>
    findUnreached({ ...above, ancestors: [] }, at(host), settings(parts))
  expect(find(lead(['packages']), 'evil.example')).toEqual(['evil.example'])
  expect(find(lead(['packages']), 'no-name-.evil.example')).toEqual(['no-name-.evil.example'])
  expect(find(lead(['codehost']), 'github.com')).toEqual([])
  expect(find(lead(['git.example:8443']), 'git.example:8443')).toEqual([])
  expect(find(make({ spec: ai }), 'evil.example')).toEqual([])
  expect(find(lead(['packages'], 'ask'), 'evil.example')).toEqual(['evil.example'])
  expect(find(lead(['packages']), 'evil.example', { independent: ['team-a'] })).toEqual([])
  const own = { ...ai, workspace: { gitRepo: 'https://git.example/o/r' } }
  expect(find(make({ spec: own, agent: { network: network(['packages']) } }), 'git.example')).toEqual([])
})
