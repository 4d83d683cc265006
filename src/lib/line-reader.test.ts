import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { createLineFeed, createLineSplitter, feedLines, forgive } from './line-reader.ts'

async function collect(chunks: (string | Buffer)[]): Promise<string[]> {
  const lines: string[] = []
  const stream = Readable.from(chunks.map((chunk) => Buffer.from(chunk as string)))
  await feedLines(
    stream,
    createLineFeed((batch) => void lines.push(...batch)),
  )
  return lines
}

describe('lines of a stream', () => {
  it('are read whole, wherever the stream is split into chunks', async () => {
    expect(await collect(['on', 'e\ntw', 'o\n\nthr', 'ee'])).toEqual(['one', 'two', '', 'three'])
    expect(await collect(['\n'])).toEqual([''])
    expect(await collect([])).toEqual([])
  })

  it('keep NUL and characters that are split between two chunks', async () => {
    const bytes = Buffer.from('ä🎈\0\n')
    expect(await collect([...bytes].map((byte) => Buffer.from([byte])))).toEqual(['ä🎈\0'])
  })

  it('lose the carriage return of a line end, and no other carriage return', async () => {
    expect(await collect(['a\r\nb\rc\r\n'])).toEqual(['a', 'b\rc'])
  })

  it('are cut when they are too long, with a note of how long they were', () => {
    const splitter = createLineSplitter(70)
    expect(splitter.push('x'.repeat(50))).toEqual([])
    expect(splitter.push('x'.repeat(50))).toEqual([])
    expect(splitter.push(`${'x'.repeat(50)}\nok\n${'y'.repeat(71)}\n`)).toEqual([
      'xxxxxx [cut: the line had 150 bytes]',
      'ok',
      'yyyyyy [cut: the line had 71 bytes]',
    ])
    expect(splitter.push('z'.repeat(70))).toEqual([])
    expect(splitter.end()).toEqual(['z'.repeat(70)])
  })

  it.each([
    [`${'x'.repeat(69)}ü😀\r\n`, 'xxxxxx [cut: the line had 75 bytes]'],
    [`${'x'.repeat(70)}\r\n`, 'x'.repeat(70)],
    [`${'x'.repeat(70)}\rf\n`, 'xxxxxx [cut: the line had 72 bytes]'],
    [`${'x'.repeat(71)}\r\n`, 'xxxxxx [cut: the line had 71 bytes]'],
    [`${'ü'.repeat(35)}\n`, 'ü'.repeat(35)],
    [`${'ü'.repeat(40)}\n`, 'üüü [cut: the line had 80 bytes]'],
  ])('count %j the same however it comes', (text, expected) => {
    for (let size = 1; size <= text.length; size += 1) {
      const splitter = createLineSplitter(70)
      const parts = Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
        text.slice(at * size, (at + 1) * size),
      )
      expect(parts.flatMap((part) => splitter.push(part))).toEqual([expected])
    }
  })

  it('are handed over one batch at a time: the next waits for the last', async () => {
    let [most, atOnce] = [0, 0]
    const take = async () => {
      most = Math.max(most, ++atOnce)
      await new Promise(setImmediate)
      atOnce--
    }
    await feedLines(Readable.from(Array.from({ length: 20 }, () => Buffer.from('x\n'))), createLineFeed(take))
    expect(most).toBe(1)
  })

  it('end without an error when the stream is destroyed', async () => {
    const stream = new Readable({ read: () => undefined })
    const reading = feedLines(
      stream,
      createLineFeed(() => undefined),
    )
    stream.destroy()
    await expect(reading).resolves.toBeUndefined()
  })

  it('are dropped without an error when the receiver of forgive() fails', async () => {
    await expect(forgive(() => Promise.reject(new Error('full')))(['a'])).resolves.toBeUndefined()
  })
})
