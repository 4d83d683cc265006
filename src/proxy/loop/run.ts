// The tool loop of both proxies: one client request, as many model and tool calls as needed, one answer.
import { isSvcError, SvcError } from '../../errors.ts'
import { followSignals } from '../../lib/abort.ts'
import { startDeadline } from '../../llm/call/deadlines.ts'
import { originOfChoice } from '../../llm/call/provider-client.ts'
import { type LoopEvent, type LoopRun, runLoop } from '../../llm/loop/loop.ts'
import { createLoopState, type LoopState } from '../../llm/loop/loop-state.ts'
import type { AnswerEncoder, EncoderOptions, EndedAnswer } from '../../llm/messages/answer.ts'
import { type LeftOutFields, leaveOutForeign } from '../../llm/messages/crossing.ts'
import type { Message, ModelRequest } from '../../llm/messages/messages.ts'
import type { ResponseOptions } from '../../llm/responses/encode-answer.ts'
import { explainModelError } from '../../usecases/providers/estimated-tokens.ts'
import { createToolSpans } from '../call-steps.ts'
import { writeFamilyError } from '../family-error.ts'
import { estimateBody } from '../relay/passed-answer.ts'
import { proxyFamilyOf } from '../target.ts'
import type { ProxyAnswer, ProxyCall, WriteFrames } from '../types.ts'
import { type CallerCodec, codecs } from './codec.ts'
import { createFrameChannel, type FrameChannel } from './frame-channel.ts'
import { createKeepAlive } from './keep-alive.ts'
import { openLoopModel, type ProxyLoopDeps } from './model.ts'
import { type ResumedCall, resumeCall } from './stored-answers.ts'
import { createStreamedReply, createWholeReply, type ReplyOptions } from './streamed-reply.ts'
import { createToolOpener, type ToolOpener } from './tools.ts'

export type ProxyLoop = {
  (call: ProxyCall): Promise<ProxyAnswer>
  /** Whether the service has any tool to offer in a namespace. */
  hasTools(namespace: string): Promise<boolean>
  /** Clears the cached tools. */
  close(): void
}

/** Created once: it caches the tools of namespaces. Rejects with SvcError while nothing of an answer has been sent. */
export function createProxyLoop(deps: ProxyLoopDeps): ProxyLoop {
  const tools = createToolOpener(deps)
  const run = async (call: ProxyCall) => {
    const job = await prepare(deps, tools, call)
    return call.stream ? answerStreamed(job) : answerWhole(job)
  }
  return Object.assign(run, { hasTools: tools.hasTools, close: tools.close })
}

type Job = {
  deps: ProxyLoopDeps
  call: ProxyCall
  codec: CallerCodec
  run: Omit<LoopRun, 'signal' | 'emit'>
  noteTool(event: LoopEvent): void
  reply: ReplyOptions
  encoding: ResponseOptions
  keep: ResumedCall['keep']
  /** Headers of the answer. */
  headers: Record<string, string>
  /** Ends what the tools of the run have kept open. */
  close(): Promise<void>
}

const sealsOf = { messages: 'blocks', responses: 'items', chat: 'fields' } as const
const sessionLength = 12
/** Time without output after which a heartbeat is sent. */
const heartbeatMs = 15_000
/** Extra time after the limit for a client to read what is there. */
const readingMs = 30_000
/** With longer answers, vendors can take over ten minutes; their own clients then require streaming. */
const maxWholeTokens = 21_000

async function prepare(deps: ProxyLoopDeps, tools: ToolOpener, call: ProxyCall): Promise<Job> {
  const { clock, ids } = deps.ports
  const codec = codecs[call.endpoint]
  const id = ids.hex(24)
  const { body, keep } = await resumeCall(deps, call)
  const { includeUsage, asked, leftOut = [], ...read } = codec.read(body, { canPass: canPass(call) })
  const { request, leftOut: foreign } = leaveOutForeign(
    read.request,
    proxyFamilyOf(call.models[0].provider) ?? call.family,
  )
  const session = read.session ?? id.slice(0, sessionLength)
  const { host, redact, isExternal, added, close } = await tools.open(call, request.tools, session)
  const spans = createToolSpans(deps, call)
  const { maxIterations, maxToolCalls, toolTimeoutMs, maxDurationMs } = deps.loop
  const now = clock.now()
  const { system, messages, tools: _tools, model: _model, ...settings } = request
  return {
    deps,
    call,
    codec,
    run: {
      state: createLoopState({ system, messages: messages.map((message) => ascribe(message, call)) }),
      model: openLoopModel(deps, call),
      spending: call.spending,
      tools: host,
      stepOf: spans.stepOf,
      clock,
      settings: { ...settings, headers: call.headers, whole: !call.stream && isShort(request) },
      limits: { maxIterations, maxToolCalls, toolTimeoutMs, deadline: new Date(now.getTime() + maxDurationMs) },
      redact,
    },
    noteTool: spans.note,
    reply: {
      isExternal,
      session,
      shows: call.family === 'llma' ? 'blocks' : 'text',
      seals: sealsOf[call.endpoint],
    },
    encoding: {
      id: `${codec.idPrefix}${id}`,
      createdAt: now,
      includeUsage,
      ...(asked && { asked }),
      ...estimateFor(call),
    },
    keep,
    headers: {
      ...nameIn('x-svc-tools-added', added),
      ...nameIn('x-svc-left-out', listLeftOut([...leftOut, ...foreign], added)),
    },
    close,
  }
}

/** The caller's turns are taken for those of the provider that it names: a fallback does not get what that one attached. */
function ascribe(message: Message, { models: [first] }: ProxyCall): Message {
  const isUnknown = message.role === 'assistant' && message.origin === undefined
  return isUnknown ? { ...message, origin: originOfChoice(first) } : message
}

/** Whether the service's tools alone keep the request from being passed on as it is. */
function canPass({ serverTools, family, models: [{ provider }] }: ProxyCall): boolean {
  return serverTools && proxyFamilyOf(provider) === family
}

/** Those of the family llma show from the beginning how much of the context is used. */
function estimateFor({ family, bodyText }: ProxyCall): Pick<EncoderOptions, 'estimatedInput'> {
  return family === 'llma' ? { estimatedInput: estimateBody(Buffer.from(bodyText)) } : {}
}

/** There may be many of them, and clients limit the size of headers: the rest is only counted. */
const maxNamed = 32

function nameIn(header: string, names: readonly string[]): Record<string, string> {
  if (names.length === 0) return {}
  const rest = names.length - maxNamed
  const named = names.slice(0, maxNamed).join(', ')
  return { [header]: rest > 0 ? `${named}, and ${rest} more` : named }
}

/** Without those that a tool stands in for that the model was offered in addition to the caller's. */
function listLeftOut(leftOut: LeftOutFields[], added: readonly string[]): string[] {
  return leftOut.flatMap(({ what, servedBy }) => (servedBy !== undefined && added.includes(servedBy) ? [] : what))
}

function isShort({ maxTokens = 0 }: ModelRequest): boolean {
  return maxTokens <= maxWholeTokens
}

/** The error of a run without an answer. */
function findFailure({ finished }: LoopState): SvcError | undefined {
  if (finished?.reason === 'cancelled') return new SvcError('ClientClosed', 'the client closed the connection')
  if (finished?.reason !== 'error') return undefined
  return finished.error === undefined
    ? new SvcError('Internal', 'the model call failed')
    : explainModelError(finished.error)
}

async function answerWhole({
  call,
  codec,
  run,
  reply: options,
  encoding,
  headers,
  keep,
  close,
  noteTool,
}: Job): Promise<ProxyAnswer> {
  const reply = createWholeReply(options)
  const emit = (event: LoopEvent) => {
    noteTool(event)
    return reply.read(event)
  }
  const state = await runLoop({ ...run, signal: call.signal, emit }).finally(() => void close())
  const failure = findFailure(state)
  if (failure !== undefined) throw failure
  const body = codec.encodeAnswer(reply.answer(state), encoding)
  return { status: 200, headers, body: await keep(body) }
}

async function answerStreamed(job: Job): Promise<ProxyAnswer> {
  const { ports, loop } = job.deps
  const gone = followSignals(job.call.signal)
  const late = new AbortController()
  const limit = startDeadline(ports.clock, loop.maxDurationMs + readingMs, () => late.abort(tooLate))
  const channel = createFrameChannel()
  const encoder = job.codec.createEncoder(job.encoding)
  const running = streamLoop(job, { channel, encoder, signal: gone.signal })
  running.catch((error) => channel.end(error)).finally(gone.release)
  try {
    await channel.opened()
  } catch (error) {
    limit.cancel()
    throw error
  }
  async function send(write: WriteFrames): Promise<void> {
    try {
      await channel.pipe(write)
    } catch (error) {
      gone.abort(error)
      throw error
    } finally {
      limit.cancel()
    }
  }
  return { status: 200, headers: job.headers, send, late: late.signal }
}

const tooLate = new Error('the client did not read its answer in time')

type Stream = { channel: FrameChannel; encoder: AnswerEncoder; signal: AbortSignal }

async function streamLoop(job: Job, { channel, encoder, signal }: Stream): Promise<void> {
  const reply = createStreamedReply(job.reply)
  const keepAlive = createKeepAlive(job.deps.ports.clock, heartbeatMs, () => channel.push(encoder.heartbeat))
  let begun = false
  const emit = (event: LoopEvent) => {
    let text = ''
    job.noteTool(event)
    for (const part of reply.read(event)) text += encoder.push(part)
    if (text === '') return
    if (!begun) keepAlive.start()
    begun = true
    keepAlive.touch()
    const ended = encoder.ended?.()
    // It is there before its client can ask for it.
    return ended === undefined
      ? channel.push(text)
      : keepEnded(job, ended, text).then((frames) => void channel.push(frames))
  }
  try {
    const state = await runLoop({ ...job.run, signal, emit: emit }).finally(() => void job.close())
    const failure = findFailure(state)
    if (failure !== undefined && !begun) throw failure
    // The last frames do not wait for room: the channel ends with them.
    if (failure !== undefined && failure.reason !== 'ClientClosed')
      void channel.push(describeFailure(job, failure, encoder))
  } catch (error) {
    if (!begun) throw error
    void channel.push(describeFailure(job, error, encoder))
  } finally {
    keepAlive.stop()
  }
  channel.end()
}

/** The frames as they are sent: the last one says when the answer could not be kept. */
async function keepEnded({ keep }: Job, { answer, writeLast }: EndedAnswer, frames: string): Promise<string> {
  const sent = await keep(answer)
  return sent === answer ? frames : frames.slice(0, -writeLast(answer).length) + writeLast(sent)
}

/** Details of an internal error go to the log, not to the client. */
function describeFailure({ call }: Job, error: unknown, encoder: AnswerEncoder): string {
  const known = isSvcError(error)
    ? error
    : new SvcError('Internal', 'something went wrong inside the service', { cause: error })
  return encoder.fail(writeFamilyError(call.family, known, call.requestId))
}
