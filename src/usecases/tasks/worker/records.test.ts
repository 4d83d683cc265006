import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cutLines, readLine } from './records.ts'

async function* emit(chunks: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks
}

async function collect(chunks: Uint8Array[]): Promise<string[]> {
  const all: string[] = []
  let last = ''
  for await (const { lines, rest } of cutLines(emit(chunks))) {
    all.push(...lines)
    last = rest
  }
  return last === '' ? all : [...all, ...readLine(last, false).map(String)]
}

describe('log lines', () => {
  it('are the same wherever the bytes are split', async () => {
    const lines = fc.array(fc.string({ unit: 'grapheme' }).map((text) => text.replace(/[\r\n]/g, '')))
    await fc.assert(
      fc.asyncProperty(lines, fc.integer({ min: 1, max: 7 }), async (texts, size) => {
        const bytes = Buffer.from(texts.map((text) => `${text}\n`).join(''))
        const chunks: Uint8Array[] = []
        for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size))
        expect(await collect(chunks)).toEqual(texts)
      }),
    )
  })

  it('include a last line without a line end', async () => {
    expect(await collect([Buffer.from('a\r\nb')])).toEqual(['a', 'b'])
  })

  it('are cut at the length limit', async () => {
    const lengths = (await collect([Buffer.alloc(150_000, 'x')])).map((line) => line.length)
    expect(lengths).toEqual([65_536, 65_536, 18_928])
  })
})
