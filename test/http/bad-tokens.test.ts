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
  it('is refused with 401 and the same words whatever is wrong with it, in more than a hundred ways', async () => {
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

  it('is refused as an x-api-key as well', async () => {
    for (const { what, headers } of bad) {
      const key = headers.authorization?.replace(/^Bearer /, '')
      if (key === undefined) continue
      expect((await ask('GET /api/v1/tasks', { 'x-api-key': key })).status, what).toBe(401)
    }
  })

  it('in the context header is refused whatever good credential stands beside it', async () => {
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
  it('that is bad for one door is good for the other, so that the table tests what it says', async () => {
    expect((await ask('GET /api/v1/auth/whoami', { authorization: `Bearer ${await issuer.sign()}` })).status).toBe(200)
    expect((await ask('GET /api/v1/tasks', { 'txn-token': await issuer.signTransaction() })).status).toBe(200)
  })
})

describe('tokens of one door at another', () => {
  it('a worker token is refused on every route of users [AUTH-008]', async () => {
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

  it('users’ tokens of every sort are refused on the worker API [AUTH-009]', async () => {
    const path = 'GET /internal/v1/plans/default/work'
    const tokens = [ownerToken, await issuer.sign(), await issuer.signTransaction()]
    for (const token of tokens) {
      expect((await ask(path, { authorization: `Bearer ${token}` })).status).toBe(401)
      expect((await ask(path, { 'x-api-key': token })).status).toBe(401)
      expect((await ask(path, { 'txn-token': token })).body.message).toBe('missing authorization header')
    }
  })
})
