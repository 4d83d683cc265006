// Every bad token there is, through the whole HTTP side: one status, one answer, no hint of what was wrong.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type BadToken, listBadTokens } from '../fixtures/bad-tokens.ts'
import { type Issuer, startIssuer } from '../fixtures/issuer.ts'
import { trustIssuer } from './identity-members.ts'
import { ownerToken, type Service, startService } from './service.ts'

let issuer: Issuer
let service: Service
let bad: BadToken[]
beforeAll(async () => {
  issuer = await startIssuer()
  service = await startService(trustIssuer(issuer))
  bad = await listBadTokens(issuer)
})
afterAll(async () => {
  await service.stop()
  await issuer.stop()
})

const paths = ['GET /api/v1/auth/whoami', 'GET /api/v1/tasks']

async function ask(line: string, headers: Record<string, string>) {
  const answer = await service.call(line, { token: null, headers })
  return { status: answer.statusCode, body: answer.json().error, challenge: answer.headers['www-authenticate'] }
}

describe('a bad token', () => {
  it('is refused with 401 and the same words whatever is wrong with it, in more than a hundred variants', async () => {
    expect(bad.length).toBeGreaterThan(100)
    for (const { what, headers } of bad) {
      for (const path of paths) {
        const { status, body, challenge } = await ask(path, headers)
        const { code, reason, message, details } = body
        expect({ status, code, reason, message, details, challenge }, what).toEqual({
          status: 401,
          code: 401,
          reason: 'Unauthenticated',
          message: 'invalid token',
          details: undefined,
          challenge: 'Bearer realm="svc", error="invalid_token"',
        })
      }
    }
  })

  it('is refused in x-api-key as well', async () => {
    for (const { what, headers } of bad) {
      const key = headers.authorization?.replace(/^Bearer /, '')
      if (key === undefined) continue
      expect((await ask('GET /api/v1/tasks', { 'x-api-key': key })).status, what).toBe(401)
    }
  })

  it('in the context header is refused, whatever valid credential comes beside it', async () => {
    const { status, body } = await ask('GET /api/v1/tasks', {
      authorization: `Bearer ${ownerToken}`,
      'txn-token': await issuer.signTransaction({ aud: 'somebody-else' }),
    })
    expect([status, body.message]).toEqual([401, 'invalid token'])
  })

  it('leaves no trace of itself in the log', async () => {
    const text = service.logged.join('\n')
    expect(text).toContain('authentication failed')
    for (const { what, headers } of bad) {
      const token = Object.values(headers)[0]?.replace(/^Bearer /, '') ?? ''
      for (const part of token.split('.').filter((part) => part.length > 20)) expect(text, what).not.toContain(part)
    }
  })
})

describe('a good token', () => {
  it('that is refused by one way in is accepted by the other, so that the table above tests its kind', async () => {
    expect((await ask('GET /api/v1/auth/whoami', { authorization: `Bearer ${await issuer.sign()}` })).status).toBe(200)
    expect((await ask('GET /api/v1/tasks', { 'txn-token': await issuer.signTransaction() })).status).toBe(200)
  })
})

describe('tokens at the wrong API', () => {
  it('a worker token is refused on every route for users [AUTH-008]', async () => {
    await service.call('POST /api/v1/tasks', { payload: { name: 'work', type: 'container', command: ['true'] } })
    const { token } = await service.runTask('work')
    const ways: Record<string, string>[] = [
      { authorization: `Bearer ${token}` },
      { 'x-api-key': token },
      { 'txn-token': token },
    ]
    for (const headers of ways) {
      expect((await ask('GET /api/v1/auth/whoami', headers)).body.message).toBe('invalid token')
    }
  })

  it('tokens of users of every kind are refused on the worker API [AUTH-009]', async () => {
    const path = 'GET /internal/v1/plans/default/work'
    const tokens = [ownerToken, await issuer.sign(), await issuer.signTransaction()]
    for (const token of tokens) {
      expect((await ask(path, { authorization: `Bearer ${token}` })).status).toBe(401)
      expect((await ask(path, { 'x-api-key': token })).status).toBe(401)
      expect((await ask(path, { 'txn-token': token })).body.message).toBe('missing authorization header')
    }
  })
})

describe('failed attempts are counted', () => {
  let counting: Service
  let tried = 0
  beforeAll(async () => {
    counting = await startService({ http: { authFailuresPerMinute: 3, trustedProxies: ['127.0.0.1'] } })
  })
  afterAll(() => counting.stop())

  const userPath = 'GET /api/v1/auth/whoami'
  const workerPath = 'GET /internal/v1/plans/default/counted'
  const from = (address: string) => ({ headers: { 'x-forwarded-for': address } })
  const guess = async (headers: Record<string, string>, path = userPath) => {
    tried += 1
    return (await counting.call(path, { token: `guess-${tried}`, headers })).statusCode
  }
  const tryOften = async (headers: Record<string, string>, path = userPath) => {
    const statuses: number[] = []
    for (let index = 0; index < 5; index++) statuses.push(await guess(headers, path))
    return statuses
  }
  const makeToken = async (payload: object): Promise<string> =>
    (await counting.call('POST /api/v1/tokens', { payload, ...from('192.0.2.1') })).json().token

  it('by the client address behind a trusted proxy, whatever the client claims before it', async () => {
    const late = await makeToken({ name: 'late' })
    const statuses: number[] = []
    for (const number of [1, 2, 3, 4])
      statuses.push(await guess({ 'x-forwarded-for': `10.0.0.${number}, 198.51.100.7` }))
    expect(statuses).toEqual([401, 401, 401, 429])
    expect((await counting.call(userPath, { token: late, ...from('198.51.100.7') })).statusCode).toBe(429)
    expect((await counting.call(userPath, { token: late, ...from('198.51.100.8') })).statusCode).toBe(200)
    const refused = (await counting.call('GET /api/v1/audit?allowed=false', from('192.0.2.1'))).json().items
    expect(refused.map(({ address }: { address: string }) => address)).toContain('198.51.100.7')
  })

  it('for the proxies as well', async () => {
    const url = await counting.listen()
    const headers = { 'x-forwarded-for': '198.51.100.20' }
    await tryOften(headers)
    const ask = async (more: Record<string, string>) => {
      const answer = await fetch(`${url}/llmo/v1/models`, { headers: { ...more, 'x-api-key': `guess-${++tried}` } })
      await answer.text()
      return answer.status
    }
    expect(await ask(headers)).toBe(429)
    expect(await ask({ forwarded: 'for=198.51.100.21' })).toBe(401)
  })

  it('once for a client that repeats the same bad token', async () => {
    const stale = { token: 'stale-token', ...from('198.51.100.30') }
    const statuses: number[] = []
    for (let index = 0; index < 5; index++) statuses.push((await counting.call(userPath, stale)).statusCode)
    expect(statuses).toEqual([401, 401, 401, 429, 429])
    expect(await guess(stale.headers)).toBe(401)
  })

  it('separately for users and workers, and never block a worker’s valid token', async () => {
    await counting.call('POST /api/v1/tasks', { payload: { name: 'counted', type: 'container', command: ['true'] } })
    expect(await tryOften({}, workerPath)).toEqual([401, 401, 401, 429, 429])
    expect(await guess({})).toBe(401)
    const { token } = await counting.runTask('counted')
    expect((await counting.call(workerPath, { token })).statusCode).toBe(404)
    // No proxy stands before workers: what they say of their address is nothing.
    expect(await guess({ 'x-forwarded-for': '198.51.100.40' }, workerPath)).toBe(429)
  })
})
