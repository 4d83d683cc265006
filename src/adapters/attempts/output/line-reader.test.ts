import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { createLineFeed, createLineSplitter, forgive, readLines } from './line-reader.ts'

async function collect(chunks: (string | Buffer)[]): Promise<string[]> {
  const lines: string[] = []
  const stream = Readable.from(chunks.map((chunk) => Buffer.from(chunk as string)))
  await readLines(
    stream,
    createLineFeed((batch) => void lines.push(...batch)),
  )
  return lines
}

describe('lines of a stream', () => {
  it('come whole, however they are cut into chunks', async () => {
    expect(await collect(['on', 'e\ntw', 'o\n\nthr', 'ee'])).toEqual(['one', 'two', '', 'three'])
    expect(await collect(['\n'])).toEqual([''])
    expect(await collect([])).toEqual([])
  })

  it('keep characters that a chunk cuts in half, and NUL', async () => {
    const bytes = Buffer.from('ä🎈\0\n')
    expect(await collect([...bytes].map((byte) => Buffer.from([byte])))).toEqual(['ä🎈\0'])
  })

  it('lose the carriage return of a line end, and no other', async () => {
    expect(await collect(['a\r\nb\rc\r\n'])).toEqual(['a', 'b\rc'])
  })

  it('are cut when they are too long, and the rest of them is dropped', () => {
    const splitter = createLineSplitter(4)
    expect(splitter.push('abcdef')).toEqual(['abcd [line cut]'])
    expect(splitter.push('ghi')).toEqual([])
    expect(splitter.push('jkl\nok\nabcdefgh\n')).toEqual(['ok', 'abcd [line cut]'])
    expect(splitter.push('abcd')).toEqual([])
    expect(splitter.end()).toEqual(['abcd'])
  })

  it('are waited for one batch at a time', async () => {
    let [most, atOnce] = [0, 0]
    const take = async () => {
      most = Math.max(most, ++atOnce)
      await new Promise(setImmediate)
      atOnce--
    }
    await readLines(Readable.from(Array.from({ length: 20 }, () => Buffer.from('x\n'))), createLineFeed(take))
    expect(most).toBe(1)
  })

  it('end quietly when the stream is taken away', async () => {
    const stream = new Readable({ read: () => undefined })
    const reading = readLines(
      stream,
      createLineFeed(() => undefined),
    )
    stream.destroy()
    await expect(reading).resolves.toBeUndefined()
  })

  it('are lost, and nothing else, when the taker fails', async () => {
    await expect(forgive(() => Promise.reject(new Error('full')))(['a'])).resolves.toBeUndefined()
  })
})
