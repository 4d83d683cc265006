import { describe, expect, it } from 'vitest'
import { Agent } from '../../contract/kinds/agents/agent.ts'
import { Network } from '../../contract/kinds/tasks/network.ts'
import { Task } from '../../contract/kinds/tasks/task.ts'
import {
  applyNetwork,
  createAllowingSearch,
  createHostJudge,
  defaultNetworkSettings,
  findWider,
  listRepositoryHosts,
  makeNetworkRules,
  type NetworkSettings,
  narrowLimits,
} from './network.ts'

const apiVersion = 'core.svc.ai/v1alpha1'
const metadata = {
  name: 'build',
  namespace: 'team-a',
  uid: 'uid-build',
  resourceVersion: '1',
  generation: 1,
  creationTimestamp: '2026-01-01T00:00:00Z',
}
const makeTask = (spec: object = {}) =>
  Task.parse({
    apiVersion,
    kind: 'Task',
    metadata,
    spec: { type: 'agent', agentRef: { name: 'a' }, prompt: 'x', ...spec },
  })
const makeAgent = (spec: object, namespace = 'team-a') =>
  Agent.parse({ apiVersion, kind: 'Agent', metadata: { ...metadata, namespace }, spec })
const network = (...allow: string[]): Network => ({ allow, onUnknown: 'refuse' })
const asking = (...allow: string[]): Network => ({ allow, onUnknown: 'ask' })
const settings = (parts: Partial<NetworkSettings> = {}): NetworkSettings => ({ ...defaultNetworkSettings, ...parts })

describe('the network of a task', () => {
  const apply = (task: object, agent: object | undefined, parts: Partial<NetworkSettings> = {}) =>
    applyNetwork({ task: makeTask(task), agent: agent && makeAgent(agent), ancestors: [] }, settings(parts))

  it('is what the task says, then its agent, then its namespace, then the service', () => {
    const [a, b, c] = [network('a.example'), network('b.example'), network('c.example')]
    const namespaces = { 'team-a': c }
    expect(apply({ network: a }, { network: b }, { namespaces })).toEqual({ ...a, from: 'task' })
    expect(apply({}, { network: b }, { namespaces })).toEqual({ ...b, from: 'agent' })
    expect(apply({}, {}, { namespaces })).toEqual({ ...c, from: 'namespace' })
    expect(apply({}, undefined)).toEqual({ ...network('model', 'codehost', 'packages'), from: 'service' })
    const command = { type: 'container', command: ['true'], agentRef: undefined, prompt: undefined }
    expect(apply(command, undefined)).toEqual({ ...network('open'), from: 'service' })
  })

  it('is open only where the operator allows it, or has it anyway', () => {
    const open = { network: network('open') }
    expect(apply(open, {}).from).toBe('service')
    expect(apply({}, open).from).toBe('service')
    expect(apply(open, {}, { allowsOpen: true }).from).toBe('task')
    expect(apply(open, {}, { agents: ['open'] }).from).toBe('task')
  })

  it('is that of an agent in another namespace only where it is no wider than its own', () => {
    const agent = (entry: string) => makeAgent({ network: network(entry) }, 'team-b')
    const find = (entry: string) =>
      applyNetwork({ task: makeTask(), agent: agent(entry), ancestors: [] }, settings()).from
    expect(find('packages')).toBe('agent')
    expect(find('elsewhere.example')).toBe('service')
  })
})

describe('a network', () => {
  it.each<[Network, Network, string[]]>([
    [network('packages'), network('packages', 'codehost'), []],
    [network('none'), network('none'), []],
    [network('pypi.org'), network('packages'), []],
    [network('a.b.example.com'), network('*.example.com'), []],
    [network('*.b.example.com'), network('*.example.com'), []],
    [network('*.example.com'), network('*.example.com'), []],
    [network('EXAMPLE.com.'), network('example.com'), []],
    [network('example.com:8443'), network('example.com'), []],
    [asking('packages'), network('packages'), []],
    [network('anything.example'), { ...network('none'), onUnknown: 'allow' }, []],
    [network('open'), network('open'), []],
    [network('example.com'), network('open'), []],
    [network('example.com'), network('*.example.com'), ['example.com']],
    [network('*.example.com'), network('example.com'), ['*.example.com']],
    [network('notexample.com'), network('*.example.com'), ['notexample.com']],
    [network('example.com'), network('example.com:8443'), ['example.com']],
    [network('packages', 'codehost'), network('packages'), ['codehost']],
    [{ ...network('none'), onUnknown: 'allow' }, network('packages'), ['onUnknown: allow']],
    [network('open'), { ...network('none'), onUnknown: 'allow' }, ['open']],
  ])('%j is wider than %j by %j', (wanted, base, wider) => expect(findWider(wanted, base)).toEqual(wider))

  it.each([
    ['open', 'packages'],
    ['none', 'example.com'],
    ['https://example.com'],
    ['example.com/path'],
    ['pakages '],
    [''],
  ])('cannot be %j', (...allow) => expect(Network.safeParse({ allow }).success).toBe(false))
})

describe('a host', () => {
  const own = { codehost: ['git.example:8443'], model: ['models.example'] }
  const judge = (wanted: Network, within?: string[]) =>
    createHostJudge(makeNetworkRules(wanted, { own, ports: [22, 80, 443], within }))

  it('is allowed by its name, by a preset, or by what the task works with', () => {
    const decide = judge(network('packages', 'codehost', 'model', '*.example.com'))
    expect(['pypi.org', 'github.com', 'models.example', 'a.example.com'].map((host) => decide(host, 443))).toEqual(
      Array(4).fill('allow'),
    )
    expect(decide('git.example', 8443)).toBe('allow')
    expect(
      ['example.com', 'evil-pypi.org', 'pypi.org.evil.example', 'git.example'].map((host) => decide(host, 443)),
    ).toEqual(Array(4).fill('refuse'))
  })

  it('is reached at a usual port, or at one that is named with it', () => {
    const decide = judge({ allow: ['a.example', 'b.example:8443'], onUnknown: 'allow' })
    expect([22, 80, 443, 25, 8443].map((port) => decide('a.example', port))).toEqual([
      ...['allow', 'allow', 'allow', 'refuse', 'refuse'],
    ])
    expect([443, 8443].map((port) => decide('b.example', port))).toEqual(['allow', 'allow'])
  })

  it('that is not listed is what the network says', () => {
    expect(judge(asking('packages'))('other.example', 443)).toBe('ask')
    expect(judge(network('none'))('pypi.org', 443)).toBe('refuse')
  })

  it('is within what a context token allows, whatever the network says', () => {
    const decide = judge({ ...network('packages'), onUnknown: 'allow' }, ['pypi.org', '*.example.com'])
    expect(
      ['pypi.org', 'registry.npmjs.org', 'a.example.com', 'other.example'].map((host) => decide(host, 443)),
    ).toEqual([...['allow', 'refuse', 'allow', 'refuse']])
    expect(judge(network('packages'), [])('pypi.org', 443)).toBe('refuse')
  })

  it('is reached as much as the network says, and never more than the service allows', () => {
    const parsed = Network.parse({ allow: ['a.example'], limits: { connections: 5, bytes: '2Gi' } })
    const { limits } = makeNetworkRules(parsed, { own, ports: [443] })
    expect(limits).toEqual({ connections: 5, bytes: 2 * 1024 ** 3 })
    expect(makeNetworkRules(network('a.example'), { own, ports: [443] })).not.toHaveProperty('limits')
    const service = { connections: 256, bytes: 1024 ** 3 }
    expect([narrowLimits(service, limits), narrowLimits(service), narrowLimits(service, { bytes: 1 })]).toEqual([
      { connections: 5, bytes: 1024 ** 3 },
      service,
      { connections: 256, bytes: 1 },
    ])
  })

  it('of a repository is where it is cloned from and pushed to', () => {
    const workspace = { gitRepo: 'https://git.example:8443/o/r', forkRepo: 'git@fork.example:me/r.git' }
    expect(listRepositoryHosts(makeTask({ workspace }))).toEqual(['git.example:8443', 'fork.example'])
  })
})

describe('what allows a host', () => {
  const rules = { own: { codehost: ['git.team.example'], model: [] }, ports: [80, 443] }
  const find = (allowed: Network, host: string, port = 443) => createAllowingSearch(allowed, rules)({ host, port })

  it('is the first entry that stands for it, by the name that people wrote', () => {
    const allowed = network('packages', 'codehost', '*.example.com', 'db.example:5432', 'pypi.org')
    expect(find(allowed, 'pypi.org')).toBe('packages')
    expect(find(allowed, 'git.team.example')).toBe('codehost')
    expect(find(allowed, 'a.example.com')).toBe('*.example.com')
    expect(find(allowed, 'db.example', 5432)).toBe('db.example:5432')
  })

  it('is what becomes of others where no entry does, and nothing where that is a question or a refusal', () => {
    expect(find({ allow: [], onUnknown: 'allow' }, 'new.example')).toBe('onUnknown')
    expect(find({ allow: [], onUnknown: 'allow' }, 'new.example', 8443)).toBeUndefined()
    expect(find(asking('packages'), 'new.example')).toBeUndefined()
    expect(find(network('db.example:5432'), 'db.example')).toBeUndefined()
  })
})
