import { describe, expect, it } from 'vitest'
import { SvcError } from '../../errors.ts'
import type { EgressRequest } from '../../ports/service/egress.ts'
import type { TokenPropagation, ToolContext } from '../registry/tool.ts'
import { createHttpTool } from './http-tool.ts'

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
