// Trying a provider over the API: who may, what is told of a vendor that answers, refuses, is away, or means harm.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ProviderTest } from '../../src/contract/api/providers/providers.ts'
import { type Proxied, startProxied, vendorKey } from '../fixtures/proxy/proxied.ts'
import { answerJson, type Received } from '../fixtures/proxy/upstream.ts'

let proxied: Proxied

beforeAll(async () => {
  proxied = await startProxied()
  await proxied.addProvider('main')
  await proxied.addProvider('other', { type: 'llmo', defaultModel: 'absent' })
})
afterAll(() => proxied.stop())
beforeEach(() => proxied.upstream.reset())

const call = (name: string, token?: string) =>
  proxied.service.call(`POST /api/v1/providers/${name}/test`, token === undefined ? {} : { token })
const test = async (name: string) => {
  const answer = await call(name)
  expect(answer.statusCode).toBe(200)
  return answer.json() as ProviderTest
}
const answerText =
  (status: number, text: string | Buffer, headers: Record<string, string> = {}) =>
  ({ response }: Received) =>
    void response.writeHead(status, headers).end(text)

describe('a provider that is tested', () => {
  it('is asked for its models with its key, and for nothing that costs money', async () => {
    proxied.upstream.script.answer = answerJson({ data: [{ id: 'one' }, { id: 'two' }] })
    expect(await test('main')).toMatchObject({ ok: true, status: 200, models: ['one', 'two'] })
    const [asked, ...others] = proxied.upstream.received
    expect(others).toEqual([])
    expect(asked).toMatchObject({ method: 'GET', path: '/v1/models?limit=1000', headers: { 'x-api-key': vendorKey } })
    expect((await test('other')).message).toContain('does not list its defaultModel "absent"')
    proxied.upstream.script.answer = answerJson({}, 404)
    expect(await test('main')).toMatchObject({ ok: true, models: [], message: expect.stringContaining('HTTP 404') })
  })

  it.each([
    [401, { error: { message: 'your key has expired' } }, 'CredentialRefused', 'your key has expired'],
    [402, { error: { message: 'pay first', type: 'billing_error' } }, 'CreditUsedUp', 'pay first'],
    [502, 'no backend', 'ProviderFailed', 'no backend'],
  ])('shows an answer of %s in the vendor’s own words [PROV-013]', async (status, body, reason, words) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    proxied.upstream.script.answer = answerText(status, text)
    const found = await test('main')
    expect(found).toMatchObject({ ok: false, reason, status, models: [] })
    expect(found.message).toContain(words)
  })

  it('shows a missing key, a refused address and an unreachable one as different problems [PROV-013] [NET-005]', async () => {
    await proxied.addProvider('keyless', { secretRef: { name: 'nowhere', key: 'api-key' } })
    expect(await test('keyless')).toMatchObject({ ok: false, reason: 'MissingApiKey' })
    await proxied.addProvider('metadata', { baseURL: 'http://169.254.169.254/v1' }).catch(() => undefined)
    await proxied.addProvider('away', { baseURL: 'http://127.0.0.1:9' })
    expect(await test('away')).toMatchObject({ ok: false, reason: 'Unreachable' })
    proxied.upstream.script.answer = answerText(302, '', { location: 'http://169.254.169.254/latest' })
    expect(await test('main')).toMatchObject({ ok: false, reason: 'WrongAddress' })
    expect(proxied.upstream.received).toHaveLength(1)
  })

  it.each<[string, () => string | Buffer]>([
    ['the key in it', () => JSON.stringify({ error: { message: `invalid key ${vendorKey}` } })],
    ['the key in base64', () => `refused: Basic ${Buffer.from(`user:${vendorKey}`).toString('base64')}`],
    ['the key in it a hundred times', () => JSON.stringify({ error: { message: `${vendorKey} `.repeat(100) } })],
    [
      'escape sequences',
      () => JSON.stringify({ error: { message: '\u001b]0;owned\u0007\u001b[2Jgone\r\n\u202egnp' } }),
    ],
    ['a page of HTML', () => '<!DOCTYPE html><html><title>No entry</title><script>alert(1)</script></html>'],
    ['ten megabytes', () => Buffer.alloc(10_485_760, 'x')],
    ['ten megabytes of JSON', () => JSON.stringify({ error: { message: 'y'.repeat(10_485_760) } })],
    ['no text at all', () => randomBytes(4096)],
  ])('and refuses with %s cannot do harm with its message [SECRET-008]', async (_what, makeBody) => {
    proxied.upstream.script.answer = answerText(401, makeBody())
    const { message, reason } = await test('main')
    expect(reason).toBe('CredentialRefused')
    expect(message.length).toBeLessThanOrEqual(500)
    expect(message).not.toMatch(/[\p{Cc}\u202a-\u202e]|<script|<title/u)
    for (const form of [vendorKey, Buffer.from(vendorKey).toString('base64').slice(0, 16)]) {
      expect(message).not.toContain(form)
    }
    expect(message).not.toContain(vendorKey.slice(0, 12))
  })

  it('needs a caller who may use it, and tells nobody else anything', async () => {
    const makeToken = async (name: string, more: object) => {
      const made = await proxied.service.call('POST /api/v1/tokens', { payload: { name, ...more } })
      return (made.json() as { token: string }).token
    }
    const viewer = await makeToken('viewer', { role: 'viewer' })
    const elsewhere = await makeToken('elsewhere', { role: 'editor', namespace: 'elsewhere' })
    const runner = await makeToken('runner', { role: 'runner' })
    proxied.upstream.script.answer = answerText(401, 'made-up words')
    for (const [token, status] of [
      [viewer, 403],
      [elsewhere, 404],
      [runner, 200],
    ] as const) {
      const answer = await call('main', token)
      expect(answer.statusCode).toBe(status)
      expect(answer.body.includes('made-up words')).toBe(status === 200)
    }
    const bound = await proxied.service.call('POST /api/v1/providers/main/test?namespace=default', { token: elsewhere })
    expect(bound.statusCode).toBe(403)
    expect(proxied.upstream.received).toHaveLength(1)
    expect((await call('nobody')).statusCode).toBe(404)
  })

  it('and answers again is checked at once: its status says when it was reached', async () => {
    const status = { ready: false, message: 'refused', observedGeneration: 1 }
    await proxied.service.setStatus('Provider', 'main', status)
    const read = async () =>
      (await proxied.service.ports.resources.get('Provider', { namespace: 'default', name: 'main' }))?.status
    proxied.upstream.script.answer = answerText(401, 'no')
    await test('main')
    expect((await read())?.lastReached).toBeUndefined()
    proxied.upstream.script.answer = answerJson({ data: [] })
    await test('main')
    expect((await read())?.lastReached).toBeDefined()
  })
})
