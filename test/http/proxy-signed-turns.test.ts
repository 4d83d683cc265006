// A thinking model of a vendor that signs its turns, behind chat completions: a client brings the signature back in the fields that it
// keeps, over two turns with a tool; no other vendor gets it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Dialect, dialects, framesOf } from '../fixtures/dialects/dialects.ts'
import { type Proxied, startProxied } from '../fixtures/proxy/proxied.ts'
import { answerJson } from '../fixtures/proxy/upstream.ts'

type Json = Record<string, unknown>
type Call = Json & { id: string; function: { name: string; arguments: string } }
type Turn = Json & { role: string; content: unknown; tool_calls?: Call[] }

const signing = dialects.find(({ name }) => name === 'anthropic/thinking') as Dialect

let proxied: Proxied
beforeAll(async () => {
  proxied = await startProxied({ builtinTools: ['file_read'] })
  const at = (name: string, type: 'llma' | 'llmo') => ({ type, baseURL: `${proxied.upstream.url}/${name}/v1` })
  await proxied.addProvider('signer', at('signer', 'llma'))
  await proxied.addProvider('stranger', at('stranger', 'llma'))
  await proxied.addProvider('chatty', at('chatty', 'llmo'))
  await proxied.addProvider('falling', {
    ...at('down', 'llma'),
    fallbacks: [{ providerRef: { name: 'chatty' }, model: 'm' }],
  })
  proxied.upstream.script.answer = (received) => {
    const { stream } = JSON.parse(received.body.toString()) as { stream: boolean }
    if (received.path.includes('/down/')) return answerJson({ error: { message: 'down' } }, 500)(received)
    if (received.path.endsWith('/chat/completions')) return answerJson(fine)(received)
    if (!stream) return answerJson(signing.whole as object)(received)
    received.response.writeHead(200, { 'content-type': 'text/event-stream' })
    received.response.end(Buffer.concat(framesOf(signing)))
  }
})
afterAll(() => proxied.stop())

const fine = {
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'fine' }, finish_reason: 'stop' }],
}
const question = { role: 'user', content: 'weather?' }
const tools = [{ type: 'function', function: { name: 'get_weather', parameters: { type: 'object' } } }]

type Asked = { messages: object[]; stream?: boolean; serverTools?: boolean }

async function ask(model: string, { messages, stream = false, serverTools = false }: Asked): Promise<string> {
  const headers = { 'x-svc-tools': serverTools ? 'enabled' : 'disabled' }
  const answer = await proxied.ask(
    '/llmo/v1/chat/completions',
    { model, stream, messages, tools, max_tokens: 64 },
    { headers },
  )
  return answer.text()
}

/** The message as a client that keeps every field puts it together: texts and lists grow, calls by their index. */
function collect(text: string): Turn {
  const turn: Turn = { role: 'assistant', content: '' }
  const calls: Call[] = []
  for (const [, line = ''] of text.matchAll(/^data: (\{.*)$/gm)) {
    const { choices } = JSON.parse(line) as { choices: { delta: Json }[] }
    const { tool_calls: parts = [], role: _role, ...delta } = choices[0]?.delta ?? {}
    for (const { index, ...part } of parts as (Call & { index: number })[]) addCall(calls, index, part)
    for (const [name, value] of Object.entries(delta)) turn[name] = join(turn[name], value)
  }
  return { ...turn, tool_calls: calls }
}

function addCall(calls: Call[], index: number, part: Json): void {
  const before = calls[index]
  const { function: piece } = part as Partial<Call>
  if (before === undefined) calls[index] = part as Call
  else before.function.arguments += piece?.arguments ?? ''
}

function join(before: unknown, after: unknown): unknown {
  if (Array.isArray(before) && Array.isArray(after)) return [...before, ...after]
  return typeof before === 'string' && typeof after === 'string' ? before + after : after
}

async function takeTurn(asked: Asked): Promise<Turn> {
  const text = await ask('signer/m', asked)
  if (asked.stream) return collect(text)
  return (JSON.parse(text) as { choices: { message: Turn }[] }).choices[0]?.message as Turn
}

const pick = ({ role, content, tool_calls: calls }: Turn): Turn => ({
  role,
  content,
  ...(calls && { tool_calls: calls }),
})
const plainCall = ({ id, type, function: called }: Call): Call => ({ id, type, function: called })

/** What clients bring back of a turn; the first two keep what they got. */
const clients: Record<string, (turn: Turn) => Turn> = {
  'keeps every field': (turn) => turn,
  'keeps reasoning_details': (turn) => ({
    ...pick(turn),
    tool_calls: (turn.tool_calls ?? []).map(plainCall),
    reasoning_details: turn.reasoning_details,
  }),
  'keeps fields of calls': pick,
  'keeps what it does not know in a field of its own': ({ reasoning_details, ...turn }) => ({
    ...pick(turn as Turn),
    tool_calls: (turn.tool_calls ?? []).map(plainCall),
    provider_specific_fields: { reasoning_details },
  }),
}

function sent(): { messages: { role: string; content: Json[] }[] } {
  return JSON.parse(proxied.upstream.last().body.toString())
}

const goOn = (turn: Turn) => [question, turn, { role: 'tool', tool_call_id: turn.tool_calls?.[0]?.id, content: '-3' }]

describe.each(Object.entries(clients))('a client that %s', (_name, bring) => {
  it.each([
    { stream: false, serverTools: false },
    { stream: true, serverTools: false },
    { stream: false, serverTools: true },
    { stream: true, serverTools: true },
  ])('goes on with signed thinking over two turns with a tool: $stream, $serverTools', async (way) => {
    const first = bring(await takeTurn({ messages: [question], ...way }))
    expect(first.tool_calls?.[0]?.function).toEqual({ name: 'get_weather', arguments: '{"city":"Oslo"}' })
    const second = bring(await takeTurn({ messages: goOn(first), ...way }))
    expect(sent().messages[1]?.content).toEqual([
      { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
      { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Oslo' } },
    ])
    const again = { ...second, tool_calls: second.tool_calls?.map((call) => ({ ...call })) }
    await ask('signer/m', {
      messages: [...goOn(first), again, { role: 'tool', tool_call_id: 'toolu_1', content: '-4' }],
      ...way,
    })
    const turns = sent().messages.filter(({ role }) => role === 'assistant')
    expect(turns.map(({ content }) => content[0]?.signature)).toEqual(['c2ln', 'c2ln'])
  })

  it.each(['stranger/m', 'chatty/m', 'falling/m'])('gives nothing of it to %s', async (model) => {
    const messages = goOn(bring(await takeTurn({ messages: [question] })))
    for (const serverTools of [false, true]) {
      await ask(model, { messages, serverTools })
      expect(proxied.upstream.last().body.toString()).not.toMatch(/svc-turn|c2ln|signature|reasoning_details/)
    }
  })
})

describe.each([false, true])('a client of the responses API, streamed: %s', (stream) => {
  type Item = Json & { type: string }

  async function takeItems(model: string, input: object[]): Promise<Item[]> {
    const tool = { type: 'function', name: 'get_weather', parameters: { type: 'object' } }
    const body = { model, input, stream, store: false, tools: [tool], include: ['reasoning.encrypted_content'] }
    const text = await (await proxied.ask('/llmo/v1/responses', body)).text()
    if (!stream) return (JSON.parse(text) as { output: Item[] }).output
    const last = [...text.matchAll(/^data: (.*)$/gm)].map(([, line = '']) => JSON.parse(line)).at(-1)
    return last.response.output
  }

  const goOnWith = (items: Item[]) => [
    question,
    ...items,
    { type: 'function_call_output', call_id: 'toolu_1', output: '-3' },
  ]

  it('brings signed thinking back to its vendor', async () => {
    await takeItems('signer/m', goOnWith(await takeItems('signer/m', [question])))
    expect(sent().messages[1]?.content[0]).toEqual({ type: 'thinking', thinking: 'Hm.', signature: 'c2ln' })
  })

  it.each(['stranger/m', 'chatty/m'])('gives nothing of it to %s', async (model) => {
    await takeItems(model, goOnWith(await takeItems('signer/m', [question])))
    expect(proxied.upstream.last().body.toString()).not.toMatch(/svc-turn|c2ln|signature|encrypted/)
  })
})

it('a seal that a client has changed is no fault of the service', async () => {
  const seal = (json: object) => `svc-turn.${Buffer.from(JSON.stringify(json)).toString('base64url')}`
  const turn = await takeTurn({ messages: [question] })
  for (const data of [
    'svc-turn.',
    seal({}),
    seal({ origin: 'x', signed: 7, of: ['toolu_1'] }),
    seal({ origin: 'x', of: 1 }),
  ]) {
    const changed = { ...pick(turn), reasoning_details: [{ type: 'reasoning.encrypted', data }] }
    const answer = await ask('signer/m', {
      messages: goOn({ ...changed, tool_calls: (turn.tool_calls ?? []).map(plainCall) }),
    })
    expect(JSON.parse(answer)).toMatchObject({ object: 'chat.completion' })
    expect(proxied.upstream.last().body.toString()).not.toContain('svc-turn')
  }
})

describe('turns with a tool of the service, which a client gets as one message', () => {
  const thought = (signature: string) => ({ type: 'thinking', thinking: `about ${signature}`, signature })
  const whole = (content: object[], stop_reason: string) => ({ ...(signing.whole as object), content, stop_reason })
  const frames = (content: Json[], stop: string) =>
    [
      {
        type: 'message_start',
        message: { id: 'm', model: 'm', role: 'assistant', content: [], usage: { input_tokens: 1, output_tokens: 1 } },
      },
      ...content.flatMap((content_block, index) => [
        { type: 'content_block_start', index, content_block },
        { type: 'content_block_stop', index },
      ]),
      { type: 'message_delta', delta: { stop_reason: stop }, usage: { output_tokens: 3 } },
      { type: 'message_stop' },
    ]
      .map((frame) => `event: ${frame.type}\ndata: ${JSON.stringify(frame)}\n\n`)
      .join('')

  it('each have their own signature again', async () => {
    const turns: [Json[], string][] = [
      [[thought('one'), { type: 'tool_use', id: 'toolu_a', name: 'file_read', input: { path: 'x' } }], 'tool_use'],
      [[thought('two'), { type: 'text', text: 'there is none' }], 'end_turn'],
      [[{ type: 'text', text: 'fine' }], 'end_turn'],
    ]
    let said = 0
    proxied.upstream.script.answer = (received) => {
      const [content, stop] = turns[said++] ?? [[], 'end_turn']
      const { stream } = JSON.parse(received.body.toString()) as { stream: boolean }
      if (!stream) return answerJson(whole(content, stop))(received)
      received.response.writeHead(200, { 'content-type': 'text/event-stream' })
      received.response.end(frames(content, stop))
    }
    const { tool_calls: _none, ...turn } = await takeTurn({ messages: [question], stream: true, serverTools: true })
    await ask('signer/m', {
      messages: [question, turn, { role: 'user', content: 'and?' }],
      stream: true,
      serverTools: true,
    })
    const blocks = sent()
      .messages.filter(({ role }) => role === 'assistant')
      .map(({ content }) => content)
    expect(blocks).toMatchObject([
      [thought('one'), { type: 'tool_use', id: 'toolu_a' }],
      [thought('two'), { type: 'text', text: 'there is none' }],
    ])
  })
})
