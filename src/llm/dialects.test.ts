// Each vendor's dialect is read rightly, wherever its bytes are cut, and what it attached to a turn goes back to it alone.
import { describe, expect, it } from 'vitest'
import { type Dialect, dialects, framesOf, type Reading } from '../../test/fixtures/dialects/dialects.ts'
import { answerWith, askText, makeClient, streamBody } from '../../test/fixtures/llm/wire.ts'
import { createDecoder as createLlmaDecoder } from './llma/decode.ts'
import { encodeRequest as encodeLlma } from './llma/encode.ts'
import { createDecoder as createLlmoDecoder } from './llmo/decode.ts'
import { encodeRequest as encodeLlmo } from './llmo/encode.ts'
import { collectTurn } from './messages/collect.ts'
import type { Message, ModelRequest, Turn } from './messages/messages.ts'
import { sealTurn, unsealTurn, vendorOriginOf } from './messages/seal.ts'

const open = new AbortController().signal

function askVendor({ family }: Dialect, fetch: typeof globalThis.fetch, request: ModelRequest): Promise<Turn> {
  return collectTurn(makeClient(family, fetch), request, open)
}

function readStream(dialect: Dialect, pieces: Buffer[]): Promise<Turn> {
  return askVendor(dialect, answerWith(streamBody(pieces)), askText('x'))
}

function readWhole(dialect: Dialect): Promise<Turn> {
  const headers = { 'content-type': 'application/json' }
  return askVendor(dialect, answerWith(JSON.stringify(dialect.whole), { headers }), { ...askText('x'), whole: true })
}

function describeTurn({ message, stopReason, error, usage }: Turn) {
  const textOf = (type: string) =>
    message.content.map((block) => (block.type === type && 'text' in block ? block.text : '')).join('')
  return {
    thinking: textOf('thinking'),
    text: textOf('text'),
    calls: message.content.flatMap((block) =>
      block.type === 'tool_use'
        ? [
            block.invalidArgs === undefined
              ? { name: block.name, args: block.args }
              : { name: block.name, invalidArgs: block.invalidArgs },
          ]
        : [],
    ),
    stop: stopReason,
    failure: error?.reason,
    usage,
  }
}

/** A whole answer that failed shows nothing, so that it can be tried again. */
function expectReading(turn: Turn, reading: Reading, isWhole: boolean): void {
  const { thinking = '', text, calls = [], stop, failure, words = '', usage } = reading
  const isHidden = isWhole && failure !== undefined
  const said = isHidden ? { thinking: '', text: '', calls: [] } : { thinking, text, calls }
  expect(describeTurn(turn)).toEqual({ ...said, stop, failure, usage: usage ?? turn.usage })
  if (failure !== undefined) expect(turn.error?.message).toContain(words)
}

const streamed = dialects.filter(({ stream }) => stream !== undefined)
const wholes = dialects.filter(({ whole }) => whole !== undefined)

describe.each(streamed)('the dialect $name, streamed', (dialect) => {
  const frames = framesOf(dialect)
  const bytes = Buffer.concat(frames)

  it(dialect.about, async () => {
    expectReading(await readStream(dialect, [bytes]), dialect.reading, false)
  })

  it('is the same at every byte boundary of three frames', async () => {
    const first = Math.max(0, Math.min(1, frames.length - 3))
    const from = Buffer.concat(frames.slice(0, first)).length
    const to = Buffer.concat(frames.slice(0, first + 3)).length
    for (let at = from + 1; at <= to; at += 1) {
      expectReading(await readStream(dialect, [bytes.subarray(0, at), bytes.subarray(at)]), dialect.reading, false)
    }
  })
})

/** How each stream names its end. */
const endNames = /(finish_reason|stop_reason)":"/

it.each(streamed.filter(({ reading }) => reading.failure === undefined))(
  'the stream of $name is no success where it breaks off within its last frames',
  async (dialect) => {
    const frames = framesOf(dialect)
    const bytes = Buffer.concat(frames)
    const last = frames.findLastIndex((frame) => endNames.test(frame.toString().replaceAll('": "', '":"')))
    const from = Buffer.concat(frames.slice(0, Math.max(0, last - 2))).length
    const to = Buffer.concat(frames.slice(0, last + 1)).length - 2
    for (let at = from; at <= to; at += 1) {
      const turn = await readStream(dialect, [bytes.subarray(0, at)])
      expect([turn.stopReason, turn.error?.reason]).toEqual([undefined, 'AnswerBrokenOff'])
    }
  },
)

describe.each(wholes)('the dialect $name, whole', (dialect) => {
  it(dialect.about, async () => {
    expectReading(await readWhole(dialect), dialect.reading, true)
  })
})

const encoders = {
  llma: (message: Message, origin: string) => encodeLlma(ask(message), 'm', origin),
  llmo: (message: Message, origin: string) =>
    encodeLlmo(ask(message), { model: 'm', maxTokensField: 'max_tokens', origin }),
}

function ask(message: Message): ModelRequest {
  return { system: [], messages: [message], tools: [] }
}

type Wire = { messages: (Record<string, unknown> & { tool_calls?: object[] })[] }

function sendBack(dialect: Dialect, message: Message, origin: string): Wire['messages'][number] | undefined {
  return (encoders[dialect.family](message, origin) as unknown as Wire).messages[0]
}

describe.each(dialects.filter(({ back }) => back !== undefined))('a turn of $name', (dialect) => {
  const own = vendorOriginOf('https://vendor.example', 'model-1')
  const turns = () =>
    Promise.all([
      ...(dialect.stream === undefined ? [] : [readStream(dialect, framesOf(dialect))]),
      ...(dialect.whole === undefined ? [] : [readWhole(dialect)]),
    ])

  /** As chat keeps it. */
  function resume(message: Message): Message {
    const spoken = message.content.flatMap((block): Message['content'] => {
      if (block.type === 'text') return [{ type: 'text', text: block.text }]
      if (block.type !== 'tool_use') return []
      return [{ type: 'tool_use', id: block.id, name: block.name, args: block.args }]
    })
    return unsealTurn({ role: 'assistant', content: spoken }, sealTurn(message))
  }

  it('goes back with what the vendor attached, also out of a checkpoint and a session', async () => {
    const forms = (await turns()).flatMap(({ message }) => [
      message,
      JSON.parse(JSON.stringify(message)) as Message,
      resume(message),
    ])
    for (const form of forms) {
      const sent = sendBack(dialect, form, own)
      expect(sent).toMatchObject(dialect.back?.message ?? {})
      expect(sent?.tool_calls?.[0] ?? {}).toMatchObject(dialect.back?.call ?? {})
    }
  })

  const others = [
    vendorOriginOf('https://other.example', 'model-1'),
    vendorOriginOf('https://vendor.example', 'other/model-1'),
  ]
  const families = ['llma', 'llmo'] as const

  it.each(others.flatMap((other) => families.map((family) => ({ other, family }))))(
    'goes to another vendor of family $family without it',
    async ({ other, family }) => {
      for (const { message } of await turns()) {
        const sent = (encoders[family](message, other) as unknown as Wire).messages[0] ?? {}
        expect(JSON.stringify(sent)).not.toMatch(/reasoning|thinking|signature|svc-turn/)
        expect(['role', 'content', 'tool_calls']).toEqual(expect.arrayContaining(Object.keys(sent)))
      }
    },
  )
})

describe('what is not known', () => {
  const readers = { llma: createLlmaDecoder, llmo: createLlmoDecoder }
  const unknown = dialects.filter(({ reading, whole }) => reading.unknown !== undefined && whole !== undefined)

  it.each(unknown)('is told of $name', ({ family, whole, reading }) => {
    const told: string[] = []
    expect(() => readers[family]({ onUnknown: (kind) => told.push(kind) }).readWhole(whole)).toThrow()
    expect(told).toEqual(reading.unknown)
  })
})
