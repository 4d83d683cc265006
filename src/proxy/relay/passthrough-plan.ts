// Plans of the fast path: edits the request, opens the pipe, and settles all accounts at its end.
import { parseForeignObject } from '../../contract/schema/foreign-json.ts'
import { isSvcError, SvcError } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import type { JsonObject } from '../../lib/json.ts'
import { startDeadline } from '../../llm/call/deadlines.ts'
import { guessDialect, type LlmoDialects } from '../../llm/llmo/dialect.ts'
import { deadlineClosing } from '../../llm/loop/loop-step.ts'
import type { AnswerEncoder } from '../../llm/messages/answer.ts'
import { type ModelError, type ModelEvent, noUsage, type Raw, type TokenUsage } from '../../llm/messages/messages.ts'
import { stripSeals, vendorOriginOf } from '../../llm/messages/seal.ts'
import { computeCost } from '../../llm/messages/token-usage.ts'
import type { PipeControl } from '../../ports/service/egress.ts'
import { countAll, tokensOf } from '../../usecases/providers/estimated-tokens.ts'
import type { HealthNotes } from '../../usecases/providers/health.ts'
import type { CallerLimits } from '../caller-limits.ts'
import { codecs } from '../loop/codec.ts'
import type { ProviderLimits, TokenLease } from '../provider-limits.ts'
import type { BilledRequest, LoopPlan, ReplyWriter } from '../request.ts'
import { accountOf, type Outcome, type ProxyPlan, type ProxySample, traceCall } from '../request.ts'
import { endpointFamilies, isConversation, type ProxyTarget, providerAddress } from '../target.ts'
import type { ConversationEndpoint } from '../types.ts'
import type { ProxyUsageMeter } from '../usage-meter.ts'
import { stripForeign } from './foreign-fields.ts'
import { estimatePassed, type PassedAnswer, type PassedCall } from './passed-answer.ts'
import { type OwnAnswer, type PassthroughControl, startPassthrough, type UsageWish } from './passthrough.ts'
import { addUsageWish, type RequestFields, readRequestFields, replaceModel } from './request-text.ts'

export type PassthroughDeps = {
  callers: CallerLimits
  providers: ProviderLimits
  meter: ProxyUsageMeter
  health: HealthNotes | undefined
  /** The most time that a request may take (LIM-017). */
  maxDurationMs: number
  clock: Clock
  /** Servers that do not accept the option for counts in a stream. */
  dialects: LlmoDialects
  observe(sample: ProxySample): void
  /** What the service can answer itself where a provider refuses. */
  answerFor?(request: BilledRequest, target: ProxyTarget, error: ModelError): OwnAnswer | undefined
  /** The request in other words, where a provider refuses these; undefined: it is refused. */
  translate(job: PassedJob, error: ModelError): LoopPlan | undefined
}

export type PassedJob = { request: BilledRequest; target: ProxyTarget; fields: RequestFields }

type Job = PassedJob & { lease: TokenLease }

function outcomeOf({ error, aborted }: PassedCall): Outcome {
  if (aborted) return 'aborted'
  return error === undefined ? 'ok' : 'failed'
}

function settle(deps: PassthroughDeps, { request, target, lease }: Job, call: PassedCall): void {
  const { usage } = call
  const estimated = estimatePassed(request.endpoint, request.body, call)
  const tokens = tokensOf({ usage: usage ?? noUsage, ...(estimated && { estimated }) })
  lease.settle(countAll(tokens))
  if (usage === undefined && estimated === undefined) return
  const priced = target.price === undefined ? {} : { price: target.price }
  deps.meter.count({
    billedTo: request.billedTo,
    provider: target.name,
    model: target.model,
    usage: usage ?? noUsage,
    ...(estimated && { estimated }),
    ...priced,
  })
}

function measure({ request, target }: Job, call: PassedCall, sentAt: number): ProxySample {
  const { usage, firstByteAt } = call
  return {
    family: endpointFamilies[request.endpoint],
    provider: target.choice.provider.type,
    model: target.model,
    requestId: request.requestId,
    totalMs: performance.now() - request.arrivedAt,
    endpoint: request.endpoint,
    mode: 'passthrough',
    outcome: outcomeOf(call),
    addedMs: sentAt - request.arrivedAt,
    ...(firstByteAt === undefined ? {} : { firstByteMs: firstByteAt - request.arrivedAt }),
    usage,
    ...traceCall(request.caller, {
      provider: target.key,
      cost: usage && computeCost(usage, target.price),
      error: call.error?.message,
    }),
  }
}

type Body = { body: Buffer; usageWish?: UsageWish }

/** A streamed completion reports its usage only on request; nothing else in the caller's request changes. */
function writeBody({ dialects }: PassthroughDeps, { request, target, fields }: Job): Body {
  const own = stripSeals(request.body)
  const plain = replaceModel(own, own === request.body ? fields : readRequestFields(own), target.model)
  if (request.endpoint !== 'chat' || !fields.stream) return { body: plain }
  const { provider } = target.choice
  const address = providerAddress(provider)
  const dialect = dialects.of(address) ?? guessDialect(provider.baseUrl === undefined)
  if (!dialect.streamOptions) return { body: plain }
  const body = addUsageWish(plain, plain === request.body ? fields : readRequestFields(plain))
  if (body === undefined) return { body: plain }
  return { body, usageWish: { plain, onRefused: () => dialects.learn(address, { ...dialect, streamOptions: false }) } }
}

const tooLate = 'the answer took longer than --chat-max-duration'

type Relay = {
  writer: ReplyWriter
  takeOver(): boolean
  handOver(error: ModelError): boolean
  onEnd(call: PassedCall): void
}

/** The request at one provider. */
function send(deps: PassthroughDeps, job: Job, { writer, takeOver, handOver, onEnd }: Relay): PassthroughControl {
  const { request, target } = job
  const { body, ...wish } = writeBody(deps, job)
  const path = target.pathOf(request.endpoint, request.query)
  const sentAt = performance.now()
  const { endpoint } = request
  return startPassthrough({
    target,
    endpoint,
    onUnknown: (kind, word) => deps.health?.noteUnknown({ provider: target.key, kind, word }),
    request: { method: 'POST', path, headers: [...target.headers, ...request.headers], body },
    ...wish,
    writer,
    takeOver,
    handOver,
    clock: deps.clock,
    answerFor: (error) => deps.answerFor?.(request, target, error),
    onFailure: (error) => deps.providers.noteFailure(target, error),
    onDone(call) {
      settle(deps, job, call)
      // The provider did not fail: the request goes on in other words.
      if (call.takenOver && call.error === undefined) return
      if (!call.aborted && !lacksEndpoint(endpoint, call))
        deps.health?.noteEnd({ provider: target.key, ...(call.error && { error: call.error }) })
      deps.observe(measure(job, call, sentAt))
      if (!call.takenOver) onEnd(call)
    },
  })
}

/** A vendor that makes no embeddings, or not with that model, may answer everything else. */
function lacksEndpoint(endpoint: PassedJob['request']['endpoint'], { error }: PassedCall): boolean {
  return endpoint === 'embeddings' && error?.reason === 'WrongAddress'
}

type LateEnd = { writer: ReplyWriter; ended: PassedCall | undefined }

/**
 * False when the answer so far cannot be closed: then the connection must break, so that nobody takes it for the whole.
 */
function closeLate({ clock }: PassthroughDeps, { request, target, fields }: Job, { writer, ended }: LateEnd): boolean {
  const { endpoint, requestId } = request
  if (!isConversation(endpoint)) return false
  const { stream } = fields
  return closeAnswer(writer, { endpoint, requestId, stream, model: target.model, now: clock.now() }, ended)
}

function originOfTarget({ choice }: ProxyTarget): string {
  return vendorOriginOf(providerAddress(choice.provider), choice.model)
}

/** The request for a provider that takes over: what another vendor has attached to its turns stays there. */
function passTo({ request, target, fields }: Job, next: ProxyTarget): Pick<Job, 'request' | 'fields'> {
  if (originOfTarget(target) === originOfTarget(next)) return { request, fields }
  const body = stripForeign(request.endpoint, request.body)
  return { request: { ...request, body }, fields: readRequestFields(body) }
}

/** The request across its providers: the next one takes over as long as no byte has been sent. */
function start(deps: PassthroughDeps, first: Job, others: ProxyTarget[], writer: ReplyWriter): PipeControl {
  const rest = [...others]
  let ended: PassedCall | undefined
  let isOver = false
  let control: PassthroughControl

  function end(): void {
    isOver = true
    deadline.cancel()
    deps.callers.leave(accountOf(first.request.caller))
  }

  function handOver(error: ModelError): boolean {
    const plan = findPlan(error)
    if (plan === undefined) return false
    isOver = true
    deadline.cancel()
    writer.answerBy(plan)
    return true
  }

  /** Too many such requests are a failure like any other. */
  function findPlan(error: ModelError): LoopPlan | undefined {
    try {
      return deps.translate(first, error)
    } catch (refused) {
      return { answer: () => Promise.reject(refused), done: () => deps.callers.leave(accountOf(first.request.caller)) }
    }
  }

  function takeOver(): boolean {
    if (rest.length === 0) return false
    goOn().catch((error) => {
      if (isOver) return
      end()
      writer.fail(toSvcError(error))
    })
    return true
  }

  async function goOn(): Promise<void> {
    const leased = await leaseOne(deps, rest.splice(0), first.request)
    rest.push(...leased.others)
    if (isOver) return leased.lease.settle(0)
    control = send(deps, { ...passTo(first, leased.target), ...leased }, { writer, takeOver, handOver, onEnd })
  }

  function abort(): void {
    control.abort()
    // Between two providers there is none to report to.
    if (!isOver) end()
  }

  function onEnd(call: PassedCall): void {
    ended = call
    end()
  }

  function onLate(): void {
    control.abort(tooLate)
    abort()
    if (!closeLate(deps, first, { writer, ended })) writer.fail(new SvcError('UpstreamFailed', tooLate))
  }

  const deadline = startDeadline(deps.clock, deps.maxDurationMs, onLate)
  control = send(deps, first, { writer, takeOver, handOver, onEnd })
  return { abort, resume: () => control.resume() }
}

function toSvcError(error: unknown): SvcError {
  return isSvcError(error) ? error : new SvcError('Internal', 'the request could not be sent', { cause: error })
}

type Leased = { target: ProxyTarget; lease: TokenLease; others: ProxyTarget[] }

/** The first of them that may be called now; throws the last one's error when none may. */
async function leaseOne(deps: PassthroughDeps, targets: ProxyTarget[], request: BilledRequest): Promise<Leased> {
  const [target, ...others] = targets
  if (target === undefined) throw new SvcError('Internal', 'there is no provider to ask')
  try {
    return { target, others, lease: await deps.providers.lease(target, request.body.length) }
  } catch (error) {
    if (others.length === 0) throw error
    return leaseOne(deps, others, request)
  }
}

/** Those in a cool-down come last. */
function preferReady({ providers }: PassthroughDeps, targets: ProxyTarget[]): ProxyTarget[] {
  if (targets.length === 1 || targets.every(providers.isReady)) return targets
  const coolingDown = targets.filter((target) => !providers.isReady(target))
  return [...targets.filter((target) => !coolingDown.includes(target)), ...coolingDown]
}

/** TooManyRequests when no provider may be called now. */
export async function planPassthrough(
  deps: PassthroughDeps,
  request: BilledRequest,
  wanted: ProxyTarget,
  fields: RequestFields,
): Promise<ProxyPlan> {
  const speaking = wanted.fallbacks.filter(({ family }) => family === wanted.family)
  const { target, lease, others } = await leaseOne(deps, preferReady(deps, [wanted, ...speaking]), request)
  return { startPassthrough: (writer) => start(deps, { request, target, fields, lease }, others, writer) }
}

export type LateRequest = {
  endpoint: ConversationEndpoint
  stream: boolean
  model: string
  requestId: string
  now: Date
}

/** The last whole frame of `text` about blocks or the message; undefined when the text ends within a frame. */
function findLastFrame(text: string): JsonObject | undefined {
  if (!/\r?\n\r?\n$/.test(text)) return undefined
  const frames = text.split(/\r?\n\r?\n/).reverse()
  for (const frame of frames) {
    const data = /^data: ?(.*)$/m.exec(frame)?.[1]
    const json = data === undefined ? undefined : parseForeignObject(data)
    if (json !== undefined && json.type !== 'ping') return json
  }
}

function writeClosing(index: number): ModelEvent[] {
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

function writeStop(usage: TokenUsage): ModelEvent[] {
  return [
    { type: 'usage', usage },
    { type: 'stop', reason: 'end_turn' },
  ]
}

const openTypes = new Set(['content_block_start', 'content_block_delta'])
const goingTypes = new Set([...openTypes, 'content_block_stop', 'message_start'])

/** Closes the open block; the closing text is the next one. */
function closeMessages(frame: JsonObject, end: End): string | undefined {
  if (!goingTypes.has(String(frame.type))) return undefined
  const index = typeof frame.index === 'number' ? frame.index : -1
  const open: ModelEvent[] = openTypes.has(String(frame.type)) ? [{ type: 'block_stop', index }] : []
  return encode(end, [...open, ...writeClosing(index + 1), ...writeStop(end.usage)])
}

function closeChat(frame: JsonObject, end: End): string | undefined {
  const raw: Raw = { family: 'llmo', json: frame }
  // The chunks continue under the same id.
  end.encoder.push({ type: 'start', model: end.model, raw })
  return encode(end, [{ type: 'text_delta', index: 0, text: `\n\n${deadlineClosing}` }, ...writeStop(end.usage)])
}

/** An answer that has started. Items of a response repeat everything that was said, which is not stored here. */
const closers: Record<ConversationEndpoint, (frame: JsonObject, end: End) => string | undefined> = {
  messages: closeMessages,
  chat: closeChat,
  responses: () => undefined,
}

function describeEnd({ endpoint, requestId, now, model }: LateRequest, usage: TokenUsage = noUsage) {
  const codec = codecs[endpoint]
  const options = { id: `${codec.idPrefix}${requestId}`, createdAt: now }
  return { codec, options, end: { encoder: codec.createEncoder(options), model, usage } }
}

/** Nothing has been sent: the closing text is the whole answer. */
function answerWhole(writer: ReplyWriter, request: LateRequest, usage: TokenUsage | undefined): void {
  const { model } = request
  const { codec, options, end } = describeEnd(request, usage)
  if (request.stream) {
    writer.head(200, ['content-type', 'text/event-stream; charset=utf-8', 'cache-control', 'no-cache'])
    writer.write(Buffer.from(encode(end, [{ type: 'start', model }, ...writeClosing(0), ...writeStop(end.usage)])))
    return
  }
  const content = [{ type: 'text' as const, text: deadlineClosing }]
  const answer = { model, content, usage: end.usage, stopReason: 'end_turn' as const }
  const body = Buffer.from(JSON.stringify(codec.encodeAnswer(answer, options)))
  writer.head(200, ['content-type', 'application/json; charset=utf-8', 'content-length', String(body.length)])
  writer.write(body)
}

/** The text that closes a stream at this point; undefined when it cannot be closed. */
function findClosing(answer: PassedAnswer, request: LateRequest, usage: TokenUsage | undefined): string | undefined {
  if (!answer.isStream || answer.isPacked) return undefined
  const frame = findLastFrame(answer.ending().toString('utf8'))
  return frame && closers[request.endpoint](frame, describeEnd(request, usage).end)
}

type Ended = Pick<PassedCall, 'answer' | 'usage'>

/** Ends the answer after what has been sent; false when it cannot be closed. */
export function closeAnswer(writer: ReplyWriter, request: LateRequest, { answer, usage }: Ended = {}): boolean {
  if (answer === undefined) answerWhole(writer, request, usage)
  else {
    const closing = findClosing(answer, request, usage)
    if (closing === undefined) return false
    writer.write(Buffer.from(closing))
  }
  writer.end()
  return true
}
