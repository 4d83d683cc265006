// Both families over a real socket, with a double of the vendors that nobody here wrote.
import { createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { LLMock } from '@copilotkit/aimock'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createTestHost } from '../../../test/fixtures/llm/tool-host.ts'
import { askText, streams } from '../../../test/fixtures/llm/wire.ts'
import type { ModelChoice } from '../../contract/api/tasks/assignment.ts'
import { createEgress } from '../../egress/egress.ts'
import type { Clock } from '../../lib/clock.ts'
import { type LoopEvent, runLoop } from '../loop/loop.ts'
import { createLoopState } from '../loop/loop-state.ts'
import { collectTurn } from '../messages/collect.ts'
import { type Family, userText } from '../messages/messages.ts'
import type { ModelClient } from './model-client.ts'
import { createProviderClient } from './provider-client.ts'

const egress = createEgress()
const clock: Clock = { now: () => new Date(), sleep: (ms, signal) => sleep(ms, undefined, { signal, ref: false }) }
const open = new AbortController().signal
const usage = {
  llma: { input_tokens: 21, output_tokens: 9, cache_read_input_tokens: 4 },
  llmo: { prompt_tokens: 21, completion_tokens: 9, prompt_tokens_details: { cached_tokens: 4 } },
}

let vendor: LLMock

beforeAll(async () => {
  vendor = await LLMock.create({ port: 0, strict: true, chunkSize: 3 })
})
beforeEach(() => void vendor.reset())
afterAll(async () => {
  await vendor.stop()
  await egress.close()
})

function makeClient(type: Family, more: Partial<ModelChoice['provider']> = {}, idleTimeoutMs = 10_000): ModelClient {
  const provider = {
    namespace: 'default',
    name: 'vendor',
    type,
    baseUrl: vendor.url,
    apiKey: 'made-up-key-000000',
    ...more,
  }
  const policyFor = () => ({ allowNetworks: [], deny: [], trusted: new URL(provider.baseUrl).origin })
  return createProviderClient({ provider, model: 'test-model' }, { egress, policyFor, clock, idleTimeoutMs })
}

describe.each(['llma', 'llmo'] as Family[])('a %s vendor', (family) => {
  it('streams text, thinking and usage', async () => {
    vendor.onMessage('hello', { content: 'Grüße an alle', reasoning: 'Be kind', usage: usage[family] })
    const turn = await collectTurn(makeClient(family), { ...askText('hello'), thinking: { budgetTokens: 1024 } }, open)
    expect(turn).toMatchObject({ stopReason: 'end_turn' })
    expect(turn.error).toBeUndefined()
    expect(turn.usage.outputTokens).toBe(9)
    expect(turn.message.content).toMatchObject([
      { type: 'thinking', text: 'Be kind' },
      { type: 'text', text: 'Grüße an alle' },
    ])
    expect(vendor.getLastRequest()?.headers).toMatchObject(
      family === 'llma' ? { 'x-api-key': expect.any(String) } : { authorization: expect.any(String) },
    )
  })

  it('is led through tool calls to an answer, thinking sent back with its signature', async () => {
    const calls = [
      { name: 'file_read', arguments: '{"path":"a.txt"}', id: 'call_a' },
      { name: 'file_read', arguments: '{"path":"b.txt"}', id: 'call_b' },
    ]
    vendor.on(
      { userMessage: 'compare', hasToolResult: false },
      { content: 'Reading.', toolCalls: calls, reasoning: 'Two files', usage: usage[family] },
    )
    vendor.on({ userMessage: 'compare', hasToolResult: true }, { content: 'They are equal.', usage: usage[family] })
    const host = createTestHost({ file_read: { run: ({ args }) => `content of ${String(args.path)}` } })
    const events: LoopEvent[] = []
    const state = await runLoop({
      state: createLoopState({ system: 'be brief', messages: [userText('compare')] }),
      model: makeClient(family),
      tools: host,
      clock,
      signal: open,
      emit: (event) => void events.push(event),
    })
    expect(state).toMatchObject({ text: 'They are equal.', finished: { reason: 'answer' }, llmCalls: 2 })
    expect(host.calls.map((call) => call.args)).toEqual([{ path: 'a.txt' }, { path: 'b.txt' }])
    const told = events.flatMap((event) => (event.type === 'model' ? event.events : []))
    const fragments = told.filter((event) => event.type === 'args_delta')
    expect(fragments.length).toBeGreaterThan(4)
    const sent = JSON.stringify(vendor.getLastRequest()?.body)
    expect(sent).toContain('content of a.txt')
    expect(sent).toContain('content of b.txt')
  })

  it.each([
    [401, 'authentication_error', 'CredentialRefused'],
    [404, 'not_found_error', 'ModelNotFound'],
    [429, 'rate_limit_error', 'RateLimited'],
    [529, 'overloaded_error', 'ProviderOverloaded'],
    [500, 'api_error', 'ProviderFailed'],
  ])('answers %i with its meaning', async (status, type, reason) => {
    vendor.onMessage('hello', { error: { message: 'the model is not found', type }, status, retryAfter: 3 })
    const { error } = await collectTurn(makeClient(family), askText('hello'), open)
    expect(error).toMatchObject({ reason, status })
    if (status === 429) expect(error?.retryAfterMs).toBe(3000)
  })

  it('that hangs up in the middle is an interruption', async () => {
    vendor.onMessage('hello', { content: 'x'.repeat(300) }, { truncateAfterChunks: 20 })
    const turn = await collectTurn(makeClient(family), askText('hello'), open)
    expect(turn.error).toMatchObject({ reason: 'AnswerBrokenOff', message: expect.stringContaining('default/vendor') })
    expect(turn.stopReason).toBeUndefined()
  })

  it('that cannot be reached says where it was looked for [PROV-013]', async () => {
    const closed = await collectTurn(makeClient(family, { baseUrl: 'http://127.0.0.1:59999' }), askText('hello'), open)
    expect(closed.error).toMatchObject({
      reason: 'ProviderUnreachable',
      message: expect.stringMatching(/unreachable at 127\.0\.0\.1:59999.*ECONNREFUSED/),
    })
  })
})

describe('azure', () => {
  it('is asked by deployment, version and its own header', async () => {
    vendor.onMessage('hello', { content: 'hi from azure' })
    const azure = { deploymentName: 'my-deployment', apiVersion: '2024-02-15-preview' }
    const client = createProviderClient(
      {
        provider: {
          namespace: 'default',
          name: 'azure',
          type: 'azure-llmo',
          baseUrl: vendor.url,
          apiKey: 'made-up-key-000000',
          azure,
        },
        model: 'my-deployment',
      },
      { egress, policyFor: () => ({ allowNetworks: [], deny: [], trusted: new URL(vendor.url).origin }), clock },
    )
    const turn = await collectTurn(client, askText('hello'), open)
    expect(turn).toMatchObject({ stopReason: 'end_turn', message: { content: [{ text: 'hi from azure' }] } })
    const request = vendor.getLastRequest()
    expect(request?.path).toContain('/openai/deployments/my-deployment/chat/completions')
    expect(request?.headers).toMatchObject({ 'api-key': expect.any(String) })
  })
})

describe('a vendor that misbehaves on its socket', () => {
  const sockets: Socket[] = []
  const closing: (() => void)[] = []

  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy()
    for (const close of closing.splice(0)) close()
  })

  /** Only what the double cannot do: a stall, half a frame, an early close. */
  async function serveRaw(answer: (socket: Socket) => void): Promise<string> {
    const server = createServer((socket) => {
      sockets.push(socket)
      socket.once('data', () => answer(socket))
      socket.on('error', () => {})
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    closing.push(() => server.close())
    const address = server.address()
    return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  }

  const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n'

  describe.each(['llma', 'llmo'] as Family[])('in %s', (family) => {
    const half = streams[family].slice(0, streams[family].length / 2)

    it('by stalling is given up after the idle time', async () => {
      const baseUrl = await serveRaw((socket) => socket.write(`${head}\r\n${half}`))
      const turn = await collectTurn(makeClient(family, { baseUrl }, 150), askText('x'), open)
      expect(turn.error).toMatchObject({ reason: 'AnswerBrokenOff', message: expect.stringContaining('0.15 s') })
    })

    it('by never answering is given up after the idle time', async () => {
      const baseUrl = await serveRaw(() => {})
      const turn = await collectTurn(makeClient(family, { baseUrl }, 150), askText('x'), open)
      expect(turn.error?.reason).toBe('AnswerBrokenOff')
    })

    it('by sending half a frame and closing is an interruption', async () => {
      const baseUrl = await serveRaw((socket) => socket.end(`${head}connection: close\r\n\r\n${half}`))
      const turn = await collectTurn(makeClient(family, { baseUrl }), askText('x'), open)
      expect(turn.error?.reason).toBe('AnswerBrokenOff')
    })

    it('by resetting the connection is an interruption', async () => {
      const length = `content-length: ${streams[family].length + 100}\r\n`
      const baseUrl = await serveRaw((socket) =>
        socket.write(`${head}${length}\r\n${half}`, () => socket.resetAndDestroy()),
      )
      const turn = await collectTurn(makeClient(family, { baseUrl }), askText('x'), open)
      expect(turn.error?.reason).toBe('AnswerBrokenOff')
    })

    it('by not speaking HTTP is not an answer', async () => {
      const baseUrl = await serveRaw((socket) => socket.end('hello?\r\n\r\n'))
      const turn = await collectTurn(makeClient(family, { baseUrl }), askText('x'), open)
      expect(turn.error?.reason).toBe('ProviderUnreachable')
    })
  })
})
