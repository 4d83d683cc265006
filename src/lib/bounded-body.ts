// Reads a body up to a limit: of a web stream, a Node stream, or whatever else yields chunks. Bytes are counted as they come, which is
// after decompression where that is done on the way, so that a small answer cannot expand without limit.

type Body = AsyncIterable<Uint8Array> | null | undefined

/**
 * The first bytes of a body; `truncated`: there were more than `maxBytes`, and the rest was cancelled. `makeRoom` is asked before a
 * part is kept.
 */
export async function readBeginning(
  body: Body,
  maxBytes: number,
  makeRoom?: (bytes: number) => void | Promise<void>,
): Promise<{ body: Buffer; truncated: boolean }> {
  const parts: Uint8Array[] = []
  let left = maxBytes
  for await (const part of body ?? []) {
    await makeRoom?.(part.byteLength)
    parts.push(part.subarray(0, left))
    left -= part.byteLength
    if (left < 0) return { body: Buffer.concat(parts), truncated: true }
  }
  return { body: Buffer.concat(parts), truncated: false }
}

/** The whole body; rejects with what `tooLarge` gives as soon as it has more than `maxBytes`, and cancels the rest. */
export async function readWhole(body: Body, maxBytes: number, tooLarge: () => Error): Promise<Buffer> {
  const read = await readBeginning(body, maxBytes)
  if (read.truncated) throw tooLarge()
  return read.body
}
