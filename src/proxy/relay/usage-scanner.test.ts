import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { streams } from '../../../test/fixtures/llm/wire.ts'
import { createAnswerScanner, createStreamScanner, createUsageFrameFilter, type UsageScanner } from './usage-scanner.ts'

function feed(scanner: UsageScanner, pieces: Iterable<Uint8Array>) {
  for (const piece of pieces) scanner.push(Buffer.from(piece))
  return scanner.read()
}

function cut(bytes: Buffer, offsets: number[]): Buffer[] {
  const sorted = [...new Set(offsets.map((offset) => offset % (bytes.length + 1)))].sort((a, b) => a - b)
  return [...sorted, bytes.length].map((end, at) => bytes.subarray(sorted[at - 1] ?? 0, end))
}

const expected = {
  llma: { inputTokens: 30, outputTokens: 42, cachedTokens: 7, cacheWriteTokens: 3 },
  llmo: { inputTokens: 30, outputTokens: 42, cachedTokens: 7 },
}
const families = ['llma', 'llmo'] as const

describe.each(families)('the usage of a %s stream', (family) => {
  const bytes = Buffer.from(streams[family])

  it('is found wherever the stream is split in two [PROXY-004]', () => {
    for (let at = 0; at <= bytes.length; at += 1) {
      const usage = feed(createStreamScanner(), [bytes.subarray(0, at), bytes.subarray(at)])
      expect(usage, `cut at ${at}`).toEqual(expected[family])
    }
  })

  it('is found when each byte arrives alone', () => {
    expect(
      feed(
        createStreamScanner(),
        [...bytes].map((byte) => Uint8Array.of(byte)),
      ),
    ).toEqual(expected[family])
  })

  it('is found in chunks of any size', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 40 }), (offsets) => {
        expect(feed(createStreamScanner(), cut(bytes, offsets))).toEqual(expected[family])
      }),
    )
  })

  it('is found when lines end with CR LF, and when the stream ends without a line end', () => {
    const other = Buffer.from(streams[family].replaceAll('\n', '\r\n'))
    expect(feed(createStreamScanner(), [other])).toEqual(expected[family])
    expect(feed(createStreamScanner(), [Buffer.from(streams[family].trimEnd())])).toEqual(expected[family])
  })
})

describe('the stream scanner', () => {
  it('is not misled by a model that writes about usage', () => {
    const text = JSON.stringify({ type: 'content_block_delta', delta: { text: '"usage":{"input_tokens":99}' } })
    const frames = `data: ${text}\n\ndata: {"usage":{"prompt_tokens":3,"completion_tokens":4}}\n\n`
    expect(feed(createStreamScanner(), [Buffer.from(frames)])).toEqual({
      inputTokens: 3,
      outputTokens: 4,
      cachedTokens: 0,
    })
  })

  it('ignores null, text or numbers where usage is expected', () => {
    const frames = 'data: {"usage":null}\n\ndata: {"usage":"much"}\n\ndata: {"usage":{"input_tokens":-5}}\n\n'
    expect(feed(createStreamScanner(), [Buffer.from(frames)])?.inputTokens ?? 0).toBe(0)
  })

  it('reads the last frame of the responses API', () => {
    const usage = { input_tokens: 12, input_tokens_details: { cached_tokens: 5 }, output_tokens: 6 }
    const frame = `event: response.completed\ndata: ${JSON.stringify({ type: 'response.completed', response: { id: 'r', usage } })}\n\n`
    expect(feed(createStreamScanner(), [Buffer.from(frame)])).toEqual({
      inputTokens: 12,
      outputTokens: 6,
      cachedTokens: 5,
    })
  })

  it('keeps the counts of the first frame where the last one has 0', () => {
    const frames = `data: {"message":{"usage":{"input_tokens":9,"output_tokens":1}}}\n\ndata: {"usage":{"input_tokens":0,"output_tokens":8}}\n\n`
    expect(feed(createStreamScanner(), [Buffer.from(frames)])).toEqual({
      inputTokens: 9,
      outputTokens: 8,
      cachedTokens: 0,
    })
  })

  it('counts cached input as input, and keeps it when the last frame has 0', () => {
    const first = { input_tokens: 0, cache_read_input_tokens: 100, output_tokens: 1 }
    const frames = `data: {"message":{"usage":${JSON.stringify(first)}}}\n\ndata: {"usage":{"input_tokens":0,"output_tokens":8}}\n\n`
    const usage = feed(createStreamScanner(), [Buffer.from(frames)])
    expect(usage).toEqual({ inputTokens: 100, outputTokens: 8, cachedTokens: 100 })
  })

  it('survives any bytes', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 64 }), { maxLength: 20 }), (pieces) => {
        feed(createStreamScanner(), pieces)
        feed(createAnswerScanner(), pieces)
      }),
    )
    const lines = fc.array(fc.constantFrom('data: ', '"usage"', ':{', '"input_tokens":3', '}', '\n', '\r', '{', '"'), {
      maxLength: 60,
    })
    fc.assert(fc.property(lines, (parts) => void feed(createStreamScanner(), [Buffer.from(parts.join(''))])))
  })

  it('abandons a line that never ends, and reads on after it', () => {
    const scanner = createStreamScanner()
    for (let at = 0; at < 9; at += 1) scanner.push(Buffer.alloc(1_048_576, 0x61))
    scanner.push(Buffer.from('\ndata: {"usage":{"prompt_tokens":1,"completion_tokens":2}}\n\n'))
    expect(scanner.read()).toEqual({ inputTokens: 1, outputTokens: 2, cachedTokens: 0 })
  })
})

describe('the usage of an answer', () => {
  const answer = {
    content: [{ type: 'tool_use', input: { usage: { input_tokens: 999, output_tokens: 999 } } }, { text: '"usage":{' }],
    usage: { input_tokens: 10, cache_read_input_tokens: 4, cache_creation_input_tokens: 1, output_tokens: 5 },
    service_tier: 'standard',
  }
  const counted = { inputTokens: 15, outputTokens: 5, cachedTokens: 4, cacheWriteTokens: 1 }

  it('is that of the answer, not that of a tool result, wherever the body is split', () => {
    const bytes = Buffer.from(JSON.stringify(answer))
    for (let at = 0; at <= bytes.length; at += 1) {
      expect(feed(createAnswerScanner(), [bytes.subarray(0, at), bytes.subarray(at)])).toEqual(counted)
    }
    expect(feed(createAnswerScanner(), [Buffer.from(JSON.stringify(answer, null, 2))])).toEqual(counted)
  })

  it('is found at the end of a very large answer', () => {
    const large = {
      data: Array.from({ length: 60_000 }, (_, at) => at / 7),
      usage: { prompt_tokens: 8, total_tokens: 8 },
    }
    const bytes = Buffer.from(JSON.stringify(large))
    const pieces = Array.from({ length: Math.ceil(bytes.length / 65_536) }, (_, at) =>
      bytes.subarray(at * 65_536, (at + 1) * 65_536),
    )
    expect(feed(createAnswerScanner(), pieces)).toEqual({ inputTokens: 8, outputTokens: 0, cachedTokens: 0 })
  })

  it.each(['', '{}', '{"usage":', '{"usage":{', '{"a":{"usage":{"input_tokens":3}}}', 'not json', '{"usage":null}'])(
    'is undefined for %j',
    (text) => {
      expect(feed(createAnswerScanner(), [Buffer.from(text)])).toBeUndefined()
    },
  )
})

const chunk = (more: object) => `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', ...more })}`
const words = chunk({ choices: [{ index: 0, delta: { content: 'a "choices":[] b', tool_calls: [] } }], usage: null })
const filtered = chunk({ choices: [], prompt_filter_results: [{}] })
const counts = chunk({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } })
const last = chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: { prompt_tokens: 1 } })

function run(parts: Buffer[]): string {
  const filter = createUsageFrameFilter()
  return Buffer.concat([...parts.map(filter.push), filter.rest()]).toString()
}

describe('the filter of frames', () => {
  it.each(['\n\n', '\r\n\r\n'])(
    'removes the usage frame and no other byte, wherever the stream is split (%j)',
    (end) => {
      const before = [filtered, words, ': a comment ä', words, last].map((frame) => `${frame}${end}`).join('')
      const after = `data: [DONE]${end}`
      const bytes = Buffer.from(`${before}${counts}${end}${after}`)
      for (let at = 0; at <= bytes.length; at += 1) {
        expect(run([bytes.subarray(0, at), bytes.subarray(at)])).toBe(`${before}${after}`)
      }
      expect(run([...bytes].map((byte) => Buffer.of(byte)))).toBe(`${before}${after}`)
    },
  )

  it('passes on each frame as soon as it is complete', () => {
    const filter = createUsageFrameFilter()
    expect(filter.push(Buffer.from(`${words}\n`)).length).toBe(0)
    expect(filter.push(Buffer.from(`\n${words}`)).toString()).toBe(`${words}\n\n`)
    expect(filter.rest().toString()).toBe(words)
  })

  it('does not buffer a frame that is longer than usage frames ever are', () => {
    const filter = createUsageFrameFilter()
    const long = `data: {"choices":[],"usage":{},"x":"${'y'.repeat(70_000)}`
    expect(filter.push(Buffer.from(long)).toString()).toBe(long)
    expect(filter.push(Buffer.from('more')).toString()).toBe('more')
    expect(filter.push(Buffer.from(`"}\n\n${counts}\n\n${words}\n\n`)).toString()).toBe(`"}\n\n${words}\n\n`)
  })

  it('removes usage that ends the stream without a blank line', () => {
    expect(run([Buffer.from(`${words}\n\n${counts}`)])).toBe(`${words}\n\n`)
  })
})
