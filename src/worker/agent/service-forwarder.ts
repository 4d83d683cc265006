// Between an agent program and the service: a call that the service does not take now is held and made again, since programs give
// up after seconds. What was answered passes byte for byte, and what was refused is kept for whoever judges the program.
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { retryHeader } from '../../errors.ts'
import { BoundedMap } from '../../lib/bounded-map.ts'
import { type HeldCallOptions, holdCall, type ProgramCall } from './held-call.ts'
import { createRefusalReader, describeRefusal, type Refusal } from './refusal.ts'

export type ServiceForwarder = {
  /** Where the program finds the service; without a path. */
  url: string
  port: number
  /** Listens on a Unix socket as well, for a program without a network. */
  listenAt(socket: string): Promise<void>
  /** Whether the last call that ended was given up because the service was away. */
  isAway(): boolean
  /** Of the last call that was refused, unless one that began later was answered. */
  lastRefusal(): Refusal | undefined
  close(): Promise<void>
}

const retryAfterSeconds = 10
const away: Refusal = { status: 503, reason: 'Unavailable', message: 'the service is away; try again in a while' }
/** Lost calls that are remembered. */
const maxLost = 1000

function answerRefusal(response: ServerResponse, { status, reason, message }: Refusal, headers: object): void {
  const type = status === away.status ? 'overloaded_error' : 'api_error'
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify({ type: 'error', error: { type, reason, message } }))
}

/** The official SDKs heed this header. Other programs ask again, and are told the same. */
function answerLost(response: ServerResponse, refusal: Refusal): void {
  answerRefusal(response, refusal, { [retryHeader]: 'false' })
}

function explainLoss(lost: string, status = 502): Refusal {
  const why = 'it is not made again, since the model may have been paid each time'
  const advice = 'where a gateway stands before the service, give it more time for an answer'
  return { status, message: `The call was lost before its answer began: ${lost}; ${why}. ${advice}` }
}

function digest({ path, body }: ProgramCall): string {
  return createHash('sha256').update(`${path}\n`).update(body).digest('base64')
}

/** What the calls so far say of the program's failure. */
function createRecord(note: (line: string) => void) {
  let begun = 0
  let last: { refusal: Refusal; begun: number } | undefined

  function end(number: number, refusal: Refusal | undefined): void {
    // Calls run beside each other: what began before a refusal does not undo it.
    if (refusal === undefined && last !== undefined && number > last.begun) last = undefined
    if (refusal === undefined) return
    // A program asks again and again without a word of it.
    if (refusal.message !== last?.refusal.message) note(`[a call was refused with ${describeRefusal(refusal)}]`)
    last = { refusal, begun }
  }

  return {
    last: () => last?.refusal,
    /** Returns what is told how the call has ended. */
    begin({ method }: ProgramCall): (refusal: Refusal | undefined) => void {
      if (method !== 'POST') return () => undefined
      begun += 1
      const number = begun
      return (refusal) => end(number, refusal)
    },
  }
}

/** Listens on loopback until it is closed. */
export async function openServiceForwarder(options: HeldCallOptions): Promise<ServiceForwarder> {
  let isAway = false
  const record = createRecord(options.note)
  const lost = new BoundedMap<string, Refusal>({ max: maxLost })

  async function pass(answer: IncomingMessage, response: ServerResponse): Promise<Refusal | undefined> {
    const reader = createRefusalReader(answer)
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    response.flushHeaders()
    answer.on('data', reader.push)
    await pipeline(answer, response)
    return reader.read()
  }

  async function forward(call: ProgramCall, response: ServerResponse): Promise<Refusal | undefined> {
    const gone = new AbortController()
    response.once('close', () => gone.abort(new Error('the program has hung up')))
    // Calls have megabytes, and hardly ever is one lost.
    const known = lost.size === 0 ? undefined : lost.get(digest(call))
    if (known !== undefined) {
      answerLost(response, known)
      return known
    }
    const outcome = await holdCall(call, options, gone.signal)
    isAway = outcome.is === 'away'
    if (outcome.is === 'lost') {
      outcome.answer?.resume()
      const refusal = explainLoss(outcome.how, outcome.answer?.statusCode)
      lost.set(digest(call), refusal)
      answerLost(response, refusal)
      return refusal
    }
    if (outcome.answer !== undefined) return await pass(outcome.answer, response)
    answerRefusal(response, away, { 'retry-after': String(retryAfterSeconds) })
    return away
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url: path = '/', headers } = request
    const call = { method, path, headers, body: await buffer(request) }
    const end = record.begin(call)
    end(await forward(call, response))
  }

  const answer = (request: IncomingMessage, response: ServerResponse) => {
    // A page of a browser that calls its own name this address is refused, as the service itself would do.
    if (request.headers.host !== host) return void response.writeHead(421).end()
    serve(request, response).catch(() => response.destroy())
  }
  const server = createServer({ requestTimeout: 0 }, answer)
  const beside = createServer({ requestTimeout: 0 }, answer)
  const { port } = await listen(server)
  const host = `127.0.0.1:${port}`
  return {
    url: `http://${host}`,
    port,
    listenAt: (socket) => new Promise((resolve, reject) => void beside.once('error', reject).listen(socket, resolve)),
    isAway: () => isAway,
    lastRefusal: record.last,
    close() {
      server.closeAllConnections()
      beside.closeAllConnections()
      beside.close()
      return new Promise((resolve) => void server.close(() => resolve()))
    },
  }
}

async function listen(server: Server): Promise<AddressInfo> {
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
  return server.address() as AddressInfo
}
