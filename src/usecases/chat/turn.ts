// One chat turn: runs the tool loop over the session and stores as much as was completed.
import type { ChatEventName, ChatFrame, ChatResponse, ChatUsage } from '../../contract/api/chat/chat.ts'
import { isTerminalPhase, type TaskPhase } from '../../contract/kinds/tasks/task.ts'
import { formatDuration } from '../../contract/values/duration.ts'
import { messageOf, SvcError } from '../../errors.ts'
import { onAbort } from '../../lib/abort.ts'
import { monotonicMs } from '../../lib/clock.ts'
import type { ServedCall } from '../../llm/call/model-client.ts'
import { type LoopEvent, runLoop, type Spending } from '../../llm/loop/loop.ts'
import { createLoopState, type LoopLimits, type LoopState } from '../../llm/loop/loop-state.ts'
import { type Message, type ModelError, type ModelEvent, userText } from '../../llm/messages/messages.ts'
import type { ResourceKey, ResourceReader } from '../../ports/resources/resources.ts'
import { recordSubject } from '../../rules/budgets/budget.ts'
import { limitedAgentOf, limitIterations } from '../../rules/providers/model-choice.ts'
import { explainModelError, nameProviderIn, tokensOf } from '../providers/estimated-tokens.ts'
import { openServiceModel } from '../providers/models.ts'
import type { UsecaseDeps } from '../service/deps.ts'
import { measureTranscript, parseToolContent, toConversation } from './history.ts'
import type { TurnEnding, TurnParts } from './turn-preparation.ts'
import { type CountedCall, createRecorder, type Recorder, storeTurn } from './turn-record.ts'
import { openTurnTrace, type TurnTrace } from './turn-trace.ts'

/** Receives each event of the turn except `status`; must not throw. */
export type TurnSink = (event: ChatEventName, data: Omit<ChatFrame, 'sessionId'>) => void

/** `failure` is set when the turn ended without an answer; the response holds whatever there is. */
export type TurnOutcome = { response: ChatResponse; failure?: SvcError }

const defaultMaxTokens = 4096
const bytesPerToken = 4

/** Never rejects: errors are part of the outcome. The session has been released when it resolves. */
export async function runTurn(
  deps: UsecaseDeps,
  parts: TurnParts,
  listener: { sink: TurnSink; signal: AbortSignal },
): Promise<TurnOutcome> {
  const { lease, orchestration } = parts
  const { clock } = deps.ports
  const started = monotonicMs(clock)
  const recorder = createRecorder(parts.request.message)
  const usage: CountedCall[] = []
  const trace = openTurnTrace(deps, parts)
  const unfollow = onAbort(listener.signal, lease.leave)
  const ending = await runGuarded(deps, parts, { sink: listener.sink, recorder, usage, trace })
  void parts.close()
  const closing = [ending.closing, await describeRunning(deps.ports.resources, orchestration.created)].filter(
    (part) => part !== '',
  )
  if (closing.length > 0) listener.sink('message', { content: `\n\n${closing.join('\n\n')}` })
  const elapsedMs = monotonicMs(clock) - started
  const sums = sumUp({ ending, recorder, usage, created: orchestration.created.length, elapsedMs })
  const [lost] = await Promise.all([
    storeTurn(deps, parts, { ...ending, recorder, usage, closing: closing.join('\n\n') }),
    trace.finish(ending.failure),
  ])
  unfollow()
  const failure = ending.failure ?? lost
  if (failure !== undefined) listener.sink('error', { error: { code: failure.reason, message: failure.message } })
  listener.sink('done', { usage: sums })
  const message = [ending.text, ...closing].filter((part) => part !== '').join('\n\n')
  const response = { sessionId: lease.key.name, message, toolCalls: recorder.calls(), usage: sums }
  return { response, failure }
}

type Running = { sink: TurnSink; recorder: Recorder; usage: CountedCall[]; trace: TurnTrace }

/** The run; an unexpected error becomes a failure too. */
async function runGuarded(deps: UsecaseDeps, parts: TurnParts, running: Running): Promise<TurnEnding> {
  let historyBytes = 0
  try {
    const history = await readHistory(deps, parts)
    historyBytes = history.bytes
    const state = await runModel(deps, parts, { ...running, history: history.messages })
    const failure = failureOf(state, parts.lease.wasCancelled())
    const closing = state.finished?.closing ?? ''
    // The loop's text ends with its closing; here the two are separated.
    const text = closing === '' ? state.text : state.text.slice(0, -closing.length).trimEnd()
    return { text, closing, state, historyBytes, failure }
  } catch (error) {
    const failure =
      error instanceof SvcError ? error : new SvcError('Internal', `chat error: ${messageOf(error)}`, { cause: error })
    return { text: '', closing: '', state: undefined, historyBytes, failure }
  }
}

async function readHistory(
  { ports }: UsecaseDeps,
  { lease, request }: TurnParts,
): Promise<{ messages: Message[]; bytes: number }> {
  // A session that was created just now has no history to read.
  if (request.sessionId === undefined) return { messages: [], bytes: 0 }
  const transcript = await ports.records.sessions.transcript(lease.key, { withSeals: true })
  return { messages: toConversation(transcript), bytes: measureTranscript(transcript) }
}

function addQuestion(history: Message[], message: string): Message[] {
  const question = userText(message)
  const last = history.at(-1)
  if (last?.role !== 'user') return [...history, question]
  return [...history.slice(0, -1), { role: 'user', content: [...last.content, ...question.content] }]
}

function runModel(deps: UsecaseDeps, parts: TurnParts, running: Running & { history: Message[] }): Promise<LoopState> {
  const { request, lease, agent } = parts
  const { recorder, trace } = running
  const temperature = request.temperature ?? agent?.spec.model?.temperature
  return runLoop({
    state: createLoopState({ system: parts.system, messages: addQuestion(running.history, request.message) }),
    model: openServiceModel(parts.choices, deps, {
      agent: limitedAgentOf(agent),
      onBegin: trace.noteBegin,
      onEnd: trace.noteEnd,
    }),
    spending: openSpending(deps, parts, running),
    tools: parts.tools,
    stepOf: trace.stepOf,
    redact: parts.redact,
    clock: deps.ports.clock,
    signal: lease.signal,
    limits: limitsOf(parts, deps.ports.clock.now()),
    settings: {
      maxTokens: request.maxTokens ?? agent?.spec.model?.maxTokens ?? defaultMaxTokens,
      temperature,
    },
    async save() {
      const messages = recorder.take()
      if (messages.length > 0) await lease.store(messages)
    },
    emit(event) {
      recorder.push(event)
      trace.note(event)
      forward(event, running.sink)
    },
  })
}

/** Checked before each call: one turn may make many. */
function openSpending({ ledger }: UsecaseDeps, parts: TurnParts, { usage, trace }: Running): Spending {
  const { choices, billedTo } = parts
  const price = ({ provider: { namespace, name }, model }: ServedCall) =>
    choices.find(
      (choice) => choice.model === model && choice.provider.name === name && choice.provider.namespace === namespace,
    )?.provider.price
  return {
    require: () => ledger.require(billedTo),
    count(call) {
      const counted = ledger.count(billedTo, { ...call, price: price(call) })
      usage.push({ record: noteUsage(parts, call), counted })
      trace.noteServed(call)
    },
  }
}

function limitsOf({ settings, agent }: TurnParts, now: Date): LoopLimits {
  return {
    maxIterations: limitIterations(agent?.spec.maxIterations, settings.maxIterations),
    maxToolCalls: settings.maxToolCalls,
    toolTimeoutMs: settings.toolTimeoutMs,
    maxContextTokens: Math.floor(settings.maxSessionBytes / bytesPerToken),
    progressEvery: 5,
    retryBlankAnswer: true,
    deadline: new Date(now.getTime() + settings.maxDurationMs),
  }
}

function forward(event: LoopEvent, sink: TurnSink): void {
  if (event.type === 'model') forwardText(event.events, sink)
  else if (event.type === 'tool_call') sink('tool_call', { toolCall: event.call })
  else if (event.type === 'tool_result') {
    sink('tool_result', { toolCall: event.call, result: parseToolContent(event.result.content) })
  }
}

function forwardText(events: ModelEvent[], sink: TurnSink): void {
  for (const event of events) if (event.type === 'text_delta') sink('message', { content: event.text })
}

let lastUsage = 0

function noteUsage({ id, lease, billedTo }: TurnParts, call: ServedCall): CountedCall['record'] {
  const { namespace, name } = lease.key
  const { provider, model, cost, demo } = call
  lastUsage += 1
  return {
    ...tokensOf(call),
    ...recordSubject(billedTo),
    id: `chat:${id}:${lastUsage}`,
    provider: nameProviderIn(namespace, provider),
    model,
    session: name,
    ...cost,
    demo,
  }
}

type Sums = { ending: TurnEnding; recorder: Recorder; usage: CountedCall[]; created: number; elapsedMs: number }

function sumUp({ ending, recorder, usage, created, elapsedMs }: Sums): ChatUsage {
  const { usage: tokens, llmCalls } = ending.state ?? {}
  return {
    inputTokens: tokens?.inputTokens ?? 0,
    outputTokens: tokens?.outputTokens ?? 0,
    llmCalls: llmCalls ?? 0,
    toolCalls: recorder.calls().length,
    tasksCreated: created,
    duration: formatDuration(elapsedMs),
    ...sumCosts(usage),
  }
}

/** A fallback may charge in another currency. */
function sumCosts(usage: CountedCall[]): Pick<ChatUsage, 'costs' | 'unpricedCalls'> {
  const costs: Record<string, number> = {}
  let unpricedCalls = 0
  for (const { record } of usage) {
    const { cost, currency, estimatedCost = 0 } = record
    if (cost === undefined || currency === undefined) unpricedCalls += 1
    else costs[currency] = (costs[currency] ?? 0) + cost + estimatedCost
  }
  return {
    ...(Object.keys(costs).length > 0 && { costs }),
    ...(unpricedCalls > 0 && { unpricedCalls }),
  }
}

export function toFailure(error: ModelError): SvcError {
  return explainModelError({ ...error, message: `chat error: ${error.message}` })
}

/** The failure that a run ended with; undefined when it has an answer, even a short one. */
export function failureOf({ finished }: LoopState, wasCancelled: boolean): SvcError | undefined {
  if (finished?.reason === 'error') {
    return toFailure(finished.error ?? { reason: 'Internal', message: 'the model gave no answer' })
  }
  if (finished?.reason !== 'cancelled') return undefined
  return wasCancelled
    ? new SvcError('Conflict', 'the turn was cancelled')
    : new SvcError('ClientClosed', 'the client disconnected before the turn ended')
}

function isOpen(phase: TaskPhase | undefined): boolean {
  return !isTerminalPhase(phase) && phase !== 'Scheduled'
}

/** One sentence, empty when all have ended. */
export async function describeRunning(
  resources: Pick<ResourceReader, 'get'>,
  created: readonly ResourceKey[],
): Promise<string> {
  const tasks = await Promise.all(created.map((key) => resources.get('Task', key)))
  const open = tasks.filter(
    (task) => task !== undefined && task.spec.schedule === undefined && isOpen(task.status?.phase),
  )
  if (open.length === 0) return ''
  const names = open.map((task) => `${task?.metadata.name} (${task?.status?.phase ?? 'Pending'})`)
  return `[Not finished yet: ${names.join(', ')}. Ask again to hear how it went.]`
}
