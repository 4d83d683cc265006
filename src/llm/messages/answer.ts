// A neutral answer on its way to a caller: whole, or as the frames of a stream. Each family implements an encoder.
import { randomUUID } from 'node:crypto'
import { isJsonObject, type JsonObject } from '../../lib/json.ts'
import type { ContentBlock, Family, ModelEvent, Raw, StopReason, TokenUsage } from './messages.ts'

/** Writes one answer as server-sent events; block indexes increase and blocks do not overlap. */
export interface AnswerEncoder {
  /** The frames of one event, ready to be written; empty when the event has no frame. */
  push(event: ModelEvent): string
  /** The last frame of a broken stream, with the family's error body. */
  fail(body: JsonObject): string
  /** A heartbeat that shows that the connection is alive: each time the next one. */
  readonly heartbeat: string
  /** Once the last frame was written; absent where frames do not tell of the answer as a whole. */
  ended?(): EndedAnswer | undefined
}

export type EndedAnswer = {
  answer: JsonObject
  /** The last frame, with this answer in it; it keeps its place in the stream. */
  writeLast(answer: JsonObject): string
}

export type EncoderOptions = {
  /** For answers from a vendor of the other family. */
  id: string
  createdAt: Date
  /** llma: the input in tokens, until the vendor has counted it; the first frame of a stream names a number. */
  estimatedInput?: number
  /** llmo: the caller asked for a final chunk with the counts. */
  includeUsage?: boolean
}

/** An answer in one piece. */
export type WholeAnswer = {
  id?: string
  model: string
  content: ContentBlock[]
  /** Fields of the vendor's message that have no neutral form, for a client of its family. */
  attached?: JsonObject
  usage: TokenUsage
  rawUsage?: Raw
  stopReason: StopReason
  stopSequence?: string
  /** The vendor's own answer or opening frame. */
  raw?: Raw
  /** The vendor's own stop reason. */
  rawStop?: Raw
  /** True when the vendor's answer is unmodified: within its family it is passed on as it is. */
  untouched?: boolean
}

export function rawOf(family: Family, raw: Raw | undefined): JsonObject | undefined {
  return raw?.family === family ? raw.json : undefined
}

/** Sums the counts of several calls: numbers are added at every depth; for other values the last one counts. */
export function addCounts(a: JsonObject, b: JsonObject): JsonObject {
  const sum = { ...a }
  for (const [key, value] of Object.entries(b)) sum[key] = addValue(a[key], value)
  return sum
}

function addValue(a: unknown, b: unknown): unknown {
  if (typeof a === 'number' && typeof b === 'number') return a + b
  if (isJsonObject(a) && isJsonObject(b)) return addCounts(a, b)
  return b ?? a
}

type CallIds = {
  /** The vendor's own id, or a new one when it is missing or repeated. */
  take(vendorId: string | undefined): string
}

export function createCallIds(): CallIds {
  const taken = new Set<string>()
  return {
    take(vendorId) {
      const id = vendorId && !taken.has(vendorId) ? vendorId : `call_${randomUUID().replaceAll('-', '').slice(0, 24)}`
      taken.add(id)
      return id
    },
  }
}
