// What a passed request gives when its time is over: the answer so far, closed in the caller's own language (LLMA-039, LIM-008).

import type { AnswerEncoder } from '../../llm/answer.ts'
import { parseForeignObject } from '../../llm/foreign-json.ts'
import { deadlineClosing } from '../../llm/loop-step.ts'
import { type ModelEvent, noUsage, type Raw, type TokenUsage } from '../../llm/messages.ts'
import { codecs } from '../loop/codec.ts'
import { isConversation } from '../target.ts'
import type { Conversation, Endpoint, JsonObject } from '../types.ts'
import type { Outlet } from './passthrough.ts'

export type LateOutlet = Outlet & {
  /** False when the answer cannot be closed: then the connection has to break, so that nobody takes it for the whole. */
  close(usage: TokenUsage | undefined): boolean
}

export type LateRequest = { endpoint: Endpoint; stream: boolean; model: string; requestId: string; now(): Date }

/** Signs of life may come alone; what stands in so many last pieces tells where an answer has got to. */
const rememberedChunks = 3

type Sent = { type: string; encoded: boolean; last: Buffer[] }

/** The last whole frame of `text` that is about blocks or the message; undefined when the text ends within a frame. */
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

/** The open block is closed; the closing words are the next one. */
function closeMessages(frame: JsonObject, end: End): string | undefined {
  if (!goingTypes.has(String(frame.type))) return undefined
  const index = typeof frame.index === 'number' ? frame.index : -1
  const open: ModelEvent[] = openTypes.has(String(frame.type)) ? [{ type: 'block_stop', index }] : []
  return encode(end, [...open, ...say(index + 1), ...stop(end.usage)])
}

function closeChat(frame: JsonObject, end: End): string | undefined {
  const raw: Raw = { family: 'llmo', json: frame }
  // The chunks go on under the id of those before.
  end.encoder.push({ type: 'start', model: end.model, raw })
  return encode(end, [{ type: 'text_delta', index: 0, text: `\n\n${deadlineClosing}` }, ...stop(end.usage)])
}

/** An answer that has begun. Items of a response repeat all that was said, which nobody here has kept. */
const closers: Record<Conversation, (frame: JsonObject, end: End) => string | undefined> = {
  messages: closeMessages,
  chat: closeChat,
  responses: () => undefined,
}

/** Keeps an eye on what goes out; everything else is the outlet's. */
export function createLateOutlet(outlet: Outlet, request: LateRequest): LateOutlet {
  const { endpoint, model } = request
  let sent: Sent | undefined

  function describeEnd(usage: TokenUsage = noUsage) {
    const codec = codecs[endpoint as Conversation]
    const options = { id: `${codec.idPrefix}${request.requestId}`, createdAt: request.now() }
    return { codec, options, end: { encoder: codec.createEncoder(options), model, usage } }
  }

  /** Nothing has gone out: the closing words are the whole answer. */
  function answerWhole(usage: TokenUsage | undefined): void {
    const { codec, options, end } = describeEnd(usage)
    if (request.stream) {
      outlet.head(200, ['content-type', 'text/event-stream; charset=utf-8', 'cache-control', 'no-cache'])
      outlet.write(Buffer.from(encode(end, [{ type: 'start', model }, ...say(0), ...stop(end.usage)])))
      return
    }
    const content = [{ type: 'text' as const, text: deadlineClosing }]
    const answer = { model, content, usage: end.usage, stopReason: 'end_turn' as const }
    const body = Buffer.from(JSON.stringify(codec.encodeAnswer(answer, options)))
    outlet.head(200, ['content-type', 'application/json; charset=utf-8', 'content-length', String(body.length)])
    outlet.write(body)
  }

  function closeStream({ type, encoded, last }: Sent, usage: TokenUsage | undefined): boolean {
    if (!type.startsWith('text/event-stream') || encoded) return false
    const frame = findLastFrame(Buffer.concat(last).toString('utf8'))
    const closing = frame && closers[endpoint as Conversation](frame, describeEnd(usage).end)
    if (closing === undefined) return false
    outlet.write(Buffer.from(closing))
    return true
  }

  return {
    ...outlet,
    head(status, headers) {
      const at = headers.indexOf('content-type')
      const encoded = headers.includes('content-encoding')
      sent = { type: at === -1 ? '' : (headers[at + 1] ?? ''), encoded, last: [] }
      outlet.head(status, headers)
    },
    write(chunk) {
      if (sent !== undefined && sent.last.push(chunk) > rememberedChunks) sent.last.shift()
      return outlet.write(chunk)
    },
    close(usage) {
      if (!isConversation(endpoint)) return false
      if (sent === undefined) answerWhole(usage)
      else if (!closeStream(sent, usage)) return false
      outlet.end()
      return true
    },
  }
}
