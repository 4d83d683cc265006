import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import type { Clock } from '../../lib/clock.ts'
import type { CallerTransaction } from '../../ports/identity/identity.ts'
import {
  createIncomingTokens,
  createTokenExchange,
  type ExchangeSettings,
  readServiceAccountToken,
} from './exchange.ts'

const clock: Clock = { now: () => new Date('2026-03-01T12:00:00Z'), sleep: () => Promise.resolve() }
const stops: (() => void)[] = []
afterEach(() => {
  for (const stop of stops.splice(0)) stop()
})

type TokenRequest = { url: string; form: Record<string, string> }

/** A small transaction-token service that gives one answer. */
async function startService(answer: RequestListener) {
  const requests: TokenRequest[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    requests.push({ url: request.url ?? '', form: Object.fromEntries(new URLSearchParams(body)) })
    answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/tts/`, requests }
}

const reply =
  (body: object | string, status = 200): RequestListener =>
  (_request, response) => {
    response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body))
  }

const good = { access_token: 'child-token', token_type: 'N_A', expires_in: 90 }
const request = { scope: 'a b', ttlMs: 299_001, details: { operation: 'childTask', parentTask: 'p' } }

async function open(answer: RequestListener, more: Partial<ExchangeSettings> = {}) {
  const service = await startService(answer)
  const results: string[] = []
  const { exchange } = createTokenExchange({
    settings: { url: service.url, timeoutMs: 2000, source: 'incoming', ...more },
    clock,
    readOwnToken: async () => 'own-token',
    observe: ({ result, reason }) => results.push(`${result} ${reason}`),
  })
  return { exchange, requests: service.requests, results }
}

describe('token exchange', () => {
  it('asks for a transaction token in the form of RFC 8693, with its purpose', async () => {
    const { exchange, requests, results } = await open(reply(good), { audience: 'tools' })
    const exchanged = await exchange({ ...request, subjectToken: 'parent-token', requesterContext: { ip: 'x' } })
    expect(exchanged).toEqual({ token: 'child-token', expiresAt: '2026-03-01T12:01:30.000Z' })
    expect(requests).toEqual([
      {
        url: '/tts/token_endpoint',
        form: {
          grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
          requested_token_type: 'urn:ietf:params:oauth:token-type:txn_token',
          subject_token: 'parent-token',
          subject_token_type: 'urn:ietf:params:oauth:token-type:txn_token',
          scope: 'a b',
          audience: 'tools',
          requested_expires_in: '300',
          request_details: '{"operation":"childTask","parentTask":"p"}',
          request_context: '{"ip":"x"}',
        },
      },
    ])
    expect(results).toEqual(['ok ok'])
  })

  it('presents the service’s own token, or none, as configured', async () => {
    const own = await open(reply(good), { source: 'serviceAccount' })
    await own.exchange({ ...request, subjectToken: 'ignored' })
    expect(own.requests[0]?.form).toMatchObject({
      subject_token: 'own-token',
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    })
    const none = await open(reply(good), { source: 'none' })
    await none.exchange({ ...request, ttlMs: 1 })
    expect(none.requests[0]?.form).toMatchObject({ requested_expires_in: '1' })
    expect(none.requests[0]?.form).not.toHaveProperty('subject_token')
    const typed = await open(reply(good), { subjectTokenType: 'urn:example:own' })
    await typed.exchange({ ...request, subjectToken: 't' })
    expect(typed.requests[0]?.form.subject_token_type).toBe('urn:example:own')
  })

  it('presents the token that the request came with, which is kept outside the transaction', async () => {
    const service = await startService(reply(good))
    const settings: ExchangeSettings = { url: service.url, timeoutMs: 2000, source: 'incoming' }
    const incomingTokens = createIncomingTokens()
    const { exchange } = createTokenExchange({ settings, clock, incomingTokens })
    const incoming = { profile: 'kontxt', id: 'txn-1' } as CallerTransaction
    await expect(exchange({ ...request, incoming })).rejects.toMatchObject({ reason: 'NotConfigured' })
    incomingTokens.keep(incoming, 'came-with')
    await exchange({ ...request, incoming })
    expect(service.requests.map(({ form }) => form.subject_token)).toEqual(['came-with'])
    expect(JSON.stringify(incoming)).not.toContain('came-with')
  })

  it('asks nobody when there is no token to exchange', async () => {
    const { exchange, requests, results } = await open(reply(good))
    await expect(exchange(request)).rejects.toMatchObject({ reason: 'NotConfigured' })
    expect([requests, results]).toEqual([[], ['failed not_configured']])
  })

  it.each<[string, RequestListener]>([
    ['is refused', reply({ error: 'invalid_grant', error_description: 'parent-token is bad' }, 400)],
    ['is answered with a fault', reply('parent-token', 500)],
    ['is answered without a token', reply({})],
    ['is answered with an empty token', reply({ access_token: '' })],
    ['is answered with a token that splits a header', reply({ access_token: 'a\r\nX: b' })],
    ['is answered with something else', reply({ ...good, issued_token_type: 'urn:ietf:params:oauth:token-type:jwt' })],
    ['is answered with no JSON', reply('parent-token')],
    [
      'is sent elsewhere',
      (_request, response) => void response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end(),
    ],
    ['is cut off', (_request, response) => void response.destroy()],
  ])('that %s fails, with an error that does not contain the token', async (_what, answer) => {
    const { exchange, results } = await open(answer)
    const error = await exchange({ ...request, subjectToken: 'parent-token' }).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ reason: expect.stringMatching(/^(UpstreamFailed|Unavailable)$/) })
    expect(`${String(error)} ${JSON.stringify(error)}`).not.toContain('parent-token')
    expect(results).toEqual(['failed exchange_error'])
  })

  it('ends at its timeout, and when the caller aborts it', async () => {
    const silent = await open(() => undefined, { timeoutMs: 20 })
    const sent = { ...request, subjectToken: 't' }
    await expect(silent.exchange(sent)).rejects.toMatchObject({ reason: 'Unavailable' })
    const patient = await open(() => undefined, { timeoutMs: 60_000 })
    const reason = new Error('called off')
    const controller = new AbortController()
    const running = patient.exchange(sent, controller.signal)
    controller.abort(reason)
    await expect(running).rejects.toBe(reason)
  })
})

const folder = mkdtempSync(join(tmpdir(), 'svc-own-token-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the service-account token', () => {
  it('is read from the mounted file each time, and is absent when the file is missing or empty', async () => {
    const path = join(folder, 'token')
    expect(await readServiceAccountToken(path)).toBeUndefined()
    writeFileSync(path, 'first\n')
    expect(await readServiceAccountToken(path)).toBe('first')
    writeFileSync(path, 'renewed')
    expect(await readServiceAccountToken(path)).toBe('renewed')
    writeFileSync(path, '\n')
    expect(await readServiceAccountToken(path)).toBeUndefined()
  })
})
