// Bodies on the wire: the text of a request's body, and the body of a server that compresses although asked not to.

import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib'
import type { JsonObject } from '../../contract/schema/json.ts'
import { rememberBy } from '../messages/remembered.ts'

/** The wire form of a tool, which the codecs build once per tool. */
const writeTool = rememberBy((tool: JsonObject) => JSON.stringify(tool))

/** The JSON of a body; its tools come last. */
export function writeBody({ tools, ...body }: JsonObject): string {
  const text = JSON.stringify(body)
  if (!Array.isArray(tools)) return text
  const list = (tools as JsonObject[]).map(writeTool).join(',')
  return text === '{}' ? `{"tools":[${list}]}` : `${text.slice(0, -1)},"tools":[${list}]}`
}

const unpackers: Partial<Record<string, typeof gunzipSync>> = {
  gzip: gunzipSync,
  'x-gzip': gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
}

export function isPacked(encoding: string | null | undefined): encoding is string {
  return encoding !== null && encoding !== undefined && encoding !== '' && encoding !== 'identity'
}

/** A whole body, decoded; undefined when it cannot be read or is longer than `maxBytes`. */
export function unpackBody(body: Buffer, encoding: string, maxBytes: number): Buffer | undefined {
  try {
    return unpackers[encoding.toLowerCase()]?.(body, { maxOutputLength: maxBytes })
  } catch {
    return undefined
  }
}
