// What context tokens may do: every route of the table asks for a scope, constraints hold, and the three modes differ.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ContextAuthorization } from '../../src/auth/context-token/authorizer.ts'
import type { AccessKind, AccessVerb } from '../../src/contract/api/identity/access.ts'
import { routes } from '../../src/contract/api/index.ts'
import type { Route } from '../../src/contract/api/resources/route.ts'
import { type ContextMode, contextActions } from '../../src/rules/identity/context-token.ts'
import { mayAccess } from '../../src/usecases/identity/access.ts'
import { type Issuer, startIssuer, subject } from '../fixtures/issuer.ts'
import { trustIssuer } from './identity-members.ts'
import { type Service, startService } from './service.ts'

const everyScope = Object.values(contextActions).join(' ')
const told: ContextAuthorization[] = []
let issuer: Issuer
let services: Record<ContextMode, Service>

async function open(mode: ContextMode): Promise<Service> {
  return startService(trustIssuer(issuer, { mode, observe: (one) => told.push(one), acceptsBearer: mode === 'off' }))
}

const bodies: [RegExp, object][] = [
  [/^POST \/api\/v1\/tasks$/, { name: 'made', type: 'container', command: ['true'] }],
  [/^POST \/api\/v1\/agents$/, { name: 'made', spec: {} }],
  [/^PUT \/api\/v1\/agents\//, { spec: {} }],
  [/^POST \/api\/v1\/skills$/, { name: 'made', spec: { description: 'd', content: { inline: '# hi' } } }],
  [/^PUT \/api\/v1\/skills\//, { spec: { description: 'd', content: { inline: '# hi' } } }],
]

beforeAll(async () => {
  issuer = await startIssuer()
  services = { off: await open('off'), audit: await open('audit'), enforce: await open('enforce') }
  for (const service of Object.values(services)) {
    await service.call('POST /api/v1/tasks', { payload: { name: 'build', type: 'container', command: ['true'] } })
    await service.call('POST /api/v1/agents', { payload: { name: 'bot', spec: {} } })
    const armed = { name: 'armed', spec: { tools: [{ name: 'lookup' }] } }
    await service.call('POST /api/v1/agents', { payload: armed })
  }
})
afterAll(async () => {
  for (const service of Object.values(services)) await service.stop()
  await issuer.stop()
})
beforeEach(() => {
  told.length = 0
})

async function ask(mode: ContextMode, line: string, claims: object, payload?: object) {
  const headers = { 'txn-token': await issuer.signTransaction(claims) }
  return services[mode].call(line, { token: null, headers, ...(payload === undefined ? {} : { payload }) })
}

const lineOf = ({ method, path }: Route) => `${method} ${path.replace(/:\w+/g, 'build')}`
/** Every scope that the reference has, and what it is for. */
const accessesOfScopes: Record<string, [AccessVerb, AccessKind][]> = {
  'svc:tasks:create': [['create', 'Task']],
  'svc:tasks:get': [['get', 'Task']],
  'svc:tasks:list': [['list', 'Task']],
  'svc:tasks:delete': [['delete', 'Task']],
  'svc:tasks:update': [['update', 'Task']],
  'svc:tools:read': [['get', 'Tool']],
  'svc:tools:use': [['use', 'Tool']],
  'svc:providers:use': [['use', 'Provider']],
  'svc:secrets:read': [
    ['get', 'Secret'],
    ['list', 'Secret'],
  ],
  'svc:secrets:credentials:read': [['use', 'Secret']],
  'svc:configmaps:read': [
    ['get', 'ConfigMap'],
    ['list', 'ConfigMap'],
  ],
  'svc:agents:read': [
    ['get', 'Agent'],
    ['list', 'Agent'],
  ],
  'svc:agents:write': [
    ['create', 'Agent'],
    ['update', 'Agent'],
    ['delete', 'Agent'],
  ],
  'svc:memory:read': [
    ['get', 'Memory'],
    ['list', 'Memory'],
  ],
  'svc:memory:write': [
    ['create', 'Memory'],
    ['update', 'Memory'],
    ['delete', 'Memory'],
  ],
  'svc:sessions:read': [
    ['get', 'Session'],
    ['list', 'Session'],
  ],
  'svc:sessions:write': [
    ['create', 'Session'],
    ['delete', 'Session'],
  ],
  'svc:security:read': [
    ['get', 'RepositoryScan'],
    ['list', 'RepositoryScan'],
  ],
  'svc:security:write': [
    ['create', 'RepositoryScan'],
    ['update', 'RepositoryScan'],
    ['delete', 'RepositoryScan'],
  ],
  'svc:monitors:read': [
    ['get', 'RepositoryMonitor'],
    ['list', 'RepositoryMonitor'],
  ],
  'svc:monitors:write': [
    ['create', 'RepositoryMonitor'],
    ['delete', 'RepositoryMonitor'],
  ],
  'svc:monitors:operate': [['operate', 'RepositoryMonitor']],
  'svc:skills:read': [
    ['get', 'Skill'],
    ['list', 'Skill'],
  ],
  'svc:skills:write': [
    ['create', 'Skill'],
    ['update', 'Skill'],
    ['delete', 'Skill'],
  ],
}

let count = 0
const ai = (more: object = {}) => ({ type: 'ai', prompt: 'hi', ...more })
const spender = { spec: { type: 'llma', defaultModel: 'm', secretRef: { name: 'key' } } }
const task = (more: object = {}) => ({ name: 'made', type: 'container', command: ['true'], ...more })

/** Routes that say who the caller is and what chat is set to, and nothing of anybody's. */
const openToAll = new Set([
  '/api/v1/auth/whoami',
  '/api/v1/auth/validate',
  '/api/v1/chat/config',
  '/api/v1/schemas/:kind',
])
/** What a route cannot be asked without. */
const required: Partial<Record<string, string>> = {
  '/api/v1/watch': '?kinds=Task',
  '/api/v1/transcripts': '?query=x',
  '/api/v1/monitors/events': '?name=n1',
}
const userRoutes = routes.filter((route) => route.auth === 'user' && !openToAll.has(route.path))

describe('a context token', () => {
  it.each(
    userRoutes
      .filter(({ verb, method, family }) => method === 'GET' || (verb !== undefined && family === undefined))
      .map((r) => [`${lineOf(r)}${required[r.path] ?? ''}`]),
  )('without a useful scope can do nothing at %s', async (line) => {
    const payload = bodies.find(([pattern]) => pattern.test(line))?.[1]
    const answer = await ask('enforce', line, { scope: 'openid' }, payload)
    // A body that is wrong is told first; such routes are held by their kind's rule, proved where the body is right.
    if (answer.statusCode === 400) expect(line).toMatch(/^(POST|PUT) /)
    else expect(answer.statusCode).toBe(403)
  })

  it('needs the scope of its action, and no other scope [CTX-021]', async () => {
    const cases: [string, string, object?][] = [
      ['GET /api/v1/tasks', 'svc:tasks:list'],
      ['GET /api/v1/tasks/build', 'svc:tasks:get'],
      ['POST /api/v1/tasks', 'svc:tasks:create', task({ name: 'scoped' })],
      ['POST /api/v1/tasks/build/cancel', 'svc:tasks:update', {}],
      ['DELETE /api/v1/tasks/scoped', 'svc:tasks:delete'],
      ['GET /api/v1/agents', 'svc:agents:read'],
      ['DELETE /api/v1/agents/none', 'svc:agents:write'],
      ['GET /api/v1/skills', 'svc:skills:read'],
      ['DELETE /api/v1/skills/none', 'svc:skills:write'],
      ['GET /api/v1/tools', 'svc:tools:read'],
      ['DELETE /api/v1/tools/none', 'svc:tools:write'],
      ['GET /api/v1/providers', 'svc:providers:use'],
      ['DELETE /api/v1/providers/none', 'svc:providers:write'],
      ['GET /api/v1/secrets', 'svc:secrets:read'],
      ['DELETE /api/v1/secrets/none', 'svc:secrets:write'],
      ['GET /api/v1/sessions', 'svc:sessions:read'],
      ['DELETE /api/v1/sessions/none', 'svc:sessions:write'],
      ['GET /api/v1/usage?namespace=default', 'svc:usage:read'],
    ]
    for (const [line, scope, payload] of cases) {
      const others = everyScope.split(' ').filter((other) => other !== scope)
      const refused = await ask('enforce', line, { scope: others.join(' ') }, payload)
      expect([line, refused.statusCode]).toEqual([line, 403])
      expect(refused.json().error.message).toMatch(/^context token is not authorized for [a-z-]+$/)
      const allowed = await ask('enforce', line, { scope }, payload)
      expect([line, allowed.statusCode]).not.toEqual([line, 403])
    }
  })

  it.each([
    ['svc:providers:use', 'tasks', ai(), 'svc:tasks:create'],
    ['svc:tools:use', 'tasks', ai({ ai: { tools: ['lookup'] } }), 'svc:tasks:create svc:providers:use'],
    [
      'svc:tools:use',
      'tasks',
      ai({ agentRef: { name: 'armed' } }),
      'svc:tasks:create svc:providers:use svc:agents:read',
    ],
    ['svc:agents:read', 'tasks', ai({ agentRef: { name: 'bot' } }), 'svc:tasks:create svc:providers:use'],
    [
      'svc:configmaps:read',
      'agents',
      { spec: { systemPrompt: { configMapRef: { name: 'c', key: 'k' } } } },
      'svc:agents:write',
    ],
    ['svc:skills:read', 'tasks', ai({ ai: { skills: [{ name: 'craft' }] } }), 'svc:tasks:create svc:providers:use'],
    ['svc:sessions:write', 'tasks', ai({ sessionRef: { name: 's' } }), 'svc:tasks:create svc:providers:use'],
    ['svc:secrets:read', 'agents', { name: 'named', spec: { secretRef: { name: 'key' } } }, 'svc:agents:write'],
    ['svc:secrets:read', 'providers', spender, 'svc:providers:write svc:secrets:credentials:read'],
    ['svc:secrets:credentials:read', 'providers', spender, 'svc:providers:write svc:secrets:read'],
  ])(
    'needs %s for what one of its %s references or uses, besides the scope of the action [CTX-021]',
    async (scope, kind, body, base) => {
      const line = `POST /api/v1/${kind}`
      const others = everyScope.split(' ').filter((other) => other !== scope)
      const named = (name: string) => ({ ...body, name })
      expect((await ask('enforce', line, { scope: others.join(' ') }, named('refused'))).statusCode).toBe(403)
      const made = await ask('enforce', line, { scope: `${base} ${scope}` }, named(`made-${++count}`))
      expect([made.statusCode, made.json().error?.message]).toEqual([201, undefined])
    },
  )

  it('needs exactly the scope that the reference lists for each action, whichever way the request comes in [CTX-021]', async () => {
    const token = (scope: string) => issuer.signTransaction({ scope, tctx: { namespace: 'default' } })
    const { ports } = services.enforce
    for (const [scope, accesses] of Object.entries(accessesOfScopes)) {
      const others = everyScope.split(' ').filter((other) => other !== scope)
      for (const [verb, kind] of accesses) {
        const check = async (scopes: string) => {
          const caller = await ports.authenticator.authenticate({ token: await token(scopes), source: 'context' })
          return mayAccess(ports, caller, { verb, kind, namespace: 'default', name: 'x' })
        }
        expect([scope, verb, kind, await check(scope), await check(others.join(' '))]).toEqual([
          scope,
          verb,
          kind,
          true,
          false,
        ])
      }
    }
    expect(Object.keys(accessesOfScopes).filter((scope) => !everyScope.split(' ').includes(scope))).toEqual([])
  })

  it('gives no access to tokens and metrics', async () => {
    for (const line of ['GET /api/v1/tokens', 'POST /api/v1/tokens', 'GET /metrics']) {
      const answer = await ask(
        'enforce',
        line,
        { scope: everyScope },
        line.startsWith('POST') ? { name: 'x' } : undefined,
      )
      expect([line, answer.statusCode]).toEqual([line, 403])
    }
  })

  it('acts in the namespace of its context only', async () => {
    const claims = { scope: everyScope, tctx: { namespace: 'team' } }
    expect((await ask('enforce', 'GET /api/v1/tasks', claims)).statusCode).toBe(200)
    expect((await ask('enforce', 'GET /api/v1/tasks?namespace=default', claims)).statusCode).toBe(403)
    const made = await ask('enforce', 'POST /api/v1/tasks', claims, task({ name: 'in-team' }))
    expect(made.json().metadata.namespace).toBe('team')
  })

  it.each(['../x', 'Default', 'default ', 'default\n', 'a/b', 'x'.repeat(5000)])(
    'has no rights in any mode when its namespace is not a valid name: %j [CTX-019]',
    async (namespace) => {
      for (const mode of ['enforce', 'audit', 'off'] as const) {
        const claims = { scope: everyScope, tctx: { namespace } }
        const made = await ask(mode, 'POST /api/v1/tasks', claims, task({ name: 'nowhere' }))
        expect([made.statusCode, made.json().error?.message]).toEqual([403, expect.stringContaining('tctx.namespace')])
        expect((await ask(mode, 'GET /api/v1/tasks', claims)).statusCode).toBe(403)
      }
    },
  )

  it('is restricted by what a new task would do', async () => {
    const make = async (tctx: object, payload: object) =>
      (await ask('enforce', 'POST /api/v1/tasks', { scope: everyScope, tctx }, payload)).statusCode
    const ai = (name: string, more: object = {}) => ({ name, type: 'ai', prompt: 'hi', ...more })
    expect(await make({ taskType: 'ai' }, task({ name: 'no' }))).toBe(403)
    expect(await make({ taskType: 'container' }, task({ name: 'c1' }))).toBe(201)
    expect(await make({ allowedAgents: ['bot'] }, ai('no'))).toBe(403)
    expect(await make({ allowedAgents: ['bot'] }, ai('a1', { agentRef: { name: 'bot' } }))).toBe(201)
    expect(await make({ allowedProviders: ['default'], allowedModels: ['m'] }, ai('no'))).toBe(403)
    expect(await make({ allowedProviders: ['default'], allowedModels: ['m'] }, ai('a2', { ai: { model: 'm' } }))).toBe(
      201,
    )
    expect(await make({ allowedTools: ['web_search'] }, ai('no'))).toBe(403)
    expect(await make({ allowedTools: 'web_search,code_exec,file_read,web_fetch,file_write' }, ai('a3'))).toBe(201)
    expect(await make({ repo: 'https://github.com/acme/site' }, ai('no'))).toBe(403)
    expect(await make({ secret: 'key' }, ai('no', { secretRef: { name: 'other' } }))).toBe(403)
    expect(await make({ allowedAgents: [1] }, ai('no', { agentRef: { name: 'bot' } }))).toBe(403)
  })

  it('in audit mode is accepted where enforce would refuse, and that is recorded [CTX-020]', async () => {
    expect((await ask('audit', 'GET /api/v1/tasks', { scope: 'openid' })).statusCode).toBe(200)
    expect(told).toEqual([expect.objectContaining({ action: 'task-list', result: 'audit', reason: 'scope' })])
    await ask('audit', 'GET /api/v1/tasks', {})
    expect(told[1]).toMatchObject({ result: 'allowed' })
  })

  it('needs no scope when the mode is off', async () => {
    expect((await ask('off', 'GET /api/v1/tasks', { scope: 'openid', tctx: { namespace: 7 } })).statusCode).toBe(200)
    expect(told).toEqual([])
  })

  it('identifies its caller, without the contexts', async () => {
    const answer = await ask('enforce', 'GET /api/v1/auth/whoami', { tctx: { purpose: 'hidden' }, scope: 'a b' })
    expect(answer.json()).toEqual({
      authenticated: true,
      authType: 'contextToken',
      username: subject,
      uid: subject,
      groups: [],
      subject,
      issuer: issuer.url,
      roles: ['a', 'b'],
      namespace: 'default',
      boundNamespace: 'default',
      role: 'editor',
      serverTools: true,
      transaction: {
        profile: 'kontxt',
        type: 'txntoken+jwt',
        id: 'txn-1',
        issuer: issuer.url,
        subject,
        audience: ['svc-of-the-tests'],
        scope: 'a b',
        scopes: ['a', 'b'],
        requestingWorkload: 'spiffe://acme/site',
      },
    })
  })
})

describe('a context token as a bearer token', () => {
  const bearer = async (mode: ContextMode) => {
    const headers = { authorization: `Bearer ${await issuer.signTransaction()}` }
    const answer = await services[mode].call('GET /api/v1/auth/whoami', { token: null, headers })
    return [answer.statusCode, answer.json().authType ?? answer.json().error.message]
  }

  it('is refused with a message that names the right header [CTX-014]', async () => {
    const hint = 'send a context token in the header Txn-Token, not as a bearer token'
    expect(await bearer('enforce')).toEqual([401, hint])
  })

  it('is taken where that is configured [CTX-015]', async () => {
    expect(await bearer('off')).toEqual([200, 'contextToken'])
  })
})

describe('an OpenID Connect token', () => {
  it('gets 403 for a subject that is not allowed, and 503 with Retry-After while its issuer is away', async () => {
    const headers = { authorization: `Bearer ${await issuer.sign({ sub: 'somebody' })}` }
    const answer = await services.enforce.call('GET /api/v1/tasks', { token: null, headers })
    expect([answer.statusCode, answer.json().error.reason]).toEqual([403, 'Forbidden'])
    const fresh = await open('off')
    issuer.setAnswers('errors')
    const away = await fresh.call('GET /api/v1/tasks', { token: null, headers })
    issuer.setAnswers('all')
    await fresh.stop()
    expect([away.statusCode, away.headers['retry-after']]).toEqual([503, '5'])
  })

  it('needs no scope', async () => {
    const headers = { authorization: `Bearer ${await issuer.sign()}` }
    expect((await services.enforce.call('GET /api/v1/tasks', { token: null, headers })).statusCode).toBe(200)
  })
})

describe('failed attempts', () => {
  it('get 429 after the limit for one address, unless the credential was accepted before', async () => {
    const service = await startService({ http: { authFailuresPerMinute: 3 } })
    const status = async (token?: string) =>
      (await service.call('GET /api/v1/auth/validate', token === undefined ? {} : { token })).statusCode
    expect(await status()).toBe(200)
    expect([await status('a'), await status('b'), await status('c'), await status('d')]).toEqual([401, 401, 401, 429])
    expect(await status()).toBe(200)
    const answer = await service.call('GET /api/v1/auth/validate', { token: 'e' })
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
    expect(service.logged.filter((line) => line.includes('authentication failed'))).toHaveLength(3)
    await service.stop()
  })
})
