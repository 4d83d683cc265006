import { Readable } from 'node:stream'
import { describe, expect, it, vi } from 'vitest'
import { readBeginning, readWhole } from './bounded-body.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const tooLarge = () => new Error('too large')

describe.each([
  ['a web stream', (chunks: string[]) => ReadableStream.from(chunks.map(bytes))],
  ['a Node stream', (chunks: string[]) => Readable.from(chunks.map((chunk) => Buffer.from(chunk)))],
])('of %s', (_name, open: (chunks: string[]) => AsyncIterable<Uint8Array>) => {
  it('is read whole up to its limit', async () => {
    expect((await readWhole(open(['abc', 'de']), 5, tooLarge)).toString()).toBe('abcde')
    expect(await readBeginning(open(['abc', 'de']), 5)).toEqual({ body: Buffer.from('abcde'), truncated: false })
  })

  it('is refused, or cut, one byte beyond it', async () => {
    await expect(readWhole(open(['abc', 'def']), 5, tooLarge)).rejects.toThrow('too large')
    expect(await readBeginning(open(['abc', 'def', 'ghi']), 5)).toEqual({ body: Buffer.from('abcde'), truncated: true })
    expect(await readBeginning(open(['abcdefghi']), 0)).toEqual({ body: Buffer.alloc(0), truncated: true })
  })
})

it('is empty where there is no body', async () => {
  expect(await readBeginning(null, 5)).toEqual({ body: Buffer.alloc(0), truncated: false })
  expect((await readWhole(undefined, 0, tooLarge)).length).toBe(0)
})

it('cancels what is left of a body that is too large', async () => {
  const cancel = vi.fn()
  const endless = new ReadableStream({ pull: (controller) => controller.enqueue(bytes('abc')), cancel })
  await expect(readWhole(endless, 100, tooLarge)).rejects.toThrow('too large')
  expect(cancel).toHaveBeenCalledOnce()
})

it('rejects with the fault of the body', async () => {
  const broken = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error('broken off')) })
  await expect(readWhole(broken, 5, tooLarge)).rejects.toThrow('broken off')
})
