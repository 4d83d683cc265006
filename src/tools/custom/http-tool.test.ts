import { describe, expect, it } from 'vitest'
import { SvcError } from '../../errors.ts'
import type { EgressRequest } from '../../ports/service/egress.ts'
import type { TokenPropagation, ToolContext } from '../registry/tool.ts'
import { createHttpTool, fillAddress } from './http-tool.ts'

const open = new AbortController().signal

type Answer = { status: number; headers: Record<string, string>; text: string }

/** Runs the tool once, and tells what was sent and what came of it. */
async function run(
  propagation: TokenPropagation | undefined,
  options: { headers?: Record<string, string>; answer?: (request: EgressRequest) => Partial<Answer> } = {},
) {
  const sent: EgressRequest[] = []
  const egress = {
    async request(request: EgressRequest) {
      sent.push(request)
      const { status = 200, headers = {}, text = '{}' } = options.answer?.(request) ?? {}
      return { url: request.url, status, headers, body: Buffer.from(text), truncated: false }
    },
  }
  const context = { egress, egressPolicy: { allowNetworks: [], deny: [] }, propagation } as unknown as ToolContext
  const http = {
    url: 'https://tool.example/x',
    method: 'POST' as const,
    headers: options.headers ?? {},
    timeoutMs: 1000,
  }
  const tool = createHttpTool({ name: 'lookup', description: 'looks up', parameters: {}, http })
  return { outcome: await tool.invoke({}, context, open), sent }
}

const give = (token: string | undefined): TokenPropagation => ({ takeToken: async () => token })

describe('a custom tool of a transaction', () => {
  it('sends the token that was taken for this call as Txn-Token', async () => {
    const asked: string[] = []
    const { outcome, sent } = await run({ takeToken: async (tool) => `token-${asked.push(tool)}` })
    expect(outcome.success).toBe(true)
    expect(asked).toEqual(['lookup'])
    expect(sent[0]?.headers?.['txn-token']).toBe('token-1')
  })

  it('sends none where there is none, and where nothing is handed on', async () => {
    for (const propagation of [give(undefined), undefined]) {
      const { outcome, sent } = await run(propagation)
      expect(outcome.success).toBe(true)
      expect(Object.keys(sent[0]?.headers ?? {})).not.toContain('txn-token')
    }
  })

  it('is not called when it sets the reserved header itself, with a token or without [TOOL-011]', async () => {
    for (const name of ['Txn-Token', 'txn-token', 'TXN-TOKEN']) {
      for (const token of ['t', undefined]) {
        const { outcome, sent } = await run(give(token), { headers: { [name]: 'forged' } })
        expect(outcome).toMatchObject({ success: false, error: expect.stringContaining('reserved header') })
        expect(sent).toEqual([])
      }
    }
    const free = await run(undefined, { headers: { 'Txn-Token': 'my own' } })
    expect(free.sent[0]?.headers?.['txn-token']).toBe('my own')
  })

  it('is not called when its token cannot be had, and says why without what broke inside', async () => {
    const refuse = async () => {
      throw new SvcError('UpstreamFailed', 'the transaction-token service refused the exchange (status 400)')
    }
    const refused = await run({ takeToken: refuse })
    expect(refused.sent).toEqual([])
    expect(refused.outcome).toMatchObject({
      success: false,
      errorType: 'upstream_error',
      error: expect.stringMatching(/^lookup was not called because .*status 400/),
    })
    const broken = await run({ takeToken: () => Promise.reject(new Error('opaque-token-in-here')) })
    expect(broken.sent).toEqual([])
    expect(JSON.stringify(broken.outcome)).not.toContain('opaque-token-in-here')
  })

  it('shows its token in no part of an answer that repeats it', async () => {
    const token = 'opaque-token-12345'
    const echo = { text: `{"you":"${token}"}`, headers: { 'content-type': `text/${token}` } }
    for (const status of [200, 500]) {
      const { outcome } = await run(give(token), { answer: () => ({ ...echo, status }) })
      expect(JSON.stringify(outcome)).not.toContain(token)
      expect(JSON.stringify(outcome)).toContain('[REDACTED]')
    }
  })
})

const base = 'https://api.example.com'

describe('the address of a call', () => {
  it.each<[string, object, string, object]>([
    ['/cities/{city}', { city: 'oslo', days: 3 }, '/cities/oslo', { days: 3 }],
    ['/{a}/{b}?q={c}&v=1', { a: 1, b: true, c: 'x&y=z' }, '/1/true?q=x%26y%3Dz&v=1', {}],
    ['/{a}-{a}', { a: 'x' }, '/x-x', {}],
    ['/{a}', { a: 'x/../y' }, '/x%2F..%2Fy', {}],
    ['/{a}', { a: '%2e%2e' }, '/%252e%252e', {}],
    ['/{a}', { a: '?q#f@h:\\' }, '/%3Fq%23f%40h%3A%5C', {}],
    ['/{a}', { a: '\ud800' }, '/%EF%BF%BD', {}],
    ['/{a}', { a: '$&{b}' }, '/%24%26%7Bb%7D', {}],
    ['/v1.{a}', { a: '.' }, '/v1..', {}],
    ['/x?q={q}', { q: '' }, '/x?q=', {}],
    ['/{', { a: 1 }, '/{', { a: 1 }],
  ])('of %s with %j is %s', (address, args, url, rest) => {
    expect(fillAddress(base + address, { ...args })).toEqual({ url: base + url, rest })
  })

  it.each<[string, object]>([
    ['/{a}', { a: '..' }],
    ['/{a}', { a: '.' }],
    ['/{a}/b', { a: '' }],
    ['/{a}{b}', { a: '.', b: '.' }],
    ['/.{a}', { a: '.' }],
    ['/%2{a}%2e', { a: 'e' }],
    ['/{a}', { a: ['x'] }],
    ['/{a}', { a: { b: 1 } }],
    ['/x?q={a}', { a: null }],
    ['/{a}', {}],
  ])('cannot lead elsewhere: %s with %j', (address, args) => {
    expect(() => fillAddress(base + address, { ...args })).toThrow(
      expect.objectContaining({ reason: 'InvalidRequest' }),
    )
  })

  it.each(['https://{a}/x', 'https://{a}.example.com', '{a}://example.com', 'https:/\\/{a}', `${base}\\{a}`])(
    'takes no argument in %s',
    (address) => {
      expect(() => fillAddress(address, { a: 'b' })).toThrow(expect.objectContaining({ reason: 'NotConfigured' }))
    },
  )
})
