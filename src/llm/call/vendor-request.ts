// A request to a vendor: what it takes to make one, its headers, and the text of its body.
import { promisify } from 'node:util'
import { brotliDecompress, brotliDecompressSync, gunzip, gunzipSync, inflate, inflateSync } from 'node:zlib'
import type { Clock } from '../../lib/clock.ts'
import type { JsonObject } from '../../lib/json.ts'
import { memoizeByObject } from '../../lib/memoize.ts'
import type { LlmoDialects } from '../llmo/dialect.ts'
import type { Family, ModelRequest } from '../messages/messages.ts'
import type { VendorFetch } from './piped-fetch.ts'
import type { CallTarget, OnUnknown } from './vendor-error.ts'

export type VendorClientOptions = {
  /** Follows the provider's egress policy. */
  fetch: VendorFetch
  /** Absent: the vendor's own address. */
  baseUrl?: string
  apiKey?: string
  azure?: { deploymentName: string; apiVersion: string }
  /** Which provider is called, and for which model. */
  target: CallTarget
  /** Told of each word that is not known. */
  onUnknown?: OnUnknown
  /** What is known about servers of family llmo; absent: nothing. */
  dialects?: LlmoDialects
  clock: Clock
  /** Time without data after which a call is given up. */
  idleTimeoutMs: number
}

/** Long answers in one piece come after a long silence; the vendors' own clients wait this long. */
const wholeTimeoutMs = 600_000

/** Time without data after which this call is given up. */
export function idleTimeoutFor({ whole }: ModelRequest, idleTimeoutMs: number): number {
  return whole ? Math.max(idleTimeoutMs, wholeTimeoutMs) : idleTimeoutMs
}

/** Sent with every call. A compressed answer could not be read frame by frame. */
export const plainHeaders = { 'content-type': 'application/json', 'accept-encoding': 'identity' }

/** Headers that the client itself sets; a caller's values for them are never sent on. */
const reserved = ['authorization', 'x-api-key', 'api-key', 'content-type', 'content-length', 'host', 'connection']

/** The caller's headers for an upstream that speaks the caller's language. */
export function ownHeaders({ headers = {}, raw }: ModelRequest, family: Family): Record<string, string> {
  if (raw?.family !== family) return {}
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !reserved.includes(name)))
}

/** The wire form of a tool, which the codecs build once per tool. */
const writeTool = memoizeByObject((tool: JsonObject) => JSON.stringify(tool))

/** The JSON of a body; its tools come last. */
export function writeBody({ tools, ...body }: JsonObject): string {
  const text = JSON.stringify(body)
  if (!Array.isArray(tools)) return text
  const list = (tools as JsonObject[]).map(writeTool).join(',')
  return text === '{}' ? `{"tools":[${list}]}` : `${text.slice(0, -1)},"tools":[${list}]}`
}

const gzip = { now: gunzipSync, later: promisify(gunzip) }
const unpackers: Partial<Record<string, { now: typeof gunzipSync; later: typeof gzip.later }>> = {
  gzip,
  'x-gzip': gzip,
  deflate: { now: inflateSync, later: promisify(inflate) },
  br: { now: brotliDecompressSync, later: promisify(brotliDecompress) },
}

export function isPacked(encoding: string | null | undefined): encoding is string {
  return encoding !== null && encoding !== undefined && encoding !== '' && encoding !== 'identity'
}

/** A short body, decoded; undefined when it cannot be read or is longer than `maxBytes`. */
export function unpackShort(body: Buffer, encoding: string, maxBytes: number): Buffer | undefined {
  try {
    return unpackers[encoding.toLowerCase()]?.now(body, { maxOutputLength: maxBytes })
  } catch {
    return undefined
  }
}

/** The same for one that takes long; the loop goes on meanwhile. */
export async function unpackLong(body: Buffer, encoding: string, maxBytes: number): Promise<Buffer | undefined> {
  return unpackers[encoding.toLowerCase()]?.later(body, { maxOutputLength: maxBytes }).catch(() => undefined)
}
