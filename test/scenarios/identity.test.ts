// The real service with issuers: one that nobody here wrote, and one with keys made here, for every bad token there is.
import { createEmulator, type Emulator } from 'emulate'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listBadTokens } from '../fixtures/bad-tokens.ts'
import { audience, type Issuer, startIssuer, subject } from '../fixtures/issuer.ts'
import { environmentOf, makeFolder, removeFolder, runSvc, type Service, startService } from './service.ts'

const stops: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const stop of stops.reverse()) await stop()
})

async function start(flags: string[], env: NodeJS.ProcessEnv = {}): Promise<Service> {
  const service = await startService({ flags, env })
  stops.push(async () => {
    await service.stop()
    removeFolder(service.folder)
  })
  return service
}

type Body = { username?: string; authType?: string; namespace?: string; error?: { message: string; reason: string } }

async function whoAmI(service: Service, headers: Record<string, string>, path = '/api/v1/auth/whoami') {
  const response = await fetch(`${service.url}${path}`, { headers })
  return { status: response.status, body: (await response.json()) as Body }
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

describe('an issuer that is a separate program', () => {
  let okta: Emulator
  let issuerUrl: string
  const client = { client_id: 'svc-web', client_secret: 'web-secret', redirect_uri: 'http://127.0.0.1/callback' }
  beforeAll(async () => {
    const web = { ...client, name: 'web', redirect_uris: [client.redirect_uri], auth_server_id: 'default' }
    okta = await createEmulator({
      service: 'okta',
      port: 0,
      seed: {
        okta: {
          users: [{ login: 'ada@okta.local', email: 'ada@okta.local', first_name: 'Ada', last_name: 'L' }],
          authorization_servers: [{ id: 'default', name: 'default', audiences: ['api://svc'] }],
          oauth_clients: [web],
        },
      },
    })
    stops.push(() => okta.close())
    issuerUrl = `${okta.url}/oauth2/default`
  })

  const post = (path: string, form: Record<string, string>) =>
    fetch(`${issuerUrl}/v1/${path}`, { method: 'POST', body: new URLSearchParams(form), redirect: 'manual' })

  async function takeToken(): Promise<string> {
    const agreed = await post('authorize/callback', { ...client, user_ref: 'ada@okta.local', scope: 'openid groups' })
    const code = new URL(agreed.headers.get('location') ?? '').searchParams.get('code') ?? ''
    const response = await post('token', { ...client, grant_type: 'authorization_code', code })
    const { id_token: token } = (await response.json()) as { id_token?: string }
    if (token === undefined) throw new Error(`no token: ${response.status}`)
    return token
  }

  it('is trusted by its metadata and its keys alone [OIDC-001] [OIDC-010]', async () => {
    const token = await takeToken()
    const { sub } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    const flags = ['--oidc-issuer', issuerUrl, '--oidc-audience', client.client_id, '--oidc-allowed-subjects']
    const { status, body } = await whoAmI(await start([...flags, sub]), bearer(token))
    const expected = { authType: 'oidc', namespace: 'default', username: 'ada@okta.local', email: 'ada@okta.local' }
    expect({ status, ...body }).toMatchObject({ status: 200, ...expected })
    expect((await whoAmI(await start([...flags, `${sub}?`]), bearer(token))).status).toBe(403)
  })

  it('limits its callers to one namespace, with the role of their groups, and without access to the whole service', async () => {
    const token = await takeToken()
    const flags = ['--oidc-issuer', issuerUrl, '--oidc-audience', client.client_id, '--oidc-allowed-subjects', '*']
    const service = await start([...flags, '--oidc-namespace', 'team', '--oidc-role-mapping', 'admins=owner,*=runner'])
    const ask = async (method: string, path: string, body?: object) => {
      const headers = { ...bearer(token), ...(body && { 'content-type': 'application/json' }) }
      const init = { method, headers, ...(body && { body: JSON.stringify(body) }) }
      const response = await fetch(`${service.url}${path}`, init)
      await response.arrayBuffer()
      return response.status
    }
    const { body } = await whoAmI(service, bearer(token))
    expect(body).toMatchObject({ role: 'runner', namespace: 'team', boundNamespace: 'team' })
    const task = { type: 'container', command: ['true'] }
    expect(await ask('POST', '/api/v1/tasks', { name: 'own', ...task })).toBe(201)
    expect(await ask('GET', '/api/v1/tasks/own')).toBe(200)
    const secret = { name: 'key', stringData: { token: 'value' } }
    const refused = [
      ['GET', '/api/v1/tasks?namespace=default'],
      ['POST', '/api/v1/tasks', { name: 'foreign', namespace: 'default', ...task }],
      ['GET', '/api/v1/secrets'],
      ['POST', '/api/v1/secrets', secret],
      ['DELETE', '/api/v1/secrets/key'],
      ['POST', '/api/v1/agents', { name: 'thief', spec: { secretRef: { name: 'key' } } }],
      ['POST', '/api/v1/providers', { name: 'p', spec: { type: 'llma', defaultModel: 'm' } }],
      ['GET', '/api/v1/tokens'],
      ['GET', '/api/v1/audit'],
      ['GET', '/metrics'],
    ] as [string, string, object?][]
    for (const [method, path, given] of refused)
      expect([method, path, await ask(method, path, given)]).toEqual([method, path, 403])
  })
})

describe('svc up with an issuer', () => {
  let issuer: Issuer
  let service: Service
  beforeAll(async () => {
    issuer = await startIssuer()
    stops.push(issuer.stop)
    service = await start(['--log-level', 'debug'], {
      SVC_OIDC_ISSUER: issuer.url,
      SVC_OIDC_AUDIENCE: audience,
      SVC_OIDC_ALLOWED_SUBJECTS: 'repo:acme/*',
      SVC_OIDC_NAMESPACE: 'guests',
      SVC_CONTEXT_TOKEN_PROFILE: 'kontxt',
      SVC_CONTEXT_TOKEN_ISSUER: issuer.url,
      SVC_CONTEXT_TOKEN_AUDIENCE: audience,
      SVC_CONTEXT_TOKEN_AUTHZ_MODE: 'enforce',
      SVC_CONTEXT_TOKEN_TASK_LIST_SCOPES: 'own:list',
      SVC_AUTH_FAILURES_PER_MINUTE: '1000',
    })
  })

  it('takes OpenID Connect tokens of allowed subjects into their namespace [OIDC-002] [OIDC-009]', async () => {
    const { status, body } = await whoAmI(service, bearer(await issuer.sign()))
    expect({ status, ...body }).toMatchObject({ status: 200, username: subject, namespace: 'guests' })
    expect((await whoAmI(service, bearer(await issuer.sign({ sub: 'other' })))).status).toBe(403)
  })

  it('takes context tokens and asks for the configured scopes [CTX-002] [CTX-013]', async () => {
    const ask = async (scope: string) =>
      whoAmI(service, { 'txn-token': await issuer.signTransaction({ scope }) }, '/api/v1/tasks')
    expect((await ask('own:list')).status).toBe(200)
    const refused = await ask('svc:tasks:list')
    expect([refused.status, refused.body.error?.message]).toEqual([
      403,
      'context token is not authorized for task-list',
    ])
  })

  it('still takes its own tokens', async () => {
    expect((await whoAmI(service, bearer(service.token))).body.username).toBe('owner')
  })

  it('refuses every bad token with the same words, and logs none of them', async () => {
    const bad = await listBadTokens(issuer)
    expect(bad.length).toBeGreaterThan(60)
    for (const { what, headers } of bad) {
      // What HTTP itself does not carry never comes this far.
      const sent = await whoAmI(service, headers).catch(() => undefined)
      expect([what, sent?.status, sent?.body.error?.message]).toEqual([what, 401, 'invalid token'])
    }
    for (const { headers } of bad) {
      const parts = (Object.values(headers)[0] ?? '').replace(/^Bearer /, '').split('.')
      for (const part of parts.filter((text) => text.length > 20)) expect(service.output()).not.toContain(part)
    }
    expect(service.output()).toContain('authentication failed')
  })
})

const oidc = ['--oidc-issuer', 'https://issuer.example', '--oidc-audience', 'svc']

describe('settings that make no sense together', () => {
  it.each([
    [['--oidc-issuer', 'https://issuer.example'], '--oidc-audience (SVC_OIDC_AUDIENCE) is needed with --oidc-issuer'],
    [['--context-token-issuer', 'https://issuer.example'], '--context-token-profile'],
    [
      [...oidc, '--oidc-authorization', 'rbac'],
      '--oidc-authorization (SVC_OIDC_AUTHORIZATION) rbac needs --mode kubernetes',
    ],
    [[...oidc, '--oidc-role-mapping', 'dev=admin'], '"dev=admin" must be group=role'],
  ])('end svc up at once: %o [OIDC-014]', async (flags, message) => {
    const folder = makeFolder()
    const outcome = await runSvc(['up', '--port', '0', ...flags], environmentOf(folder))
    removeFolder(folder)
    expect(outcome.code).not.toBe(0)
    expect(outcome.stderr).toContain(message)
  })
})
