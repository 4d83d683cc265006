// Passed answers that their vendor has not finished: another provider takes over while nothing was shown, and nobody counts them
// as answered; what one vendor attached to a turn does not reach the next.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Proxied, simpleMessage, startProxied } from '../fixtures/proxy/proxied.ts'
import { answerJson, type Received } from '../fixtures/proxy/upstream.ts'
import { waitFor } from '../fixtures/time.ts'

let proxied: Proxied
const completions = '/llmo/v1/chat/completions'
const messages = '/llma/v1/messages'
const at = (name: string, type = 'llmo') => ({ type, baseURL: `${proxied.upstream.url}/${name}/v1` })

async function addPair(name: string, type = 'llmo'): Promise<void> {
  await proxied.addProvider(`${name}-next`, at(`${name}-next`, type))
  const fallbacks = [{ providerRef: { name: `${name}-next` }, model: 'm-next' }]
  await proxied.addProvider(name, { ...at(name, type), fallbacks })
}

beforeAll(async () => {
  proxied = await startProxied({ builtinTools: [] })
})
afterAll(() => proxied.stop())
beforeEach(() => proxied.upstream.reset())

const asked = () =>
  proxied.upstream.received.filter(({ method }) => method === 'POST').map(({ path }) => path.split('/')[1])
const fine = { choices: [{ index: 0, message: { role: 'assistant', content: 'fine' }, finish_reason: 'stop' }] }
const short = {
  choices: [
    { index: 0, message: { role: 'assistant', content: 'Hel' }, finish_reason: 'insufficient_system_resource' },
  ],
}

function answerFirst(first: (received: Received) => void, next: (received: Received) => void) {
  proxied.upstream.script.answer = (received) => {
    if (received.method !== 'POST') return answerJson({ data: [] })(received)
    if (received.path.includes('-next')) next(received)
    else first(received)
  }
}

async function lastError(name: string): Promise<string> {
  const health = await proxied.service.ports.records.providerHealth.read({ namespace: 'default', name })
  return JSON.stringify(health ?? null)
}

describe('an answer in one piece', () => {
  it.each([
    ['broken', short],
    ['refused', { code: 503, msg: 'no capacity left', success: false }],
  ])('that is none (%s) gives way to the next provider', async (name, body) => {
    await addPair(name)
    answerFirst(answerJson(body), answerJson(fine))
    const answer = await proxied.ask(completions, simpleMessage(`${name}/m`))
    expect([answer.status, await answer.json(), asked()]).toEqual([200, fine, [name, `${name}-next`]])
  })

  it('with an end that nobody knows is the caller’s to read, and no success', async () => {
    await proxied.addProvider('tomorrow', at('tomorrow'))
    const body = { choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'napping' }] }
    proxied.upstream.script.answer = answerJson(body)
    const answer = await proxied.ask(completions, simpleMessage('tomorrow/m'))
    expect([answer.status, await answer.json()]).toEqual([200, body])
    await waitFor(async () => (await lastError('tomorrow')).includes('napping'), 'the failure to be noted')
  })

  it('that is longer than what is judged passes as it is, in every piece', async () => {
    await proxied.addProvider('long', at('long'))
    const body = { ...fine, padding: 'x'.repeat(40_000) }
    const text = JSON.stringify(body)
    proxied.upstream.script.answer = ({ response }) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      for (let from = 0; from < text.length; from += 5000) response.write(text.slice(from, from + 5000))
      response.end()
    }
    expect(await (await proxied.ask(completions, simpleMessage('long/m'))).json()).toEqual(body)
  })
})

describe('a stream', () => {
  it('that ends short is not begun again by the next provider, and no success', async () => {
    await addPair('stream')
    const frame = (delta: object, finish: string | null) =>
      `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
    const frames = `${frame({ content: 'Hel' }, null)}${frame({}, 'insufficient_system_resource')}data: [DONE]\n\n`
    const stream = ({ response }: Received): void => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(frames)
    }
    answerFirst(stream, answerJson(fine))
    const answer = await proxied.ask(completions, simpleMessage('stream/m', { stream: true }))
    expect([await answer.text(), asked()]).toEqual([frames, ['stream']])
    await waitFor(
      async () => (await lastError('stream')).includes('insufficient_system_resource'),
      'the failure to be noted',
    )
  })
})

describe('what a vendor attached to a turn', () => {
  const sentTo = (name: string) => {
    const received = proxied.upstream.received.find(({ path }) => path.startsWith(`/${name}/`))
    return (JSON.parse(String(received?.body)) as { messages: unknown[] }).messages
  }
  const fail = answerJson({ error: { message: 'not now', type: 'server_error' } }, 500)

  it('does not reach the provider that takes over, of the family llmo', async () => {
    await addPair('first-llmo')
    answerFirst(fail, answerJson(fine))
    const call = { id: 'k', type: 'function', function: { name: 'f', arguments: '{}' } }
    const turn = { role: 'assistant', content: null, tool_calls: [call] }
    const own = { ...turn, reasoning_content: 'hm', tool_calls: [{ ...call, extra_content: { a: 1 } }] }
    const rest = [
      { role: 'user', content: 'hi' },
      { role: 'tool', tool_call_id: 'k', content: 'x' },
    ]
    const body = { model: 'first-llmo/m', messages: [rest[0], own, rest[1]] }
    expect((await proxied.ask(completions, body)).status).toBe(200)
    expect(sentTo('first-llmo')).toEqual([rest[0], own, rest[1]])
    expect(sentTo('first-llmo-next')).toEqual([rest[0], turn, rest[1]])
  })

  it('does not reach the provider that takes over, of the family llma', async () => {
    await addPair('first-llma', 'llma')
    const answer = {
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [],
      stop_reason: 'end_turn',
      usage: {},
    }
    answerFirst(fail, answerJson(answer))
    const text = { type: 'text', text: 'so' }
    const thinking = { type: 'thinking', thinking: 'hm', signature: 'c2ln' }
    const history = (content: object[]) => [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content },
      { role: 'user', content: 'on' },
    ]
    const asking = { model: 'first-llma/m', max_tokens: 9, messages: history([thinking, text]) }
    expect((await proxied.ask(messages, asking)).status).toBe(200)
    expect(sentTo('first-llma')).toEqual(history([thinking, text]))
    expect(sentTo('first-llma-next')).toEqual(history([text]))
  })
})
