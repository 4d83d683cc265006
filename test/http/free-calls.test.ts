// What a caller who leaves before the counts has used of a vendor is estimated, on every endpoint, beside the exact counts.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Proxied, startProxied } from '../fixtures/proxy/proxied.ts'
import { answerJson, type Received } from '../fixtures/proxy/upstream.ts'
import { waitFor } from '../fixtures/time.ts'

let proxied: Proxied
beforeAll(async () => {
  proxied = await startProxied({ builtinTools: [] })
})
afterAll(() => proxied.stop())
afterEach(() => proxied.upstream.reset())

type Sum = {
  key: string
  inputTokens: number
  outputTokens: number
  llmCalls: number
  cost: number
  estimatedInputTokens?: number
  estimatedOutputTokens?: number
  estimatedCost?: number
}

async function readUsage(provider: string): Promise<Sum | undefined> {
  const { items } = (await proxied.service.call('GET /api/v1/usage?groupBy=provider')).json() as { items: Sum[] }
  return items.find((item) => item.key === `default/${provider}`)
}

const prompt = 'a question of some length '.repeat(160)
const tokens = Math.ceil(prompt.length / 4)
const word = 'word '
const price = { inputPerMillion: 1, outputPerMillion: 2 }

const llmaFrames = (text: string) => [
  `data: ${JSON.stringify({ type: 'message_start', message: { usage: { input_tokens: 77, output_tokens: 1 } } })}\n\n`,
  `data: ${JSON.stringify({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })}\n\n`,
]
const chatFrames = (text: string) => [
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: text } }] })}\n\n`,
]
const responseFrames = (text: string) => [
  `data: ${JSON.stringify({ type: 'response.output_text.delta', item_id: 'i', delta: text })}\n\n`,
]

/** Says the beginning of an answer, and nothing more. */
const begin =
  (frames: string[]) =>
  ({ response }: Received) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(frames.join(''))
  }

async function leaveInTheMiddle(path: string, body: object, frames: string[]): Promise<void> {
  proxied.upstream.script.answer = begin(frames)
  const leaving = new AbortController()
  const answer = await proxied.ask(path, body, { signal: leaving.signal })
  const reader = answer.body?.getReader()
  await reader?.read()
  leaving.abort()
}

const messages = [{ role: 'user', content: prompt }]
const said = word.repeat(400)

describe('a caller that leaves in the middle of a stream', () => {
  it.each<[string, string, object, string[]]>([
    ['messages', '/llma/v1/messages', { max_tokens: 9, messages }, llmaFrames(said)],
    ['chat', '/llmo/v1/chat/completions', { messages }, chatFrames(said)],
    ['responses', '/llmo/v1/responses', { input: prompt }, responseFrames(said)],
  ])('of %s is charged for what was sent and streamed', async (name, path, more, frames) => {
    // Only one family tells the input at the beginning.
    const input = path.startsWith('/llma') ? 0 : tokens
    await proxied.addProvider(`left-${name}`, { type: path.startsWith('/llmo') ? 'llmo' : 'llma', price })
    await leaveInTheMiddle(path, { model: `left-${name}/m`, stream: true, ...more }, frames)
    await waitFor(async () => (await readUsage(`left-${name}`)) !== undefined, 'the call to be tallied')
    const sum = await readUsage(`left-${name}`)
    expect(sum?.llmCalls).toBe(1)
    expect(sum?.inputTokens).toBe(input === 0 ? 77 : 0)
    if (input === 0) expect(sum?.estimatedInputTokens).toBeUndefined()
    else expect(sum?.estimatedInputTokens).toBeGreaterThan(tokens)
    expect(sum?.estimatedInputTokens ?? 0).toBeLessThan(tokens * 1.2)
    expect(sum?.estimatedOutputTokens).toBeGreaterThan(480)
    expect(sum?.estimatedOutputTokens).toBeLessThan(520)
    expect(sum?.estimatedCost).toBeGreaterThan(0)
  })
})

describe('a caller that leaves before the answer', () => {
  it.each<[string, string, object, boolean]>([
    ['messages', '/llma/v1/messages', { max_tokens: 9, messages }, true],
    ['counting', '/llma/v1/messages/count_tokens', { messages }, false],
    ['chat', '/llmo/v1/chat/completions', { messages }, true],
    ['responses', '/llmo/v1/responses', { input: prompt }, true],
    ['embeddings', '/llmo/v1/embeddings', { input: prompt }, true],
  ])('of %s is charged for what was sent, unless the call is free', async (name, path, more, isPaid) => {
    await proxied.addProvider(`early-${name}`, { type: path.startsWith('/llmo') ? 'llmo' : 'llma' })
    const before = proxied.upstream.received.length
    proxied.upstream.script.answer = () => {}
    const leaving = new AbortController()
    const asking = proxied.ask(path, { model: `early-${name}/m`, ...more }, { signal: leaving.signal })
    await waitFor(() => proxied.upstream.received.length > before, 'the vendor to be asked')
    leaving.abort()
    await expect(asking).rejects.toThrow()
    if (isPaid) {
      await waitFor(async () => (await readUsage(`early-${name}`)) !== undefined, 'the call to be tallied')
      expect((await readUsage(`early-${name}`))?.estimatedInputTokens).toBeGreaterThan(tokens)
    } else {
      // Something that comes after it is tallied.
      await proxied.addProvider('after')
      proxied.upstream.reset()
      await proxied.ask('/llma/v1/messages', { model: 'after/m', max_tokens: 9, messages })
      await waitFor(async () => (await readUsage('after')) !== undefined, 'the next call to be tallied')
      expect(await readUsage(`early-${name}`)).toBeUndefined()
    }
  })
})

describe('an answer', () => {
  it('without token counts is estimated, and one with counts is not', async () => {
    await proxied.addProvider('silent', { type: 'llmo' })
    proxied.upstream.script.answer = answerJson({ choices: [{ message: { content: said } }] })
    await proxied.ask('/llmo/v1/chat/completions', { model: 'silent/m', messages })
    await waitFor(async () => (await readUsage('silent')) !== undefined, 'the call to be tallied')
    expect((await readUsage('silent'))?.estimatedOutputTokens).toBeGreaterThan(490)
    await proxied.addProvider('telling', { type: 'llmo' })
    const usage = { prompt_tokens: 5, completion_tokens: 6, total_tokens: 11 }
    proxied.upstream.script.answer = answerJson({ choices: [{ message: { content: said } }], usage })
    await proxied.ask('/llmo/v1/chat/completions', { model: 'telling/m', messages })
    await waitFor(async () => (await readUsage('telling')) !== undefined, 'the call to be tallied')
    expect(await readUsage('telling')).toEqual(
      expect.objectContaining({ inputTokens: 5, outputTokens: 6, llmCalls: 1 }),
    )
    expect(await readUsage('telling')).not.toHaveProperty('estimatedInputTokens')
  })

  it('that refuses the request costs nothing', async () => {
    await proxied.addProvider('refusing', { type: 'llmo' })
    proxied.upstream.script.answer = answerJson({ error: { message: 'no', type: 'x' } }, 400)
    await proxied.ask('/llmo/v1/chat/completions', { model: 'refusing/m', messages })
    await proxied.addProvider('later')
    proxied.upstream.reset()
    await proxied.ask('/llma/v1/messages', { model: 'later/m', max_tokens: 9, messages })
    await waitFor(async () => (await readUsage('later')) !== undefined, 'the next call to be tallied')
    expect(await readUsage('refusing')).toBeUndefined()
  })
})

describe('a limit of tokens per minute', () => {
  it('counts what a caller that left has used', async () => {
    const rateLimit = { tokensPerMinute: 3000 }
    await proxied.addProvider('limited', { type: 'llmo', rateLimit })
    const body = { model: 'limited/m', stream: true, messages }
    await leaveInTheMiddle('/llmo/v1/chat/completions', body, chatFrames(said.repeat(4)))
    await waitFor(async () => (await readUsage('limited')) !== undefined, 'the call to be tallied')
    proxied.upstream.script.answer = answerJson({ choices: [] })
    expect((await proxied.ask('/llmo/v1/chat/completions', body)).status).toBe(429)
  })
})
