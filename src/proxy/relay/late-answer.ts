// The end of a passed-through request whose time is up: the answer so far, closed in the caller's language (LLMA-039,
// LIM-008).

import { parseForeignObject } from '../../contract/schema/foreign-json.ts'
import type { JsonObject } from '../../lib/json.ts'
import { deadlineClosing } from '../../llm/loop/loop-step.ts'
import type { AnswerEncoder } from '../../llm/messages/answer.ts'
import { type ModelEvent, noUsage, type Raw, type TokenUsage } from '../../llm/messages/messages.ts'
import { codecs } from '../loop/codec.ts'
import type { ConversationEndpoint } from '../types.ts'
import type { PassedAnswer } from './passed-answer.ts'
import type { PassedCall, ReplyWriter } from './passthrough.ts'

export type LateRequest = {
  endpoint: ConversationEndpoint
  stream: boolean
  model: string
  requestId: string
  now: Date
}

/** The last whole frame of `text` about blocks or the message; undefined when the text ends within a frame. */
function findLastFrame(text: string): JsonObject | undefined {
  if (!/\r?\n\r?\n$/.test(text)) return undefined
  const frames = text.split(/\r?\n\r?\n/).reverse()
  for (const frame of frames) {
    const data = /^data: ?(.*)$/m.exec(frame)?.[1]
    const json = data === undefined ? undefined : parseForeignObject(data)
    if (json !== undefined && json.type !== 'ping') return json
  }
}

function say(index: number): ModelEvent[] {
  return [
    { type: 'block_start', index, block: 'text' },
    { type: 'text_delta', index, text: deadlineClosing },
    { type: 'block_stop', index },
  ]
}

type End = { encoder: AnswerEncoder; model: string; usage: TokenUsage }

function encode({ encoder }: End, events: ModelEvent[]): string {
  return events.map(encoder.push).join('')
}

function stop(usage: TokenUsage): ModelEvent[] {
  return [
    { type: 'usage', usage },
    { type: 'stop', reason: 'end_turn' },
  ]
}

const openTypes = new Set(['content_block_start', 'content_block_delta'])
const goingTypes = new Set([...openTypes, 'content_block_stop', 'message_start'])

/** Closes the open block; the closing text is the next one. */
function closeMessages(frame: JsonObject, end: End): string | undefined {
  if (!goingTypes.has(String(frame.type))) return undefined
  const index = typeof frame.index === 'number' ? frame.index : -1
  const open: ModelEvent[] = openTypes.has(String(frame.type)) ? [{ type: 'block_stop', index }] : []
  return encode(end, [...open, ...say(index + 1), ...stop(end.usage)])
}

function closeChat(frame: JsonObject, end: End): string | undefined {
  const raw: Raw = { family: 'llmo', json: frame }
  // The chunks continue under the same id.
  end.encoder.push({ type: 'start', model: end.model, raw })
  return encode(end, [{ type: 'text_delta', index: 0, text: `\n\n${deadlineClosing}` }, ...stop(end.usage)])
}

/** An answer that has started. Items of a response repeat everything that was said, which is not stored here. */
const closers: Record<ConversationEndpoint, (frame: JsonObject, end: End) => string | undefined> = {
  messages: closeMessages,
  chat: closeChat,
  responses: () => undefined,
}

function describeEnd({ endpoint, requestId, now, model }: LateRequest, usage: TokenUsage = noUsage) {
  const codec = codecs[endpoint]
  const options = { id: `${codec.idPrefix}${requestId}`, createdAt: now }
  return { codec, options, end: { encoder: codec.createEncoder(options), model, usage } }
}

/** Nothing has been sent: the closing text is the whole answer. */
function answerWhole(writer: ReplyWriter, request: LateRequest, usage: TokenUsage | undefined): void {
  const { model } = request
  const { codec, options, end } = describeEnd(request, usage)
  if (request.stream) {
    writer.head(200, ['content-type', 'text/event-stream; charset=utf-8', 'cache-control', 'no-cache'])
    writer.write(Buffer.from(encode(end, [{ type: 'start', model }, ...say(0), ...stop(end.usage)])))
    return
  }
  const content = [{ type: 'text' as const, text: deadlineClosing }]
  const answer = { model, content, usage: end.usage, stopReason: 'end_turn' as const }
  const body = Buffer.from(JSON.stringify(codec.encodeAnswer(answer, options)))
  writer.head(200, ['content-type', 'application/json; charset=utf-8', 'content-length', String(body.length)])
  writer.write(body)
}

/** The text that closes a stream at this point; undefined when it cannot be closed. */
function findClosing(answer: PassedAnswer, request: LateRequest, usage: TokenUsage | undefined): string | undefined {
  if (!answer.isStream || answer.isPacked) return undefined
  const frame = findLastFrame(answer.ending().toString('utf8'))
  return frame && closers[request.endpoint](frame, describeEnd(request, usage).end)
}

type Ended = Pick<PassedCall, 'answer' | 'usage'>

/** Ends the answer after what has been sent; false when it cannot be closed. */
export function closeAnswer(writer: ReplyWriter, request: LateRequest, { answer, usage }: Ended = {}): boolean {
  if (answer === undefined) answerWhole(writer, request, usage)
  else {
    const closing = findClosing(answer, request, usage)
    if (closing === undefined) return false
    writer.write(Buffer.from(closing))
  }
  writer.end()
  return true
}
