// What a command prints: as much as is wanted, and that there was more.
import type { Readable } from 'node:stream'

export type Captured = { read(): string; isCut(): boolean }

/** Reads on to the end, so that the program is never held up. */
export function captureStream(stream: Readable, mostBytes: number): Captured {
  const chunks: Buffer[] = []
  let left = mostBytes
  let isCut = false
  stream.on('data', (chunk: Buffer) => {
    isCut ||= chunk.length > left
    if (left > 0) chunks.push(chunk.subarray(0, left))
    left -= Math.min(left, chunk.length)
  })
  return { read: () => Buffer.concat(chunks).toString('utf8'), isCut: () => isCut }
}
