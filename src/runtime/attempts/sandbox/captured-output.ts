// Keeps the beginning of what a program writes.
import type { Readable } from 'node:stream'

export type CapturedOutput = { text: string; truncated: boolean }

export type HeadBuffer = { write(chunk: Buffer): void; read(): CapturedOutput }

/**
 * Keeps the first `limit` bytes (never half a character) and drops the rest, so that a flood cannot fill the memory.
 */
export function createHeadBuffer(limit: number): HeadBuffer {
  const kept: Buffer[] = []
  let size = 0
  let truncated = false
  return {
    write: (chunk) => {
      const part = chunk.subarray(0, limit - size)
      truncated ||= part.length < chunk.length
      if (part.length > 0) kept.push(part)
      size += part.length
    },
    read: () => ({ text: new TextDecoder().decode(Buffer.concat(kept), { stream: truncated }), truncated }),
  }
}

/** Reads to the end of the stream. */
export async function captureOutput(stream: Readable, limit: number): Promise<CapturedOutput> {
  const buffer = createHeadBuffer(limit)
  for await (const chunk of stream as AsyncIterable<Buffer>) buffer.write(chunk)
  return buffer.read()
}
