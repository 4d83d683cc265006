// Sign-in on the dashboard by a link that is used once.
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { AuditItem } from '../../src/contract/api/identity/audit.ts'
import { startIssuer } from '../fixtures/issuer.ts'
import { trustIssuer } from './identity-members.ts'
import { type Service, startService } from './service.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.stop())

const hour = 3_600_000

async function makeToken(payload: object): Promise<{ id: string; token: string; expiresAt?: string }> {
  const answer = await service.call('POST /api/v1/tokens', { payload })
  expect(answer.statusCode).toBe(201)
  return answer.json()
}

async function makeLink(token?: string): Promise<string> {
  const answer = await service.call('POST /api/v1/auth/links', token === undefined ? {} : { token })
  expect(answer.statusCode).toBe(201)
  return answer.json().code
}

const exchange = (code: string, headers = {}) =>
  service.call('POST /api/v1/auth/links/exchange', { token: null, payload: { code }, headers })
const signIn = async (token?: string) => (await exchange(await makeLink(token))).json()
const whoami = (token: string) => service.call('GET /api/v1/auth/whoami', { token })
const listTokens = async () => (await service.call('GET /api/v1/tokens')).json().items

describe('a sign-in link', () => {
  it('gives a token of its own for half a day, which the list of tokens shows', async () => {
    const before = Date.now()
    const answer = await exchange(await makeLink())
    expect(answer.statusCode).toBe(201)
    expect(answer.headers['cache-control']).toBe('no-store')
    const { token, ...record } = answer.json()
    expect(record).toMatchObject({
      name: 'dashboard-owner',
      role: 'owner',
      signInOf: { id: 'owner', name: 'owner' },
    })
    const life = Date.parse(record.expiresAt) - before
    expect(life).toBeGreaterThan(11.9 * hour)
    expect(life).toBeLessThan(12.1 * hour)
    expect((await whoami(token)).json()).toMatchObject({ username: 'owner', uid: 'owner', role: 'owner' })
    expect(await listTokens()).toContainEqual(expect.objectContaining({ id: record.id, name: 'dashboard-owner' }))
  })

  it('ends within two minutes', async () => {
    const { expiresAt } = (await service.call('POST /api/v1/auth/links')).json()
    expect(Date.parse(expiresAt) - Date.now()).toBeLessThanOrEqual(120_000)
  })

  it('works once', async () => {
    const code = await makeLink()
    expect((await exchange(code)).statusCode).toBe(201)
    const again = await exchange(code)
    expect(again.statusCode).toBe(401)
    expect(again.json().error.message).toContain('make another one')
  })

  it.each([
    { role: 'viewer', name: 'a-viewer' },
    { role: 'runner', name: 'a-runner', namespace: 'team' },
    { role: 'editor', name: 'an-editor', namespace: 'team', serverTools: false },
  ])('has the rights of its maker and no more: %o', async (rights) => {
    const maker = await makeToken(rights)
    const signedIn = await signIn(maker.token)
    const mine = (await whoami(maker.token)).json()
    expect((await whoami(signedIn.token)).json()).toEqual(mine)
    expect(mine).toMatchObject({ username: rights.name, role: rights.role })
    expect((await service.call('GET /api/v1/tokens', { token: signedIn.token })).statusCode).toBe(403)
    const elsewhere = await service.call('GET /api/v1/tasks?namespace=other', { token: signedIn.token })
    expect(elsewhere.statusCode).toBe(rights.namespace === undefined ? 200 : 403)
  })

  it('does not outlive the token of its maker, nor the one it is handed on from', async () => {
    const maker = await makeToken({ name: 'brief', expires: '1h' })
    const signedIn = await signIn(maker.token)
    expect(signedIn.expiresAt).toBe(maker.expiresAt)
    const second = await signIn(signedIn.token)
    expect(second).toMatchObject({ expiresAt: maker.expiresAt, signInOf: { id: maker.id, name: 'brief' } })
    await service.call(`DELETE /api/v1/tokens/${maker.id}`)
    for (const { token } of [signedIn, second]) expect((await whoami(token)).statusCode).toBe(401)
  })

  it('is no token itself', async () => {
    expect((await whoami(await makeLink())).statusCode).toBe(401)
  })

  it.each([
    [{}, 400],
    [{ code: '' }, 400],
    [{ code: 7 }, 400],
    [{ code: 'x'.repeat(200) }, 400],
    [{ code: 'svc_link_x', role: 'owner' }, 400],
    [{ code: 'svc_link_guessed' }, 401],
  ])('is not had for %o', async (payload, status) => {
    const answer = await service.call('POST /api/v1/auth/links/exchange', { token: null, payload })
    expect(answer.statusCode).toBe(status)
  })

  it('is not made without a credential', async () => {
    expect((await service.call('POST /api/v1/auth/links', { token: null })).statusCode).toBe(401)
  })

  it('is not made by the command line of an agent, nor by callers of an issuer', async () => {
    const issuer = await startIssuer()
    const other = await startService(trustIssuer(issuer))
    const grant = {
      taskUid: 'u',
      attempt: 1,
      namespace: 'default',
      taskName: 't',
      maxTokens: 100,
      provider: { namespace: 'default', name: 'p' },
      expiresAt: '2099-01-01T00:00:00Z',
    }
    const agent = (await service.ports.agentTokens?.mint(grant)) ?? ''
    expect((await service.call('POST /api/v1/auth/links', { token: agent })).statusCode).toBe(403)
    const answer = await other.call('POST /api/v1/auth/links', { token: await issuer.sign() })
    expect(answer.statusCode).toBe(403)
    expect(answer.json().error.message).toContain('sign in on the page of the dashboard')
    await other.stop()
    await issuer.stop()
  })

  it('cannot be guessed: an address that fails too often has to wait', async () => {
    const strict = await startService({ http: { authFailuresPerMinute: 3 } })
    const guess = (n: number) =>
      strict.call('POST /api/v1/auth/links/exchange', { token: null, payload: { code: `svc_link_${n}` } })
    for (const n of [1, 2, 3]) expect((await guess(n)).statusCode).toBe(401)
    const refused = await guess(4)
    expect(refused.statusCode).toBe(429)
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    await strict.stop()
  })

  it('is in no log, and in the audit log as what it was', async () => {
    const code = await makeLink()
    const named = (id: string) => ({ 'x-request-id': id })
    const { token } = (await exchange(code, named('signed-in'))).json()
    await exchange(code, named('again'))
    const listed = async (): Promise<AuditItem[]> => (await service.call('GET /api/v1/audit')).json().items
    await vi.waitFor(async () => expect((await listed()).some((item) => item.requestId === 'again')).toBe(true))
    const items = await listed()
    const route = '/api/v1/auth/links/exchange'
    expect(items.find((item) => item.requestId === 'signed-in')).toMatchObject({
      caller: { kind: 'token', id: 'owner', name: 'owner' },
      verb: 'create',
      route,
      allowed: true,
      status: 201,
    })
    expect(items.find((item) => item.requestId === 'again')).toMatchObject({ route, allowed: false, status: 401 })
    const all = `${JSON.stringify(items)}${service.logged.join('\n')}`
    expect(all).not.toContain(code)
    expect(all).not.toContain(token)
  })
})

describe('signing out', () => {
  it('ends the token of the request', async () => {
    const { token, id } = await signIn()
    expect((await service.call('DELETE /api/v1/auth/token', { token })).statusCode).toBe(204)
    expect((await whoami(token)).statusCode).toBe(401)
    expect((await listTokens()).map((one: { id: string }) => one.id)).not.toContain(id)
  })

  it('leaves tokens that did not come from a link', async () => {
    const { token } = await makeToken({ name: 'mine' })
    for (const kept of [token, undefined]) {
      const credential = kept === undefined ? {} : { token: kept }
      const answer = await service.call('DELETE /api/v1/auth/token', credential)
      expect(answer.statusCode).toBe(409)
      expect(answer.json().error.message).toContain('stays valid')
      expect((await service.call('GET /api/v1/auth/whoami', credential)).statusCode).toBe(200)
    }
  })
})
