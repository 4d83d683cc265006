// How an answer that was passed through has ended: only one that its vendor has finished is a success.
import { parseForeignJson } from '../../contract/schema/foreign-json.ts'
import { isJsonObject, type JsonObject } from '../../lib/json.ts'
import { type OnUnknown, readVendorError, summarizeBody, type VendorError } from '../../llm/call/vendor-error.ts'
import { isEndWord, isFailedEnd, readEnding } from '../../llm/messages/endings.ts'
import type { Endpoint } from '../types.ts'

/** Null: it has ended well; undefined: this says nothing of its end. */
type End = VendorError | null | undefined

function failWith(json: unknown, text = ''): VendorError {
  return readVendorError(json) ?? { message: text === '' ? 'unknown error' : summarizeBody(text) }
}

function endWith(word: unknown, onUnknown: OnUnknown): End {
  if (!isEndWord(word)) return undefined
  const ending = readEnding(word)
  if (ending === undefined) onUnknown('finish_reason', word)
  if (ending !== undefined && !isFailedEnd(ending)) return null
  const known = ending === undefined ? ', which is not known' : ''
  return { reason: ending ?? 'AnswerBrokenOff', message: `the answer ended with "${word}"${known}` }
}

/** Of the responses API; every status that a response can end with. */
const statuses: Partial<Record<string, 'ended' | 'failed'>> = {
  completed: 'ended',
  incomplete: 'ended',
  failed: 'failed',
  cancelled: 'failed',
}

function endOfResponse(response: JsonObject, onUnknown: OnUnknown): End {
  const { status } = response
  if (status === undefined || status === 'in_progress' || status === 'queued') return undefined
  const end = statuses[String(status)]
  if (end === undefined) onUnknown('finish_reason', String(status))
  if (end === 'ended') return null
  const words = readVendorError(response.error)
  return { reason: 'ProviderFailed', message: `the response is ${String(status)}`, ...words }
}

function firstChoice({ choices }: JsonObject): JsonObject | undefined {
  return Array.isArray(choices) && isJsonObject(choices[0]) ? choices[0] : undefined
}

type Frame = { event: string | undefined; data: string }

/** What one event of a stream says of its end. */
function endOfFrame(endpoint: Endpoint, { event, data }: Frame, onUnknown: OnUnknown): End {
  const json = parseForeignJson(data)
  if (event === 'error') return failWith(json, data)
  if (!isJsonObject(json)) return undefined
  if (json.type === 'error' || isJsonObject(json.error)) return failWith(json)
  if (endpoint === 'messages') return isJsonObject(json.delta) ? endWith(json.delta.stop_reason, onUnknown) : undefined
  if (endpoint === 'responses') return isJsonObject(json.response) ? endOfResponse(json.response, onUnknown) : undefined
  return endWith(firstChoice(json)?.finish_reason, onUnknown)
}

function readFrame(text: string): Frame {
  // As llama.cpp wrote failures until autumn 2025.
  const failure = /^error: ?(.*)$/m.exec(text)?.[1]
  if (failure !== undefined) return { event: 'error', data: failure }
  const data = [...text.matchAll(/^data: ?(.*)$/gm)].map(([, line = '']) => line)
  return { event: /^event: ?(.*)$/m.exec(text)?.[1]?.trim(), data: data.join('\n') }
}

export type StreamEnd = {
  endpoint: Endpoint
  /** The last part of the stream, which may begin within a frame. */
  ending: string
  /** The last frame with counts, which may be longer than that part. */
  counted: unknown
}

/** Why a stream is no whole answer; undefined when it is one. */
export function findStreamFailure(
  { endpoint, ending, counted }: StreamEnd,
  onUnknown: OnUnknown,
): VendorError | undefined {
  const frames = ending.split(/\r\n\r\n|\n\n|\r\r/).reverse()
  for (const text of frames) {
    const end = endOfFrame(endpoint, readFrame(text), onUnknown)
    if (end !== undefined) return end ?? undefined
  }
  const last = isJsonObject(counted) && isJsonObject(counted.response) ? counted.response : undefined
  const end = last && endOfResponse(last, onUnknown)
  if (end !== undefined) return end ?? undefined
  return { reason: 'AnswerBrokenOff', message: 'the stream ended before the answer was complete' }
}

/** The list without which a body is no answer. */
const contents: Record<Endpoint, string> = {
  chat: 'choices',
  messages: 'content',
  responses: 'output',
  embeddings: 'data',
  count_tokens: 'input_tokens',
}

function hasContent(endpoint: Endpoint, json: JsonObject): boolean {
  const content = json[contents[endpoint]]
  return Array.isArray(content) ? endpoint !== 'chat' || content.length > 0 : typeof content === 'number'
}

/** Why a body is no answer; `isShown`: the caller may have it nevertheless, since it is one in the vendor's own words. */
export function findBodyFailure(
  endpoint: Endpoint,
  json: unknown,
  onUnknown: OnUnknown,
): { error: VendorError; isShown: boolean } | undefined {
  if (!isJsonObject(json) || !hasContent(endpoint, json)) {
    const words = readVendorError(json)
    if (words !== undefined) return { error: words, isShown: false }
    onUnknown('body', `no ${contents[endpoint]}`)
    return { error: { reason: 'ProviderFailed', message: `its answer has no ${contents[endpoint]}` }, isShown: true }
  }
  const end = endpoint === 'responses' ? endOfResponse(json, onUnknown) : endWith(endWordOf(json), onUnknown)
  return end ? { error: end, isShown: readsAsUnknown(json) } : undefined
}

function endWordOf(json: JsonObject): unknown {
  return firstChoice(json)?.finish_reason ?? json.stop_reason
}

/** The caller speaks the language of the vendor, and may know a word that is not known here. */
function readsAsUnknown(json: JsonObject): boolean {
  const word = endWordOf(json)
  return typeof word === 'string' && readEnding(word) === undefined
}
