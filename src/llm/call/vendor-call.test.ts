import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { answerWith, askText, listEvents, makeClient, streamBody, streams } from '../../../test/fixtures/llm/wire.ts'
import { createManualClock } from '../../../test/fixtures/time.ts'
import { answerBuffers } from '../../lib/buffer-quota.ts'
import { collectTurn } from '../messages/collect.ts'
import type { Family, ModelEvent, Turn } from '../messages/messages.ts'

const families: Family[] = ['llma', 'llmo']
const encoder = new TextEncoder()
const open = new AbortController().signal

function cutAt(bytes: Uint8Array, ...places: number[]): Uint8Array[] {
  const bounds = [0, ...places, bytes.length]
  return bounds.slice(1).map((end, position) => bytes.slice(bounds[position], end))
}

async function readPieces(family: Family, pieces: Uint8Array[], after: 'end' | 'break' = 'end'): Promise<Turn> {
  const client = makeClient(family, answerWith(streamBody(pieces, after)))
  return collectTurn(client, askText('hello'), open)
}

describe.each(families)('a %s stream', (family) => {
  const bytes = encoder.encode(streams[family])

  it('becomes one turn with thinking, text, a tool call and all tokens', async () => {
    const turn = await readPieces(family, [bytes])
    expect(turn).toMatchObject({
      model: 'model-1',
      stopReason: 'tool_use',
      usage: { inputTokens: 30, outputTokens: 42, cachedTokens: 7 },
    })
    expect(turn.message.content).toMatchObject([
      { type: 'thinking', text: 'Let me see' },
      { type: 'text', text: 'Grüße, 世界 🎉' },
      { type: 'tool_use', name: 'file_read', args: { path: 'notes.txt' } },
    ])
    expect(turn.error).toBeUndefined()
  })

  it('is the same turn wherever it is cut in two', async () => {
    const whole = await readPieces(family, [bytes])
    for (let place = 1; place < bytes.length; place += 1) {
      expect(await readPieces(family, cutAt(bytes, place)), `cut at byte ${place}`).toEqual(whole)
    }
  })

  it('is the same turn in single bytes, and with carriage returns', async () => {
    const whole = await readPieces(family, [bytes])
    expect(
      await readPieces(
        family,
        Array.from(bytes, (byte) => Uint8Array.of(byte)),
      ),
    ).toEqual(whole)
    const crlf = encoder.encode(streams[family].replaceAll('\n', '\r\n'))
    expect(
      await readPieces(
        family,
        Array.from(crlf, (byte) => Uint8Array.of(byte)),
      ),
    ).toEqual(whole)
  })

  it('that ends too early, after whatever byte, is an interruption and never a wrong answer', async () => {
    const whole = await readPieces(family, [bytes])
    for (let end = 0; end < bytes.length; end += 1) {
      const turn = await readPieces(family, [bytes.slice(0, end)])
      if (turn.stopReason !== undefined) expect(turn.message, `ended at byte ${end}`).toEqual(whole.message)
      else expect(turn.error?.reason, `ended at byte ${end}`).toBe('AnswerBrokenOff')
    }
  })

  it('whose connection breaks is an interruption', async () => {
    const turn = await readPieces(family, [bytes.slice(0, bytes.length / 2)], 'break')
    expect(turn.error).toMatchObject({
      reason: 'AnswerBrokenOff',
      message: expect.stringContaining('the connection was reset'),
    })
    expect(turn.message.content.length).toBeGreaterThan(0)
  })

  it('that stalls is given up after the idle time', async () => {
    const clock = createManualClock()
    const body = streamBody([bytes.slice(0, bytes.length / 2)], 'stall')
    const client = makeClient(family, answerWith(body), { clock, idleTimeoutMs: 30_000 })
    const turn = collectTurn(client, askText('hello'), open)
    await clock.advance(29_000)
    await clock.advance(2_000)
    expect((await turn).error).toMatchObject({ reason: 'AnswerBrokenOff', message: expect.stringContaining('30 s') })
  })

  it('that never begins is given up after the idle time', async () => {
    const clock = createManualClock()
    const neverAnswer: typeof fetch = (_url, init) =>
      new Promise((_resolve, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)))
    const client = makeClient(family, neverAnswer, { clock, idleTimeoutMs: 30_000 })
    const turn = collectTurn(client, askText('hello'), open)
    await clock.advance(30_000)
    expect((await turn).error?.reason).toBe('AnswerBrokenOff')
  })

  it('ends at once when the caller aborts', async () => {
    const aborter = new AbortController()
    const client = makeClient(family, answerWith(streamBody([bytes.slice(0, 200)], 'stall')))
    const turn = collectTurn(client, askText('hello'), aborter.signal)
    aborter.abort()
    expect((await turn).error?.reason).toBe('Stopped')
  })

  it('of any bytes neither hangs nor throws, and its last event says how it ended', async () => {
    const piece = fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc.constantFrom(...streams[family].split('\n\n')).map((frame) => encoder.encode(`${frame}\n\n`)),
      fc.json().map((json) => encoder.encode(`data: ${json}\n\n`)),
    )
    const property = fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
      const client = makeClient(family, answerWith(streamBody(pieces)))
      const events = await listEvents(client, askText('hello'), open)
      const ends = events.filter((event) => event.type === 'stop' || event.type === 'error')
      expect(ends).toEqual([events.at(-1)])
    })
    await fc.assert(property, { numRuns: 300 })
  })

  it('with a frame that is not JSON is an interruption', async () => {
    const turn = await readPieces(family, [encoder.encode('data: {"half": \n\n')])
    expect(turn.error?.reason).toBe('AnswerBrokenOff')
  })
})

describe('a server that does not stream', () => {
  it('is read as well, in both families', async () => {
    const json = { headers: { 'content-type': 'application/json; charset=utf-8' } }
    const llma = JSON.stringify({
      id: 'msg_1',
      model: 'model-1',
      content: [
        { type: 'text', text: 'hi' },
        { type: 'tool_use', id: 't1', name: 'file_read', input: { path: 'a' } },
      ],
      stop_reason: 'tool_use',
      usage: { input_tokens: 3, output_tokens: 4 },
    })
    const message = {
      content: 'hi',
      tool_calls: [{ id: 't1', type: 'function', function: { name: 'file_read', arguments: '{"path":"a"}' } }],
    }
    const usage = { prompt_tokens: 3, completion_tokens: 4 }
    const llmo = JSON.stringify({
      id: '1',
      model: 'model-1',
      choices: [{ message, finish_reason: 'tool_calls' }],
      usage,
    })
    for (const [family, body] of [
      ['llma', llma],
      ['llmo', llmo],
    ] as const) {
      const turn = await collectTurn(makeClient(family, answerWith(body, json)), askText('hello'), open)
      expect(turn, family).toMatchObject({
        stopReason: 'tool_use',
        usage: { inputTokens: 3, outputTokens: 4, cachedTokens: 0 },
      })
      expect(turn.message.content).toMatchObject([
        { type: 'text', text: 'hi' },
        { type: 'tool_use', id: 't1', args: { path: 'a' } },
      ])
    }
  })
})

describe.each(families)('%s answers without end', (family) => {
  /** Text for ever, as fast as it is read. */
  function endlessBody(): ReadableStream<Uint8Array> {
    const json =
      family === 'llma'
        ? { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'x'.repeat(1024 ** 2) } }
        : { choices: [{ index: 0, delta: { content: 'x'.repeat(1024 ** 2) } }] }
    const frame = encoder.encode(`data: ${JSON.stringify(json)}\n\n`)
    return new ReadableStream({ pull: (controller) => controller.enqueue(frame) })
  }

  it('end with an error that names the provider, each and all together, and then nothing is held', async () => {
    let most = 0
    const watch = () => {
      most = Math.max(most, answerBuffers.bytes)
    }
    const calls = Array.from({ length: 8 }, async () => {
      const events: ModelEvent[] = []
      await makeClient(family, answerWith(endlessBody())).call(askText('hello'), {
        signal: open,
        spend: () => {},
        take(more) {
          watch()
          events.push(...more.filter(({ type }) => type === 'error'))
        },
      })
      return events
    })
    for (const events of await Promise.all(calls)) {
      expect(events).toMatchObject([{ error: { reason: expect.stringMatching(/^Answer(TooLong|BrokenOff)$/) } }])
      expect(JSON.stringify(events)).toMatch(
        /Provider default\/vendor .*(more than 16 MiB of text in one answer|together exceed \d+ MiB)/,
      )
    }
    expect(most).toBeGreaterThan(0)
    expect(most).toBeLessThanOrEqual(256 * 1024 ** 2)
    expect(answerBuffers.bytes).toBe(0)
  })
})
