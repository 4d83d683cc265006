import { describe, expect, it } from 'vitest'
import { createUsageFrameFilter } from './usage-frames.ts'

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
