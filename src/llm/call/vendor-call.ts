// One HTTP call to a vendor, from a JSON body to a stream of neutral events. Both families use it.
import { parseForeignJson } from '../../contract/schema/foreign-json.ts'
import { wasCutOff } from '../../egress/failures.ts'
import { isSvcError, messageOf } from '../../errors.ts'
import { onAbort, waitUnlessAborted } from '../../lib/abort.ts'
import { answerBuffers, BufferQuotaError, type CountedBuffer, OversizedError } from '../../lib/buffer-quota.ts'
import type { Clock } from '../../lib/clock.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { ModelError, ModelEvent } from '../messages/messages.ts'
import { limitText } from './answer-text.ts'
import { startDeadline } from './deadlines.ts'
import { isLastEvent, type Listener } from './model-client.ts'
import type { VendorFetch, VendorReader, VendorResponse } from './piped-fetch.ts'
import { createSseReader, IdleError, type IdleWatch, watchIdle } from './sse.ts'
import {
  type CallTarget,
  classifyVendorError,
  makeModelError,
  type OnUnknown,
  readVendorError,
  readVendorRefusal,
  summarizeBody,
  type VendorError,
} from './vendor-error.ts'
import { isPacked, unpackLong, writeBody } from './vendor-request.ts'

/** Reads one answer of a family. */
export interface AnswerDecoder {
  /** The events of one frame; `done` when nothing follows. */
  pushFrame(json: unknown): ModelEvent[]
  /**
   * At the end marker that is not JSON (`[DONE]`), or the end of the body: the closing events, none when it came too
   * early. `isMarked`: there was such a marker.
   */
  end(isMarked?: boolean): ModelEvent[]
  /** A whole answer, from a server that does not stream. */
  readWhole(json: unknown): ModelEvent[]
}

export type DecoderOptions = {
  /** Who makes the turn. */
  origin?: string
  onUnknown?: OnUnknown
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
  /** Time without data after which the call is given up. */
  idleTimeoutMs: number
} & Listener

/** A vendor's error inside an answer. `before`: what the answer still says, such as its counts. */
export class StreamedError extends Error {
  readonly vendor: VendorError
  readonly before: ModelEvent[]

  constructor(vendor: VendorError, before: ModelEvent[] = []) {
    super(vendor.message)
    this.vendor = vendor
    this.before = before
  }
}

type Exchange = { call: VendorCall; idle: IdleWatch; buffer: CountedBuffer; answered: boolean }

/** Only rejects with what `take` throws; every other error is the last event. */
export async function callVendor(asked: VendorCall): Promise<void> {
  const call = { ...asked, take: limitText(asked.take) }
  const idle = watchIdle(call.clock, call.idleTimeoutMs, call.signal)
  const state = { call, idle, buffer: answerBuffers.open(), answered: false }
  try {
    await exchange(state)
  } catch (error) {
    await call.take(failExchange(state, error))
  } finally {
    state.idle.stop()
    state.buffer.release()
  }
}

async function exchange(state: Exchange): Promise<void> {
  const { call, idle } = state
  const body = call.encode()
  const response = await send(call, body, idle.signal)
  state.answered = true
  idle.touch()
  const answer = { head: response, reader: openReader(response, state), idle }
  if (!response.ok) return call.take([{ type: 'error', error: await readFailure(answer, call) }])
  if (isWhole(response, body)) return call.take(await readWholeAnswer(answer, call))
  if (!isPacked(response.headers.get('content-encoding'))) return readStream(state, answer.reader)
  answer.reader.cancel().catch(() => {})
  return call.take(failPacked(call))
}

/** An abort ends the wait, whatever the egress room is waiting for. */
async function send(call: VendorCall, body: JsonObject, signal: AbortSignal): Promise<VendorResponse> {
  const init = { method: 'POST', redirect: 'manual', headers: call.headers, body: writeBody(body), signal } as const
  const response = await waitUnlessAborted(call.fetch(call.url, init), signal)
  if (response === undefined) throw signal.reason
  return response
}

function failExchange({ call, idle, answered }: Exchange, error: unknown): ModelEvent[] {
  const cause = idle.signal.aborted && !call.signal.aborted ? idle.signal.reason : error
  const before = cause instanceof StreamedError ? cause.before : []
  return [...before, { type: 'error', error: explainThrown(cause, call, answered) }]
}

function explainThrown(error: unknown, call: VendorCall, answered: boolean): ModelError {
  if (call.signal.aborted) return makeModelError('Stopped', call.target)
  if (error instanceof StreamedError) return classifyVendorError(error.vendor, call.target)
  // It is too deep or too large to be written (V8 reports both as stack overflow).
  if (error instanceof RangeError) {
    return makeModelError('RequestUnsupported', call.target, { message: messageOf(error) })
  }
  return explainBreak(error, call.target, answered)
}

/** The meaning of a missing or incomplete answer: refused on this side, unreachable, or broken off. */
export function explainBreak(error: unknown, target: CallTarget, answered: boolean): ModelError {
  const message = messageOf(error)
  if (isSvcError(error, 'Forbidden')) return { reason: 'AddressRefused', message }
  if (isSvcError(error) && error.reason !== 'UpstreamFailed') return { reason: 'RequestUnsupported', message }
  if (error instanceof OversizedError) return makeModelError('AnswerTooLong', target, { message })
  const isAnswer = answered || error instanceof IdleError || error instanceof BufferQuotaError || wasCutOff(error)
  return makeModelError(isAnswer ? 'AnswerBrokenOff' : 'ProviderUnreachable', target, { message })
}

type Answer = { head: VendorResponse; reader: VendorReader; idle: IdleWatch }

async function readFailure(answer: Answer, { url, target, clock }: VendorCall): Promise<ModelError> {
  const text = await readText(answer, maxErrorBytes)
  const { status, headers } = answer.head
  return readVendorRefusal({ status, headers, text, url, now: clock.now() }, target)
}

const maxErrorBytes = 65_536
const maxAnswerBytes = 32 * 1024 * 1024

async function readText({ head, reader, idle }: Answer, maxBytes: number): Promise<string> {
  const parts: Uint8Array[] = []
  let left = maxBytes
  while (true) {
    const { value } = await reader.read()
    idle.touch()
    if (value === undefined) break
    parts.push(value.subarray(0, left))
    left -= value.byteLength
    if (left > 0) continue
    await reader.cancel()
    break
  }
  const bytes = Buffer.concat(parts)
  const encoding = head.headers.get('content-encoding')
  return (isPacked(encoding) ? ((await unpackLong(bytes, encoding, maxBytes)) ?? bytes) : bytes).toString()
}

/** A server that does not say is assumed to have streamed, as requested. */
function isWhole({ headers }: VendorResponse, { stream }: JsonObject): boolean {
  return headers.get('content-type')?.includes('application/json') ?? stream === false
}

async function readWholeAnswer(answer: Answer, call: VendorCall): Promise<ModelEvent[]> {
  return readWholeText(await readText(answer, maxAnswerBytes), call)
}

function readWholeText(text: string, call: VendorCall): ModelEvent[] {
  const json = parseForeignJson(text)
  return json === undefined ? failBroken(call, text) : call.decoder.readWhole(json)
}

const noBody: VendorReader = { read: async () => ({ done: true }), cancel: async () => {} }

/** A pending read ends when the signal aborts, whatever the body does. */
function openReader({ body }: VendorResponse, { idle: { signal }, buffer }: Exchange): VendorReader {
  const reader = body?.getReader() ?? noBody
  const cancel = () => reader.cancel()
  onAbort(signal, () => void cancel().catch(() => {}))
  async function read(): ReturnType<VendorReader['read']> {
    const part = await reader.read()
    const room = part.value && buffer.add(part.value.byteLength)
    if (room !== undefined) await waitUnlessAborted(room, signal)
    return part
  }
  return { read, cancel }
}

/** Events of one read are delivered together, which is much cheaper than one by one. */
async function readStream(state: Exchange, reader: VendorReader): Promise<void> {
  const { call, idle } = state
  const answer = createStreamedAnswer(state)
  try {
    while (!answer.isOver()) {
      const { value } = await reader.read()
      idle.touch()
      const events = value === undefined ? answer.end() : answer.push(value)
      if (events.length > 0) await call.take(events)
    }
  } finally {
    if (answer.isWhole()) drain(reader, call.clock)
    else reader.cancel().catch(() => {})
  }
}

type StreamedAnswer = {
  /** The events that are complete with these bytes. Does not throw: a failure is the last event. */
  push(bytes: Uint8Array): ModelEvent[]
  /** The body has ended. */
  end(): ModelEvent[]
  /** The last event was returned. */
  isOver(): boolean
  /** The body has nothing more to read. */
  isWhole(): boolean
}

/** The error of a frame that says that it is one, whatever its data look like. */
function readErrorFrame(data: string, json: unknown): VendorError {
  const found = readVendorError(json) ?? { message: summarizeBody(typeof json === 'string' ? json : data) }
  return found
}

/** How much of a body without frames is kept for its words. */
const maxUnframedBytes = 65_536

function createStreamedAnswer(state: Exchange): StreamedAnswer {
  const { call } = state
  let events: ModelEvent[] = []
  let last: ModelEvent['type'] | undefined
  let hasFrames = false
  let unframed = ''
  const decoder = new TextDecoder()
  const frames = createSseReader(({ event, data }) => {
    hasFrames = true
    // Empty data are a ping.
    if (last !== undefined || (data.trim() === '' && event !== 'error')) return
    if (data.trim() === '[DONE]') return add(endEvents(true))
    const json = parseForeignJson(data)
    if (event === 'error') throw new StreamedError(readErrorFrame(data, json))
    add(json === undefined ? failBroken(call, data) : call.decoder.pushFrame(json))
  })

  function add(more: ModelEvent[]): void {
    for (const event of more) events.push(event)
    const end = more.at(-1)
    if (end !== undefined && isLastEvent(end)) last = end.type
  }

  function endEvents(isMarked: boolean): ModelEvent[] {
    const closing = call.decoder.end(isMarked)
    return closing.some(isLastEvent) ? closing : failEarly(call)
  }

  /** A server that does not stream may not say so, and an error may be a page. */
  function endUnframed(): ModelEvent[] {
    if (unframed.trim() === '') return failEarly(call)
    return readWholeText(unframed, call)
  }

  function keepUnframed(bytes: Uint8Array): void {
    if (!hasFrames && unframed.length < maxUnframedBytes) unframed += decoder.decode(bytes, { stream: true })
  }

  function collect(read: () => void): ModelEvent[] {
    events = []
    try {
      read()
    } catch (error) {
      add(failExchange(state, error))
    }
    return events
  }

  return {
    push: (bytes) =>
      collect(() => {
        frames.feed(bytes)
        keepUnframed(bytes)
      }),
    end: () => collect(() => add(hasFrames ? endEvents(false) : endUnframed())),
    isOver: () => last !== undefined,
    isWhole: () => last === 'stop',
  }
}

/** Reads the end of the body without waiting, so that the connection can serve the next call. */
function drain(reader: VendorReader, clock: Clock): void {
  const leave = () => reader.cancel().catch(() => {})
  const late = startDeadline(clock, drainMs, leave)
  const rest = reader.read().then((part) => (part.done ? undefined : leave()))
  rest.catch(() => {}).finally(() => late.cancel())
}

/** How long the end of a body may take after its last event. */
const drainMs = 1000

function failBroken(call: VendorCall, text: string): ModelEvent[] {
  const message = `it sent something that is not JSON, or nested too deeply: ${summarizeBody(text)}`
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
