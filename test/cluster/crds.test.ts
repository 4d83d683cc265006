// The definitions on a real API server: they are accepted, and what it says of objects is what this service says.
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { KubernetesApi } from '../../src/cluster/api.ts'
import { collectionOf } from '../../src/cluster/resources/exchange.ts'
import { apiVersion, type Kind, kindNames, kinds } from '../../src/contract/kinds/index.ts'
import { parse } from '../../src/contract/schema/validation.ts'
import { readRepositoryUrl } from '../../src/contract/values/repository-url.ts'
import type { Problem } from '../../src/errors.ts'
import { isSvcError } from '../../src/errors.ts'
import {
  describeOnCluster,
  dropNamespace,
  installDefinitions,
  makeNamespace,
  openClusterApi,
} from '../fixtures/cluster.ts'

const run = promisify(execFile)

type Spec = Record<string, unknown>
type Case = [kind: Kind, what: string, spec: Spec]

const ai = { type: 'ai', prompt: 'say hello' }
const agent = { type: 'agent', agentRef: { name: 'writer' }, prompt: 'write' }
const container = { type: 'container', image: 'busybox', command: ['true'] }
const provider = { type: 'llma', secretRef: { name: 'key' } }
const tool = { description: 'says the weather', http: { url: 'https://example.com/weather' } }
const skill = { description: 'does it', content: { inline: 'text' } }
const scan = { repoURL: 'https://github.com/a/b', analysisAgentRef: { name: 'a' } }

const own = { runtimeRef: { name: 'own' } }
const azure = { deploymentName: 'd' }
const mcpTool = { description: 'an actor', mcp: { actor: { templateRef: { name: 't' } } } }
const monitor = { repoURL: 'https://github.com/a/b', agents: { reviewer: { name: 'r' } } }

const good: Case[] = [
  ['Task', 'a prompt', ai],
  ['Task', 'a prompt among the settings', { type: 'ai', ai: { prompt: 'x', temperature: 0.5, maxTokens: 10 } }],
  ['Task', 'an agent', agent],
  ['Task', 'an image', { type: 'container', image: 'busybox' }],
  ['Task', 'a command without an image', { type: 'container', command: ['true'] }],
  ['Task', 'limits as numbers and texts', { ...container, resources: { limits: { cpu: 1, memory: '64Mi' } } }],
  [
    'Task',
    'retries, a timeout and a priority',
    { ...ai, retryPolicy: { maxRetries: 3 }, timeout: '1h30m', priority: 0 },
  ],
  ['Task', 'a schedule in a time zone', { ...ai, schedule: '*/5 * * * *', timeZone: 'Europe/Berlin' }],
  ['Task', 'an affinity of any shape', { ...ai, execution: { affinity: { a: { b: [1, null] } } } }],
  ['Skill', 'text', skill],
  ['Skill', 'a file', { ...skill, content: { inline: 'text', files: { 'a/b.md': 'x' } } }],
  ['Provider', 'a vendor', provider],
  ['Provider', 'a deployment', { ...provider, type: 'azure-llmo', baseURL: 'https://a.example', azure }],
  ['Agent', 'nothing', {}],
  ['Agent', 'a runtime', { runtime: { type: 'llma-cli' } }],
  ['Agent', 'a runtime and a provider', { runtime: { type: 'llma-cli' }, providerRef: { name: 'p' } }],
  [
    'Agent',
    'a runtime and all that it heeds',
    { runtime: { type: 'opencode', defaultAllowBash: false }, model: { name: 'm', fallbacks: [] }, tools: [] },
  ],
  ['Agent', 'a model', { providerRef: { name: 'p' }, model: { name: 'm' } }],
  ['Skill', 'a source alone', { source: { codehost: 'https://github.com/owner/skills', path: 'style' } }],
  ['Tool', 'an address', tool],
  ['Tool', 'a key in the body', { ...tool, http: { ...tool.http, authInject: 'body', authBodyKey: 'key' } }],
  ['Tool', 'an MCP server', mcpTool],
  ['Tool', 'an MCP server with an address', { description: 'd', mcp: { url: tool.http.url, tools: ['read_*'] } }],
  ['RepositoryScan', 'a repository', scan],
  ['RepositoryMonitor', 'a repository and a reviewer', monitor],
]

const bad: Case[] = [
  ['Task', 'no type', { prompt: 'x' }],
  ['Task', 'an unknown type', { type: 'magic', prompt: 'x' }],
  ['Task', 'an unknown field', { ...ai, colour: 'red' }],
  ['Task', 'an unknown field further down', { ...ai, retryPolicy: { maxRetry: 1 } }],
  ['Task', 'a text for a number', { ...ai, priority: 'high' }],
  ['Task', 'a priority beyond the range', { ...ai, priority: 1001 }],
  ['Task', 'too many retries', { ...ai, retryPolicy: { maxRetries: 101 } }],
  ['Task', 'half a retry', { ...ai, retryPolicy: { maxRetries: 1.5 } }],
  ['Task', 'an agent without a reference', { type: 'agent', prompt: 'x' }],
  ['Task', 'an agent without a prompt', { type: 'agent', agentRef: { name: 'a' } }],
  ['Task', 'an agent with an empty prompt', { ...agent, prompt: '' }],
  ['Task', 'an agent with a blank prompt', { ...agent, prompt: ' ' }],
  ['Task', 'a model without a prompt', { type: 'ai' }],
  ['Task', 'a model with two empty prompts', { type: 'ai', prompt: '', ai: { prompt: ' ' } }],
  ['Task', 'an image for a model', { ...ai, image: 'busybox' }],
  ['Task', 'a command for an agent', { ...agent, command: ['true'] }],
  ['Task', 'a container with neither image nor command', { type: 'container' }],
  ['Task', 'a container with an empty command', { type: 'container', command: [] }],
  ['Task', 'an agent for a container', { ...container, agentRef: { name: 'a' } }],
  ['Task', 'settings of a model for a container', { ...container, ai: { prompt: 'x' } }],
  ['Task', 'settings of a runtime for a model', { ...ai, agentRuntime: { maxTurns: 3 } }],
  ['Task', 'a time zone without a schedule', { ...ai, timeZone: 'Europe/Berlin' }],
  ['Task', 'a reference that is not a name', { ...agent, agentRef: { name: 'Not A Name' } }],
  ['Task', 'an empty image', { ...container, image: '' }],
  ['Task', 'a temperature beyond the range', { type: 'ai', ai: { prompt: 'x', temperature: 3 } }],
  ['Skill', 'a source without a repository', { source: { path: 'style' } }],
  ['Skill', 'no content', { description: 'x' }],
  ['Skill', 'no description', { content: { inline: 'x' } }],
  ['Provider', 'no type', {}],
  ['Provider', 'an unknown type', { type: 'other' }],
  ['Provider', 'a deployment of another vendor', { ...provider, azure }],
  ['Provider', 'no address for a deployment', { ...provider, type: 'azure-llmo', azure }],
  ['Agent', 'a runtime of neither sort', { runtime: {} }],
  ['Agent', 'a runtime of two sorts', { runtime: { type: 'llma-cli', runtimeRef: { name: 'r' } } }],
  ['Agent', 'a runtime that needs a model', { runtime: { type: 'opencode' } }],
  ['Agent', 'a runtime and tools', { runtime: { type: 'llma-cli' }, tools: [{ name: 'web_fetch' }] }],
  ['Agent', 'a runtime and a temperature', { runtime: { type: 'llma-cli' }, model: { temperature: 0 } }],
  ['Agent', 'a runtime without the shell it needs', { runtime: { type: 'llmo-cli', defaultAllowBash: false } }],
  ['Agent', 'an effort that its program is not told', { runtime: { ...own, defaultReasoningEffort: 'low' } }],
  ['Agent', 'a workspace', { execution: { workspace: { enabled: true } } }],
  ['Tool', 'no way to call it', { description: 'x' }],
  ['Tool', 'a key in the body without a name', { ...tool, http: { ...tool.http, authInject: 'body' } }],
  ['Tool', 'a body for GET', { ...tool, http: { ...tool.http, authInject: 'body', authBodyKey: 'k', method: 'GET' } }],
  ['Tool', 'an MCP server by GET', { ...mcpTool, http: { method: 'GET' } }],
  ['Tool', 'an MCP server at no place', { description: 'd', mcp: {} }],
  ['Tool', 'an MCP server at two places', { description: 'd', mcp: { ...mcpTool.mcp, url: tool.http.url } }],
  ['Tool', 'an MCP server with an address twice', { description: 'd', mcp: { url: tool.http.url }, http: tool.http }],
  ['Tool', 'a choice of tools of an actor', { description: 'd', mcp: { ...mcpTool.mcp, tools: ['a'] } }],
  ['RepositoryScan', 'no repository', {}],
  ['RepositoryMonitor', 'no repository', {}],
  ['RepositoryMonitor', 'a pull request', { ...monitor, repoURL: 'https://github.com/a/b/pull/1' }],
  ['RepositoryMonitor', 'plain HTTP', { ...monitor, repoURL: 'http://github.com/a/b' }],
  ['RepositoryMonitor', 'a login in the address', { ...monitor, repoURL: 'https://x:y@github.com/a/b' }],
  ['RepositoryMonitor', 'no pull requests', { ...monitor, targets: { pullRequests: { enabled: false } } }],
  ['RepositoryMonitor', 'green checks', { ...monitor, review: { requireGreenCI: true } }],
  ['RepositoryMonitor', 'no reviewer', { repoURL: 'https://github.com/a/b' }],
  ['RepositoryMonitor', 'issues', { ...monitor, targets: { issues: { enabled: true } } }],
]

/** Refused by the service alone: what a schema and CEL have no words for. The controller tells such tasks so. */
const beyondTheServer: Case[] = [
  ['Task', 'a schedule that no calendar has', { ...ai, schedule: '99 * * * *' }],
  ['Task', 'a time zone that no map has', { ...ai, schedule: '* * * * *', timeZone: 'Moon/Base' }],
  ['Task', 'an address with a password', { ...ai, webhookURL: 'https://user:pass@example.com/' }],
]

/** Problems by the service's own account. */
function judge(kind: Kind, spec: Spec): Problem[] {
  const result = parse(kinds[kind].spec, spec)
  if (!result.success) return result.error.issues.map(({ path, message }) => ({ path: path.join('.'), message }))
  // Which hosts there are is a setting: the service asks for the address where it knows them.
  const read = kind === 'RepositoryMonitor' ? readRepositoryUrl(String(spec.repoURL), ['github.com']) : undefined
  const address = read !== undefined && 'problem' in read ? [{ path: 'repoURL', message: read.problem }] : []
  return [...kinds[kind].problems(result.data as never), ...address]
}

describe('the table of objects', () => {
  it.each(good)('%s with %s is valid for the service', (kind, _what, spec) => expect(judge(kind, spec)).toEqual([]))
  it.each([...bad, ...beyondTheServer])('%s with %s is invalid for the service', (kind, _what, spec) =>
    expect(judge(kind, spec)).not.toEqual([]),
  )
})

describeOnCluster('definitions on a cluster', () => {
  let api: KubernetesApi
  let namespace: string
  beforeAll(async () => {
    api = await openClusterApi()
    await installDefinitions(api)
    namespace = await makeNamespace(api, 'res-crds')
  })
  afterAll(async () => {
    await dropNamespace(api, namespace)
    await api.close()
  })

  const write = (kind: Kind, name: string, parts: { spec: Spec; metadata?: Spec }, dryRun?: 'All') => {
    const body = { apiVersion, kind, spec: parts.spec, metadata: { name, ...parts.metadata } }
    const query = { fieldValidation: 'Strict', dryRun }
    return api.request<Spec>({ verb: 'create', collection: collectionOf(kind), namespace, query, body })
  }
  const refusalOf = async (work: Promise<unknown>): Promise<string | undefined> => {
    const error = await work.then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    if (error !== undefined && !isSvcError(error, 'InvalidRequest')) throw error
    return error?.message
  }
  const read = (name: string) => api.request<Spec>({ verb: 'get', collection: collectionOf('Task'), namespace, name })
  const replace = async (name: string, spec: Spec) => {
    const target = { collection: collectionOf('Task'), namespace, name }
    return api.request<Spec>({ verb: 'update', ...target, body: { ...(await read(name)), spec } })
  }

  /** What kubectl remembers of another cluster at this address would be wrong here. */
  const forgetfulKubectl = async () => {
    const cache = await mkdtemp(join(tmpdir(), 'svc-kubectl-'))
    onTestFinished(() => rm(cache, { recursive: true, force: true }))
    return async (...args: string[]) => (await run('kubectl', [...args, '--cache-dir', cache])).stdout
  }

  it('are accepted as structural, established and with their own names', async () => {
    for (const kind of kindNames) {
      const name = `${kinds[kind].plural}.core.svc.ai`
      const collection = { group: 'apiextensions.k8s.io', version: 'v1', plural: 'customresourcedefinitions' }
      type Definition = { status: { conditions: { type: string; status: string; message: string }[] } }
      const { status } = await api.request<Definition>({ verb: 'get', collection, name })
      const states = Object.fromEntries(status.conditions.map((condition) => [condition.type, condition.status]))
      expect(states, name).toMatchObject({ Established: 'True', NamesAccepted: 'True' })
      expect(states.NonStructuralSchema ?? 'False', name).toBe('False')
    }
  })

  it.each(good)('%s with %s is valid for the server', async (kind, _what, spec) => {
    expect(await refusalOf(write(kind, 'good', { spec }, 'All'))).toBeUndefined()
  })

  it.each(bad)('%s with %s is valid for the server', async (kind, _what, spec) => {
    expect(await refusalOf(write(kind, 'bad', { spec }, 'All'))).toBeDefined()
  })

  it.each(beyondTheServer)('%s with %s is valid for the server', async (kind, _what, spec) => {
    expect(await refusalOf(write(kind, 'open', { spec }, 'All'))).toBeUndefined()
  })

  it('refuse a name longer than a label, as the service does', async () => {
    expect(await refusalOf(write('Task', 'a'.repeat(64), { spec: ai }, 'All'))).toMatch('DNS label')
    expect(await refusalOf(write('Task', 'a.b', { spec: ai }, 'All'))).toMatch('DNS label')
  })

  it('keep requestedBy and transaction as they were stamped [TASK-010] [TASK-011]', async () => {
    const stamped = { ...ai, requestedBy: { subject: 'ann' }, transaction: { id: 't-1' } }
    await write('Task', 'stamped', { spec: stamped })
    expect(await refusalOf(replace('stamped', { ...stamped, priority: 7 }))).toBeUndefined()
    for (const changed of [
      { ...stamped, requestedBy: { subject: 'bob' } },
      { ...stamped, transaction: { id: 't-2' } },
      { ...ai, transaction: stamped.transaction },
      { ...ai, requestedBy: stamped.requestedBy },
    ]) {
      expect(await refusalOf(replace('stamped', changed)), JSON.stringify(changed)).toMatch(
        /immutable|added or removed/,
      )
    }
    await write('Task', 'plain', { spec: ai })
    expect(await refusalOf(replace('plain', stamped))).toMatch('cannot be added or removed')
  })

  it('let every field of a task change before it starts, and afterwards only the fields that the service lets change', async () => {
    const collection = collectionOf('Task')
    const script: Spec = { type: 'container', image: 'first', command: ['true'] }
    const changes: Spec[] = [
      { ...script, image: 'second' },
      { ...script, command: ['false'] },
      { ...script, priority: 7 },
      { ...script, suspend: true },
      { ...script, timeout: '5m' },
      { ...script, schedule: '@hourly' },
      { type: 'container', command: ['true'] },
      ai,
    ]
    // What has not started yet may be held back as long as the task has not ended.
    const isFree = (name: string, { suspend }: Spec) => name === 'waits' || (suspend === true && name !== 'ended')
    for (const [name, status] of Object.entries({
      waits: { phase: 'Pending' },
      runs: { phase: 'Running', attempts: 1 },
      retries: { phase: 'Pending', attempts: 1 },
      ended: { phase: 'Succeeded', attempts: 1 },
    })) {
      const made = await write('Task', name, { spec: script })
      const target = { collection, namespace, name }
      const body = { ...made, status }
      const object = await api.request<Spec>({ verb: 'update', ...target, subresource: 'status', body })
      const tryOut = (spec: Spec) =>
        refusalOf(api.request({ verb: 'update', ...target, query: { dryRun: 'All' }, body: { ...object, spec } }))
      for (const change of changes) {
        const refusal = await tryOut(change)
        if (isFree(name, change)) expect(refusal, `${name} ${JSON.stringify(change)}`).toBeUndefined()
        else expect(refusal, `${name} ${JSON.stringify(change)}`).toContain(`has started and is ${status.phase}`)
      }
      expect(await tryOut({ ...script, ttlSecondsAfterFinished: 60 })).toBeUndefined()
    }
  })

  it('have a status that create and update leave alone', async () => {
    const body = { apiVersion, kind: 'Task', metadata: { name: 'apart' }, spec: ai, status: { phase: 'Succeeded' } }
    const made = await api.request<Spec>({ verb: 'create', collection: collectionOf('Task'), namespace, body })
    expect(made.status).toBeUndefined()
  })

  it('have the defaults of the contract', async () => {
    const made = await write('Task', 'defaults', { spec: { ...ai, retryPolicy: {} } }, 'All')
    expect(made.spec).toMatchObject({
      priority: 500,
      suspend: false,
      retryPolicy: { maxRetries: 0, initialDelay: '10s' },
    })
    const ours = parse(kinds.Task.spec, { ...ai, retryPolicy: {} })
    expect(made.spec).toEqual(ours.data)
  })

  it('show type, agent, phase and age in kubectl get, by short name and category too', async () => {
    await write('Task', 'shown', { spec: agent })
    const kubectl = await forgetfulKubectl()
    const get = async (what: string) => (await kubectl('get', what, '-n', namespace)).split('\n')
    const [head, ...rows] = await get('tasks')
    expect(head?.split(/\s{2,}/).map((word) => word.trim())).toEqual(
      expect.arrayContaining(['NAME', 'TYPE', 'AGENT', 'PHASE', 'AGE']),
    )
    expect(rows.find((row) => row.startsWith('shown'))).toMatch(/agent .*writer/)
    expect((await get('st')).some((row) => row.startsWith('shown'))).toBe(true)
    expect((await get('svc-ai')).some((row) => row.startsWith('task.core.svc.ai/shown'))).toBe(true)
  })

  it('hide nothing that is the cluster’s own: no name of theirs is one of ours', async () => {
    type Resource = { name: string; singularName: string; shortNames?: string[] }
    type Group = { name: string; preferredVersion: { groupVersion: string } }
    const kubectl = await forgetfulKubectl()
    const { groups } = JSON.parse(await kubectl('get', '--raw', '/apis')) as { groups: Group[] }
    const theirs = groups.filter(({ name }) => !name.endsWith('svc.ai'))
    const paths = ['/api/v1', ...theirs.map(({ preferredVersion }) => `/apis/${preferredVersion.groupVersion}`)]
    const lists = await Promise.all(paths.map((path) => kubectl('get', '--raw', path)))
    const resources = lists.flatMap((list) => (JSON.parse(list) as { resources: Resource[] }).resources)
    const taken = new Set(
      resources.flatMap(({ name, singularName, shortNames = [] }) => [name, singularName, ...shortNames]),
    )
    expect(taken).toContain('svc')
    const ours = kindNames.flatMap((kind) => {
      const { plural, singular, shortNames, categories } = kinds[kind]
      return [plural, singular, ...shortNames, ...categories]
    })
    expect(ours.filter((name) => taken.has(name))).toEqual([])
    expect(await kubectl('get', 'svc', '-n', 'default', '-o', 'name')).toBe('service/kubernetes\n')
  })
})
