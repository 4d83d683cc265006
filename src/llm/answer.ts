// A neutral answer on its way to a caller: whole, or as the frames of a stream. Each family has an encoder of this shape.
import { isJsonObject, type JsonObject } from '../contract/json.ts'
import type { ContentBlock, Family, ModelEvent, Raw, StopReason, TokenUsage } from './messages.ts'

/** Writes one answer as server-sent events; the block indexes of the events rise and blocks do not overlap. */
export interface AnswerEncoder {
  /** The frames of one event, ready to be written; empty when there is nothing to tell. */
  push(event: ModelEvent): string
  /** The last frame of a stream that broke, with the family's error body. */
  fail(body: JsonObject): string
  /** Shows that the connection lives while nothing happens. */
  readonly heartbeat: string
}

export type EncoderOptions = {
  /** For answers of a vendor of the other family. */
  id: string
  createdAt: Date
  /** llmo: the caller asked for a last chunk with the counts. */
  includeUsage?: boolean
}

/** An answer in one piece. */
export type WholeAnswer = {
  id?: string
  model: string
  content: ContentBlock[]
  usage: TokenUsage
  rawUsage?: Raw
  stopReason: StopReason
  stopSequence?: string
  /** The vendor's own answer or opening frame. */
  raw?: Raw
  /** How the vendor said why it stopped. */
  rawStop?: Raw
  /** Nothing was added to or taken from the vendor's answer: within its family it is passed on as it is. */
  untouched?: boolean
}

export function rawOf(family: Family, raw: Raw | undefined): JsonObject | undefined {
  return raw?.family === family ? raw.json : undefined
}

/** Counts of several calls: numbers are added, at every depth; of everything else the last counts. */
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
