// Between an agent program and the service: a call that the service does not take now is held and made again, since programs give
// up after seconds. What was answered passes byte for byte.
import { createServer, type IncomingMessage, request as requestHttp, type Server, type ServerResponse } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { reasonHeader } from '../../errors.ts'
import { type Backoff, delayMs } from '../../lib/backoff.ts'
import type { Clock, Ids } from '../../lib/clock.ts'

export type ServiceForwarder = {
  /** Where the program finds the service; without a path. */
  url: string
  /** Whether the last call that ended was given up because the service was away. */
  isAway(): boolean
  close(): Promise<void>
}

type Options = {
  /** The service, such as `https://svc.svc-system:8080`. */
  url: string
  clock: Clock
  ids: Pick<Ids, 'random'>
  note(line: string): void
}

/** How long a call is held; programs wait ten minutes for an answer, and some of them five. */
const graceMs = 240_000
const backoff: Backoff = { firstMs: 500, maxMs: 10_000 }
const retryAfterSeconds = 10
/** Of the service that stands on nothing, and of a gateway before it that reaches nobody. */
const awayStatuses = [502, 503, 504]

type Call = { method: string | undefined; path: string; headers: IncomingMessage['headers']; body: Buffer }

/** Connection headers are each side's own (RFC 9110, 7.6.1). */
function headersFor(target: URL, { headers, body }: Call): IncomingMessage['headers'] {
  const { connection: _, 'keep-alive': _kept, 'transfer-encoding': _coding, expect: _expect, ...rest } = headers
  return { ...rest, host: target.host, 'content-length': String(body.length) }
}

/** Resolves with the head of the answer. Rejects where none came. */
function dial(base: string, call: Call, signal: AbortSignal): Promise<IncomingMessage> {
  const target = new URL(base.replace(/\/$/, '') + call.path)
  const dialer = target.protocol === 'https:' ? requestHttps : requestHttp
  return new Promise((resolve, reject) => {
    const sent = dialer(target, { method: call.method, headers: headersFor(target, call), signal }, resolve)
    sent.once('error', reject).end(call.body)
  })
}

function answerAway(response: ServerResponse): void {
  const error = {
    type: 'overloaded_error',
    reason: 'Unavailable',
    message: 'the service is away; try again in a while',
  }
  response.writeHead(503, { 'content-type': 'application/json', 'retry-after': String(retryAfterSeconds) })
  response.end(JSON.stringify({ type: 'error', error }))
}

/** Without an answer nobody was reached. */
type Outcome = { answer: IncomingMessage | undefined; isAway: boolean }

/** No answer, or one that says that the service is away. What a vendor has failed with is for the program. */
function saysAway(answer: IncomingMessage | undefined): boolean {
  if (answer === undefined) return true
  const { [reasonHeader]: reason = 'Unavailable' } = answer.headers
  return reason === 'Unavailable' && awayStatuses.includes(answer.statusCode ?? 0)
}

/** The answer, or after minutes the last of those that said that the service is away. */
async function callWithRetries(call: Call, { url, clock, ids, note }: Options, signal: AbortSignal): Promise<Outcome> {
  const deadline = clock.now().getTime() + graceMs
  for (let failures = 1; ; failures += 1) {
    const answer = await dial(url, call, signal).catch(() => undefined)
    signal.throwIfAborted()
    const isAway = saysAway(answer)
    if (!isAway || clock.now().getTime() >= deadline) return { answer, isAway }
    answer?.resume()
    if (failures === 1) note('[the service is away: a call of the program waits for it]')
    await clock.sleep(delayMs(backoff, failures, ids.random()), signal)
  }
}

/** Listens on loopback until it is closed. */
export async function openServiceForwarder(options: Options): Promise<ServiceForwarder> {
  let isAway = false

  async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController()
    response.once('close', () => gone.abort(new Error('the program has hung up')))
    const { method, url: path = '/', headers } = request
    const outcome = await callWithRetries({ method, path, headers, body: await buffer(request) }, options, gone.signal)
    isAway = outcome.isAway
    if (outcome.answer === undefined) return answerAway(response)
    response.writeHead(outcome.answer.statusCode ?? 502, outcome.answer.headers)
    response.flushHeaders()
    await pipeline(outcome.answer, response)
  }

  const server = createServer({ requestTimeout: 0 }, (request, response) => {
    // A page of a browser that calls its own name this address is refused, as the service itself would do.
    if (request.headers.host !== host) return void response.writeHead(421).end()
    forward(request, response).catch(() => response.destroy())
  })
  const host = `127.0.0.1:${(await listen(server)).port}`
  return {
    url: `http://${host}`,
    isAway: () => isAway,
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => void server.close(() => resolve()))
    },
  }
}

async function listen(server: Server): Promise<AddressInfo> {
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
  return server.address() as AddressInfo
}
