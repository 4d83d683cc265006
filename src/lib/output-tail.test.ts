import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createOutputTail } from './output-tail.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-tail-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

async function readAfter(limit: number, chunks: string[]) {
  const tail = createOutputTail(join(folder, 'out'), limit)
  for (const chunk of chunks) await tail.write(Buffer.from(chunk))
  const kept = await tail.read()
  const onDisk = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
  await tail.remove()
  return { ...kept, onDisk }
}

describe('the tail of an output', () => {
  it.each([
    { chunks: [], text: '', truncated: false },
    { chunks: ['abc'], text: 'abc', truncated: false },
    { chunks: ['abcd', 'efgh'], text: 'abcdefgh', truncated: false },
    { chunks: ['abcd', 'efgh', 'i'], text: 'bcdefghi', truncated: true },
    { chunks: ['abc', 'defghijkl', 'mn'], text: 'ghijklmn', truncated: true },
    { chunks: ['0123456789', '0123456789', '0123456789'], text: '23456789', truncated: true },
  ])('of $chunks is $text', async ({ chunks, text, truncated }) => {
    expect(await readAfter(8, chunks)).toMatchObject({ text, truncated })
  })

  it('takes at most twice its limit and one chunk of disk, and leaves no file behind', async () => {
    const { onDisk } = await readAfter(
      1000,
      Array.from({ length: 200 }, () => 'x'.repeat(300)),
    )
    expect(onDisk).toBeLessThanOrEqual(2 * 1300)
    expect(readdirSync(folder)).toEqual([])
  })

  it('begins with a whole character', async () => {
    expect((await readAfter(5, ['äöü'])).text).toBe('öü')
    expect((await readAfter(6, ['äöü'])).text).toBe('äöü')
  })

  it('equals the end of everything that was written, for any sizes', async () => {
    let seed = 7
    const next = () => {
      seed = (seed * 1103515245 + 12345) % 2147483648
      return seed
    }
    for (let round = 0; round < 40; round++) {
      const chunks = Array.from({ length: next() % 12 }, () =>
        String.fromCharCode(97 + (next() % 26)).repeat(next() % 30),
      )
      const limit = 1 + (next() % 40)
      expect((await readAfter(limit, chunks)).text).toBe(chunks.join('').slice(-limit))
    }
  })
})
