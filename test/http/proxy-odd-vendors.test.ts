// Vendors that do what no vendor should: nothing of it is a 500, a hang, or a number that no sum can hold.
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Proxied, readError, simpleMessage, startProxied, vendorKey } from '../fixtures/proxy/proxied.ts'
import { answerJson, llmaAnswer, type Received } from '../fixtures/proxy/upstream.ts'
import { waitFor } from '../fixtures/time.ts'

let proxied: Proxied
beforeAll(async () => {
  proxied = await startProxied({ builtinTools: ['file_read', 'file_write'] })
  await proxied.addProvider('vendor')
})
afterAll(() => proxied.stop())
afterEach(() => proxied.upstream.reset())

const messages = '/llma/v1/messages'
const loop = { 'x-svc-tools': 'enabled' }
const ways = [
  ['passed on', 'disabled', false],
  ['passed on as a stream', 'disabled', true],
  ['in the loop', 'enabled', false],
  ['in the loop, streamed', 'enabled', true],
] as const

type Json = Record<string, unknown>
type Block = { type: string } & Json

function ask(tools: string, stream: boolean, more: object = {}): Promise<Response> {
  const body = simpleMessage('vendor/m', { stream, ...more })
  return proxied.ask(messages, body, { headers: { 'x-svc-tools': tools } })
}

const frame = (json: { type: string } & Json) => `event: ${json.type}\ndata: ${JSON.stringify(json)}\n\n`

function writeBlock(block: Block, index: number): string {
  const { json, ...start } = block
  const isCall = block.type === 'tool_use'
  const delta = isCall
    ? { type: 'input_json_delta', partial_json: json ?? '{}' }
    : { type: 'text_delta', text: block.text }
  const opening = isCall ? { ...start, input: {} } : { type: 'text', text: '' }
  return [
    frame({ type: 'content_block_start', index, content_block: opening }),
    frame({ type: 'content_block_delta', index, delta }),
    frame({ type: 'content_block_stop', index }),
  ].join('')
}

function writeStream(
  blocks: Block[],
  stop = 'end_turn',
  usage: unknown = { input_tokens: 3, output_tokens: 2 },
): string {
  return [
    frame({ type: 'message_start', message: { ...llmaAnswer, content: [], stop_reason: null, usage } }),
    ...blocks.map(writeBlock),
    frame({ type: 'message_delta', delta: { stop_reason: stop, stop_sequence: null }, usage: {} }),
    frame({ type: 'message_stop' }),
  ].join('')
}

const sse = { 'content-type': 'text/event-stream' }

function sendText(text: string | Buffer, headers: Record<string, string> = sse, status = 200) {
  return ({ response }: Received) => {
    response.writeHead(status, headers)
    response.end(text)
  }
}

const hasResults = ({ body }: Received) => body.includes('"tool_result"')

/** The results that the vendor was told in its latest request. */
function toldResults(): { id: string; content: string }[] {
  const { messages: told } = JSON.parse(proxied.upstream.last().body.toString()) as { messages: { content: Block[] }[] }
  const blocks = told.at(-1)?.content.filter((block) => block.type === 'tool_result') ?? []
  return blocks.map((block) => ({ id: String(block.tool_use_id), content: String(block.content) }))
}

describe.each(ways)('%s', (_way, tools, stream) => {
  it.each([302, 307, 304, 999])('an answer of status %i is a 502 in the form of the family', async (status) => {
    const moved = { error: { message: 'look elsewhere', type: 'moved' } }
    proxied.upstream.script.answer = answerJson(moved, status, { location: '/elsewhere' })
    const answer = await ask(tools, stream)
    expect([answer.status, (await readError(answer)).error.type]).toEqual([502, 'api_error'])
  })

  it('an error that comes compressed is read, and has no key in it', async () => {
    const error = { error: { message: `no such field; key ${vendorKey}`, type: 'invalid_request_error' } }
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    proxied.upstream.script.answer = sendText(gzipSync(JSON.stringify(error)), headers, 400)
    const answer = await ask(tools, stream)
    const { message } = (await readError(answer)).error
    expect([answer.status, answer.headers.get('content-encoding')]).toEqual([400, null])
    expect(message).toContain('no such field; key [REDACTED]')
  })

  it('an answer without a content type is taken for the one requested', async () => {
    const text = stream ? writeStream([{ type: 'text', text: 'hello' }]) : JSON.stringify(llmaAnswer)
    proxied.upstream.script.answer = sendText(text, {})
    const answer = await ask(tools, stream)
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('hello')])
  })

  it('early hints before the answer are ignored', async () => {
    proxied.upstream.script.answer = (received) => {
      received.response.writeEarlyHints({ link: '</x>; rel=preload' })
      answerJson(llmaAnswer)(received)
    }
    const answer = await ask(tools, stream)
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('hello')])
  })

  it('a head without an end, or that is not HTTP, is a 502', async () => {
    for (const head of ['HTTP/1.1 200 OK\r\nx-a: '.padEnd(1_000_000, 'a'), 'SSH-2.0-x\r\n', 'HTTP/1.1 101 x\r\n\r\n']) {
      proxied.upstream.script.answer = ({ response }) => void response.socket?.end(head)
      const answer = await ask(tools, stream)
      expect([answer.status, (await readError(answer)).error.type]).toEqual([502, 'api_error'])
    }
  })

  it('headers that may not be relayed are dropped, and inject nothing', async () => {
    const payload = JSON.stringify(llmaAnswer)
    const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${payload.length}`
    proxied.upstream.script.answer = ({ response }) => {
      response.socket?.end(`${head}\r\nset-cookie: a=b\r\nconnection: close\r\nanthropic-x: a\tb\r\n\r\n${payload}`)
    }
    const answer = await ask(tools, stream)
    expect([answer.status, answer.headers.get('set-cookie')]).toEqual([200, null])
    expect(await answer.text()).toContain('hello')
  })

  it('malformed token counts affect neither the answer nor the sums', async () => {
    const provider = `odd-${tools}-${stream}`
    await proxied.addProvider(provider)
    const counts = [
      null,
      'many',
      [],
      { input_tokens: '5', output_tokens: {} },
      { input_tokens: -5, output_tokens: 1.5 },
    ]
    for (const usage of [...counts, { input_tokens: 1e300, output_tokens: 2 }, { input_tokens: 7, output_tokens: 1 }]) {
      const text = stream
        ? writeStream([{ type: 'text', text: 'hello' }], 'end_turn', usage)
        : JSON.stringify({ ...llmaAnswer, usage })
      proxied.upstream.script.answer = sendText(text, stream ? sse : { 'content-type': 'application/json' })
      const body = simpleMessage(`${provider}/m`, { stream })
      const answer = await proxied.ask(messages, body, { headers: { 'x-svc-tools': tools } })
      expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('hello')])
    }
    const sums = async () => {
      const { items } = (await proxied.service.call('GET /api/v1/usage?groupBy=provider')).json()
      return items.find((item: { key: string }) => item.key.endsWith(provider))
    }
    await waitFor(async () => (await sums())?.inputTokens === 7, 'the counts that are some')
    expect(await sums()).toMatchObject({ inputTokens: 7, outputTokens: 3, cachedTokens: 0 })
  })
})

describe('in the loop', () => {
  it('a compressed answer is read when it is whole, and refused by name when it is a stream', async () => {
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    proxied.upstream.script.answer = sendText(gzipSync(JSON.stringify(llmaAnswer)), headers)
    expect(await (await ask('enabled', false)).json()).toMatchObject({ content: [{ text: 'hello' }] })
    expect(proxied.upstream.last().headers['accept-encoding']).toBe('identity')
    const packed = gzipSync(writeStream([{ type: 'text', text: 'hello' }]))
    proxied.upstream.script.answer = sendText(packed, { ...sse, 'content-encoding': 'gzip' })
    const answer = await ask('enabled', true)
    expect([answer.status, (await readError(answer)).error.message]).toEqual([
      502,
      expect.stringContaining('compressed stream'),
    ])
  })

  const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`

  it.each([false, true])(
    'arguments nested without end are an error that the model is told, streamed %s',
    async (stream) => {
      const call = { type: 'tool_use', id: 'toolu_1', name: 'file_read', json: `{"path":${deep}}` }
      proxied.upstream.script.answer = (received) => {
        const blocks: Block[] = hasResults(received) ? [{ type: 'text', text: 'never mind' }] : [call]
        sendText(writeStream(blocks, hasResults(received) ? 'end_turn' : 'tool_use'))(received)
      }
      const answer = await ask('enabled', stream)
      expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('never mind')])
      expect(toldResults()).toEqual([{ id: 'toolu_1', content: expect.stringContaining('invalid_arguments') }])
    },
  )

  it.each([false, true])('an answer nested without end is a 502, streamed %s', async (stream) => {
    const text = JSON.stringify(llmaAnswer).replace('"hello"', `"hello","more":${deep}`)
    proxied.upstream.script.answer = sendText(text, { 'content-type': 'application/json' })
    const answer = await ask('enabled', stream)
    expect([answer.status, (await readError(answer)).error.type]).toEqual([502, 'api_error'])
  })

  it('a frame of forty megabytes ends the answer with an error', async () => {
    const long = frame({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text: 'x'.repeat(40_000_000) },
    })
    proxied.upstream.script.answer = sendText(long)
    const answer = await ask('enabled', true)
    expect([answer.status, (await readError(answer)).error.type]).toEqual([502, 'api_error'])
  })

  it.each([false, true])(
    'calls with the same id, or with none, each get their own result, streamed %s',
    async (stream) => {
      const write = (id: string, content: string) => {
        const json = JSON.stringify({ path: `${content}.txt`, content: content.repeat(content.length) })
        return { type: 'tool_use', id, name: 'file_write', json }
      }
      const calls = [write('toolu_1', 'a'), write('toolu_1', 'bb'), write('', 'ccc'), write('', 'dddd')]
      proxied.upstream.script.answer = (received) => {
        const blocks: Block[] = hasResults(received) ? [{ type: 'text', text: 'done' }] : calls
        sendText(writeStream(blocks, hasResults(received) ? 'end_turn' : 'tool_use'))(received)
      }
      expect(await (await ask('enabled', stream)).text()).toContain('done')
      const results = toldResults()
      expect(new Set(results.map(({ id }) => id)).size).toBe(4)
      const written = results.map(({ content }) => JSON.parse(content).size)
      expect(written).toEqual([1, 4, 9, 16])
    },
  )

  const own = [{ name: 'mine', input_schema: { type: 'object' } }]

  it.each([false, true])(
    'a truncated call of the client’s tool keeps the stop reason max_tokens, streamed %s',
    async (stream) => {
      const cut = { type: 'tool_use', id: 'toolu_1', name: 'mine', json: '{"path":"/etc' }
      proxied.upstream.script.answer = sendText(writeStream([cut], 'max_tokens'))
      const text = await (await ask('enabled', stream, { tools: own })).text()
      expect(text).toContain('"stop_reason":"max_tokens"')
      expect(text).not.toContain('"stop_reason":"tool_use"')
    },
  )

  it('a block that begins while one with its index is open ends that one first', async () => {
    const open = frame({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } })
    proxied.upstream.script.answer = sendText(open + writeStream([{ type: 'text', text: 'hello' }]) + open)
    const text = await (await ask('enabled', true)).text()
    const told = text
      .split('\n\n')
      .flatMap((part) => /^event: content_block_(start|stop)\n.*"index":(\d+)/.exec(part)?.slice(1).join(' ') ?? [])
    expect(told).toEqual(['start 0', 'stop 0', 'start 1', 'stop 1'])
    expect(text.match(/event: message_start/g)).toHaveLength(1)
  })

  it("the caller's idempotency key goes with the first call only: it is for one request", async () => {
    const call = { type: 'tool_use', id: 'toolu_1', name: 'file_read', json: '{"path":"x"}' }
    proxied.upstream.script.answer = (received) => {
      const blocks: Block[] = hasResults(received) ? [{ type: 'text', text: 'done' }] : [call]
      sendText(writeStream(blocks, hasResults(received) ? 'end_turn' : 'tool_use'))(received)
    }
    await (
      await proxied.ask(messages, simpleMessage('vendor/m'), { headers: { ...loop, 'idempotency-key': 'k1' } })
    ).text()
    expect(proxied.upstream.received.map(({ headers }) => headers['idempotency-key'])).toEqual(['k1', undefined])
  })
})

it('a pause too long for a clock is cut to a day', async () => {
  await proxied.addProvider('resting')
  proxied.upstream.script.answer = answerJson({ error: { message: 'wait', type: 'rate_limit_error' } }, 429, {
    'retry-after': '1e300',
  })
  await proxied.ask(messages, simpleMessage('resting/m'))
  const answer = await proxied.ask(messages, simpleMessage('resting/m'))
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '86400'])
})
