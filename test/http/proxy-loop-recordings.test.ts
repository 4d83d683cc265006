// Recorded streams of both vendors, through decode, loop and encode, in whatever pieces the network makes of them.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Family } from '../../src/llm/messages/messages.ts'
import { collectAnswer } from '../fixtures/proxy/collect-answer.ts'
import { parseFrames, readFrames } from '../fixtures/proxy/loops.ts'
import { llmaRecordings, llmoRecordings, pausedRecording } from '../fixtures/proxy/recordings.ts'
import { createReplayer } from '../fixtures/proxy/replay.ts'
import { createManualClock } from '../fixtures/time.ts'

type Json = Record<string, unknown>

const bodies: Record<Family, Json> = {
  llma: {
    model: 'm',
    max_tokens: 10,
    stream: true,
    messages: [{ role: 'user', content: 'x' }],
    tools: [{ name: 'mine' }],
  },
  llmo: {
    model: 'm',
    stream: true,
    stream_options: { include_usage: true },
    messages: [{ role: 'user', content: 'x' }],
    tools: [{ type: 'function', function: { name: 'mine' } }],
  },
}

const recorded = [
  ...Object.entries(llmaRecordings).map(([name, text]) => ['llma', name, text] as const),
  ...Object.entries(llmoRecordings).map(([name, text]) => ['llmo', name, text] as const),
]

function splitAt(text: string, cuts: number[]): Uint8Array[] {
  const bytes = new TextEncoder().encode(text)
  const ends = [...new Set(cuts.map((cut) => cut % bytes.length))].sort((a, b) => a - b)
  return [...ends, bytes.length].map((end, at) => bytes.subarray(ends[at - 1] ?? 0, end))
}

async function replay(type: Family, family: Family, answers: Uint8Array[][]): Promise<Json[]> {
  return parseFrames(await readFrames(await createReplayer(type, answers)({ family, body: bodies[family] })))
}

const whole = (text: string) => [new TextEncoder().encode(text)]

function parse(text: string): Json[] {
  return parseFrames(text.split('\n\n').filter((frame) => frame !== ''))
}

const isBlockFrame = (frame: Json) => String(frame.type).startsWith('content_block')

describe('a recorded answer, within its family', () => {
  it.each(Object.entries(llmaRecordings))(
    'of llma reaches the client block by block unchanged: %s [PROXY-005, PROXY-008]',
    async (_name, text) => {
      const frames = await replay('llma', 'llma', [whole(text)])
      const given = parse(text).filter(isBlockFrame)
      // A text that may carry citations begins with an empty list of them.
      const plain = JSON.parse(JSON.stringify(given).replaceAll(',"citations":[]}', '}')) as Json[]
      expect(frames.filter(isBlockFrame)).toEqual(plain)
      expect(frames.at(-2)).toMatchObject(parse(text).at(-2) ?? {})
    },
  )

  it.each(Object.entries(llmoRecordings))('of llmo has the same content: %s [PROXY-008]', async (_name, text) => {
    const frames = await replay('llmo', 'llmo', [whole(text)])
    expect(collectAnswer('llmo', frames)).toEqual(collectAnswer('llmo', parse(text)))
    expect(frames.at(-1)).toEqual(parse(text).at(-1))
  })

  it('of llma that was paused continues in the same message', async () => {
    const frames = await replay('llma', 'llma', pausedRecording.map(whole))
    expect(frames.filter((frame) => frame.type === 'message_start')).toHaveLength(1)
    const { blocks } = collectAnswer('llma', frames)
    expect(blocks.map((block) => block.type)).toEqual(['text', 'server_tool_use', 'web_search_tool_result', 'text'])
    expect(blocks[1]).toMatchObject({ input: { query: 'weather' } })
    expect(frames.at(-2)).toMatchObject({
      delta: { stop_reason: 'end_turn' },
      usage: { input_tokens: 1072, output_tokens: 39 },
    })
  })
})

describe('a recorded answer, across families', () => {
  it.each(recorded)(
    'of %s has the same content for a caller of the other family: %s [PROXY-006]',
    async (type, _name, text) => {
      const other = type === 'llma' ? 'llmo' : 'llma'
      const { text: said, calls } = collectAnswer(other, await replay(type, other, [whole(text)]))
      const given = collectAnswer(type, parse(text))
      expect({ said, calls }).toEqual({ said: given.text, calls: given.calls })
    },
  )
})

describe('splits of the stream by the network', () => {
  it.each(recorded)('do not change %s when every byte arrives alone: %s', async (type, _name, text) => {
    const bytes = [...new TextEncoder().encode(text)].map((byte) => Uint8Array.of(byte))
    for (const family of ['llma', 'llmo'] as const) {
      expect(await replay(type, family, [bytes])).toEqual(await replay(type, family, [whole(text)]))
    }
  })

  const short = [
    ['llma', llmaRecordings.refusal ?? ''],
    ['llmo', llmoRecordings.text ?? ''],
  ] as const

  it.each(short)(
    'do not change %s, at any byte',
    async (type, text) => {
      const expected = await replay(type, type, [whole(text)])
      const { length } = new TextEncoder().encode(text)
      for (let cut = 1; cut < length; cut += 1)
        expect(await replay(type, type, [splitAt(text, [cut])])).toEqual(expected)
    },
    60_000,
  )

  it('do not change anything, in any number', async () => {
    const some = fc.tuple(fc.constantFrom(...recorded), fc.array(fc.nat(10_000), { maxLength: 40 }))
    await fc.assert(
      fc.asyncProperty(some, async ([[type, , text], cuts]) => {
        expect(await replay(type, type, [splitAt(text, cuts)])).toEqual(await replay(type, type, [whole(text)]))
      }),
      { numRuns: 100 },
    )
  })

  it('together with damage end in a complete answer or in an error, never in a hang or half a frame', async () => {
    const damage = fc.record({ from: fc.nat(5000), length: fc.nat(200), text: fc.string({ maxLength: 30 }) })
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...recorded), damage, async ([type, , text], { from, length, text: noise }) => {
        const broken = text.slice(0, from % text.length) + noise + text.slice((from % text.length) + length)
        const frames = await replay(type, type, [whole(broken)]).catch((error: Error) => {
          expect(error.name).toBe('SvcError')
          return undefined
        })
        if (frames === undefined) return
        const last = frames.at(-1)
        const isEnd =
          type === 'llma'
            ? last?.type === 'message_stop' || last?.type === 'error'
            : 'usage' in (last ?? {}) || 'error' in (last ?? {})
        expect(isEnd).toBe(true)
      }),
      { numRuns: 150 },
    )
  })
})

describe('a stream in which nothing happens for long', () => {
  it.each([
    ['llma', /^event: ping/],
    ['llmo', /"delta":\{\},"finish_reason":null/],
  ] as const)('of %s sends heartbeats', async (type, sign) => {
    const recordings = type === 'llma' ? llmaRecordings : llmoRecordings
    const [text = ''] = Object.values(recordings)
    const bytes = new TextEncoder().encode(text)
    let send: ReadableStreamDefaultController<Uint8Array> | undefined
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(bytes.subarray(0, 900))
        send = controller
      },
    })
    const clock = createManualClock()
    const answer = await createReplayer(type, [body], clock)({ family: type, body: bodies[type] })
    await clock.advance(16_000)
    await clock.advance(16_000)
    send?.enqueue(bytes.subarray(900))
    send?.close()
    const frames = await readFrames(answer)
    const signs = frames.filter((frame) => sign.test(frame))
    expect(signs.length).toBeGreaterThanOrEqual(1)
    expect(parseFrames(frames.filter((frame) => !sign.test(frame)))).toEqual(await replay(type, type, [[bytes]]))
  })
})
