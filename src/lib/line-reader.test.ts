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
    const splitter = createLineSplitter(4)
    expect(splitter.push('abcdef')).toEqual([])
    expect(splitter.push('ghi')).toEqual([])
    expect(splitter.push('jkl\nok\nabcdefgh\n')).toEqual([
      'abcd [line cut: it has 12 bytes]',
      'ok',
      'abcd [line cut: it has 8 bytes]',
    ])
    expect(splitter.push('abcd')).toEqual([])
    expect(splitter.end()).toEqual(['abcd'])
  })

  it.each([
    ['abcdü😀\r\n', 'abcd [line cut: it has 10 bytes]'],
    ['abcd\r\n', 'abcd'],
    ['abcde\rf\n', 'abcd [line cut: it has 7 bytes]'],
    ['abcde\r\n', 'abcd [line cut: it has 5 bytes]'],
  ])('count %j the same however it comes', (text, expected) => {
    for (let size = 1; size <= text.length; size += 1) {
      const splitter = createLineSplitter(4)
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
