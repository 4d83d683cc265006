// Answers without a route: an unknown path (404), a wrong method (405 with Allow, HTTP-009), and what Node's parser refuses.
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Route } from '../contract/api/resources/route.ts'
import { type ErrorReason, SvcError } from '../errors.ts'
import type { Ids } from '../lib/clock.ts'
import { STATUS_CODES } from '../lib/node-http.ts'
import { writeFamilyError } from '../proxy/family-error.ts'
import { toErrorBody } from './middleware/error-answer.ts'

type KnownPath = { pattern: RegExp; methods: Set<string> }

function toPattern(path: string): RegExp {
  const escaped = path.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`^${escaped.replace(/:[A-Za-z]+/g, '[^/]+')}$`)
}

function groupByPath(routes: readonly Route[]): KnownPath[] {
  const paths = new Map<string, KnownPath>()
  for (const { path, method, stream } of routes) {
    const known = paths.get(path) ?? { pattern: toPattern(path), methods: new Set<string>() }
    known.methods.add(method)
    if (method === 'GET' && stream === undefined) known.methods.add('HEAD')
    paths.set(path, known)
  }
  return [...paths.values()]
}

/** Why no route accepts a request, and the value of `Allow` when the path is known. */
export type RouteRefusal = { error: SvcError; allow?: string }

/** What clients of vendors add to their base URL, and how that ends for this service. */
const clientPaths = [
  { ends: ['/chat/completions', '/responses', '/embeddings'], vendor: 'OpenAI', base: '/llmo/v1' },
  { ends: ['/messages', '/messages/count_tokens'], vendor: 'Anthropic', base: '/llma' },
]

function adviseOn(path: string): string {
  const client = clientPaths.find(({ ends }) => ends.some((end) => path.endsWith(end)))
  if (client === undefined || path.startsWith('/api/') || path.startsWith('/internal/')) return 'see /openapi.json'
  return `the base URL of clients of ${client.vendor}'s API ends with ${client.base} here`
}

/** `methods`: those of the path; empty when the path does not exist. */
export function refuseMethod(method: string, path: string, methods: readonly string[]): RouteRefusal {
  const shown = path.slice(0, 200)
  if (methods.length === 0)
    return { error: new SvcError('NotFound', `there is nothing at ${shown}; ${adviseOn(path)}`) }
  const allow = methods.join(', ')
  return { error: new SvcError('MethodNotAllowed', `${method} is not a method of ${shown}; use ${allow}`), allow }
}

/** Builds the answer to a request without a route; `target` is its path with the query. */
export function createRefusals(routes: readonly Route[]): (method: string, target: string) => RouteRefusal {
  const paths = groupByPath(routes)
  return (method, target) => {
    const path = target.split('?', 1)[0] ?? ''
    const methods = paths.filter((known) => known.pattern.test(path)).flatMap((known) => [...known.methods])
    return refuseMethod(method, path, [...new Set(methods)])
  }
}

type ParserError = Error & { code?: string; rawPacket?: Buffer }

/** What is known about a request that was not read to its end. */
type Start = { method?: string; target: string }

export type UnreadOptions = {
  /** Why no route accepts a request with this method and target. */
  refuse: (method: string, target: string) => RouteRefusal
  ids: Ids
  /** Headers of every answer. */
  headers: Readonly<Record<string, string>>
}

/** Events of a server that `answerUnread` handles. */
export const unreadEvents = ['clientError', 'connect', 'checkExpectation'] as const

const faults: Record<string, [ErrorReason, string]> = {
  ERR_HTTP_REQUEST_TIMEOUT: ['RequestTimeout', 'the request took too long to arrive'],
  HPE_HEADER_OVERFLOW: ['HeadersTooLarge', 'the headers are too large'],
}
const noHttp: [ErrorReason, string] = ['InvalidRequest', 'the request is not valid HTTP']

/** A longer first line adds nothing about the target. */
const maxStartLength = 1024

/** The unfinished answer on a connection. Node keeps it private, and checks it itself before it writes a 400. */
function pendingOf(socket: Duplex): ServerResponse | undefined {
  return (socket as Duplex & { _httpMessage?: ServerResponse | null })._httpMessage ?? undefined
}

/** Taken from the request that is being read, or else from the refused bytes. */
function startOf(error: ParserError, pending: ServerResponse | undefined): Start {
  if (pending !== undefined) return { target: pending.req.url ?? '' }
  const text = error.rawPacket?.toString('latin1', 0, maxStartLength) ?? ''
  const [, method, target = ''] = /^([!#$%&'*+.^_`|~\w-]+) (\S+)/.exec(text) ?? []
  return { method, target }
}

function refusalOf(error: ParserError, { method, target }: Start, { refuse }: UnreadOptions): RouteRefusal {
  if (error.code === 'HPE_INVALID_METHOD' && method !== undefined && target.startsWith('/'))
    return refuse(method, target)
  const [reason, message] = faults[error.code ?? ''] ?? noHttp
  return { error: new SvcError(reason, message, { cause: error }) }
}

/** The last answer on a connection, in the form of the family that its path belongs to. */
function writeLast(
  socket: Duplex,
  target: string,
  { error, allow }: RouteRefusal,
  { ids, headers }: UnreadOptions,
): void {
  const requestId = ids.next('req')
  const family = /^\/(llm[ao])(?:[/?]|$)/.exec(target)?.[1] as 'llma' | 'llmo' | undefined
  const body = family === undefined ? toErrorBody(error, requestId) : writeFamilyError(family, error, requestId)
  const payload = JSON.stringify(body)
  const all = {
    'x-request-id': requestId,
    ...(family === 'llma' ? { 'request-id': requestId } : {}),
    ...headers,
    ...(allow === undefined ? {} : { allow }),
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(payload)),
    connection: 'close',
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n${lines.join('')}\r\n${payload}`)
}

export function answerUnread(server: Server, options: UnreadOptions): void {
  // The framework's own answer says less.
  server.removeAllListeners('clientError')
  server.on('clientError', (error: ParserError, socket: Duplex) => {
    const pending = pendingOf(socket)
    // An answer has started, so nothing else may be written.
    const isAnswered = pending?.headersSent === true
    if (error.code === 'ECONNRESET' || !socket.writable || isAnswered) return void socket.destroy()
    const start = startOf(error, pending)
    writeLast(socket, start.target, refusalOf(error, start, options), options)
  })
  server.on('connect', (request: IncomingMessage, socket: Duplex) => {
    socket.on('error', () => {})
    const target = request.url ?? ''
    writeLast(socket, target, options.refuse('CONNECT', target), options)
  })
  // Expect may be ignored (RFC 9110 section 10.1.1); Node would answer 417 without a body.
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    server.emit('request', request, response)
  })
}
