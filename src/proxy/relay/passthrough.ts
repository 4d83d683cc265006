// The fast path: pipes one request to a provider of the caller's family and its answer back, and picks out the usage on
// the way.
import { ruleOfCall } from '../../contract/kinds/tasks/failures.ts'
import { reasonHeader, retryHeader } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import type { OnUnknown, VendorError } from '../../llm/call/vendor-error.ts'
import { isPacked, unpackShort } from '../../llm/call/vendor-request.ts'
import type { ModelError } from '../../llm/messages/messages.ts'
import type { PipeControl, PipeRequest, PipeSink } from '../../ports/service/egress.ts'
import { explainModelError } from '../../usecases/providers/estimated-tokens.ts'
import type { ReplyWriter } from '../request.ts'
import { isConversation, type ProxyTarget } from '../target.ts'
import type { Endpoint } from '../types.ts'
import { findBodyFailure, findStreamFailure } from './answer-end.ts'
import { type AnswerShape, PassedAnswer, type PassedCall } from './passed-answer.ts'
import { answerRefusal, explainAnswer, explainBroken, explainUpstreamRefusal } from './upstream-error.ts'
import {
  createAnswerScanner,
  createStreamScanner,
  createUsageFrameFilter,
  type FrameFilter,
  type UsageScanner,
} from './usage-scanner.ts'

type HeaderMap = Record<string, string | string[] | undefined>

export type Passthrough = {
  target: ProxyTarget
  endpoint: Endpoint
  request: PipeRequest
  /** The service asked for the counts. The caller did not, and is not sent them. */
  usageWish?: UsageWish
  writer: ReplyWriter
  clock: Pick<Clock, 'now'>
  /** What the service itself can answer where the provider refuses; then the refusal is no failure. */
  answerFor?(error: ModelError): OwnAnswer | undefined
  /** Whether the service makes the answer itself where the provider refuses; it owns the writer from then on. */
  handOver?(error: ModelError): boolean
  /** Called for each failure of the provider, before anything is answered. */
  onFailure(error: ModelError): void
  /**
   * The provider cannot serve and no byte has been sent: whether another one takes over; that one owns the writer from
   * then on.
   */
  takeOver?(): boolean
  /** Told of each word of the vendor that is not known. */
  onUnknown?: OnUnknown
  /** Called once, however it ended. */
  onDone(call: PassedCall): void
}

/** `headers`: names and values alternate. */
export type OwnAnswer = { headers: string[]; body: Buffer }

export type UsageWish = {
  /** The request without the option. */
  plain: Buffer
  /** The vendor does not know the option, and is asked again without it. */
  onRefused(): void
}

const maxErrorBytes = 65_536
/** For an error that arrived compressed. */
const maxUnpackedBytes = 1_048_576
/** A connection that the other side closes at that moment says nothing about the request: it is sent once more. */
const maxTries = 2

/** Headers with a meaning for clients; all others belong to the connection or to the provider's account. */
const passedHeaders = new Set([
  'content-type',
  'content-length',
  'content-encoding',
  'cache-control',
  'retry-after',
  'retry-after-ms',
  'request-id',
])
const passedPrefixes = ['anthropic-', 'openai-', 'x-ratelimit-', retryHeader]
const accountHeaders = new Set(['anthropic-organization-id', 'openai-organization', 'openai-project'])

function isPassedHeader(name: string): boolean {
  if (passedHeaders.has(name)) return true
  return passedPrefixes.some((prefix) => name.startsWith(prefix)) && !accountHeaders.has(name)
}

/** The provider's headers that the caller may see. */
export function pickAnswerHeaders(headers: HeaderMap): string[] {
  const passed: string[] = []
  for (const name in headers) {
    const value = headers[name]
    if (typeof value !== 'string') continue
    if (isPassedHeader(name)) passed.push(name, value)
    else if (name === 'x-request-id') passed.push('x-upstream-request-id', value)
  }
  return passed
}

function hasType({ 'content-type': type }: HeaderMap, name: string): boolean {
  return typeof type === 'string' && type.startsWith(name)
}

function isStream(headers: HeaderMap): boolean {
  return hasType(headers, 'text/event-stream')
}

function createScanner(headers: HeaderMap): UsageScanner | undefined {
  if (isStream(headers)) return createStreamScanner()
  return hasType(headers, 'application/json') ? createAnswerScanner() : undefined
}

/** An error is read completely before the caller sees it: it may be about the provider's own credential. */
function createRefusal(passthrough: Passthrough, status: number, headers: HeaderMap) {
  const parts: Buffer[] = []
  let size = 0

  let whole: Buffer | undefined

  function unpack(): Buffer {
    const body = Buffer.concat(parts)
    const encoding = headers['content-encoding']
    if (typeof encoding !== 'string' || !isPacked(encoding)) return body
    return unpackShort(body, encoding, maxUnpackedBytes) ?? Buffer.from(`an answer in ${encoding.slice(0, 50)}`)
  }

  /** Called when it has ended. */
  function readBody(): Buffer {
    whole ??= unpack()
    return whole
  }

  return {
    push(chunk: Buffer): void {
      if (size < maxErrorBytes) parts.push(chunk)
      size += chunk.length
    },
    /** Whether the error is about the option added here (partly compatible servers answer 400 or 422). */
    isAboutWish: () => (status === 400 || status === 422) && readBody().includes('stream_options'),
    explain(): ModelError {
      const { target, request, clock } = passthrough
      return explainUpstreamRefusal({ status, headers, body: readBody(), path: request.path }, target, clock.now())
    },
    answer(error: ModelError): void {
      const { target, writer } = passthrough
      const answer = answerRefusal(error, readBody(), target)
      if ('error' in answer) {
        writer.fail(answer.error)
        return
      }
      const { body, reason, retryAfterSeconds } = answer
      const own = { 'content-encoding': undefined, 'content-length': String(body.length) }
      const passed = [reasonHeader, reason, ...pickAnswerHeaders({ ...headers, ...own })]
      const wantsRetry = retryAfterSeconds !== undefined && headers['retry-after'] === undefined
      if (wantsRetry) passed.push('retry-after', String(retryAfterSeconds))
      writer.head(answer.status, passed)
      writer.write(body)
      writer.end()
    },
  }
}

/** A whole answer that is no longer than this is judged before the caller sees it. */
const maxJudgedBytes = 16_384

/** A short answer, which may be an error under a status of success. `send` opens the answer of the caller. */
function createShortAnswer(send: () => void) {
  let parts: Buffer[] | undefined = []
  let size = 0

  /** What is buffered goes on. */
  function release(): Buffer[] {
    const buffered = parts
    if (buffered === undefined) return []
    parts = undefined
    send()
    return buffered
  }

  return {
    release,
    isBuffered: () => parts !== undefined,
    /** The pieces that go on, once it is known to be long. */
    push(chunk: Buffer): Buffer[] {
      if (parts === undefined) return [chunk]
      parts.push(chunk)
      size += chunk.length
      return size <= maxJudgedBytes ? [] : release()
    },
  }
}

function describeAnswer(headers: HeaderMap): AnswerShape {
  return { isStream: isStream(headers), isPacked: headers['content-encoding'] !== undefined }
}

/** Whether the answer is judged before the caller sees any of it. */
function isJudged(headers: HeaderMap): boolean {
  const { isStream: streams, isPacked: packed } = describeAnswer(headers)
  const length = Number(headers['content-length'] ?? 0)
  return !streams && !packed && hasType(headers, 'application/json') && length <= maxJudgedBytes
}

/** Handles one answer: passes it on as it arrives, but reads an error completely. */
function createReception(passthrough: Passthrough, done: PassedCall, dropsUsage: boolean) {
  const { writer } = passthrough
  let scanner: UsageScanner | undefined
  let filter: FrameFilter | undefined
  let refusal: ReturnType<typeof createRefusal> | undefined
  let answer: PassedAnswer | undefined
  let short: ReturnType<typeof createShortAnswer> | undefined
  let failure: { error: ModelError; isShown: boolean } | undefined
  const { target, endpoint, onUnknown = () => {} } = passthrough

  function pass(chunk: Buffer): boolean {
    answer?.push(chunk)
    return writer.write(chunk)
  }

  function findFailure(): VendorError | undefined {
    if (!answer?.isStream || answer.isPacked || !isConversation(endpoint)) return undefined
    const stream = { endpoint, ending: answer.ending().toString('utf8'), counted: scanner?.last() }
    return findStreamFailure(stream, onUnknown)
  }

  /** Why the answer is none; once, when it has ended. */
  function judge(): ModelError | undefined {
    const body = short?.isBuffered() ? findBodyFailure(endpoint, scanner?.last(), onUnknown) : undefined
    const error = body?.error ?? findFailure()
    if (error !== undefined) failure = { error: explainAnswer(error, target), isShown: body?.isShown ?? true }
    return failure?.error
  }

  function open(status: number, headers: HeaderMap): void {
    scanner = createScanner(headers)
    answer = new PassedAnswer(describeAnswer(headers))
    done.answer = answer
    if (dropsUsage && answer.isStream) filter = createUsageFrameFilter()
    const sent = pickAnswerHeaders(filter === undefined ? headers : { ...headers, 'content-length': undefined })
    if (isJudged(headers)) short = createShortAnswer(() => writer.head(status, sent))
    else writer.head(status, sent)
  }

  /** False: the caller has no room for more. */
  function passAll(chunks: Buffer[]): boolean {
    return chunks.map(pass).every((hasRoom) => hasRoom)
  }

  function close(): void {
    passAll(short?.release() ?? [])
    const rest = filter?.rest()
    if (rest !== undefined && rest.length > 0) writer.write(rest)
    writer.end()
  }

  return {
    head(status: number, headers: HeaderMap): void {
      done.status = status
      done.firstByteAt = performance.now()
      if (status >= 300) refusal = createRefusal(passthrough, status, headers)
      else open(status, headers)
    },
    data(chunk: Buffer): boolean {
      if (refusal !== undefined) {
        refusal.push(chunk)
        return true
      }
      scanner?.push(chunk)
      if (short !== undefined) return passAll(short.push(chunk))
      if (filter === undefined) return pass(chunk)
      const passed = filter.push(chunk)
      return passed.length === 0 || pass(passed)
    },
    isAboutWish: () => dropsUsage && refusal?.isAboutWish() === true,
    /** Handles a refusal, or an answer that is none, once it is complete. */
    explain: () => refusal?.explain() ?? judge(),
    /** Whether the caller has nothing of the answer yet, so that another one may take its place. */
    isUnseen: () => refusal !== undefined || (short?.isBuffered() === true && failure?.isShown !== true),
    end(): void {
      if (refusal !== undefined && done.error !== undefined) refusal.answer(done.error)
      else if (failure?.isShown === false) writer.fail(explainModelError(failure.error))
      else close()
    },
    usage: () => scanner?.read(),
  }
}

export type PassthroughControl = Omit<PipeControl, 'abort'> & {
  /** `late`: the message about the provider when the caller did not cause the end. */
  abort(late?: string): void
}

function noteFailure({ onFailure }: Passthrough, done: PassedCall, error: ModelError | undefined): void {
  if (error === undefined) return
  done.error = error
  onFailure(error)
}

/** Lets another provider take over, if one may and exists. */
function giveOver({ takeOver }: Passthrough, done: PassedCall): boolean {
  if (done.error === undefined || !ruleOfCall(done.error.reason).takeOver || takeOver?.() !== true) return false
  done.takenOver = true
  return true
}

export function startPassthrough(passthrough: Passthrough): PassthroughControl {
  const { target, writer, usageWish } = passthrough
  const done: PassedCall = { status: 0, aborted: false }
  let { request } = passthrough
  let reception = createReception(passthrough, done, usageWish !== undefined)
  let tries = 0
  let isOver = false
  /** The caller is not reading what is there: then the provider is not the one who is late. */
  let isBlocked = false
  let control: PipeControl

  function finish(): void {
    isOver = true
    const usage = reception.usage()
    if (usage !== undefined) done.usage = usage
    passthrough.onDone(done)
  }

  const sink: PipeSink = {
    head: (status, headers) => reception.head(status, headers),
    data(chunk) {
      isBlocked = !reception.data(chunk)
      return !isBlocked
    },
    end() {
      if (usageWish !== undefined && reception.isAboutWish()) return sendPlain(usageWish)
      const error = reception.explain()
      const isUnseen = reception.isUnseen()
      if (isUnseen && error !== undefined && (answersInstead(error) || handsOver(error))) return finish()
      noteFailure(passthrough, done, error)
      if (!(isUnseen && giveOver(passthrough, done))) reception.end()
      finish()
    },
    fail(error, retry) {
      if (retry && tries < maxTries) return send()
      const found = explainBroken(error, target, done.firstByteAt !== undefined)
      noteFailure(passthrough, done, found)
      if (!(done.firstByteAt === undefined && giveOver(passthrough, done))) writer.fail(explainModelError(found))
      finish()
    },
  }

  function answersInstead(error: ModelError): boolean {
    const own = passthrough.answerFor?.(error)
    if (own === undefined) return false
    const { headers, body } = own
    writer.head(200, [...headers, 'content-type', 'application/json', 'content-length', String(body.length)])
    writer.write(body)
    writer.end()
    return true
  }

  function handsOver(error: ModelError): boolean {
    if (!passthrough.handOver?.(error)) return false
    done.takenOver = true
    return true
  }

  function send(): void {
    tries += 1
    control = target.pipe.send(request, sink)
  }

  function sendPlain({ plain, onRefused }: UsageWish): void {
    onRefused()
    reception = createReception(passthrough, done, false)
    request = { ...request, body: plain }
    send()
  }

  send()
  return {
    abort(late) {
      if (isOver) return
      done.abandoned = true
      if (late === undefined || isBlocked) done.aborted = true
      else done.error = { reason: 'AnswerBrokenOff', message: late }
      control.abort()
      finish()
    },
    resume() {
      isBlocked = false
      control.resume()
    },
  }
}
