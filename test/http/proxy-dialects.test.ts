// The dialects of vendors at every door: what one books, every one books; what a vendor attached comes back to it alone; and no
// task succeeds with half an answer.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Dialect, dialects, framesOf } from '../fixtures/dialects/dialects.ts'
import { type PlayedTasks, runPlayedTask, startPlayedTasks } from '../fixtures/proxy/played-task.ts'
import { type Proxied, startProxied } from '../fixtures/proxy/proxied.ts'
import { answerJson, type Received } from '../fixtures/proxy/upstream.ts'
import { waitFor } from '../fixtures/time.ts'

type Json = Record<string, unknown>

let proxied: Proxied
let played: PlayedTasks
beforeAll(async () => {
  proxied = await startProxied()
  await proxied.addProvider('llma-vendor')
  await proxied.addProvider('llmo-vendor', { type: 'llmo', baseURL: `${proxied.upstream.url}/v1` })
  await proxied.addProvider('other-vendor', { type: 'llmo', baseURL: `${proxied.upstream.url}/other/v1` })
  // Failures of the others make them cool down, which chat would wait for.
  await proxied.addProvider('chat-vendor', { type: 'llmo', baseURL: `${proxied.upstream.url}/chat/v1` })
  played = await startPlayedTasks()
})
afterAll(async () => {
  await played.stop()
  await proxied.stop()
})

function answerStream({ response }: Received, frames: Buffer[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(Buffer.concat(frames))
}

function speak(dialect: Dialect): void {
  proxied.upstream.script.answer = (received) => {
    const { stream } = JSON.parse(received.body.toString()) as Json
    if (stream === true && dialect.stream !== undefined) return answerStream(received, framesOf(dialect))
    answerJson(dialect.whole as object)(received)
  }
}

const doors = { llma: '/llma/v1/messages', llmo: '/llmo/v1/chat/completions' } as const
const parameters = { type: 'object', properties: { city: { type: 'string' } } }
const tools = {
  llma: [{ name: 'get_weather', description: 'w', input_schema: parameters }],
  llmo: [{ type: 'function', function: { name: 'get_weather', description: 'w', parameters } }],
}

type Way = { family: 'llma' | 'llmo'; stream: boolean; serverTools?: boolean; messages?: object[] }

function ask(model: string, { family, stream, serverTools = false, messages }: Way): Promise<Response> {
  const body = {
    model,
    max_tokens: 64,
    stream,
    tools: tools[family],
    messages: messages ?? [{ role: 'user', content: 'hi' }],
  }
  const headers = { 'x-svc-tools': serverTools ? 'enabled' : 'disabled' }
  return proxied.ask(doors[family], body, { headers })
}

type Booked = { key: string; llmCalls: number } & Json

async function listBooked(): Promise<Booked[]> {
  return ((await proxied.service.call('GET /api/v1/usage?groupBy=model')).json() as { items: Booked[] }).items
}

/** The same answer passed on, in the loop, and for a client of the other family. */
const ways = ['pass', 'loop', 'cross'] as const

function describeWay(way: (typeof ways)[number], { family }: Dialect, stream: boolean): Way {
  const other = family === 'llma' ? 'llmo' : 'llma'
  return { family: way === 'cross' ? other : family, stream, serverTools: way === 'loop' }
}

describe('what one door books', () => {
  const counted = dialects.filter(({ reading, stream }) => stream !== undefined && reading.failure === undefined)

  async function askEverywhere(): Promise<void> {
    for (const [at, dialect] of counted.entries()) {
      speak(dialect)
      for (const way of ways) {
        await (await ask(`${dialect.family}-vendor/${way}-${at}`, describeWay(way, dialect, true))).text()
      }
    }
  }

  /** What a door books of a call, as a reading says it. */
  function expectBooked({ name, reading }: Dialect, sum: Booked | undefined): void {
    const { inputTokens, outputTokens, cachedTokens } = reading.usage ?? {}
    const isEstimated = Number(sum?.estimatedInputTokens ?? 0) > 0
    expect({ name, ...sum, isEstimated }).toMatchObject({
      name,
      inputTokens,
      outputTokens,
      cachedTokens,
      isEstimated: reading.estimated === true,
    })
  }

  it('every other books too', async () => {
    await askEverywhere()
    await waitFor(async () => (await listBooked()).length >= counted.length * ways.length, 'all calls to be booked')
    const booked = new Map((await listBooked()).map((sum) => [sum.key, sum]))
    for (const [at, dialect] of counted.entries()) {
      for (const way of ways) expectBooked(dialect, booked.get(`${way}-${at}`))
    }
  })
})

describe('a body that is no answer', () => {
  const bodies = dialects.filter(
    ({ whole, stream }) => whole !== undefined && stream?.length === 1 && stream[0] === whole,
  )
  const errors = dialects.filter(({ name }) =>
    /base-resp|code-and-msg|validation|errors-list|list-of-one|no-content/.test(name),
  )

  it.each([...bodies, ...errors])('of $name is an error in the words of the vendor at every door', async (dialect) => {
    speak(dialect)
    for (const way of ways) {
      const answer = await ask(`${dialect.family}-vendor/broken`, describeWay(way, dialect, false))
      expect(answer.status).toBeGreaterThanOrEqual(400)
      expect(await answer.text()).toContain(dialect.reading.words)
    }
  })
})

describe('an error in a stream', () => {
  const broken = dialects.filter(({ name }) => /error-|overloaded|openrouter\/error/.test(name))

  it.each(broken)('of $name reaches a client of each family in the words of the vendor', async (dialect) => {
    speak(dialect)
    for (const way of ways) {
      const answer = await ask(`${dialect.family}-vendor/broken`, describeWay(way, dialect, true))
      expect(await answer.text()).toContain(dialect.reading.words)
    }
  })
})

type Block = Json & { type: string }

/** Where the pieces of a delta go. */
const pieces = [
  ['text', 'text'],
  ['thinking', 'thinking'],
  ['signature', 'signature'],
  ['partial_json', 'json'],
] as const

function extendBlock(block: Block, delta: Json): void {
  for (const [from, to] of pieces) {
    if (typeof delta[from] === 'string') block[to] = `${block[to]}${delta[from]}`
  }
}

/** The content of a streamed answer, as a client puts it together. */
function collectBlocks(text: string): Block[] {
  const blocks: Block[] = []
  for (const [, line = ''] of text.matchAll(/^data: (.*)$/gm)) {
    const { type, index, content_block: opened, delta } = JSON.parse(line) as Json & { index: number; delta: Json }
    const block = blocks[index]
    if (type === 'content_block_start') blocks[index] = { ...(opened as Block), json: '' }
    else if (type === 'content_block_delta' && block !== undefined) extendBlock(block, delta)
  }
  return blocks.map(({ json, ...block }) => (json ? { ...block, input: JSON.parse(String(json)) } : block))
}

async function readBlocks(answer: Response, stream: boolean): Promise<Block[]> {
  return stream ? collectBlocks(await answer.text()) : ((await answer.json()) as { content: Block[] }).content
}

function answerCalls(content: Block[]): object[] {
  const results = content.flatMap(({ type, id }) =>
    type === 'tool_use' ? [{ type: 'tool_result', tool_use_id: id, content: '-3' }] : [],
  )
  return [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content },
    { role: 'user', content: results.length > 0 ? results : 'go on' },
  ]
}

function sentTurn(): Json & { tool_calls?: object[] } {
  const { messages } = JSON.parse(proxied.upstream.last().body.toString()) as { messages: Json[] }
  return messages.find(({ role }) => role === 'assistant') ?? {}
}

const attached = dialects.filter(({ back, family }) => back !== undefined && family === 'llmo')

describe.each(attached)('a turn of $name that a client of the other family sends back', (dialect) => {
  const forms = [true, false].filter((stream) => (stream ? dialect.stream : dialect.whole) !== undefined)

  it.each(forms)(
    'has what its vendor attached, and for another vendor nothing of it (streamed: %s)',
    async (stream) => {
      speak(dialect)
      const content = await readBlocks(await ask('llmo-vendor/m', { family: 'llma', stream }), stream)
      const messages = answerCalls(content)
      await (await ask('llmo-vendor/m', { family: 'llma', stream, messages })).text()
      const { back = {} } = dialect
      if (back.message !== undefined) expect(sentTurn()).toMatchObject(back.message)
      if (back.call !== undefined) expect(sentTurn().tool_calls?.[0]).toMatchObject(back.call)
      await (await ask('other-vendor/m', { family: 'llma', stream, messages })).text()
      expect(JSON.stringify(sentTurn())).not.toMatch(/reasoning|thinking|signature|svc-turn/)
      await (await ask('llma-vendor/m', { family: 'llma', stream, messages })).text()
      expect(proxied.upstream.last().body.toString()).not.toContain('svc-turn')
    },
  )
})

describe('a chat', () => {
  const called = attached.filter(({ reading }) => reading.stop === 'tool_use')

  async function say(message: string, sessionId?: string): Promise<{ sessionId: string; message: string }> {
    const payload = { message, provider: 'chat-vendor', model: 'm', ...(sessionId && { sessionId }) }
    const answer = await proxied.service.call('POST /api/v1/chat', { payload, headers: { accept: 'application/json' } })
    return answer.json() as { sessionId: string; message: string }
  }

  it.each(called)('gives every turn back to $name as it was, also in a session that goes on', async (dialect) => {
    const { back = {} } = dialect
    proxied.upstream.script.answer = (received) => {
      const { messages } = JSON.parse(received.body.toString()) as { messages: (Json & { tool_calls?: Json[] })[] }
      const turn = messages.find(({ tool_calls: calls }) => calls !== undefined)
      if (turn === undefined) return answerStream(received, framesOf(dialect))
      expect(turn).toMatchObject(back.message ?? {})
      expect(turn.tool_calls?.[0]).toMatchObject(back.call ?? {})
      answerStream(received, fineFrames)
    }
    const { sessionId, message } = await say('weather?')
    expect(message).toContain('fine')
    expect((await say('and now?', sessionId)).message).toBe('fine')
    const shown = await proxied.service.call(`GET /api/v1/sessions/${sessionId}`)
    expect([shown.statusCode, shown.body]).toEqual([200, expect.not.stringContaining('svc-turn')])
  })
})

const fineFrames = [
  [{ content: 'fine' }, null],
  [{}, 'stop'],
].map(([delta, finish_reason]) =>
  Buffer.from(`data: ${JSON.stringify({ model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`),
)

describe('a worker', () => {
  const called = attached.filter(({ reading }) => reading.stop === 'tool_use')

  it.each(called)('gives a turn with a call back to $name as it was', async (dialect) => {
    const { back = {} } = dialect
    proxied.upstream.script.answer = (received) => {
      const { messages } = JSON.parse(received.body.toString()) as { messages: (Json & { tool_calls?: Json[] })[] }
      const turn = messages.find(({ role }) => role === 'assistant')
      if (turn === undefined) return answerStream(received, framesOf(dialect))
      expect(turn).toMatchObject(back.message ?? {})
      expect(turn.tool_calls?.[0]).toMatchObject(back.call ?? {})
      const say = (delta: object, finish: string | null) =>
        Buffer.from(
          `data: ${JSON.stringify({ model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`,
        )
      answerStream(received, [say({ content: 'fine' }, null), say({}, 'stop')])
    }
    const vendor = { name: 'v', type: 'llmo' as const, baseUrl: `${proxied.upstream.url}/v1` }
    expect(await runPlayedTask(played, [vendor])).toBe('answered')
  })

  const failed = dialects.filter(({ reading, stream }) => reading.failure !== undefined && stream !== undefined)

  it.each(failed)('does not succeed with half an answer of $name', async (dialect) => {
    speak(dialect)
    const vendor = { name: 'v', type: dialect.family, baseUrl: `${proxied.upstream.url}/${dialect.name}` }
    expect(await runPlayedTask(played, [vendor])).not.toBe('answered')
  })
})

describe('a vendor that changes its mind', () => {
  type Turn = Json & { tool_calls?: object[] }
  const refuse = (received: Received, message: string) =>
    answerJson({ error: { message, type: 'invalid' } }, 400)(received)
  const call = (thinking: object) => ({
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: null,
          ...thinking,
          tool_calls: [{ id: 'k', type: 'function', function: { name: 'get_weather', arguments: '{}' } }],
        },
        finish_reason: 'tool_calls',
      },
    ],
  })

  function play(judge: (turn: Turn | undefined, count: number) => string | object): Turn[] {
    const turns: Turn[] = []
    let count = 0
    proxied.upstream.script.answer = (received) => {
      const { messages } = JSON.parse(received.body.toString()) as { messages: Turn[] }
      const turn = messages.findLast(({ role }) => role === 'assistant')
      if (turn !== undefined) turns.push(turn)
      const said = judge(turn, count++)
      if (typeof said === 'string') refuse(received, said)
      else answerJson(said)(received)
    }
    return turns
  }

  const fine = { choices: [{ index: 0, message: { role: 'assistant', content: 'fine' }, finish_reason: 'stop' }] }

  async function converse(model: string): Promise<number> {
    const content = await readBlocks(await ask(model, { family: 'llma', stream: false }), false)
    return (await ask(model, { family: 'llma', stream: false, messages: answerCalls(content) })).status
  }

  it('does not get a field back that it refuses, at once the next time', async () => {
    const turns = play((turn) =>
      turn === undefined ? call({ mood: 'happy' }) : 'mood' in turn ? 'Extra inputs are not permitted: mood' : fine,
    )
    expect(await converse('llmo-vendor/strict')).toBe(200)
    expect(turns.map((turn) => 'mood' in turn)).toEqual([true, false])
    expect(await converse('llmo-vendor/strict')).toBe(200)
    expect(turns.map((turn) => 'mood' in turn)).toEqual([true, false, false])
  })

  it('gets the field that it misses in a turn of another vendor, or of a time without it', async () => {
    const turns = play((turn) => {
      if (turn === undefined) return call({})
      return turn.reasoning_content ? fine : 'reasoning_content is missing in assistant tool call message at index 1'
    })
    expect(await converse('llmo-vendor/needy')).toBe(200)
    expect(turns.map((turn) => turn.reasoning_content)).toEqual([undefined, ' '])
  })

  it('gets each turn under the name that this turn had', async () => {
    const turns = play((turn, count) =>
      turn === undefined ? call(count === 0 ? { reasoning_content: 'a' } : { reasoning: 'b' }) : fine,
    )
    expect(await converse('llmo-vendor/fickle')).toBe(200)
    expect(turns.at(-1)).toMatchObject({ reasoning_content: 'a' })
    const later = play((turn) => (turn === undefined ? call({ reasoning: 'b' }) : fine))
    expect(await converse('llmo-vendor/fickle')).toBe(200)
    expect(later.at(-1)).toMatchObject({ reasoning: 'b' })
    expect(later.at(-1)).not.toHaveProperty('reasoning_content')
  })
})
