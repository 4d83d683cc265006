// Every route of the table, asked by every sort of caller: a route that is added without a rule here fails.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AccessKind, Role } from '../../src/contract/api/identity/access.ts'
import { routesByName } from '../../src/contract/api/index.ts'
import type { Route } from '../../src/contract/api/resources/route.ts'
import { type Issuer, startIssuer } from '../fixtures/issuer.ts'
import { waitFor } from '../fixtures/time.ts'
import { trustIssuer } from './identity-members.ts'
import { aiTask, ownerToken, type Service, startService } from './service.ts'

/** Where the objects that are asked for lie. */
const place = 'team'

/** `here`: in a namespace. `owner`: an owner's alone. `service`: of the whole service, for whoever is bound to no namespace. */
const reach: Record<AccessKind, 'here' | 'owner' | 'service'> = {
  Task: 'here',
  Agent: 'here',
  Provider: 'here',
  Tool: 'here',
  Skill: 'here',
  RepositoryScan: 'here',
  RepositoryMonitor: 'here',
  Secret: 'here',
  ConfigMap: 'here',
  Session: 'here',
  Memory: 'here',
  Usage: 'here',
  Network: 'here',
  Token: 'owner',
  Budget: 'owner',
  Setting: 'owner',
  Audit: 'owner',
  Metrics: 'service',
}

/**
 * Users' routes that ask for no right: they say who asks and how chat is set, and nothing of anybody's, and end what the
 * caller came with.
 */
const withoutRight = new Set(['getWhoami', 'validateToken', 'getChatConfig', 'getSchema', 'signOut'])
/** Users' routes for whoever has a token of this service. */
const withOwnToken = new Set(['createSignInLink'])
/** The task here is not part of a transaction, so there is nothing for it to take. */
const withoutUse = new Set(['takeToolToken'])
/** Workers' routes for every task of the namespace. */
const ofNamespace = new Set(['searchNamespaceTranscripts'])
/** Routes for everybody. */
const withoutCredential = new Set([
  'getSignInMethods',
  'getHealth',
  'getReadiness',
  'getOpenApi',
  'getInternalOpenApi',
  'receiveDelivery',
])

const names = [
  ...['nobody', 'owner', 'second owner', 'editor', 'runner', 'viewer', 'bound here', 'bound elsewhere'],
  ...[
    'guest editor',
    'guest runner',
    'guest viewer',
    'guest without a role',
    'transaction here',
    'transaction elsewhere',
  ],
  ...['expired', 'revoked', 'garbage'],
  ...['worker of the task', 'worker of another task', 'worker of an older attempt', 'worker of a namesake elsewhere'],
  'agent of the task',
] as const
type CallerName = (typeof names)[number]
type Verdict = 'in' | 401 | 403

const roleOf: Partial<Record<CallerName, Role>> = {
  owner: 'owner',
  'second owner': 'owner',
  editor: 'editor',
  runner: 'runner',
  viewer: 'viewer',
  'bound here': 'editor',
  'bound elsewhere': 'editor',
  // By OpenID Connect, in a namespace of the settings, and by context token, in the namespace that was signed.
  'guest editor': 'editor',
  'guest runner': 'runner',
  'guest viewer': 'viewer',
  'transaction here': 'editor',
  'transaction elsewhere': 'editor',
}

const isBound = (caller: CallerName) => /^(bound|guest|transaction) /.test(caller)
const isElsewhere = (caller: CallerName) => caller.endsWith(' elsewhere')

/** What a runner may do beyond reading: tasks, chat, memories and the proxies, and agents and skills, where no Secret is named. */
const runnersRoutes = new Set([
  ...[
    'createTask',
    'updateTask',
    'putTaskInput',
    'runTask',
    'cancelTask',
    'retryTask',
    'openTaskPullRequest',
    'deleteTask',
    'approve',
    'decline',
    'releaseWorkspace',
    'runInWorkspace',
  ],
  ...['sendChat', 'cancelChat', 'updateSession', 'deleteSession'],
  ...['createAgent', 'updateAgent', 'deleteAgent', 'createSkill', 'updateSkill', 'refreshSkill', 'deleteSkill'],
  ...['countLlmaTokens', 'createLlmaMessage', 'createLlmoCompletion', 'createLlmoEmbeddings', 'createLlmoResponse'],
  ...['getLlmoResponse', 'deleteLlmoResponse'],
  ...['createMemory', 'updateMemory', 'deleteMemory', 'disableMemory', 'enableMemory'],
  ...['createMemoryProposal', 'reviewMemoryProposal', 'applyMemoryProposal', 'archiveMemoryProposal'],
  'testProvider',
  ...['createMonitorRun', 'dismissMonitorFinding', 'redeliver'],
])

/** What roles below the owner's may do, wherever it is. */
function judgeRole(name: string, role: Role, { kind, verb }: NonNullable<Route['verb']>): Verdict {
  if (reach[kind] === 'owner') return 403
  if (role === 'editor') return 'in'
  if (kind === 'Secret') return 403
  const isRead = verb === 'get' || verb === 'list'
  return isRead || (role === 'runner' && runnersRoutes.has(name)) ? 'in' : 403
}

/** A caller who is known here, at a route with a right. */
function judgeUser(name: string, caller: CallerName, right: NonNullable<Route['verb']>): Verdict {
  const role = roleOf[caller] ?? 'viewer'
  if (role === 'owner') return 'in'
  const isOutside = reach[right.kind] === 'service' ? isBound(caller) : isElsewhere(caller)
  return isOutside ? 403 : judgeRole(name, role, right)
}

/** The command line of a task's attempt: calls of its provider, and who it is. */
function judgeAgent(name: string, { verb }: Route): Verdict {
  return withoutRight.has(name) || (verb?.verb === 'use' && name !== 'testProvider') ? 'in' : 403
}

function judgeWorker(name: string, caller: CallerName): Verdict {
  if (!caller.startsWith('worker')) return 401
  if (caller === 'worker of another task' && ofNamespace.has(name)) return 'in'
  return caller === 'worker of the task' && !withoutUse.has(name) ? 'in' : 403
}

function judgeOpen(name: string): Verdict | undefined {
  // Whatever else a request carries, the code decides; here nobody has one.
  if (name === 'exchangeSignInLink') return 401
  return withoutCredential.has(name) ? 'in' : undefined
}

/** A caller who is known here, at a route without a right. */
function judgeKnown(name: string, caller: CallerName): Verdict | undefined {
  if (withOwnToken.has(name)) return /^(guest|transaction) /.test(caller) ? 403 : 'in'
  return withoutRight.has(name) ? 'in' : undefined
}

/** What the rules say of a caller at a route; undefined: there is no rule. */
function judge(name: string, route: Route, caller: CallerName): Verdict | undefined {
  if (route.auth === 'none') return judgeOpen(name)
  if (route.auth === 'worker') return judgeWorker(name, caller)
  // Nobody here is a runner: only what the service itself has started is one.
  if (route.auth === 'runner') return 401
  if (caller === 'agent of the task') return judgeAgent(name, route)
  if (caller === 'guest without a role') return 403
  if (roleOf[caller] === undefined) return 401
  if (route.verb === undefined) return judgeKnown(name, caller)
  return judgeUser(name, caller, route.verb)
}

const bodies: Record<string, object> = {
  cancelTask: {},
  createTask: aiTask('made', { namespace: place }),
  refreshSkill: {},
  retryTask: {},
  openTaskPullRequest: {},
  updateSecret: { stringData: { key: 'value' } },
  updateTask: { spec: { type: 'container', command: ['true'] } },
  sendChat: { message: 'hi', namespace: place },
  createAgent: { name: 'made', spec: {} },
  updateAgent: { spec: {} },
  createSkill: { name: 'made', spec: { description: 'd', content: { inline: '# hi' } } },
  updateSkill: { spec: { description: 'd', content: { inline: '# hi' } } },
  createMonitor: { name: 'made', spec: { repoURL: 'https://github.com/a/b', agents: { reviewer: { name: 'a' } } } },
  updateMonitor: { spec: { repoURL: 'https://github.com/a/b', agents: { reviewer: { name: 'a' } } } },
  dismissMonitorFinding: { dismissed: true },
  createTool: { name: 'made', spec: { description: 'd', http: { url: 'https://example.com/' } } },
  updateTool: { spec: { description: 'd', http: { url: 'https://example.com/' } } },
  createProvider: { name: 'made', spec: { type: 'llma', defaultModel: 'm' } },
  updateProvider: { spec: { type: 'llma', defaultModel: 'm' } },
  createSecret: { name: 'made', stringData: { key: 'value' } },
  createConfigMap: { name: 'made', data: { key: 'text' } },
  updateConfigMap: { data: { key: 'text' } },
  createMemory: { content: 'c' },
  createRepositoryScan: {
    name: 'made',
    spec: { repoURL: 'https://github.com/a/b', analysisAgentRef: { name: 'helper' } },
  },
  updateRepositoryScan: { spec: { repoURL: 'https://github.com/a/b', analysisAgentRef: { name: 'helper' } } },
  updateThreatModel: { content: '# Threats' },
  dismissFinding: { reason: 'constant' },
  updateMemory: { content: 'c' },
  updateSession: { title: 'talk' },
  createMemoryProposal: { title: 't' },
  reviewMemoryProposal: { status: 'rejected' },
  createToken: { name: 'made' },
  exchangeSignInLink: { code: 'svc_link_guessed' },
  countLlmaTokens: { model: 'vendor/m', messages: [{ role: 'user', content: 'hi' }] },
  createLlmaMessage: { model: 'vendor/m', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] },
  createLlmoCompletion: { model: 'vendor/m', messages: [{ role: 'user', content: 'hi' }] },
  createLlmoEmbeddings: { model: 'vendor/m', input: 'hi' },
  createLlmoResponse: { model: 'vendor/m', input: 'hi' },
  approve: {},
  runInWorkspace: { command: ['ls'] },
  decline: {},
  askApproval: { call: 'a', args: { tool: 't', arguments: {}, message: 'may I?' } },
  cancelChild: { args: { task_name: 'x' } },
  createHelper: { args: { name: 'h', provider: 'vendor', model: 'm' } },
  delegateContainer: { call: 'a', args: { command: ['true'] } },
  delegateTask: { call: 'a', args: { agent: 'x', prompt: 'p' } },
  deleteHelper: { args: { name: 'h' } },
  callCodeHost: { tool: 'get_issue', call: 'a', args: { issue_number: 1 } },
  recallForTask: { args: {} },
  proposeForTask: { call: 'a', args: { title: 't' } },
  readInbox: { markRead: false },
  sendToFamily: { args: { to_task: '*', content: 'hi' } },
  waitForChildren: { call: 'a', args: { tasks: ['x'] } },
  appendTranscript: { messages: [{ role: 'user', content: 'hi' }] },
  coolDown: { seconds: 0, reason: 'busy' },
  reportCalls: { failures: 1, reason: 'HTTP 500' },
  keepProgramSession: { id: 'run-1', text: 'hi' },
  reportProgress: { events: [{ type: 'ToolCalled', message: 'Read a' }] },
  reportWorkspace: { phase: 'Ready', reason: 'WorkspaceReady' },
  appendCheckpoint: { step: 2 },
  saveCheckpoint: { step: 1 },
  savePlan: { summary: 's', plan_document: 'd' },
  sendMessage: { fromTask: 'task-a', toTask: '*', parentTask: 'task-a', content: 'hi' },
  submitEnd: { ok: true },
  reportSteps: { steps: [{ id: '0', kind: 'attempt', name: 'attempt 1', startedAt: '2026-01-01T00:00:00.000Z' }] },
  submitUsage: {
    id: 'call-1',
    provider: { namespace: place, name: 'vendor' },
    model: 'm',
    inputTokens: 1,
    outputTokens: 1,
  },
  takeLease: { requests: 0, tokens: 0 },
  runCode: {
    argv: ['true'],
    limits: { timeoutMs: 1000, memoryBytes: 1_048_576, cpuSeconds: 1, processes: 1, outputBytes: 0, diskBytes: 0 },
  },
}

const queries: Record<string, string> = {
  readMessages: 'parentTask=task-a',
  appendCheckpoint: 'number=1',
  keepProgramSession: 'model=vendor/m',
  readProgramSession: 'model=vendor/m',
  listMonitorEvents: 'name=nothing',
  searchTranscripts: 'query=x',
  searchNamespaceTranscripts: 'query=x',
  // Whoever is let in has no stream to read, for the version was never given.
  watchResources: `kinds=Task&namespaces=${place}&resourceVersion=999999999999`,
}

/** Path parameters of workers' routes; those of users' routes name what is not there. */
const parameters: Record<string, string> = {
  namespace: place,
  taskName: 'task-a',
  provider: 'vendor',
  filename: 'a.txt',
  tool: 'tool-a',
}

let issuer: Issuer
let service: Service
let url: string
const tokens = {} as Record<CallerName, string | undefined>

async function makeToken(payload: object): Promise<{ id: string; token: string }> {
  return (await service.call('POST /api/v1/tokens', { payload })).json()
}

async function runTask(name: string, namespace: string, attempt = 1): Promise<string> {
  const more = { namespace, sessionRef: { name: `session-of-${name}`, create: true } }
  const ai = namespace === place && name === 'task-a' ? { ai: { providerRef: { name: 'vendor' } } } : {}
  if (attempt === 1) await service.call('POST /api/v1/tasks', { payload: aiTask(name, { ...more, ...ai }) })
  return (await service.runTask(name, attempt, namespace)).token
}

async function mintAgent(): Promise<string | undefined> {
  const task = await service.ports.resources.get('Task', { namespace: place, name: 'task-a' })
  return service.ports.agentTokens?.mint({
    taskUid: task?.metadata.uid ?? '',
    attempt: 2,
    namespace: place,
    taskName: 'task-a',
    provider: { namespace: place, name: 'vendor' },
    maxTokens: 1000,
    expiresAt: '2999-01-01T00:00:00Z',
  })
}

beforeAll(async () => {
  issuer = await startIssuer()
  const groupRoles = (['editor', 'runner', 'viewer'] as const).map((role) => ({ group: `${role}s`, role }))
  service = await startService(trustIssuer(issuer, { mode: 'off', acceptsBearer: true, namespace: place, groupRoles }))
  url = await service.listen()
  const provider = { name: 'vendor', namespace: place, spec: { type: 'llma', defaultModel: 'm' } }
  await service.call('POST /api/v1/providers', { payload: provider })
  const old = await runTask('task-a', place)
  const revoked = await makeToken({ name: 'revoked' })
  const expired = await makeToken({ name: 'expired', expires: '300ms' })
  Object.assign(tokens, {
    owner: ownerToken,
    'second owner': (await makeToken({ name: 'second-owner', role: 'owner' })).token,
    editor: (await makeToken({ name: 'editor' })).token,
    runner: (await makeToken({ name: 'runner', role: 'runner' })).token,
    viewer: (await makeToken({ name: 'viewer', readOnly: true })).token,
    'bound here': (await makeToken({ name: 'bound-here', namespace: place })).token,
    'bound elsewhere': (await makeToken({ name: 'bound-elsewhere', namespace: 'other' })).token,
    'guest editor': await issuer.sign({ groups: ['editors'] }),
    'guest runner': await issuer.sign({ groups: ['others', 'runners'] }),
    'guest viewer': await issuer.sign({ groups: ['viewers'] }),
    'guest without a role': await issuer.sign({ groups: ['owners'] }),
    'transaction here': await issuer.signTransaction({ tctx: { namespace: place } }),
    'transaction elsewhere': await issuer.signTransaction({ tctx: { namespace: 'other' } }),
    expired: expired.token,
    revoked: revoked.token,
    garbage: 'svc_garbage',
    'worker of an older attempt': old,
    'worker of the task': await runTask('task-a', place, 2),
    'worker of another task': await runTask('task-b', place),
    'worker of a namesake elsewhere': await runTask('task-a', 'other'),
    'agent of the task': await mintAgent(),
  })
  await service.call(`DELETE /api/v1/tokens/${revoked.id}`)
  const ask = () => service.call('GET /api/v1/auth/validate', { token: expired.token })
  await waitFor(async () => (await ask()).statusCode === 401, 'the token to be refused')
})
afterAll(async () => {
  await service.stop()
  await issuer.stop()
})

function addressOf(name: string, route: Route): string {
  const fill = (_part: string, key: string) => {
    if (key === 'number') return '1'
    if (route.auth === 'worker' && key === 'name') return 'session-of-task-a'
    return (route.auth === 'worker' && parameters[key]) || 'nothing'
  }
  const query = new URLSearchParams(queries[name])
  if (route.auth === 'user' && route.query !== undefined && 'namespace' in route.query.shape)
    query.set('namespace', place)
  return `${url}${route.path.replace(/:(\w+)/g, fill)}?${query}`
}

function bodyOf(name: string, route: Route): { body?: string; type?: string } {
  if (route.rawBody !== undefined) return { body: 'text', type: route.rawBody }
  const body = bodies[name]
  if (body === undefined) return {}
  const needsPlace = route.auth === 'user' && route.query === undefined && !('namespace' in body)
  const placed = needsPlace && !name.includes('Token') ? { ...body, namespace: place } : body
  return { body: JSON.stringify(placed), type: 'application/json' }
}

async function ask(name: string, route: Route, caller: CallerName): Promise<{ status: number; text: string }> {
  const token = tokens[caller]
  const { body, type } = bodyOf(name, route)
  const headers = {
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(type === undefined ? {} : { 'content-type': type }),
  }
  const init = { method: route.method, headers, ...(body === undefined ? {} : { body }) }
  const answer = await fetch(addressOf(name, route), init)
  return { status: answer.status, text: await answer.text() }
}

function verdictOf(status: number): Verdict {
  return status === 401 || status === 403 ? status : 'in'
}

const entries = Object.entries(routesByName)
// Whoever may change things comes last: what they change is then no longer in anybody's way.
const order: readonly CallerName[] = names.toSorted(
  (a, b) => Number(roleOf[a] === 'owner') - Number(roleOf[b] === 'owner'),
)

describe('a route', () => {
  it.each(entries)(
    '%s accepts the callers that its rule names, and nobody else [AUTH-003] [AUTH-008] [AUTH-009] [AUTH-011]',
    async (name, route) => {
      const judged = order.map((caller) => [caller, judge(name, route, caller)])
      expect(judged, 'the route has a rule').not.toContainEqual([expect.anything(), undefined])
      const asked = new Map<CallerName, { status: number; text: string }>()
      for (const caller of order) asked.set(caller, await ask(name, route, caller))
      const seen = [...asked].map(([caller, { status }]) => [caller, verdictOf(status)])
      expect(seen, JSON.stringify([...asked])).toEqual(judged)
    },
  )

  it.each(entries)('%s gives one and the same answer to expired, revoked and made-up tokens', async (name, route) => {
    if (route.auth === 'none') return
    const texts = await Promise.all(
      (['expired', 'revoked', 'garbage'] as const).map(async (caller) => (await ask(name, route, caller)).text),
    )
    const bare = texts.map((text) => text.replace(/"(requestId|request_id)":"[^"]*"/, ''))
    expect(new Set(bare).size).toBe(1)
    expect(bare[0]).not.toMatch(/expired|revoked|\bat .*\.ts/)
  })
})
