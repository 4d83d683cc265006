// The tool loop: drives a saved state to its end, and saves it before each effect. Chat, proxies and workers all use
// it.
import { ruleOfCall } from '../../contract/kinds/tasks/failures.ts'
import { followSignals, waitUnlessAborted } from '../../lib/abort.ts'
import type { Clock } from '../../lib/clock.ts'
import { startDeadline, TimeLimitError } from '../call/deadlines.ts'
import { callToLastEvent, type ModelClient, type ServedCall, withAdmission } from '../call/model-client.ts'
import { createCollector } from '../messages/collect.ts'
import {
  addUsage,
  type ModelError,
  type ModelEvent,
  type ModelRequest,
  type Turn,
  textOf,
} from '../messages/messages.ts'
import {
  createSaver,
  type FinishReason,
  type LoopLimits,
  type LoopState,
  type PendingCall,
  type Saver,
} from './loop-state.ts'
import {
  addMail,
  applyContextTooLong,
  applyEnd,
  applyInterruption,
  applyResults,
  applyStarted,
  applyTurn,
  beginTurn,
  type Mail,
  nextStep,
  type PromptReason,
  repetitionWarning,
  resume,
  type Step,
  textToCheck,
} from './loop-step.ts'
import { runToolCall } from './loop-tools.ts'
import type { CheckedOutput } from './output-thread.ts'
import type { HostedCall, HostTool, ToolCall, ToolHost, ToolResult, ToolWait } from './tool-host.ts'

export type LoopEvent =
  /** The events of each model call as they arrive, at least one; block indexes start at 0 in every call. */
  | { type: 'model'; iteration: number; events: ModelEvent[] }
  /** A call is answered. */
  | { type: 'turn'; iteration: number; turn: Turn }
  /** What was streamed of this call is void: the call is repeated. */
  | { type: 'discarded'; iteration: number; error: ModelError }
  | { type: 'tool_call'; call: ToolCall }
  | { type: 'tool_result'; call: ToolCall; result: ToolResult }
  /** A text that no user wrote was added to the conversation. */
  | { type: 'prompt'; reason: PromptReason | 'repetition' | 'correction' | 'message'; text: string }
  | { type: 'finished'; reason: FinishReason; closing?: string; error?: ModelError }

/** The parts of a request that stay the same in all calls of a run. */
type ModelSettings = Omit<ModelRequest, 'system' | 'messages' | 'tools'>

/** Who pays for a run. */
export type Spending = {
  /** Asked before each model call. The run ends with what it throws, BudgetExceeded, and the call is not made. */
  require(): void | Promise<void>
  /**
   * Told of each call before anything is built on its answer: also where it failed, or the run was told to end. Does
   * not throw.
   */
  count(call: ServedCall): void
}

/** Texts that reach the model between two turns, without a call of a tool. */
export type Inbox = {
  /** What has come after the given number, and its last number; undefined when nothing has. */
  read(after: number): Promise<Mail | undefined>
  /** Everything up to that number is in the saved conversation. */
  confirm(upTo: number): Promise<void>
}

export type LoopRun = {
  /** From createLoopState, or as saved. */
  state: LoopState
  model: ModelClient
  tools: ToolHost
  clock: Clock
  /** Ends the run with reason `cancelled` and what it has; the saved state can be resumed. */
  signal: AbortSignal
  limits?: LoopLimits
  settings?: ModelSettings
  /** Called before each effect. When it rejects, the run stops and rejects: nothing unsaved is ever done. */
  save?: (state: LoopState) => Promise<void>
  /** A promise pauses the run until it resolves, or until the run must end: a listener cannot prevent that. */
  emit?: (event: LoopEvent) => void | undefined | Promise<void>
  spending?: Spending
  inbox?: Inbox
  /** Which step of the run's trace a call is that `emit` was told of; `call`: its id. */
  stepOf?: (call: string) => string | undefined
  /** Applied to tool results before the model or anybody else sees them (SECRET-008). */
  redact?: (text: string) => string
}

type Context = Required<Omit<LoopRun, 'state' | 'save' | 'redact' | 'emit' | 'inbox'>> & {
  inbox: Inbox | undefined
  emit: (event: LoopEvent) => void | undefined | Promise<void>
  saver: Saver
  list: HostTool[]
  redact: (text: string) => string
}

/** Runs until the state is finished. Rejects only when saving or emitting does. */
export async function runLoop(run: LoopRun): Promise<LoopState> {
  const watch = watchDeadline(run)
  const { spending = free } = run
  const context: Context = {
    model: withAdmission(run.model, spending.require),
    spending,
    inbox: run.inbox,
    stepOf: run.stepOf ?? (() => undefined),
    tools: run.tools,
    clock: run.clock,
    limits: run.limits ?? {},
    settings: run.settings ?? {},
    emit: createEmitter(run.emit ?? (() => {}), watch.signal),
    redact: run.redact ?? ((text) => text),
    signal: watch.signal,
    saver: createSaver(run.save, watch.signal),
    list: run.tools.list(),
  }
  try {
    return await drive(resume(run.state), context, () => (run.signal.aborted ? 'cancelled' : 'deadline'))
  } finally {
    watch.stop()
  }
}

const free: Spending = { require: () => {}, count: () => {} }

function createEmitter(emit: NonNullable<LoopRun['emit']>, signal: AbortSignal): Context['emit'] {
  return (event) => {
    const emitted = emit(event)
    return emitted instanceof Promise ? waitUnlessAborted(emitted, signal) : undefined
  }
}

/** The run's signal, which also aborts at the deadline. */
function watchDeadline(run: LoopRun): { signal: AbortSignal; stop(): void } {
  const deadline = run.limits?.deadline
  if (deadline === undefined) return { signal: run.signal, stop: () => {} }
  const over = followSignals(run.signal)
  const left = deadline.getTime() - run.clock.now().getTime()
  const abort = () => over.abort(new TimeLimitError(left))
  const late = left > 0 ? startDeadline(run.clock, left, abort) : undefined
  if (late === undefined) abort()
  return {
    signal: over.signal,
    stop() {
      over.release()
      late?.cancel()
    },
  }
}

async function drive(start: LoopState, context: Context, whyAborted: () => FinishReason): Promise<LoopState> {
  let state = start
  while (true) {
    if (context.signal.aborted && state.finished === undefined) state = applyEnd(state, whyAborted())
    const step = nextStep(state, context.limits)
    if (step.kind === 'done') return conclude(state, step.reason, context)
    state =
      step.kind === 'model'
        ? await takeTurn(state, step, context, whyAborted)
        : await runTools(state, step.calls, context)
  }
}

const unsaved: FinishReason[] = ['cancelled', 'error', 'deadline']

/** A run that ended early is not saved as ended: another process may continue from its last completed turn. */
async function conclude(state: LoopState, reason: FinishReason, context: Context): Promise<LoopState> {
  const done = state.finished === undefined ? applyEnd(state, reason) : state
  if (reason === 'parked') await context.saver.save(() => state)
  else if (!unsaved.includes(reason)) await context.saver.save(() => done)
  await context.emit({ type: 'finished', ...(done.finished ?? { reason }) })
  return done
}

async function takeTurn(
  before: LoopState,
  step: Extract<Step, { kind: 'model' }>,
  context: Context,
  whyAborted: () => FinishReason,
): Promise<LoopState> {
  const mail = await context.inbox?.read(before.mailbox ?? 0)
  const state = beginTurn(mail === undefined ? before : addMail(before, mail), step, context.limits)
  if (mail !== undefined) await context.emit({ type: 'prompt', reason: 'message', text: mail.text })
  if (step.prompt !== undefined) await context.emit({ type: 'prompt', ...step.prompt })
  await context.saver.save(() => state)
  // Only now: a crash before it makes the model read them once more, and loses none.
  if (mail !== undefined) await context.inbox?.confirm(mail.upTo)
  const turn = await callModel(state, step.withTools, context)
  if (turn.error !== undefined) return failTurn(state, turn, turn.error, { context, whyAborted })
  await context.emit({ type: 'turn', iteration: state.iteration, turn })
  const { limits, list: tools } = context
  const checked = await checkAnswer(turn, step.final, context)
  const after = applyTurn(state, turn, { final: step.final, limits, tools, checked })
  await emitRefused(after, context)
  if (after.corrections !== state.corrections) {
    await context.emit({ type: 'prompt', reason: 'correction', text: lastText(after) })
  }
  return after
}

/** Undefined also when the run must end meanwhile. */
async function checkAnswer(
  turn: Turn,
  final: boolean,
  { limits: { checkOutput }, signal }: Context,
): Promise<CheckedOutput | undefined> {
  const text = textToCheck(turn, final)
  if (text === undefined || checkOutput === undefined) return undefined
  return waitUnlessAborted(checkOutput(text, signal), signal)
}

function lastText({ messages }: LoopState): string {
  const block = messages.at(-1)?.content.at(-1)
  return block?.type === 'text' ? block.text : ''
}

/** Calls that were answered without running. */
async function emitRefused({ pending }: LoopState, context: Context): Promise<void> {
  for (const { id, name, args, result } of pending) {
    if (result !== undefined) await context.emit({ type: 'tool_result', call: { id, name, args }, result })
  }
}

async function callModel(state: LoopState, withTools: boolean, context: Context): Promise<Turn> {
  const { toolChoice, ...settings } = context.settings
  const request: ModelRequest = {
    ...settings,
    system: state.system,
    messages: state.messages,
    tools: withTools ? context.list : [],
    ...(withTools && toolChoice !== undefined ? { toolChoice } : {}),
  }
  const collector = createCollector()
  const take = (events: ModelEvent[]) => {
    collector.push(events)
    return context.emit({ type: 'model', iteration: state.iteration, events })
  }
  await callToLastEvent(context.model, request, { signal: context.signal, take, spend: context.spending.count })
  return collector.turn()
}

async function failTurn(
  before: LoopState,
  turn: Turn,
  error: ModelError,
  run: { context: Context; whyAborted: () => FinishReason },
): Promise<LoopState> {
  const partial = textOf(turn.message)
  const state = { ...before, usage: addUsage(before.usage, turn.usage) }
  if (run.context.signal.aborted) return applyEnd(state, run.whyAborted(), { partial })
  const again = retryTurn(state, { error, hasBegun: turn.message.content.length > 0 }, run.context.limits)
  if (again === undefined) return applyEnd(state, 'error', { partial, error })
  await run.context.emit({ type: 'discarded', iteration: state.iteration, error })
  return again
}

/** A call that failed before its answer began was tried again already. */
function retryTurn(
  state: LoopState,
  { error, hasBegun }: { error: ModelError; hasBegun: boolean },
  limits: LoopLimits,
): LoopState | undefined {
  if (error.reason === 'ContextTooLong') return applyContextTooLong(state)
  const isBroken = error.reason === 'AnswerBrokenOff' || (hasBegun && ruleOfCall(error.reason).again)
  return isBroken ? applyInterruption(state, limits) : undefined
}

function hostCall(call: ToolCall, { wait }: PendingCall, turn: number, step: string | undefined): HostedCall {
  return { ...call, turn, ...(step !== undefined && { step }), ...(wait !== undefined && { waited: wait }) }
}

/** Runs independent calls concurrently. Saves finished ones while others still run, so that a crash loses little. */
async function runTools(before: LoopState, calls: PendingCall[], context: Context): Promise<LoopState> {
  const started = applyStarted(before, new Set(calls.map((call) => call.id)))
  // Parked calls are saved as what they are; making one again that may be repeated adds nothing to that.
  if (!calls.every(({ wait, repeatable }) => wait !== undefined && repeatable)) await context.saver.save(() => started)
  const run = { ...context, host: context.tools, tools: context.list }
  const warning = repetitionWarning(started)
  const results = new Map<string, ToolResult | ToolWait>()
  const present = () => applyResults(started, results)
  let running = calls.length
  const settled = await Promise.allSettled(
    calls.map(async (pending) => {
      const call: ToolCall = { id: pending.id, name: pending.name, args: pending.args }
      await context.emit({ type: 'tool_call', call })
      const result = await runToolCall(
        hostCall(call, pending, before.iteration, context.stepOf(call.id)),
        pending.invalidArgs,
        run,
      )
      results.set(pending.id, result)
      running -= 1
      if (running > 0) await context.saver.save(present)
      if (!('wait' in result)) await context.emit({ type: 'tool_result', call, result })
    }),
  )
  const failed = settled.find((outcome) => outcome.status === 'rejected')
  if (failed !== undefined && !context.signal.aborted) throw failed.reason
  const state = present()
  if (warning !== undefined && state.pending.length === 0) {
    await context.emit({ type: 'prompt', reason: 'repetition', text: warning })
  }
  return state
}
