// Keeps the last bytes that a program wrote, on disk, however much it writes.
import { createReadStream } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { open, rename, rm } from 'node:fs/promises'

export type OutputTail = {
  write(chunk: Buffer): Promise<void>
  /** The last `limit` bytes as text. */
  read(): Promise<{ text: string; truncated: boolean }>
  /** Closes and removes the files. */
  remove(): Promise<void>
}

async function readWhole(file: string): Promise<Buffer> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of createReadStream(file)) chunks.push(chunk as Buffer)
  } catch {
    // Not written yet.
  }
  return Buffer.concat(chunks)
}

/** Where the first complete UTF-8 character starts: continuation bytes are 10xxxxxx. */
function findCharacterStart(bytes: Buffer): number {
  let start = 0
  while (start < 3 && start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++
  return start
}

/** Two files: when the newer one is full it becomes the older one, so at most twice the limit is on disk. */
export function createOutputTail(file: string, limit: number): OutputTail {
  const older = `${file}.older`
  let handle: FileHandle | undefined
  let size = 0
  let total = 0
  const rotate = async () => {
    await handle?.close()
    handle = undefined
    await rename(file, older)
    size = 0
  }
  return {
    write: async (chunk) => {
      handle ??= await open(file, 'w', 0o600)
      await handle.write(chunk)
      size += chunk.length
      total += chunk.length
      if (size >= limit) await rotate()
    },
    read: async () => {
      const newest = size > 0 ? await readWhole(file) : Buffer.alloc(0)
      const bytes = newest.length < limit ? Buffer.concat([await readWhole(older), newest]) : newest
      const last = bytes.subarray(Math.max(0, bytes.length - limit))
      const truncated = total > last.length
      return { text: last.subarray(truncated ? findCharacterStart(last) : 0).toString('utf8'), truncated }
    },
    remove: async () => {
      await handle?.close()
      handle = undefined
      await rm(file, { force: true })
      await rm(older, { force: true })
    },
  }
}
