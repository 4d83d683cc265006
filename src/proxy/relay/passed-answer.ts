// What is remembered of an answer while it is passed through: its beginning, its last pieces and its length. Pieces are
// kept by reference and not examined while the bytes go by.
import { ruleOfCall } from '../../contract/kinds/tasks/failures.ts'
import { parseForeignJson } from '../../contract/schema/foreign-json.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { ModelError, TokenUsage } from '../../llm/messages/messages.ts'
import { bytesPerToken, type EstimatedUsage, findMissing, uncounted } from '../../llm/messages/token-usage.ts'
import type { Endpoint } from '../types.ts'

/** How many bytes from the beginning an estimate examines. */
const beginningBytes = 32_768
/** Heartbeats may arrive alone, and pieces may be small; this much shows how far an answer has got. */
const lastPieces = 3
const lastBytes = 16_384

export type AnswerShape = { isStream: boolean; isPacked: boolean }

export class PassedAnswer {
  readonly isStream: boolean
  /** In an encoding that is not decoded here. */
  readonly isPacked: boolean
  readonly #first: Buffer[] = []
  readonly #last: Buffer[] = []
  #firstBytes = 0
  #lastBytes = 0
  #bytes = 0

  constructor({ isStream, isPacked }: AnswerShape) {
    this.isStream = isStream
    this.isPacked = isPacked
  }

  /** A piece that has been sent. */
  push(piece: Buffer): void {
    this.#bytes += piece.length
    this.#keepLast(piece)
    if (this.#firstBytes >= beginningBytes) return
    this.#first.push(piece)
    this.#firstBytes += piece.length
  }

  #keepLast(piece: Buffer): void {
    this.#last.push(piece)
    this.#lastBytes += piece.length
    const [oldest] = this.#last
    if (oldest === undefined || this.#last.length <= lastPieces || this.#lastBytes - oldest.length < lastBytes) return
    this.#last.shift()
    this.#lastBytes -= oldest.length
  }

  get bytes(): number {
    return this.#bytes
  }

  beginning(): Buffer {
    return Buffer.concat(this.#first)
  }

  ending(): Buffer {
    return Buffer.concat(this.#last)
  }
}

/** Tokens of an image, whatever its size (vendor documents: about 1,600 at most). */
const tokensPerAttachment = 1600
/** Shorter strings are ignored. */
const shortestAttachment = 2048
const attachmentMark = Buffer.from('base64')
const quote = 0x22

/** Fields of a delta that are not text of the model. */
const labels = new Set(['type', 'role', 'id', 'index', 'object', 'name', 'stop_reason', 'finish_reason'])

function countText(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value)
  if (typeof value !== 'object' || value === null) return 0
  return Object.entries(value).reduce((sum, [name, part]) => sum + (labels.has(name) ? 0 : countText(part)), 0)
}

/** Deltas in the streams of all vendors. */
function countFrame(line: string): number {
  const frame = parseForeignJson(line.slice('data:'.length))
  if (typeof frame !== 'object' || frame === null) return 0
  const { delta, choices } = frame as { delta?: unknown; choices?: unknown }
  const chosen = Array.isArray(choices) ? choices.map((choice) => (choice as JsonObject | null)?.delta) : []
  return countText(delta) + countText(chosen)
}

/** Tokens so far; everything after the beginning is assumed to be similar. */
export function estimateAnswer(answer: PassedAnswer): number {
  const { bytes, isStream } = answer
  if (bytes === 0) return 0
  if (!isStream) return Math.ceil(bytes / bytesPerToken)
  const beginning = answer.beginning()
  const lines = beginning.toString('utf8').split('\n')
  const text = lines.reduce((sum, line) => sum + (line.startsWith('data:') ? countFrame(line) : 0), 0)
  return Math.ceil((text * (bytes / beginning.length)) / bytesPerToken)
}

/** The length of the base64 image or document after `at`; 0 when there is none. */
function measureAttachment(body: Buffer, at: number): number {
  for (let from = at, looked = 0; looked < 8; looked += 1) {
    const next = body.indexOf(quote, from)
    if (next === -1) return 0
    const length = next - from
    if (length >= shortestAttachment) return body.subarray(from, next).includes(' ') ? 0 : length
    from = next + 1
  }
  return 0
}

/** Tokens of the request, by its bytes; images and documents count as the most they can be. */
export function estimateBody(body: Buffer): number {
  let bytes = body.length
  let attachments = 0
  for (let at = body.indexOf(attachmentMark); at !== -1; ) {
    const length = measureAttachment(body, at)
    bytes -= length
    if (length > 0) attachments += 1
    at = body.indexOf(attachmentMark, at + Math.max(length, attachmentMark.length))
  }
  return Math.ceil(bytes / bytesPerToken) + attachments * tokensPerAttachment
}

/** Vendors answer these endpoints with nothing that counts as tokens. */
const wordless: Endpoint[] = ['embeddings']

/** Undefined when the vendor counted everything, or was not asked. Counting tokens itself uses none. */
export function estimatePassed(endpoint: Endpoint, body: Buffer, call: PassedCall): EstimatedUsage | undefined {
  if (endpoint === 'count_tokens' || !hasReached(call)) return undefined
  const isWhole = call.error === undefined && !call.aborted
  const counted = isWhole && call.usage !== undefined && call.usage.inputTokens > 0 && call.usage.outputTokens > 0
  if (counted) return undefined
  const output = wordless.includes(endpoint) || call.answer === undefined ? 0 : estimateAnswer(call.answer)
  if (isRefused(call, output)) return undefined
  return findMissing(call.usage, estimateBody(body), isWhole ? uncounted(call.usage, output) : output)
}

/** An error under a status of success is a refusal like any other. */
function isRefused({ error, abandoned }: PassedCall, output: number): boolean {
  return error !== undefined && !abandoned && output === 0 && ruleOfCall(error.reason).begun !== true
}

/** The vendor has started to answer, or had received the request when it was abandoned. */
function hasReached({ status, abandoned, takenOver }: PassedCall): boolean {
  if (takenOver) return false
  return status === 0 ? abandoned === true : status < 300
}

export type PassedCall = {
  status: number
  usage?: TokenUsage
  /** Why there was no answer, or only part of one; without the provider's key. */
  error?: ModelError
  /** The caller disconnected before the end. */
  aborted: boolean
  /** The service abandoned it, because of the caller or its time limit. */
  abandoned?: true
  /** What has been sent of an answer, except refusals. */
  answer?: PassedAnswer
  /** Another provider takes the request over. */
  takenOver?: true
  /** Milliseconds of `performance.now()`; absent when no byte arrived. */
  firstByteAt?: number
}
