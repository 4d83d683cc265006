// Requests of one family to a provider of the other, without the tools of the service; and the loop's own fallbacks.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Proxied, readError, simpleMessage, startProxied } from '../fixtures/proxy/proxied.ts'
import { answerJson, llmaAnswer, type Received } from '../fixtures/proxy/upstream.ts'

const messages = '/llma/v1/messages'
const completions = '/llmo/v1/chat/completions'
const loop = { 'x-svc-tools': 'enabled' }

let proxied: Proxied
beforeAll(async () => {
  proxied = await startProxied({ builtinTools: ['file_read'] })
  const at = (name: string) => ({ baseURL: `${proxied.upstream.url}/${name}` })
  await proxied.addProvider('a', at('a'))
  await proxied.addProvider('o', { ...at('o'), type: 'llmo' })
  await proxied.addProvider('main', { ...at('main'), fallbacks: [{ providerRef: { name: 'o' }, model: 'm-spare' }] })
})
afterAll(() => proxied.stop())
afterEach(() => proxied.upstream.reset())

type Json = Record<string, unknown>

const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
const frame = (json: { type: string } & Json) => `event: ${json.type}\ndata: ${JSON.stringify(json)}\n\n`

/** A call of the client's tool, by a vendor of either family, streamed or whole. */
function callMine({ path, body, response }: Received): void {
  const { stream } = JSON.parse(body.toString()) as { stream: boolean }
  const isLlma = path.endsWith('/messages')
  if (stream) {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    return void response.end(isLlma ? llmaStream : llmoStream)
  }
  const payload = isLlma
    ? {
        ...llmaAnswer,
        content: [{ type: 'tool_use', id: 'call_1', name: 'mine', input: { q: 'x' } }],
        stop_reason: 'tool_use',
      }
    : {
        id: 'c',
        object: 'chat.completion',
        model: 'm',
        usage: { prompt_tokens: 4, completion_tokens: 2 },
        choices: [
          { index: 0, message: { role: 'assistant', content: null, tool_calls: [call] }, finish_reason: 'tool_calls' },
        ],
      }
  answerJson(payload)({ response } as Received)
}

const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'mine', arguments: '{"q":"x"}' } }
const llmoStream = `${chunk({ role: 'assistant', tool_calls: [call] })}${chunk({}, 'tool_calls')}data: [DONE]\n\n`
const llmaStream = [
  frame({ type: 'message_start', message: { ...llmaAnswer, content: [] } }),
  frame({
    type: 'content_block_start',
    index: 0,
    content_block: { type: 'tool_use', id: 'call_1', name: 'mine', input: {} },
  }),
  frame({ type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"q":"x"}' } }),
  frame({ type: 'content_block_stop', index: 0 }),
  frame({ type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 2 } }),
  frame({ type: 'message_stop' }),
].join('')

const parameters = { type: 'object', properties: { q: { type: 'string' } } }
const lastBody = (): { tools: unknown } => JSON.parse(proxied.upstream.last().body.toString())

describe.each([false, true])('with the tools of the service off, streamed %s', (stream) => {
  it('an llma request is translated for llmo, and its answer back [PROXY-006]', async () => {
    proxied.upstream.script.answer = callMine
    const tools = [{ name: 'mine', description: 'd', input_schema: parameters }]
    const answer = await proxied.ask(messages, simpleMessage('o/m', { tools, stream }))
    const text = await answer.text()
    expect(lastBody().tools).toEqual([{ type: 'function', function: { name: 'mine', description: 'd', parameters } }])
    expect(text).toContain('"type":"tool_use","id":"call_1","name":"mine"')
    expect(text).toContain('"stop_reason":"tool_use"')
    expect(text).toContain(stream ? String.raw`"partial_json":"{\"q\":\"x\"}"` : '"input":{"q":"x"}')
  })

  it('an llmo request is translated for llma, and its answer back [PROXY-006]', async () => {
    proxied.upstream.script.answer = callMine
    const tools = [{ type: 'function', function: { name: 'mine', description: 'd', parameters } }]
    const answer = await proxied.ask(completions, simpleMessage('a/m', { tools, stream }))
    const text = await answer.text()
    expect(lastBody().tools).toEqual([{ name: 'mine', description: 'd', input_schema: parameters }])
    expect(text).toContain('"name":"mine"')
    expect(text).toContain(String.raw`{\"q\":\"x\"}`)
    expect(text).toContain('"finish_reason":"tool_calls"')
    expect(text.endsWith('data: [DONE]\n\n')).toBe(stream)
  })
})

describe('the loop', () => {
  const asked = () => proxied.upstream.received.map(({ path }) => path.split('/')[1])

  it('goes on at a provider of the other family when the first one is broken', async () => {
    proxied.upstream.script.answer = (received) => {
      if (received.path.startsWith('/main')) return answerJson({ error: { message: 'broken' } }, 500)(received)
      callMine(received)
    }
    const tools = [{ name: 'mine', input_schema: parameters }]
    const answer = await proxied.ask(messages, simpleMessage('main/m', { tools }), { headers: loop })
    expect(await answer.json()).toMatchObject({
      stop_reason: 'tool_use',
      content: [{ name: 'mine', input: { q: 'x' } }],
    })
    expect(asked()).toEqual(['main', 'o'])
  })

  it('keeps an error that is the fault of the request', async () => {
    proxied.upstream.script.answer = answerJson({ error: { message: 'no', type: 'invalid_request_error' } }, 400)
    const answer = await proxied.ask(messages, simpleMessage('main/m'), { headers: loop })
    expect([answer.status, (await readError(answer)).error.type]).toEqual([400, 'invalid_request_error'])
    expect(asked()).toEqual(['main'])
  })

  it('asks nobody again once a byte of the answer has gone out', async () => {
    proxied.upstream.script.answer = ({ response }) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(frame({ type: 'message_start', message: { ...llmaAnswer, content: [] } }))
      response.write(frame({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }))
      response.write(frame({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'half' } }))
      setImmediate(() => response.destroy())
    }
    const answer = await proxied.ask(messages, simpleMessage('main/m', { stream: true }), { headers: loop })
    const text = await answer.text()
    expect(text).toContain('half')
    expect(text).toMatch(/event: error\ndata: .*"api_error".*\n\n$/)
    expect(asked()).toEqual(['main'])
  })
})
