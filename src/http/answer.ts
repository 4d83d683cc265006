// What a handler answers with, and how it is written to the client: JSON, text, a file, an event stream, or nothing.
import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type EventSource, type EventStreamOptions, streamEvents } from './event-stream.ts'
import { sendCompressed } from './middleware/compression.ts'
import { matchesTag, tagOfText } from './middleware/conditional.ts'

type Common = {
  status?: number
  headers?: Record<string, string>
  /** ETag; absent: computed from the body, on routes with conditional reads. */
  tag?: string
}

export type Answer<Body> = Common &
  (
    | { json: Body }
    /** JSON that is already serialized. */
    | { jsonText: string }
    | { text: string; contentType: string }
    | { stream: Readable; contentType: string }
    | { events: (signal: AbortSignal) => EventSource }
    | { empty: true }
  )

export type AnswerContext = {
  /** The route's status on success. */
  status: number
  /** Whether the route is a read that can answer 304. */
  isRead: boolean
  isConditional: boolean
  events: EventStreamOptions
  trackStream: () => () => void
}

const jsonType = 'application/json; charset=utf-8'

function readPayload(answer: Answer<unknown>): { payload: string; contentType: string } | undefined {
  if ('json' in answer) return { payload: JSON.stringify(answer.json), contentType: jsonType }
  if ('jsonText' in answer) return { payload: answer.jsonText, contentType: jsonType }
  if ('text' in answer) return { payload: answer.text, contentType: answer.contentType }
  return undefined
}

/** True when the client already has it: the answer is 304. */
function isFresh(tag: string, request: FastifyRequest, reply: FastifyReply): boolean {
  reply.header('etag', tag)
  return matchesTag(request.headers['if-none-match'], tag)
}

function sendEvents(answer: Answer<unknown> & { events: unknown }, reply: FastifyReply, context: AnswerContext) {
  const source = answer.events as (signal: AbortSignal) => EventSource
  const stream = streamEvents(source, context.events)
  stream.once('close', context.trackStream())
  // Tells a proxy in between not to buffer the whole answer.
  return reply.header('content-type', 'text/event-stream; charset=utf-8').header('x-accel-buffering', 'no').send(stream)
}

/** The tag of the answer, on routes that have one. */
function tagOf(answer: Answer<unknown>, payload: string | undefined, context: AnswerContext): string | undefined {
  if (!context.isConditional) return undefined
  return answer.tag ?? (payload === undefined ? undefined : tagOfText(payload))
}

function sendNotModified(answer: Answer<unknown>, reply: FastifyReply): FastifyReply {
  if ('stream' in answer) answer.stream.destroy()
  return reply.code(304).send()
}

export function sendAnswer(
  answer: Answer<unknown>,
  request: FastifyRequest,
  reply: FastifyReply,
  context: AnswerContext,
): FastifyReply {
  reply.code(answer.status ?? context.status)
  if (context.isRead) reply.header('cache-control', 'private, no-store')
  if (answer.headers !== undefined) reply.headers(answer.headers)
  if ('events' in answer) return sendEvents(answer, reply, context)
  const read = readPayload(answer)
  const tag = tagOf(answer, read?.payload, context)
  if (tag !== undefined && isFresh(tag, request, reply)) return sendNotModified(answer, reply)
  if (read !== undefined) {
    reply.header('content-type', read.contentType)
    return context.isRead ? sendCompressed(read.payload, request, reply) : reply.send(read.payload)
  }
  if ('stream' in answer) return reply.header('content-type', answer.contentType).send(answer.stream)
  return reply.send()
}
