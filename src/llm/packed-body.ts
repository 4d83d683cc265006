// Bodies of servers that compress although they are asked not to.
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib'

const unpackers: Partial<Record<string, typeof gunzipSync>> = {
  gzip: gunzipSync,
  'x-gzip': gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
}

export function isPacked(encoding: string | null | undefined): encoding is string {
  return encoding !== null && encoding !== undefined && encoding !== '' && encoding !== 'identity'
}

/** A whole body as it was meant; undefined for what cannot be read, or is longer than `maxBytes`. */
export function unpackBody(body: Buffer, encoding: string, maxBytes: number): Buffer | undefined {
  try {
    return unpackers[encoding.toLowerCase()]?.(body, { maxOutputLength: maxBytes })
  } catch {
    return undefined
  }
}
