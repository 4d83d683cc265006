import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  audience,
  type Issuer,
  makeKey,
  nowSeconds,
  signToken,
  startIssuer,
  subject,
} from '../../../test/fixtures/issuer.ts'
import type { Clock } from '../../lib/clock.ts'
import { createOidcAuthenticator, loadIssuerKeys, type OidcSettings } from './authenticator.ts'

let issuer: Issuer
let offset = 0
const clock: Clock = { now: () => new Date(Date.now() + offset), sleep: () => Promise.resolve() }
const minute = 60_000

beforeEach(async () => {
  offset = 0
  issuer = await startIssuer()
})
afterEach(() => issuer.stop())

function open(more: Partial<OidcSettings> = {}) {
  const settings = { issuer: issuer.url, audiences: [audience], allowedSubjects: ['*'], namespace: 'guests', ...more }
  const failures: unknown[] = []
  const authenticator = createOidcAuthenticator(settings, { clock, onFailure: (error) => failures.push(error) })
  return { ask: (token: string) => authenticator.authenticate({ token, source: 'bearer' }), failures }
}

const refused = { reason: 'Unauthenticated', message: 'invalid token' }
const away = { reason: 'Unavailable' }

describe('an OpenID Connect token', () => {
  it('identifies a caller by the known claims, in the configured namespace [OIDC-003] [OIDC-009]', async () => {
    const token = await issuer.sign({
      preferred_username: 'ada',
      email: 'ada@acme.example',
      name: 'Ada',
      groups: ['dev', 5, 'ops'],
      roles: 'admin',
      realm_access: { roles: ['admin', 'user'] },
      namespace: 'taken-from-nobody',
    })
    expect(await open().ask(token)).toEqual({
      authType: 'oidc',
      username: 'ada',
      uid: subject,
      groups: ['dev', 'ops'],
      subject,
      issuer: issuer.url,
      email: 'ada@acme.example',
      roles: ['admin', 'user'],
      namespace: 'guests',
      boundNamespace: 'guests',
      role: 'editor',
      serverTools: true,
    })
  })

  it.each([
    [{ email: 'a@b', name: 'N' }, 'a@b'],
    [{ name: 'N' }, 'N'],
    [{}, subject],
    [{ preferred_username: 'a\u0007b', name: 'N' }, 'N'],
    [{ preferred_username: 'x'.repeat(1025) }, subject],
    [{ preferred_username: ['root'] }, subject],
  ])('names its caller by the first usable claim of %o: %s', async (claims, username) => {
    expect((await open().ask(await issuer.sign(claims))).username).toBe(username)
  })

  it('with another issuer is refused [OIDC-004]', async () => {
    await expect(open().ask(await issuer.sign({ iss: 'https://other.example' }))).rejects.toMatchObject(refused)
  })

  it('for other audiences only is refused [OIDC-005]', async () => {
    for (const aud of ['other', ['other', 'account'], [], [audience, 7], ` ${audience}`, null]) {
      await expect(open().ask(await issuer.sign({ aud })), String(aud)).rejects.toMatchObject(refused)
    }
  })

  it.each([{ audiences: [audience] }, { audiences: ['other-name', audience] }])(
    'is accepted when one of $audiences is among its own, alone or beside others',
    async ({ audiences }) => {
      for (const aud of [audience, [audience], [audience, 'account'], ['https://issuer.example/userinfo', audience]]) {
        expect((await open({ audiences }).ask(await issuer.sign({ aud }))).subject, String(aud)).toBe(subject)
      }
    },
  )

  it('that has expired is refused, with 60 s for clocks that differ, even when it was accepted before [OIDC-006] [OIDC-012]', async () => {
    const { ask } = open()
    const token = await issuer.sign({ exp: nowSeconds() + 10 })
    await ask(token)
    offset = 60_000
    await ask(token)
    offset = 71_000
    await expect(ask(token)).rejects.toMatchObject(refused)
    await ask(await issuer.sign({ exp: nowSeconds() + 3600, nbf: nowSeconds() + 71 + 59, iat: nowSeconds() + 71 + 59 }))
    for (const late of [{ nbf: nowSeconds() + 71 + 62 }, { iat: nowSeconds() + 71 + 62 }]) {
      await expect(ask(await issuer.sign({ exp: nowSeconds() + 3600, ...late }))).rejects.toMatchObject(refused)
    }
  })

  it('that was accepted before is refused when the clock is set back before its nbf', async () => {
    const { ask } = open()
    const token = await issuer.sign({ nbf: nowSeconds() })
    await ask(token)
    offset = -2 * minute
    await expect(ask(token)).rejects.toMatchObject(refused)
  })

  it('without a valid RS256 signature is refused [OIDC-007]', async () => {
    const { ask } = open()
    const token = await issuer.sign()
    const [head, claims, signature = ''] = token.split('.')
    const stranger = await makeKey(issuer.key().kid)
    await expect(ask(`${head}.${claims}.${[...signature].reverse().join('')}`)).rejects.toMatchObject(refused)
    await expect(ask(await signToken(stranger, issuer.claimsOf()))).rejects.toMatchObject(refused)
    await ask(token)
  })

  it('of a subject that is not allowed gets 403, and so does every subject when none is allowed [OIDC-008] [OIDC-013]', async () => {
    const forbidden = { reason: 'Forbidden', message: 'the subject of this token is not allowed to use the service' }
    for (const allowedSubjects of [[], ['repo:other/*'], [`x${subject}`]]) {
      await expect(open({ allowedSubjects }).ask(await issuer.sign())).rejects.toMatchObject(forbidden)
    }
    expect((await open({ allowedSubjects: ['repo:acme/*'] }).ask(await issuer.sign())).subject).toBe(subject)
    const bad = await signToken(await makeKey(issuer.key().kid), issuer.claimsOf())
    await expect(open({ allowedSubjects: [] }).ask(bad)).rejects.toMatchObject(refused)
  })
})

describe('the keys of an issuer', () => {
  it('are found through the metadata of the issuer [OIDC-010]', async () => {
    await open().ask(await issuer.sign())
    expect(issuer.counts).toMatchObject({ metadata: 1, jwks: 1 })
  })

  it('are read from the configured address when there is one, without metadata', async () => {
    await open({ jwksUrl: `${issuer.url}/keys` }).ask(await issuer.sign())
    expect(issuer.counts).toMatchObject({ metadata: 0, jwks: 1 })
  })

  it('are fetched once for many requests at the same time, and not again while they are fresh [OIDC-011]', async () => {
    const { ask } = open()
    const tokens = await Promise.all(Array.from({ length: 20 }, (_, jti) => issuer.sign({ jti: String(jti) })))
    await Promise.all(tokens.map(ask))
    await Promise.all(tokens.map(ask))
    expect(issuer.counts.jwks).toBe(1)
  })

  it('are fetched again for an unknown key id, at most once a minute [OIDC-011]', async () => {
    const { ask } = open()
    await ask(await issuer.sign())
    issuer.setKeys([await makeKey('next'), issuer.key()])
    await expect(ask(await issuer.sign())).rejects.toMatchObject(refused)
    offset = minute
    const tokens = await Promise.all([1, 2, 3].map((jti) => issuer.sign({ jti })))
    await Promise.all(tokens.map(ask))
    expect(issuer.counts.jwks).toBe(2)
    const stranger = await makeKey('unknown')
    for (let index = 0; index < 5; index++) {
      await expect(ask(await signToken(stranger, issuer.claimsOf({ jti: index })))).rejects.toMatchObject(refused)
    }
    expect(issuer.counts.jwks).toBe(2)
  })

  it('that were withdrawn no longer verify a token, even one accepted before', async () => {
    const { ask } = open()
    const token = await issuer.sign({ exp: nowSeconds() + 36_000 })
    await ask(token)
    issuer.setKeys([await makeKey('next')])
    offset = 5 * minute
    await expect(ask(token)).rejects.toMatchObject(refused)
  })

  it('stay valid while the issuer is unavailable', async () => {
    const { ask, failures } = open()
    const claims = { exp: nowSeconds() + 36_000 }
    await ask(await issuer.sign(claims))
    issuer.setAnswers('errors')
    offset = 20 * minute
    await ask(await issuer.sign({ ...claims, jti: 'later' }))
    expect(failures).toHaveLength(1)
    await ask(await issuer.sign({ ...claims, jti: 'later still' }))
    expect(failures).toHaveLength(1)
    issuer.setAnswers('all')
    offset = 22 * minute
    await ask(await issuer.sign({ ...claims, jti: 'last' }))
    expect(issuer.counts.jwks).toBe(2)
  })

  it('that cannot be fetched at first give 503 instead of a refusal, and are fetched again soon', async () => {
    const { ask } = open()
    issuer.setAnswers('errors')
    await expect(ask(await issuer.sign())).rejects.toMatchObject(away)
    issuer.setAnswers('all')
    await expect(ask(await issuer.sign())).rejects.toMatchObject(away)
    offset = 5_000
    await ask(await issuer.sign())
  })

  it('are tried in turn for a token without a key id', async () => {
    const [first, second] = [await makeKey(), await makeKey()]
    issuer.setKeys([first, second])
    const { ask } = open()
    const token = await signToken(second, issuer.claimsOf(), { kid: undefined })
    expect((await ask(token)).subject).toBe(subject)
  })

  it('that are for encryption, for another algorithm or too short are not used', async () => {
    const signing = issuer.key()
    const others = [{ use: 'enc' }, { alg: 'RS512' }, { kty: 'oct', k: 'AAAA' }, { key_ops: ['encrypt'] }]
    for (const other of others) {
      issuer.setKeys([{ ...signing, jwk: { ...signing.jwk, ...other } as never }, await makeKey('other')])
      await expect(open().ask(await signToken(signing, issuer.claimsOf()))).rejects.toMatchObject(refused)
    }
  })
})

const servers: (() => void)[] = []
afterEach(() => {
  for (const stop of servers.splice(0)) stop()
})

async function serve(answer: (url: string) => RequestListener): Promise<string> {
  const holder: { listener?: RequestListener } = {}
  const server = createServer((request, response) => holder.listener?.(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  servers.push(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  holder.listener = answer(url)
  return url
}

const json =
  (document: (url: string) => unknown) =>
  (url: string): RequestListener =>
  (_request, response) =>
    void response.end(JSON.stringify(document(url)))

const unavailable = { reason: 'Unavailable', message: 'the issuer of the token cannot be reached: try again later' }

describe('the metadata of an issuer', () => {
  it.each<[string, (url: string) => unknown]>([
    ['names another issuer', (url) => ({ issuer: 'https://other.example', jwks_uri: `${url}/keys` })],
    ['names no keys', (url) => ({ issuer: url })],
    ['names keys in a file', (url) => ({ issuer: url, jwks_uri: 'file:///etc/passwd' })],
    ['is a list', () => []],
    ['is null', () => null],
  ])('that %s is of no use', async (_what, document) => {
    const issuer = await serve(json(document))
    await expect(loadIssuerKeys({ issuer })).rejects.toMatchObject(unavailable)
  })

  it('that leads from https to http is refused', async () => {
    const issuer = 'https://issuer.example'
    const fetch = async () => new Response(JSON.stringify({ issuer, jwks_uri: 'http://issuer.example/keys' }))
    await expect(loadIssuerKeys({ issuer }, { fetch })).rejects.toMatchObject(unavailable)
  })

  it('is read below the path of the issuer', async () => {
    const requests: string[] = []
    const issuer = 'https://issuer.example/tenant/'
    const fetch = async (url: string) => {
      requests.push(url)
      return new Response(JSON.stringify({ issuer, jwks_uri: 'https://issuer.example/keys', keys: [] }))
    }
    await loadIssuerKeys({ issuer }, { fetch })
    expect(requests).toEqual([
      'https://issuer.example/tenant/.well-known/openid-configuration',
      'https://issuer.example/keys',
    ])
  })

  it('that redirects elsewhere is not followed', async () => {
    const target = await serve(json((url) => ({ issuer: url, keys: [] })))
    const jwksUrl = await serve(() => (_request, response) => void response.writeHead(302, { location: target }).end())
    await expect(loadIssuerKeys({ issuer: jwksUrl, jwksUrl })).rejects.toMatchObject(unavailable)
  })

  it('that never ends is cut off at a limit', async () => {
    const jwksUrl = await serve(() => (_request, response) => {
      const write = (): void => void (response.writable && response.write('x'.repeat(65_536), write))
      write()
    })
    await expect(loadIssuerKeys({ issuer: jwksUrl, jwksUrl })).rejects.toMatchObject(unavailable)
  })

  it('that does not answer is abandoned after the timeout', async () => {
    const jwksUrl = await serve(() => () => undefined)
    await expect(loadIssuerKeys({ issuer: jwksUrl, jwksUrl }, { timeoutMs: 20 })).rejects.toMatchObject(unavailable)
  })
})
