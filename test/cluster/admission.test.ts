// What the cluster's own API refuses, by kubectl as users with different roles: the same that REST does.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildPolicies, type PolicySettings } from '../../scripts/admission/policies.ts'
import type { KubernetesApi } from '../../src/cluster/api.ts'
import { apiVersion, type Kind, kinds } from '../../src/contract/kinds/index.ts'
import { usedElsewhere } from '../../src/rules/tasks/uses-elsewhere.ts'
import {
  type AdmissionCase as Case,
  listLacking,
  listNetworkCases,
  listPartsElsewhere,
  listUsed,
  listUsualNetworkCases,
  type Spec,
} from '../fixtures/admission-cases.ts'
import {
  describeOnCluster,
  dropNamespace,
  installDefinitions,
  makeNamespace,
  openClusterApi,
} from '../fixtures/cluster.ts'
import { applyManifest, readObject, runKubectl } from '../fixtures/kubectl.ts'
import { waitFor } from '../fixtures/time.ts'

const run = `adm-${randomBytes(3).toString('hex')}`
const names = (prefix: string, count: number) => Array.from({ length: count }, (_, at) => `${prefix}${at}`)

let api: KubernetesApi
/** Where most is tried; what is named from there; where namespaces are kept apart and there are no actors; the service's. */
let home: string
let other: string
let apart: string
let own: string
/** What tasks of other namespaces use. */
let shared: string

const literals = (list: string[]) => JSON.stringify(list)

function settingsFor(prefix: string, spaces: string[], isolated: boolean): PolicySettings {
  return {
    prefix: `${run}-${prefix}`,
    accounts: literals([`system:serviceaccount:${home}:svc`]),
    isolated: String(isolated),
    allowNetworks: literals(['10.20.0.0/16', 'fd12::/16']),
    ownAddresses: literals(['svc.own.svc:8080', 'localhost:8080', '127.0.0.1:8080']),
    hasActors: String(!isolated),
    propagates: 'true',
    ownNamespace: JSON.stringify(own),
    namespace: own,
    workspaceDefaultProvider: "'agent-sandbox'",
    workspaceTemplates: isolated ? '{"agent-sandbox": ""}' : '{"actor": "acting"}',
    workspaceCleanups: '{"actor": "retain"}',
    workspaceSpaces: '{"agent-sandbox": "", "actor": "templates"}',
    agentNetwork: literals(['codehost']),
    commandNetwork: literals(['open']),
    networkUnknown: "'refuse'",
    namespaceNetworks: isolated ? '{}' : JSON.stringify({ [home]: ['codehost', '*.example.com', 'api.example.org'] }),
    namespaceUnknowns: isolated ? '{}' : JSON.stringify({ [home]: 'refuse' }),
    allowsOpenNetwork: String(isolated),
    scope: {
      namespaceSelector: {
        matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: spaces }],
      },
    },
  }
}

type Meta = { labels?: object; annotations?: object; ownerReferences?: object[] }

type Rule = { apiGroups: string[]; resources: string[]; verbs: string[]; resourceNames?: string[] }

function grant(namespace: string, name: string, rules: Rule[], users: string[]): object[] {
  const metadata = { name, namespace }
  const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1', metadata }
  const subjects = users.map((user) =>
    user === 'svc'
      ? { kind: 'ServiceAccount', name: 'svc', namespace: home }
      : { kind: 'User', name: user, apiGroup: 'rbac.authorization.k8s.io' },
  )
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name }
  return [
    { ...rbac, kind: 'Role', rules },
    { ...rbac, kind: 'RoleBinding', roleRef, subjects },
  ]
}

function grantEverywhere(name: string, rules: Rule[], user: string): object[] {
  const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1', metadata: { name } }
  const subjects = [{ kind: 'User', name: user, apiGroup: 'rbac.authorization.k8s.io' }]
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name }
  return [
    { ...rbac, kind: 'ClusterRole', rules },
    { ...rbac, kind: 'ClusterRoleBinding', roleRef, subjects },
  ]
}

/**
 * ann may read a few Secrets and ConfigMaps by name, bob none, eve all; cat writes tasks and reads nothing. dan writes what
 * people write and may act in no task of others; ann and bob may by their verb, eve by her right to Secrets alone.
 */
function listRights(): object[] {
  const core = ['core.svc.ai']
  const good = ['good', ...names('g', 20)]
  const everything = [{ apiGroups: core, resources: ['*'], verbs: ['*'] }]
  const named = [{ apiGroups: [''], resources: ['secrets', 'configmaps'], resourceNames: good, verbs: ['get'] }]
  const all = [{ apiGroups: [''], resources: ['secrets', 'configmaps'], verbs: ['get'] }]
  const writes = ['get', 'list', 'create', 'update', 'patch']
  const people = [{ apiGroups: core, resources: ['tasks', 'agents', 'skills', 'providers', 'tools'], verbs: writes }]
  const writer = [{ apiGroups: core, resources: ['tasks'], verbs: ['create', 'update', 'patch'] }]
  const sharedOnes = [
    { apiGroups: core, resources: ['agents', 'providers', 'tasks'], resourceNames: ['shared'], verbs: ['get'] },
    { apiGroups: [''], resources: ['secrets'], resourceNames: ['shared'], verbs: ['get'] },
  ]
  return [home, apart, own, shared]
    .flatMap((space) => [
      ...grant(space, 'editor', everything, ['ann', 'bob', 'svc']),
      ...grant(space, 'people', people, ['dan']),
      ...grant(space, 'writes', [{ apiGroups: core, resources: ['*'], verbs: writes }], ['eve']),
      ...grant(space, 'named', named, ['ann']),
      ...grant(space, 'all', all, ['eve', 'svc']),
      ...grant(space, 'writer', writer, ['cat']),
    ])
    .concat(grant(other, 'shared', sharedOnes, ['ann', 'svc']))
    .concat(
      [shared, other].flatMap((space) => [
        ...grant(space, 'reads', [...all, ...people], ['fay']),
        ...grant(space, 'acts', [{ apiGroups: core, resources: ['tasks'], verbs: ['act'] }, ...people], ['guy']),
      ]),
    )
    .concat(grant(shared, 'writes-too', people, ['hal']))
    .concat(grantEverywhere(`${run}-all`, all, 'hal'))
}

const ref = { name: 'good' }
const bad = { name: 'bad' }
const far = () => ({ name: 'shared', namespace: other })
const task = (more: Spec = {}) => ({ type: 'container', image: 'x', ...more })
const ai = (more: Spec = {}) => ({ type: 'ai', prompt: 'x', ...more })
const tool = (http: Spec) => ({ description: 'd', http: { url: 'https://example.com/', ...http } })
const skill = (more: Spec) => ({ description: 'd', content: { inline: 'x' }, ...more })
const provider = (more: Spec = {}) => ({ type: 'llma', ...more })
const scan = (more: Spec = {}) => ({ repoURL: 'https://github.com/a/b', analysisAgentRef: { name: 'a' }, ...more })
const monitor = ({ agents, ...more }: Spec = {}) => ({
  repoURL: 'https://github.com/a/b',
  agents: { reviewer: { name: 'a' }, ...(agents as object) },
  ...more,
})
const gitRepo = 'https://github.com/a/b'
const env = (from: 'secretKeyRef' | 'configMapKeyRef', list: string[]) =>
  list.map((name, at) => ({ name: `E${at}`, valueFrom: { [from]: { name, key: 'k' } } }))
const at = (path: string, value: unknown): Spec =>
  path.split('.').reduceRight<unknown>((inside, part) => ({ [part]: inside }), value) as Spec

/** Every place of a kind that names a Secret or a ConfigMap: with one that ann may read, and with one that she may not. */
function guardedPlaces(): Case[] {
  const keyed = (name: { name: string }) => ({ ...name, key: 'k' })
  const places: [Kind, string, (name: { name: string }) => Spec, target?: string][] = [
    ['Task', 'secretRef', (name) => task({ secretRef: name })],
    ['Task', 'env secretKeyRef', ({ name }) => task({ env: env('secretKeyRef', [name]) })],
    ['Task', 'env configMapKeyRef', ({ name }) => task({ env: env('configMapKeyRef', [name]) }), 'ConfigMap'],
    ['Task', 'workspace.gitSecretRef', (name) => ai({ workspace: { gitRepo, gitSecretRef: name } })],
    [
      'Task',
      'agentRuntime.workspace.gitSecretRef',
      (name) => ({
        type: 'agent',
        prompt: 'x',
        agentRef: { name: 'a' },
        agentRuntime: { workspace: { gitRepo, gitSecretRef: name } },
      }),
    ],
    ['Task', 'ai.skills', (name) => ai({ ai: { skills: [{ configMapRef: keyed(name) }] } }), 'ConfigMap'],
    ['Agent', 'secretRef', (name) => ({ secretRef: name })],
    ['Agent', 'systemPrompt', (name) => at('systemPrompt.configMapRef', keyed(name)), 'ConfigMap'],
    ['Agent', 'skills', (name) => ({ skills: [{ configMapRef: keyed(name) }] }), 'ConfigMap'],
    ['Provider', 'secretRef', (name) => provider({ secretRef: name })],
    ['Skill', 'source.secretRef', (name) => skill({ source: { codehost: gitRepo, secretRef: name } })],
    ['Tool', 'http.authSecretRef', (name) => tool({ authSecretRef: keyed(name) })],
    ['RepositoryScan', 'gitSecretRef', (name) => scan({ gitSecretRef: name })],
    ['RepositoryScan', 'customScanInstructionsRef', (name) => scan({ customScanInstructionsRef: name }), 'ConfigMap'],
    ['RepositoryScan', 'falsePositivePolicyRef', (name) => scan({ falsePositivePolicyRef: name }), 'ConfigMap'],
    ['RepositoryMonitor', 'gitSecretRef', (name) => monitor({ gitSecretRef: name })],
  ]
  return places.flatMap(([kind, what, make, target = 'Secret']) => [
    { as: 'ann', what: `${what}, which she may read`, kind, spec: make(ref) },
    {
      as: 'ann',
      what: `${what}, which she may not`,
      kind,
      spec: make(bad),
      refused: `may not get the ${target} "${home}/bad"`,
    },
    { as: 'bob', what, kind, spec: make(ref), refused: `may not get the ${target} "${home}/good"` },
  ])
}

/** Every place that names a resource: in the own namespace, in another by who may, and by who may not. */
function crossingPlaces(): [Kind, string, (to: object) => Spec][] {
  return [
    ['Task', 'Agent', (to) => ai({ agentRef: to })],
    ['Task', 'Provider', (to) => ai({ ai: { providerRef: to } })],
    ['Task', 'Task', (to) => ai({ workspace: { gitRepo }, priorTaskRef: to })],
    ['Agent', 'Provider', (to) => ({ providerRef: to })],
    ['Agent', 'Provider', (to) => at('model.fallbacks', [{ providerRef: { name: 'near' } }, { providerRef: to }])],
    ['Agent', 'Agent', (to) => at('coordination.allowedAgents', [to])],
    ['Provider', 'Provider', (to) => provider({ fallbacks: [{ providerRef: to }] })],
    ['RepositoryScan', 'Agent', (to) => scan({ analysisAgentRef: to })],
    ['RepositoryScan', 'Agent', (to) => scan({ patchAgentRef: to })],
    ['RepositoryMonitor', 'Agent', (to) => monitor({ agents: { reviewer: to } })],
    ['RepositoryMonitor', 'Agent', (to) => monitor({ agents: { repairer: to } })],
    ['RepositoryMonitor', 'Agent', (to) => monitor({ agents: { implementer: to } })],
  ]
}

const resourceReferences = (): Case[] =>
  crossingPlaces().flatMap(([kind, target, make]) => [
    { as: 'bob', what: `${target} of the own namespace`, kind, spec: make({ name: 'near' }) },
    { as: 'ann', what: `${target} of another, which she may read`, kind, spec: make(far()) },
    {
      as: 'bob',
      what: `${target} of another, which he may not`,
      kind,
      spec: make(far()),
      refused: `may not get the ${target} "${other}/shared"`,
    },
  ])

const manySecrets = (): Case[] => [
  { as: 'ann', what: '16 Secrets', kind: 'Task', spec: task({ env: env('secretKeyRef', names('g', 16)) }) },
  {
    as: 'ann',
    what: '15 Secrets and one that she may not read',
    kind: 'Task',
    spec: task({ env: env('secretKeyRef', [...names('g', 15), 'bad']) }),
    refused: 'may not get the Secret',
  },
  {
    as: 'ann',
    what: '17 Secrets',
    kind: 'Task',
    spec: task({ env: env('secretKeyRef', names('g', 17)) }),
    refused: 'at most 16 different',
  },
  {
    as: 'ann',
    what: '1000 entries of 16 Secrets',
    kind: 'Task',
    spec: task({
      env: env(
        'secretKeyRef',
        names('', 1000).map((number) => `g${Number(number) % 16}`),
      ),
    }),
  },
  { as: 'eve', what: '1000 Secrets', kind: 'Task', spec: task({ env: env('secretKeyRef', names('n', 1000)) }) },
  { as: 'ann', what: 'a Secret of another namespace', kind: 'Task', spec: task({ secretRef: far() }) },
  {
    as: 'eve',
    what: 'a Secret of another namespace',
    kind: 'Task',
    spec: task({ secretRef: far() }),
    refused: `may not get the Secret "${other}/shared"`,
  },
  {
    as: 'cat',
    what: 'an agent of the own namespace that she may not read',
    kind: 'Task',
    spec: ai({ agentRef: { name: 'near' } }),
    refused: `may not get the Agent "${home}/near"`,
  },
]

const identity = (): Case[] => {
  const requestedBy = { username: 'root' }
  const stamp: Meta = {
    labels: { 'svc.ai/transaction-id': 't' },
    annotations: { 'svc.ai/caller': 'ann', 'svc.ai/transaction-token-secret': 's' },
    ownerReferences: [{ apiVersion, kind: 'Task', name: 'parent', uid: '6a1f8f3e-0000-4000-8000-000000000000' }],
  }
  const forged: [string, Meta, string][] = [
    ['the label of a parent', { labels: { 'svc.ai/parent-task': 'p' } }, 'svc.ai/parent-task'],
    ['the label of a scheduled run', { labels: { 'svc.ai/scheduled-run': 'true' } }, 'svc.ai/scheduled-run'],
    ['the label of a child', { labels: { 'svc.ai/coordinator': 'true', team: 'x' } }, 'svc.ai/coordinator'],
    ['the Secret of a token', { annotations: { 'svc.ai/transaction-token-secret': 's' } }, 'transaction-token-secret'],
    ['a parent', { ownerReferences: stamp.ownerReferences as object[] }, 'remove Task/parent'],
  ]
  return [
    { as: 'bob', what: 'requestedBy', kind: 'Task', spec: task({ requestedBy }), refused: 'spec.requestedBy is set' },
    {
      as: 'bob',
      what: 'transaction',
      kind: 'Task',
      spec: task({ transaction: { id: '1' } }),
      refused: 'spec.transaction is',
    },
    {
      as: 'svc',
      what: 'a whole stamp',
      kind: 'Task',
      spec: task({ requestedBy, transaction: { id: '1' } }),
      metadata: stamp,
    },
    {
      as: 'bob',
      what: 'keys of his own',
      kind: 'Task',
      spec: task(),
      metadata: { labels: { team: 'a' }, annotations: { 'a.b/c': '1' } },
    },
    ...forged.map(([what, metadata, refused]) => ({
      as: 'bob',
      what,
      kind: 'Task' as Kind,
      spec: task(),
      metadata,
      refused,
    })),
    ...(Object.keys(kinds) as Kind[]).map((kind) => ({
      as: 'bob',
      what: 'a reserved annotation',
      kind,
      refused: 'annotations below svc.ai/',
      spec: {
        Task: task(),
        Agent: {},
        Provider: provider(),
        Tool: tool({}),
        Skill: { description: 'd', content: { inline: 'x' } },
        RepositoryScan: scan(),
        RepositoryMonitor: monitor(),
      }[kind],
      metadata: { annotations: { 'svc.ai/trusted-base-url': 'http://127.0.0.1' } },
    })),
  ]
}

const addresses = (): Case[] => {
  const where = (baseURL: string, refused?: string): Case => ({
    as: 'bob',
    what: baseURL,
    kind: 'Provider',
    spec: provider({ baseURL }),
    ...(refused === undefined ? {} : { refused }),
  })
  return [
    ...[
      'https://api.example.com/v1',
      'http://vllm.models.svc:8000',
      'http://10.20.3.4/v1',
      'http://[fd12::1]:80/',
      'https://1.1.1.1',
    ].map((url) => where(url)),
    ...[
      'http://127.0.0.1:9/v1',
      'http://localhost',
      'http://a.localhost.',
      'http://10.0.0.1',
      'http://192.168.1.1/',
      'http://[::1]/',
      'http://[fd00::1]',
      'http://100.64.0.1',
      'http://0.0.0.0',
    ].map((url) => where(url, 'must not be a loopback or private address')),
    ...[
      'http://169.254.169.254/',
      'http://metadata.google.internal',
      'http://[fe80::1]/',
      'http://100.100.100.200',
    ].map((url) => where(url, 'link-local or metadata')),
    ...['http://svc.own.svc:8080/v1', 'http://127.0.0.2:8080'].map((url) =>
      where(url, 'must not be the address of this service'),
    ),
    ...[
      'http://2130706433/',
      'http://0x7f.1',
      'http://127.1',
      'http://[::ffff:127.0.0.1]/',
      'http://%31%32%37.0.0.1/',
      'http://127.0.0.1\\@example.com/',
      'http:127.0.0.1',
      'http://a:b@10.0.0.1/',
    ].map((url) => where(url, 'must have a host name')),
    {
      as: 'bob',
      what: 'a demo provider',
      kind: 'Provider',
      spec: { type: 'demo' },
      refused: 'spec.type demo is only for',
    },
    {
      as: 'bob',
      what: 'the header of tokens',
      kind: 'Tool',
      spec: tool({ headers: { ' TXN-token': 'x' } }),
      refused: 'reserved for the token',
    },
    {
      as: 'bob',
      what: 'a header that the client sets',
      kind: 'Tool',
      spec: tool({ headers: { Host: 'other.example.com' } }),
      refused: 'that the service sets itself',
    },
    {
      as: 'bob',
      what: 'a header that the protocol sets',
      kind: 'Tool',
      spec: { description: 'd', mcp: { url: 'https://example.com/mcp' }, http: { headers: { 'Mcp-Session-Id': 'x' } } },
      refused: 'that the protocol of MCP sets',
    },
    { as: 'bob', what: 'another header', kind: 'Tool', spec: tool({ headers: { 'X-Team': 'a' } }) },
  ]
}

const isolated = (): Case[] => [
  ...crossingPlaces()
    .filter(([kind]) => !kind.startsWith('Repository'))
    .flatMap(([kind, target, make]): Case[] => [
      {
        as: 'ann',
        what: `${target} of another namespace`,
        kind,
        spec: make(far()),
        refused: 'must not refer to another namespace',
      },
      { as: 'ann', what: `${target} of the own, in full`, kind, spec: make({ name: 'near', namespace: apart }) },
    ]),
  {
    as: 'ann',
    what: 'a Secret of another namespace',
    kind: 'Task',
    spec: task({ secretRef: far() }),
    refused: 'must not refer to another',
  },
]

const inWorkspace = (what: string, workspace: Spec, refused?: string): Case => ({
  as: 'ann',
  what: `a workspace ${what}`,
  kind: 'Task',
  spec: { type: 'agent', prompt: 'x', agentRef: { name: 'good' }, execution: { workspace } },
  ...(refused !== undefined && { refused }),
})

/** The service has sandboxes only, without a default template. */
const unnamedTemplates = (): Case[] => [
  inWorkspace('of the own namespace, in full', { enabled: true, templateRef: { name: 't', namespace: apart } }),
  inWorkspace('of another namespace', { enabled: true, templateRef: far() }, 'sandboxes cannot be claimed'),
  inWorkspace('of an actor of another namespace', { provider: 'actor', templateRef: far() }, 'isolated here'),
  inWorkspace('of an actor of the namespace in the settings', {
    provider: 'actor',
    templateRef: { name: 't', namespace: 'templates' },
  }),
  inWorkspace(
    'from a pool of another namespace',
    { provider: 'actor', poolRef: far(), cleanupPolicy: 'delete' },
    'isolated here',
  ),
  inWorkspace('without a template', { enabled: true }, 'templateRef.name is required'),
  inWorkspace('of actors, which there are not', { enabled: true, provider: 'actor' }, 'provider is not enabled'),
]

/** The service has actors only, with a default template; what is left over is retained. */
const workspaces = (): Case[] => {
  const actor = { enabled: true, provider: 'actor' }
  const pool = { poolRef: { name: 'p' } }
  return [
    inWorkspace('that is off', { enabled: false }),
    inWorkspace('of actors', { ...actor, boot: true, hibernation: { processMode: 'restart' }, snapshot: {} }),
    inWorkspace('from a pool', { ...actor, ...pool, cleanupPolicy: 'delete' }),
    inWorkspace('from a template of another namespace', { ...actor, templateRef: far() }, 'may not create tasks'),
    inWorkspace('from the usual templates', { ...actor, templateRef: { name: 't', namespace: 'templates' } }),
    inWorkspace(
      'from a pool of another namespace',
      { ...actor, poolRef: far(), cleanupPolicy: 'delete' },
      'may not create tasks',
    ),
    {
      as: 'ann',
      what: 'an actor from a template of another namespace',
      kind: 'Tool',
      spec: { description: 'd', mcp: { actor: { templateRef: far() } } },
      refused: 'may not create tools',
    },
    {
      as: 'ann',
      what: 'an actor from a pool of another namespace',
      kind: 'Tool',
      spec: { description: 'd', mcp: { actor: { templateRef: { name: 't' }, poolRef: far() } } },
      refused: 'may not create tools',
    },
    {
      as: 'ann',
      what: 'an actor from the usual templates',
      kind: 'Tool',
      spec: { description: 'd', mcp: { actor: { templateRef: { name: 't', namespace: 'templates' } } } },
    },
    inWorkspace('of the default provider', { enabled: true, templateRef: { name: 't' } }, 'provider is not enabled'),
    inWorkspace('from a pool, retained', { ...actor, ...pool }, 'must be delete for a pooled workspace'),
    inWorkspace('from a snapshot', { ...actor, snapshot: { restore: 'x' } }, 'snapshot is reserved'),
    inWorkspace('that stays', { ...actor, hibernation: { processMode: 'resident' } }, 'must not be resident'),
    inWorkspace('of sandboxes, booted', { boot: true }, 'boot is only for workspace provider actor'),
    inWorkspace('of sandboxes, pooled', { ...pool, cleanupPolicy: 'delete' }, 'poolRef is only for'),
    inWorkspace('of sandboxes, hibernating', { hibernation: { idle: 1 } }, 'hibernation is only for'),
    {
      ...inWorkspace('of a session that is not named', { ...actor, reusePolicy: 'session' }),
      refused: 'sessionRef.name is required',
    },
  ]
}

const actingDoors = (): Case[] => {
  const joined = ai({ sessionRef: { name: 's', create: true } })
  const inline = skill({})
  const places: [string, Kind, Spec][] = [
    ['a session', 'Task', joined],
    ['a prompt', 'Agent', { systemPrompt: { inline: 'x' } }],
    ['a text', 'Skill', inline],
    ['a vendor', 'Provider', provider()],
    ['an address', 'Tool', tool({})],
  ]
  return [
    { as: 'dan', what: 'an agent', kind: 'Task', spec: ai({ agentRef: { name: 'near' } }) },
    ...places.flatMap(([what, kind, spec]): Case[] => [
      { as: 'dan', what, kind, spec, refused: 'needs the right to get the Secrets' },
      ...['bob', 'eve', 'svc'].map((as) => ({ as, what, kind, spec })),
    ]),
  ]
}

const guarded = (): Case[] => [
  {
    as: 'bob',
    what: 'a task beside the service',
    kind: 'Task',
    spec: task(),
    refused: 'belongs to the cluster or the service',
  },
]

/** What is said of one object; empty when it is let in. */
function readAnswer(name: string, { stdout, stderr }: { stdout: string; stderr: string }): string {
  const said = stderr.split('\n').find((line) => line.includes(`"${name}"`))
  return said ?? (stdout.includes(`/${name} created`) ? '' : `no answer: ${stderr}`)
}

async function judgeAs(user: string, namespace: string, items: object[]) {
  const as = user === 'svc' ? `system:serviceaccount:${home}:svc` : user
  const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
  return runKubectl(['create', '--dry-run=server', '--as', as, '-f', '-'], { input, namespace })
}

/** What kubectl says of each, all objects of a user in one call that stores nothing. */
async function judge(namespace: string, cases: Case[]): Promise<string[]> {
  const named = cases.map((one, at) => ({ name: `case-${at}`, ...one }))
  const byUser = Map.groupBy(named, ({ as }) => as)
  const answers = new Map<string, string>()
  for (const [user, group] of byUser) {
    const items = group.map(({ kind, name, spec, metadata }) => ({
      apiVersion,
      kind,
      metadata: { name, ...metadata },
      spec,
    }))
    const answer = await judgeAs(user, namespace, items)
    for (const { name } of group) answers.set(`${user} ${name}`, readAnswer(name, answer))
  }
  return named.map(({ as, name }) => answers.get(`${as} ${name}`) ?? '')
}

function describeCase({ as, kind, what, refused }: Case): string {
  return `${as} makes a ${kind} with ${what}: ${refused ?? 'let in'}`
}

/** Both lists as words, so that one comparison shows every difference. */
function compare(cases: Case[], answers: string[]): { expected: string[]; found: string[] } {
  const found = cases.map((one, at) => {
    const answer = answers[at] ?? ''
    const isRight = one.refused === undefined ? answer === '' : answer.includes(one.refused)
    return isRight ? describeCase(one) : `${describeCase(one)} -- but: ${answer || 'let in'}`
  })
  return { expected: cases.map(describeCase), found }
}

async function expectJudged(namespace: string, cases: Case[]): Promise<void> {
  const { expected, found } = compare(cases, await judge(namespace, cases))
  expect(found).toEqual(expected)
}

type Policy = {
  metadata: { name: string; generation: number }
  status?: { observedGeneration?: number; typeChecking?: { expressionWarnings?: object[] } }
}

describeOnCluster('admission by kubectl', () => {
  let objects: { metadata: { name: string }; kind: string }[]

  beforeAll(async () => {
    api = await openClusterApi()
    await installDefinitions(api)
    home = await makeNamespace(api, `${run}-home`)
    other = await makeNamespace(api, `${run}-other`)
    apart = await makeNamespace(api, `${run}-apart`)
    own = await makeNamespace(api, `${run}-own`)
    shared = await makeNamespace(api, `${run}-shared`)
    objects = [
      ...buildPolicies(settingsFor('a', [home, own, shared], false)),
      ...buildPolicies(settingsFor('b', [apart], true)),
    ] as typeof objects
    const { group, version, kind, name } = usedElsewhere
    const noted = {
      apiVersion: `${group}/${version}`,
      kind,
      metadata: { name, namespace: own },
      data: listUsed(shared, { other, apart }),
    }
    const items = [...listRights(), noted, ...objects]
    await applyManifest(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
    // The server takes a while to learn of them: each has been learnt of when what it is for is refused.
    const all = [
      [
        home,
        [
          ...guardedPlaces(),
          ...resourceReferences(),
          ...identity(),
          ...addresses(),
          ...workspaces(),
          ...actingDoors(),
          ...listNetworkCases(),
        ],
      ],
      [apart, [...isolated(), ...listLacking(), ...unnamedTemplates(), ...listUsualNetworkCases()]],
      [own, guarded()],
      [shared, listPartsElsewhere()],
    ] as const
    await waitFor(async () => {
      for (const [space, cases] of all) {
        const refused = cases.filter((one) => one.refused !== undefined)
        if ((await judge(space, refused)).some((answer) => answer === '')) return false
      }
      // A kind that a policy has as its parameter is learnt of later.
      const allowed = listPartsElsewhere().filter((one) => one.refused === undefined)
      return (await judge(shared, allowed)).every((answer) => answer === '')
    }, 'every policy being learnt of')
  }, 240_000)

  afterAll(async () => {
    const of = (kind: string) => objects.filter((object) => object.kind === kind).map(({ metadata }) => metadata.name)
    for (const kind of ['ValidatingAdmissionPolicyBinding', 'ValidatingAdmissionPolicy']) {
      await runKubectl(['delete', '--ignore-not-found', kind, ...of(kind)])
    }
    for (const kind of ['clusterrolebinding', 'clusterrole']) await runKubectl(['delete', kind, `${run}-all`])
    for (const namespace of [home, other, apart, own, shared]) await dropNamespace(api, namespace)
    await api.close()
  })

  it('has policies without type errors, according to the server', async () => {
    const read = async () => {
      const { items } = await readObject<{ items: Policy[] }>(['get', 'validatingadmissionpolicy'])
      return items.filter(({ metadata }) => metadata.name.startsWith(run))
    }
    const checked = await waitFor(async () => {
      const found = await read()
      return found.every(({ metadata, status }) => status?.observedGeneration === metadata.generation) && found
    }, 'the check of types')
    expect(
      checked.flatMap(({ metadata, status }) =>
        (status?.typeChecking?.expressionWarnings ?? []).map((warning) => [metadata.name, warning]),
      ),
    ).toEqual([])
  })

  it('checks the right to every Secret and ConfigMap that is named [SECRET-004]', () =>
    expectJudged(home, guardedPlaces()))
  it('checks the right to resources in any namespace', () => expectJudged(home, resourceReferences()))
  it('checks many names one by one, up to the cost limit', () => expectJudged(home, manySecrets()))
  it('lets the service write its own fields', () => expectJudged(home, identity()))
  it('checks addresses and headers as REST does', () => expectJudged(home, addresses()))
  it('keeps namespaces isolated where that is configured', () => expectJudged(apart, isolated()))
  it('refuses what the installation does not have, with a message', () => expectJudged(apart, listLacking()))
  it('refuses execution workspaces as REST does', () => expectJudged(home, workspaces()))
  it('refuses execution workspaces without a template, where none is the default', () =>
    expectJudged(apart, unnamedTemplates()))
  it('asks whoever acts inside what may be somebody else’s', () => expectJudged(home, actingDoors()))
  it('asks whoever changes what tasks of other namespaces use', () => expectJudged(shared, listPartsElsewhere()))
  it('keeps networks to those of their namespace, unless their author may widen them', () =>
    expectJudged(home, listNetworkCases()))
  it('keeps networks to those of the settings', () => expectJudged(apart, listUsualNetworkCases()))
  it('protects the namespaces of the service', () => expectJudged(own, guarded()))

  describe('of a change', () => {
    const svc = () => `system:serviceaccount:${home}:svc`
    const make = (kind: Kind, name: string, spec: Spec, metadata: Meta = {}) =>
      runKubectl(['create', '--as', svc(), '-f', '-'], {
        input: JSON.stringify({ apiVersion, kind, metadata: { name, ...metadata }, spec }),
        namespace: home,
      })
    const patch = async (as: string, name: string, change: object) => {
      const args = ['patch', name, '--type=merge', '-p', JSON.stringify(change), '--as', as]
      const { stderr } = await runKubectl(args, { namespace: home })
      return stderr
    }

    // A service of another test may serve these namespaces as well: what waits for a far time is started by none.
    const waiting = (spec: Spec) => task({ schedule: '0 0 29 2 *', ...spec })

    beforeAll(async () => {
      await make('Provider', 'kept', provider({ secretRef: bad, baseURL: 'https://api.example.com' }))
      const marks = { 'svc.ai/parent-task': 'p' }
      await make('Task', 'plain', waiting({ env: env('secretKeyRef', ['bad']) }))
      const stamped = waiting({ requestedBy: { username: 'x' } })
      await make('Task', 'stamped', stamped, { labels: marks, annotations: { 'svc.ai/caller': 'x' } })
    })

    it('checks again when a credential would go elsewhere, and not for a label or a time [SECRET-005]', async () => {
      expect(await patch('bob', 'provider/kept', { metadata: { labels: { team: 'a' } } })).toBe('')
      expect(await patch('bob', 'task/plain', { spec: { suspend: true, priority: 7 } })).toBe('')
      expect(await patch('bob', 'task/plain', { spec: { suspend: false } })).toContain('may not get the Secret')
      expect(await patch('bob', 'task/plain', { spec: { schedule: '1 0 29 2 *' } })).toContain('may not get the Secret')
      expect(await patch('bob', 'provider/kept', { spec: { baseURL: 'https://elsewhere.example.com' } })).toContain(
        'may not get the Secret',
      )
      expect(await patch('bob', 'task/plain', { spec: { image: 'y' } })).toContain('may not get the Secret')
      expect(await patch('eve', 'provider/kept', { spec: { baseURL: 'https://elsewhere.example.com' } })).toBe('')
    })

    it('asks whoever acts inside a task with an agent, and not for what gives it nothing', async () => {
      await make('Task', 'with-agent', { type: 'ai', prompt: 'x', agentRef: { name: 'near' }, schedule: '0 0 29 2 *' })
      await make('Agent', 'used', { systemPrompt: { inline: 'x' } })
      await make('Skill', 'used', skill({}))
      await make('Provider', 'used', provider())
      await make('Tool', 'used', tool({}))
      const refusal = 'needs the right to get the Secrets'
      const acting: [string, object][] = [
        ['task/with-agent', { spec: { prompt: 'y' } }],
        ['task/with-agent', { spec: { schedule: '1 0 29 2 *' } }],
        ['agent/used', { spec: { systemPrompt: { inline: 'y' } } }],
        ['skill/used', { spec: { content: { inline: 'y' } } }],
        ['provider/used', { spec: { defaultModel: 'y' } }],
        ['tool/used', { spec: { description: 'y' } }],
      ]
      for (const [name, change] of acting) expect(await patch('dan', name, change), name).toContain(refusal)
      expect(await patch('dan', 'task/with-agent', { spec: { suspend: true, priority: 7 } })).toBe('')
      expect(await patch('dan', 'task/with-agent', { spec: { suspend: false } })).toContain(refusal)
      for (const name of ['task/with-agent', 'agent/used', 'skill/used', 'provider/used', 'tool/used'])
        expect(await patch('dan', name, { metadata: { labels: { team: 'a' } } })).toBe('')
      for (const [name, change] of acting) expect(await patch('eve', name, change), name).toBe('')
    })

    it('keeps annotations and labels of the service unchanged', async () => {
      expect(await patch('eve', 'task/stamped', { metadata: { labels: { team: 'a' } } })).toBe('')
      expect(await patch('eve', 'task/stamped', { metadata: { labels: { 'svc.ai/parent-task': null } } })).toContain(
        'svc.ai/parent-task',
      )
      expect(await patch('eve', 'task/stamped', { metadata: { annotations: { 'svc.ai/caller': 'eve' } } })).toContain(
        'svc.ai/caller',
      )
      expect(await patch('eve', 'task/stamped', { spec: { requestedBy: null } })).toMatch(/requestedBy/)
      expect(await patch(svc(), 'task/stamped', { metadata: { annotations: { 'svc.ai/caller': 'y' } } })).toBe('')
    })

    it('lets others suspend a task that acts for somebody, but not change what it does', async () => {
      expect(await patch('eve', 'task/stamped', { spec: { suspend: true } })).toBe('')
      expect(await patch('eve', 'task/stamped', { spec: { image: 'y' } })).toContain('acts for somebody else')
      expect(await patch(svc(), 'task/stamped', { spec: { image: 'y' } })).toBe('')
    })

    it('gives schedules names that leave room for the time of a run', async () => {
      const nightly = task({ schedule: '0 2 * * *', suspend: true })
      expect((await make('Task', 'n'.repeat(53), nightly)).stderr).toContain('at most 52 characters')
      expect((await make('Task', 'n'.repeat(52), nightly)).stderr).toBe('')
    })

    it('refuses a new private address of a provider, and a change of its type to demo', async () => {
      expect(await patch('eve', 'provider/kept', { spec: { baseURL: 'http://127.0.0.1:1' } })).toContain(
        'loopback or private',
      )
      expect(await patch('eve', 'provider/kept', { spec: { type: 'demo' } })).toContain('spec.type demo')
    })

    it('refuses the same to kubectl apply, client-side and server-side', async () => {
      const input = JSON.stringify({
        apiVersion,
        kind: 'Tool',
        metadata: { name: 'applied' },
        spec: tool({ authSecretRef: { name: 'bad', key: 'k' } }),
      })
      const apply = (...more: string[]) =>
        runKubectl(['apply', ...more, '--as', 'ann', '-f', '-'], { input, namespace: home })
      expect((await apply()).stderr).toContain('may not get the Secret')
      expect((await apply('--server-side')).stderr).toContain('may not get the Secret')
    })
  })
})
