// One HTTP call to a vendor, from a JSON body to a stream of neutral events. Both families go through here.
import { wasCutOff } from '../egress/failures.ts'
import { isSvcError, messageOf } from '../errors.ts'
import type { Clock } from '../ports/clock.ts'
import { parseForeignJson } from './foreign-json.ts'
import type { JsonObject, ModelError, ModelEvent } from './messages.ts'
import { isPacked, unpackBody } from './packed-body.ts'
import type { VendorFetch, VendorReader, VendorResponse } from './piped-fetch.ts'
import { writeBody } from './request-body.ts'
import { type ByteReader, IdleError, type IdleWatch, readFrames, watchIdle } from './sse.ts'
import { type CallTarget, classifyVendorError, makeModelError, readRefusal, type VendorError } from './vendor-error.ts'

/** Reads one answer of a family. */
export interface AnswerDecoder {
  /** The events of one frame; `done` when nothing follows. */
  pushFrame(json: unknown): ModelEvent[]
  /** The end marker that is not JSON (`[DONE]`), or the end of the body: the closing events, none when it came too early. */
  end(): ModelEvent[]
  /** A whole answer, from a server that does not stream. */
  readWhole(json: unknown): ModelEvent[]
}

export type VendorCall = {
  fetch: VendorFetch
  url: string
  headers: Record<string, string>
  /** May throw SvcError. */
  encode(): JsonObject
  decoder: AnswerDecoder
  target: CallTarget
  clock: Clock
  /** Silence after which the call is given up. */
  idleTimeoutMs: number
  signal: AbortSignal
}

/** A vendor's error inside a stream. */
export class StreamedError extends Error {
  readonly vendor: VendorError

  constructor(vendor: VendorError) {
    super(vendor.message)
    this.vendor = vendor
  }
}

type Exchange = { call: VendorCall; idle: IdleWatch; answered: boolean }

/** An answer in one piece is all its events at once. */
async function exchange(state: Exchange): Promise<ModelEvent[] | AsyncIterable<ModelEvent>> {
  const { call, idle } = state
  const { signal } = idle
  const body = call.encode()
  const init = { method: 'POST', redirect: 'manual', headers: call.headers, body: writeBody(body), signal } as const
  const response = await call.fetch(call.url, init)
  state.answered = true
  idle.touch()
  if (!response.ok) return [{ type: 'error', error: await readFailure(response, call) }]
  if (isWhole(response, body)) return readWholeAnswer(response, call)
  return isPacked(response.headers.get('content-encoding')) ? failPacked(call) : readStream(response, call, idle)
}

function failExchange({ call, idle, answered }: Exchange, error: unknown): ModelEvent {
  const cause = idle.signal.aborted && !call.signal.aborted ? idle.signal.reason : error
  return { type: 'error', error: explainThrown(cause, call, answered) }
}

function openExchange(call: VendorCall): Exchange {
  return { call, idle: watchIdle(call.clock, call.idleTimeoutMs, call.signal), answered: false }
}

/** Never throws: what goes wrong is the last event. */
export async function* callVendor(call: VendorCall): AsyncGenerator<ModelEvent> {
  const state = openExchange(call)
  try {
    yield* await exchange(state)
  } catch (error) {
    yield failExchange(state, error)
  } finally {
    state.idle.stop()
  }
}

/** The same, told at its end. */
export async function askVendor(call: VendorCall): Promise<ModelEvent[]> {
  const state = openExchange(call)
  const events: ModelEvent[] = []
  try {
    const answer = await exchange(state)
    if (Array.isArray(answer)) return answer
    for await (const event of answer) events.push(event)
    return events
  } catch (error) {
    return [...events, failExchange(state, error)]
  } finally {
    state.idle.stop()
  }
}

function explainThrown(error: unknown, call: VendorCall, answered: boolean): ModelError {
  if (call.signal.aborted) return makeModelError('Stopped', call.target)
  if (error instanceof StreamedError) return classifyVendorError(error.vendor, call.target)
  // It holds more than can be written, in depth or in number (V8 counts both as its stack).
  if (error instanceof RangeError) {
    return makeModelError('RequestUnsupported', call.target, { message: messageOf(error) })
  }
  return explainBreak(error, call.target, answered)
}

/** What it means that there was no answer, or none to its end: refused on this side, away, or broken off. */
export function explainBreak(error: unknown, target: CallTarget, answered: boolean): ModelError {
  const message = messageOf(error)
  if (isSvcError(error, 'Forbidden')) return { reason: 'AddressRefused', message }
  if (isSvcError(error) && error.reason !== 'UpstreamFailed') return { reason: 'RequestUnsupported', message }
  const isAnswer = answered || error instanceof IdleError || wasCutOff(error)
  return makeModelError(isAnswer ? 'AnswerBrokenOff' : 'ProviderUnreachable', target, { message })
}

async function readFailure(response: VendorResponse, { url, target, clock }: VendorCall): Promise<ModelError> {
  const text = await readText(response, maxErrorBytes)
  const { status, headers } = response
  return readRefusal({ status, headers, text, url, now: clock.now() }, target)
}

const maxErrorBytes = 65_536
const maxAnswerBytes = 32 * 1024 * 1024

async function readText(response: VendorResponse, maxBytes: number): Promise<string> {
  const parts: Uint8Array[] = []
  let left = maxBytes
  const reader = response.body?.getReader()
  while (reader !== undefined) {
    const { done, value } = await reader.read()
    if (done || value === undefined) break
    parts.push(value.subarray(0, left))
    left -= value.byteLength
    if (left > 0) continue
    await reader.cancel()
    break
  }
  const bytes = Buffer.concat(parts)
  const encoding = response.headers.get('content-encoding')
  return (isPacked(encoding) ? (unpackBody(bytes, encoding, maxBytes) ?? bytes) : bytes).toString()
}

type Body = { signal: AbortSignal; touch(): void }

/** A server that says nothing of it is believed to have done as it was asked. */
function isWhole({ headers }: VendorResponse, { stream }: JsonObject): boolean {
  return headers.get('content-type')?.includes('application/json') ?? stream === false
}

async function readWholeAnswer(response: VendorResponse, call: VendorCall): Promise<ModelEvent[]> {
  const json = parseForeignJson(await readText(response, maxAnswerBytes))
  return json === undefined ? failBroken(call) : call.decoder.readWhole(json)
}

async function* readStream(response: VendorResponse, call: VendorCall, body: Body): AsyncGenerator<ModelEvent> {
  if (response.body === null) return yield* failEarly(call)
  const reader = response.body.getReader()
  const progress = { complete: false }
  try {
    yield* decodeFrames(abortable(reader, body), call, progress)
  } finally {
    if (progress.complete) drain(reader, call.clock)
    else reader.cancel().catch(() => {})
  }
}

/** A pending read ends when the signal aborts, whatever the body does. */
function abortable(reader: VendorReader, body: Body): ByteReader {
  const aborted = new Promise<never>((_resolve, reject) => {
    const onAbort = () => reject(body.signal.reason)
    if (body.signal.aborted) onAbort()
    body.signal.addEventListener('abort', onAbort, { once: true })
  })
  aborted.catch(() => {})
  return {
    async read() {
      const part = await Promise.race([reader.read(), aborted])
      body.touch()
      return part
    },
  }
}

/** What is left is the end of the body: read, so that the connection can serve the next call. Not waited for. */
function drain(reader: VendorReader, clock: Clock): void {
  const stop = new AbortController()
  const rest = reader.read().then((part) => (part.done ? undefined : reader.cancel()))
  const late = clock.sleep(1000, stop.signal).then(() => reader.cancel())
  late.catch(() => {})
  rest.catch(() => {}).finally(() => stop.abort(over))
}

/** A reason of one's own spares the making of an error with its stack. */
const over = new Error('over')

/** `progress` is complete before the last event is given: who has got that need not come back for more. */
async function* decodeFrames(
  reader: ByteReader,
  call: VendorCall,
  progress: { complete: boolean },
): AsyncGenerator<ModelEvent> {
  for await (const frame of readFrames(reader)) {
    if (frame.data.trim() === '[DONE]') break
    const json = parseForeignJson(frame.data)
    const events = json === undefined ? failBroken(call) : call.decoder.pushFrame(json)
    progress.complete = events.some(isLast)
    yield* events
    if (progress.complete) return
  }
  const events = call.decoder.end()
  progress.complete = true
  yield* events.some(isLast) ? events : failEarly(call)
}

function isLast(event: ModelEvent): boolean {
  return event.type === 'stop' || event.type === 'error'
}

function failBroken(call: VendorCall): ModelEvent[] {
  const message = 'it sent something that is no JSON, or nested too deeply'
  return [{ type: 'error', error: makeModelError('AnswerBrokenOff', call.target, { message }) }]
}

function failPacked(call: VendorCall): ModelEvent[] {
  const message = 'it sent a compressed stream, which it was asked not to do'
  return [{ type: 'error', error: makeModelError('ProviderFailed', call.target, { message }) }]
}

function failEarly(call: VendorCall): ModelEvent[] {
  const message = 'the stream ended before the answer was complete'
  return [{ type: 'error', error: makeModelError('AnswerBrokenOff', call.target, { message }) }]
}
