// Turns anything that was thrown into the one error body (HTTP-003); unknown errors become a 500 that reveals nothing.
import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ErrorBody } from '../../contract/api/resources/route.ts'
import { type ErrorReason, isSvcError, SvcError } from '../../errors.ts'
import { codeOf } from '../../lib/error-code.ts'
import { markRefusal } from './audit.ts'

const frameworkReasons: Record<string, [ErrorReason, string]> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ['TooLarge', 'the body is too large; send less at once'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    'UnsupportedMediaType',
    'the body must be JSON; send it with the header Content-Type: application/json',
  ],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['InvalidRequest', 'the body is not as long as Content-Length says'],
  FST_ERR_BAD_URL: ['InvalidRequest', 'the path is not valid: it has a broken percent-encoding'],
  ECONNRESET: ['ClientClosed', 'the client disconnected'],
  ERR_STREAM_PREMATURE_CLOSE: ['ClientClosed', 'the client disconnected'],
}

// Sent when nothing better is known about when to retry (HTTP-012, HTTP-014).
const defaultRetrySeconds: Partial<Record<ErrorReason, number>> = {
  TooManyRequests: 1,
  Unavailable: 5,
  StorageFull: 30,
  Overloaded: 5,
}

function statusOf(error: unknown): number {
  return error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500
}

/** The error as an SvcError. */
export function toSvcError(error: unknown): SvcError {
  if (isSvcError(error)) return error
  const known = frameworkReasons[codeOf(error)]
  if (known !== undefined) return new SvcError(known[0], known[1], { cause: error })
  if (statusOf(error) < 500) return new SvcError('InvalidRequest', 'the request could not be read', { cause: error })
  return new SvcError('Internal', 'Internal Server Error', { cause: error })
}

export function toErrorBody(error: SvcError, requestId: string): ErrorBody {
  const { status: code, reason, message, details } = error
  return { error: { code, reason, message, details, requestId } }
}

export function challengeFor(error: SvcError): string {
  return error.message.startsWith('missing') ? 'Bearer realm="svc"' : 'Bearer realm="svc", error="invalid_token"'
}

/** The value of `Retry-After`; undefined for errors that waiting does not fix. */
export function retryAfterOf(error: SvcError): number | undefined {
  const seconds = error.retryAfterSeconds ?? defaultRetrySeconds[error.reason]
  return seconds === undefined ? undefined : Math.max(1, Math.ceil(seconds))
}

function setErrorHeaders(reply: FastifyReply, error: SvcError): void {
  const seconds = retryAfterOf(error)
  if (seconds !== undefined) reply.header('retry-after', String(seconds))
  if (error.reason === 'Unauthenticated') reply.header('www-authenticate', challengeFor(error))
  if (error.status !== 413) return
  reply.removeHeader('connection')
  drainBody(reply.request.raw)
}

// An upload that continues after its 413 is read and discarded up to this limit; a reset would lose the answer.
const drainedBytes = 64 * 1024 * 1024

/** Reads and discards the rest of a body, up to a limit, so that the client can finish sending and read the answer. */
export function drainBody(request: IncomingMessage): void {
  let left = drainedBytes
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) request.destroy()
  })
  request.resume()
}

/** Sends the error; a fault of the service is logged with its cause. */
export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const known = toSvcError(error)
  request.trail = markRefusal(request.trail, known)
  setErrorHeaders(reply, known)
  const payload = JSON.stringify(toErrorBody(known, request.id))
  return reply.code(known.status).header('content-type', 'application/json; charset=utf-8').send(payload)
}
