// What is passed on and takes longer than the service allows: the caller gets the progress made, in its own language.
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Proxied, readError, simpleMessage, startProxied } from '../fixtures/proxy/proxied.ts'
import { llmaAnswer, type Received } from '../fixtures/proxy/upstream.ts'
import { ownerToken } from './service.ts'

const closing = /The time limit was reached/

let proxied: Proxied
let llma: Anthropic
let llmo: OpenAI

const frame = (json: { type: string; [name: string]: unknown }) =>
  `event: ${json.type}\ndata: ${JSON.stringify(json)}\n\n`
const chunk = (delta: object) =>
  `data: ${JSON.stringify({ id: 'c-7', object: 'chat.completion.chunk', created: 5, model: 'm', choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`

const opening = frame({ type: 'message_start', message: { ...llmaAnswer, content: [], stop_reason: null } })
const openText = frame({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } })
const text = frame({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'so far' } })
const closeText = frame({ type: 'content_block_stop', index: 0 })
const ping = frame({ type: 'ping' })

/** By the model's name: what is said before the vendor falls silent. */
const said: Record<string, string> = {
  nothing: '',
  opened: opening,
  within: opening + openText + text + ping,
  between: opening + openText + text + closeText,
  torn: `${opening}${openText}event: content_block_delta\ndata: {"type":"content_bl`,
  chunks: chunk({ role: 'assistant', content: 'so far' }),
}

function answer({ body, response }: Received): void {
  const { model } = JSON.parse(body.toString() || '{}') as { model?: string }
  const words = said[model ?? '']
  if (!words) return
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(words)
}

beforeAll(async () => {
  const loop = { maxIterations: 50, maxToolCalls: 128, maxDurationMs: 2500, toolTimeoutMs: 10_000 }
  proxied = await startProxied({ proxy: { loop } })
  await proxied.addProvider('a')
  await proxied.addProvider('o', { type: 'llmo', baseURL: `${proxied.upstream.url}/v1` })
  proxied.upstream.script.answer = answer
  const defaultHeaders = { 'x-svc-tools': 'disabled' }
  llma = new Anthropic({ apiKey: ownerToken, baseURL: `${proxied.url}/llma`, maxRetries: 0, defaultHeaders })
  llmo = new OpenAI({ apiKey: ownerToken, baseURL: `${proxied.url}/llmo/v1`, maxRetries: 0, defaultHeaders })
})
afterAll(() => proxied.stop())

const wholeText = ({ content }: Anthropic.Message) => content.map((block) => (block.type === 'text' ? block.text : ''))

describe.concurrent('a relayed message that reaches the time limit [LLMA-039]', () => {
  it('has the closing words when nothing was said', async () => {
    const message = await llma.messages.create({ ...simpleMessage('a/nothing'), stream: false } as never)
    expect(message).toMatchObject({ type: 'message', stop_reason: 'end_turn', model: 'nothing' })
    expect((message as Anthropic.Message).content).toEqual([{ type: 'text', text: expect.stringMatching(closing) }])
  })

  it.each([
    ['nothing', []],
    ['opened', []],
    ['within', ['so far']],
    ['between', ['so far']],
  ])('ends its stream properly after what was said: %s', async (model, before) => {
    const stream = llma.messages.stream(simpleMessage(`a/${model}`) as never)
    const message = await stream.finalMessage()
    expect(wholeText(message)).toEqual([...before, expect.stringMatching(closing)])
    expect(message.stop_reason).toBe('end_turn')
  })

  it('breaks off when it stopped within a frame, which cannot be completed', async () => {
    const reply = await proxied.ask('/llma/v1/messages', simpleMessage('a/torn', { stream: true }))
    await expect(reply.text()).rejects.toThrow()
  })
})

describe.concurrent('a relayed completion that reaches the time limit', () => {
  const messages = [{ role: 'user' as const, content: 'x' }]

  it('has the closing words when nothing was said', async () => {
    const { choices } = await llmo.chat.completions.create({ model: 'o/nothing', messages })
    expect(choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: expect.stringMatching(closing) } })
  })

  it('ends its stream properly, under the same id', async () => {
    const stream = await llmo.chat.completions.create({ model: 'o/chunks', messages, stream: true })
    const ids = new Set<string>()
    let all = ''
    let finish: string | null | undefined
    for await (const { id, choices } of stream) {
      ids.add(id)
      all += choices[0]?.delta.content ?? ''
      finish = choices[0]?.finish_reason ?? finish
    }
    expect([...ids]).toEqual(['c-7'])
    expect(all).toMatch(/^so far/)
    expect(all).toMatch(closing)
    expect(finish).toBe('stop')
  })
})

it('an answer that can have no closing words, such as embeddings, is an error that names the limit', async () => {
  const reply = await proxied.ask('/llmo/v1/embeddings', { model: 'o/nothing', input: 'x' })
  expect([reply.status, (await readError(reply)).error.message]).toEqual([
    502,
    expect.stringContaining('--chat-max-duration'),
  ])
})
