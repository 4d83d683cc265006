// Writes one answer of a proxy: JSON, an error in the family's form, frames, or bytes as they arrive.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { isSvcError, reasonHeader, retryHeader, SvcError } from '../../errors.ts'
import { onAbort } from '../../lib/abort.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import type { PipeControl } from '../../ports/service/egress.ts'
import { writeFamilyError } from '../../proxy/family-error.ts'
import type { ReplyWriter } from '../../proxy/request.ts'
import type { ProxyAnswer, ProxyFamily } from '../../proxy/types.ts'
import { markRefusal, type Trail } from '../middleware/audit.ts'
import { challengeFor, drainBody, retryAfterOf, toSvcError } from '../middleware/error-answer.ts'

export type Reply = {
  family: ProxyFamily
  request: IncomingMessage
  response: ServerResponse
  requestId: string
  /** Headers of every answer: names and values alternate. */
  headers: string[]
  /** What is known about the request, for the audit log. */
  trail: Trail & { caller?: Caller }
}

const eventStream = 'text/event-stream'

function baseHeaders({ family, headers, requestId }: Reply, own: readonly string[]): string[] {
  const all = ['x-request-id', requestId, ...headers, ...own]
  // The official client of the family shows this as the request's id.
  if (family === 'llma' && !own.includes('request-id')) all.push('request-id', requestId)
  return all
}

export function sendJson(reply: Reply, status: number, body: JsonObject, headers: string[] = []): void {
  const payload = Buffer.from(JSON.stringify(body))
  const own = ['content-type', 'application/json; charset=utf-8', 'content-length', String(payload.length), ...headers]
  reply.response.writeHead(status, baseHeaders(reply, own))
  reply.response.end(reply.request.method === 'HEAD' ? undefined : payload)
}

function errorHeaders(error: SvcError): string[] {
  const seconds = retryAfterOf(error)
  return [
    reasonHeader,
    error.reason,
    ...(error.lasts ? [retryHeader, 'false'] : []),
    ...(seconds === undefined ? [] : ['retry-after', String(seconds)]),
    ...(error.reason === 'Unauthenticated' ? ['www-authenticate', challengeFor(error)] : []),
  ]
}

/** Breaks the connection when part of an answer has been sent: a client must not take that part for the whole. */
export function sendFamilyError(reply: Reply, error: unknown, headers: string[] = []): SvcError {
  const known = isSvcError(error) ? error : toSvcError(error)
  const { response, request, family, requestId } = reply
  reply.trail = markRefusal(reply.trail, known) ?? {}
  if (response.headersSent || response.destroyed) {
    response.destroy()
    return known
  }
  if (known.status === 413) drainBody(request)
  sendJson(reply, known.status, writeFamilyError(family, known, requestId), [...errorHeaders(known), ...headers])
  return known
}

function isEventStream(headers: readonly string[]): boolean {
  const at = headers.indexOf('content-type')
  return at !== -1 && headers[at + 1]?.startsWith(eventStream) === true
}

/** Sends the head together with the first frame if that is ready, otherwise at once. */
function startStream(response: ServerResponse, headers: string[], status: number): void {
  // Corks the socket itself: the response's own cork loses what is written between it and `end` (Node 24).
  if (response.socket !== null) joinWrites(response.socket)
  // Tells a proxy in between not to buffer the whole answer.
  response.writeHead(status, [...headers, 'x-accel-buffering', 'no'])
  response.flushHeaders()
}

/** What is written before the event loop goes on leaves in one system call: an answer ends in up to four pieces. */
function joinWrites(socket: Socket): void {
  if (socket.writableCorked > 0) return
  socket.cork()
  process.nextTick(uncork, socket)
}

function uncork(socket: Socket): void {
  socket.uncork()
}

/** Passed-through bytes go straight to the socket; a slow client slows the upstream down. */
export function createReplyWriter(
  reply: Reply,
  { onStream, answerBy }: { onStream(): void; answerBy: ReplyWriter['answerBy'] },
): ReplyWriter {
  const { response } = reply
  return {
    head(status, headers) {
      const all = baseHeaders(reply, headers)
      if (!isEventStream(headers)) return void response.writeHead(status, all)
      onStream()
      startStream(response, all, status)
    },
    write: (chunk) => response.write(chunk),
    end: () => void response.end(),
    fail: (error) => void sendFamilyError(reply, error),
    answerBy,
  }
}

/** A client that disconnects ends the upstream call at once. */
export function bindPassthrough({ response }: Reply, control: PipeControl): void {
  response.on('drain', control.resume)
  response.once('close', control.abort)
  if (response.destroyed) control.abort()
}

function waitForRoom(response: ServerResponse, source: ServerResponse | Socket): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      source.off('drain', go)
      response.off('close', go)
      resolve()
    }
    source.once('drain', go)
    response.once('close', go)
  })
}

/**
 * Writes one text of a stream whose head has been sent. Node writes a chunk in four parts, which costs more than
 * anything else for a short frame; as one string it is a single cheap write. Returns a promise when there is no room.
 */
function writeText(response: ServerResponse, text: string): Promise<void> | undefined {
  const { socket } = response
  // A pipelined response waits for those before it; an HTTP/1.0 client gets no chunks.
  if (socket === null || !response.chunkedEncoding) {
    return response.write(text) ? undefined : waitForRoom(response, response)
  }
  joinWrites(socket)
  const bytes = Buffer.byteLength(text)
  const chunk = `${bytes.toString(16)}\r\n${text}\r\n`
  // One byte per character means ASCII, which needs no conversion.
  return socket.write(chunk, bytes === text.length ? 'latin1' : 'utf8') ? undefined : waitForRoom(response, socket)
}

/** Writes the frames of the loop. Gives up on a client that does not read them in time. */
export async function sendFrames(
  reply: Reply,
  { status, headers: own, send, late }: Extract<ProxyAnswer, { send: unknown }>,
): Promise<void> {
  const { response } = reply
  onAbort(late, () => void response.destroy())
  const headers = [
    'content-type',
    `${eventStream}; charset=utf-8`,
    'cache-control',
    'no-cache',
    ...Object.entries(own).flat(),
  ]
  startStream(response, baseHeaders(reply, headers), status)
  await send((frames) => {
    if (response.destroyed) throw new SvcError('ClientClosed', 'the client closed the connection')
    return writeText(response, frames)
  })
  response.end()
}
