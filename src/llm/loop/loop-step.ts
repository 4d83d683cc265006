// The decisions of the tool loop: what comes next, and what each outcome changes. Pure.
import { createHash } from 'node:crypto'
import { sortKeys } from '../../lib/json.ts'
import {
  addUsage,
  type ContentBlock,
  type Message,
  type ModelError,
  type ToolUseBlock,
  type Turn,
  textOf,
  toolUsesOf,
} from '../messages/messages.ts'
import { estimateTokens } from '../messages/token-usage.ts'
import {
  appendUser,
  defaultLimits,
  type FinishReason,
  type LoopLimits,
  type LoopState,
  type PendingCall,
} from './loop-state.ts'
import { describeCorrection, maxCorrections } from './output-check.ts'
import type { CheckedOutput } from './output-thread.ts'
import { failToolCall, type HostTool, type ToolResult, type ToolWait } from './tool-host.ts'
import { truncateMessages } from './truncate.ts'

const repetitionThreshold = 3
const repetitionPenalty = 5

export type PromptReason = 'progress' | 'summary' | 'output'

export type Step =
  | { kind: 'model'; final: boolean; withTools: boolean; prompt?: { reason: PromptReason; text: string } }
  | { kind: 'tools'; calls: PendingCall[] }
  | { kind: 'done'; reason: FinishReason }

const prompts: Record<PromptReason, string> = {
  progress: 'Sum up in a few sentences what is done so far and what is left. Then go on with the work.',
  summary:
    'The step limit is reached: no more tools can be called. Give your final summary now: what was done, what was found, and what is left to do.',
  output: 'The step limit is reached: no more tools can be called. Give your final answer now, with what you have.',
}

/** What the loop does next. Never includes calls in state `started`: they run, or `resume` decides about them. */
export function nextStep(state: LoopState, limits: LoopLimits): Step {
  if (state.finished !== undefined) return { kind: 'done', reason: state.finished.reason }
  const open = state.pending.filter(isOpen)
  if (open.length > 0) {
    return { kind: 'tools', calls: open.slice(0, limits.maxParallelTools ?? defaultLimits.maxParallelTools) }
  }
  if (state.pending.some((call) => call.state === 'waiting')) return { kind: 'done', reason: 'parked' }
  if (state.pending.some((call) => call.external)) return { kind: 'done', reason: 'external_tools' }
  const final = state.iteration + state.penalty + 1 >= (limits.maxIterations ?? defaultLimits.maxIterations)
  const reason = promptFor(state, limits, final)
  return {
    kind: 'model',
    final,
    withTools: !final && state.blankAt !== state.iteration,
    ...(reason === undefined ? {} : { prompt: { reason, text: prompts[reason] } }),
  }
}

function promptFor(state: LoopState, limits: LoopLimits, final: boolean): PromptReason | undefined {
  if (state.promptedAt === state.iteration) return undefined
  if (final) return limits.checkOutput === undefined ? 'summary' : 'output'
  const every = limits.progressEvery ?? 0
  return every > 0 && state.iteration > 0 && state.iteration % every === 0 ? 'progress' : undefined
}

export type Mail = { text: string; upTo: number }

/** Adds what has come to the conversation, once. */
export function addMail(state: LoopState, { text, upTo }: Mail): LoopState {
  return { ...state, messages: appendText(state.messages, text), mailbox: upTo }
}

/** Before a model call: adds the step's prompt and truncates the conversation. */
export function beginTurn(state: LoopState, step: Extract<Step, { kind: 'model' }>, limits: LoopLimits): LoopState {
  const prompted =
    step.prompt === undefined
      ? state
      : { ...state, messages: appendText(state.messages, step.prompt.text), promptedAt: state.iteration }
  const budget = limits.maxContextTokens
  if (budget === undefined) return prompted
  return { ...prompted, messages: truncateMessages(prompted.messages, budget) }
}

/** What must be compared with the shape that was asked for, before `applyTurn`; undefined when the answer is none yet. */
export function textToCheck({ message, stopReason }: Turn, final: boolean): string | undefined {
  const isOver = final || (toolUsesOf(message).length === 0 && stopReason !== 'pause')
  return isOver && stopReason !== 'refusal' ? textOf(message) : undefined
}

/** After an answered call: usage, message, planned tool calls or the end. */
export function applyTurn(
  state: LoopState,
  turn: Turn,
  context: { final: boolean; limits: LoopLimits; tools: HostTool[]; checked?: CheckedOutput | undefined },
): LoopState {
  const message = context.final ? withoutToolUses(turn.message) : turn.message
  const text = textOf(message)
  const counted: LoopState = {
    ...state,
    messages: message.content.length === 0 ? state.messages : [...state.messages, message],
    iteration: state.iteration + 1,
    llmCalls: state.llmCalls + 1,
    interruptions: 0,
    usage: addUsage(state.usage, turn.usage),
    text: text.trim() === '' ? state.text : text,
  }
  const uses = toolUsesOf(message)
  if (uses.length > 0) return planCalls(counted, uses, context)
  const { checkOutput, retryBlankAnswer = false } = context.limits
  if (checkOutput !== undefined) return endChecked(counted, turn, context)
  if (context.final) return finish(counted, 'iterations')
  return endTurn(counted, turn, { blank: text.trim() === '', retryBlank: retryBlankAnswer })
}

/** Where the answer must have a shape: it has, or the model is told why not, or the run ends with what it said. */
function endChecked(
  state: LoopState,
  { stopReason }: Turn,
  { final, checked }: { final: boolean; checked?: CheckedOutput | undefined },
): LoopState {
  if (stopReason === 'refusal') return finish(state, 'refusal')
  // The vendor paused, or the run was told to end.
  if (checked === undefined) return state
  if (checked.problem === undefined) return finish({ ...state, text: checked.json }, 'answer')
  const { problem, unchecked = false } = checked
  if (unchecked) return { ...state, finished: { reason: 'unchecked_output', problem } }
  // An answer that was cut off would be cut off again.
  if (stopReason === 'max_tokens') return { ...state, finished: { reason: 'max_tokens', problem } }
  const corrections = (state.corrections ?? 0) + 1
  if (final || corrections > maxCorrections) return { ...state, finished: { reason: 'invalid_output', problem } }
  return { ...state, corrections, messages: appendText(state.messages, describeCorrection(problem)) }
}

function endTurn(state: LoopState, turn: Turn, answer: { blank: boolean; retryBlank: boolean }): LoopState {
  // The vendor paused a long turn; it continues when the conversation is sent back unchanged.
  if (turn.stopReason === 'pause') return state
  if (turn.stopReason === 'refusal') return finish(state, 'refusal')
  if (turn.stopReason === 'max_tokens') return finish(state, 'max_tokens')
  const askAgain = answer.blank && answer.retryBlank && state.blankAt === undefined
  return askAgain ? { ...state, blankAt: state.iteration } : finish(state, 'answer')
}

function withoutToolUses(message: Message): Message {
  return { ...message, content: message.content.filter((block) => block.type !== 'tool_use') }
}

function planCalls(
  state: LoopState,
  uses: ToolUseBlock[],
  { tools, limits }: { tools: HostTool[]; limits: LoopLimits },
): LoopState {
  const repetitions = { ...state.repetitions }
  const repeated: string[] = []
  const byName = new Map(tools.map((tool) => [tool.name, tool]))
  const max = limits.maxToolCalls ?? defaultLimits.maxToolCalls
  let runs = 0
  const pending = uses.map((use): PendingCall => {
    const tool = byName.get(use.name)
    if (tool?.external) return { ...planCall(use, tool), external: true }
    runs += 1
    if (runs > max) return { ...planCall(use, tool), args: {}, state: 'done', result: refuseExcess(max) }
    if (countCall(repetitions, use) >= repetitionThreshold) repeated.push(use.name)
    return planCall(use, tool)
  })
  return { ...state, repetitions, repeated, pending, penalty: state.penalty + repetitionPenalty * repeated.length }
}

function planCall(use: ToolUseBlock, tool: HostTool | undefined): PendingCall {
  return {
    id: use.id,
    name: use.name,
    args: use.args,
    invalidArgs: use.invalidArgs,
    // A call that was answered without running may be answered again.
    repeatable: tool?.repeatable ?? true,
    state: 'planned',
  }
}

function refuseExcess(max: number): ToolResult {
  return failToolCall({
    error: `This call was not run: one turn may make ${max} tool calls at most.`,
    errorType: 'too_many_calls',
    suggestion: 'Call it again in a later turn if it is still needed; make fewer calls at once.',
  })
}

/** The same arguments in another order are the same call. */
function countCall(repetitions: Record<string, number>, use: ToolUseBlock): number {
  const text = `${use.name}\n${use.invalidArgs ?? JSON.stringify(use.args, sortKeys)}`
  const key = createHash('sha256').update(text).digest('base64url').slice(0, 22)
  const count = (repetitions[key] ?? 0) + 1
  repetitions[key] = count
  return count
}

/** Before tools run: from now on nobody may assume that they did not. */
export function applyStarted(state: LoopState, ids: ReadonlySet<string>): LoopState {
  return mapPending(state, (call) => (isOpen(call) && ids.has(call.id) ? { ...call, state: 'started' } : call))
}

/** Stores answers of calls by id; when no call is left, the results join the conversation in call order. */
export function applyResults(state: LoopState, results: ReadonlyMap<string, ToolResult | ToolWait>): LoopState {
  const answered = mapPending(state, (call): PendingCall => {
    const result = call.state === 'done' ? undefined : results.get(call.id)
    if (result === undefined) return call
    return 'wait' in result ? { ...call, state: 'waiting', ...result } : { ...call, state: 'done', result }
  })
  return closePending(answered)
}

/** Runs here, and has not started. */
function isOpen(call: PendingCall): boolean {
  return call.state === 'planned' && !call.external
}

function mapPending(state: LoopState, change: (call: PendingCall) => PendingCall): LoopState {
  return { ...state, pending: state.pending.map(change) }
}

function closePending(state: LoopState): LoopState {
  if (state.pending.length === 0 || state.pending.some((call) => call.state !== 'done')) return state
  const blocks: ContentBlock[] = state.pending.map((call) => ({
    type: 'tool_result',
    toolUseId: call.id,
    content: call.result?.content ?? '',
    isError: call.result?.isError ?? false,
  }))
  const warning = repetitionWarning(state)
  if (warning !== undefined) blocks.push({ type: 'text', text: warning })
  return { ...state, messages: appendUser(state.messages, blocks), pending: [], repeated: [] }
}

/** The warning to add to the results of the last turn, if any (CHAT-039, LLMA-035). */
export function repetitionWarning(state: LoopState): string | undefined {
  if (state.repeated.length === 0) return undefined
  const names = [...new Set(state.repeated)].join(', ')
  return `Warning: ${names} has now been called ${repetitionThreshold} times or more with identical arguments. The outcome will not change. Take a different approach, or answer with what you have.`
}

function appendText(messages: Message[], text: string): Message[] {
  return appendUser(messages, [{ type: 'text', text }])
}

/** The call was too long for the model: drops about half of the conversation, once per call (LLMA-037, LIM-015). */
export function applyContextTooLong(state: LoopState): LoopState | undefined {
  if (state.truncatedAt === state.iteration) return undefined
  const total = state.messages.reduce((sum, message) => sum + estimateTokens(message), 0)
  const messages = truncateMessages(state.messages, Math.floor(total / 2))
  return { ...state, messages, truncatedAt: state.iteration }
}

/** The call's stream broke: decides whether to repeat it. */
export function applyInterruption(state: LoopState, limits: LoopLimits): LoopState | undefined {
  if (state.interruptions >= (limits.maxInterruptions ?? 0)) return undefined
  return { ...state, interruptions: state.interruptions + 1 }
}

/** The end of an answer that the time limit cut short. */
export const deadlineClosing = 'The time limit was reached before the work was finished.'

/** Ends the run with what it has: `partial` is the text of an unfinished call. */
export function applyEnd(
  state: LoopState,
  reason: FinishReason,
  details: { partial?: string; error?: ModelError } = {},
): LoopState {
  const partial = details.partial?.trim() ? details.partial : state.text
  const closing = reason === 'deadline' ? deadlineClosing : undefined
  const text = closing === undefined ? partial : [partial, closing].filter((part) => part !== '').join('\n\n')
  const finished = {
    reason,
    error: details.error,
    closing,
  }
  return { ...state, text, finished }
}

function finish(state: LoopState, reason: FinishReason): LoopState {
  return { ...state, finished: { reason } }
}

const unknownOutcome = failToolCall({
  error: 'The run was interrupted while this call was under way; whether it took effect is not known.',
  errorType: 'outcome_unknown',
  suggestion: 'Look at what is there before you decide to call it again.',
})

/** Ends after which another process may continue. */
const resumable: FinishReason[] = ['error', 'deadline', 'cancelled', 'parked']

/** Resumes a saved state: calls that may have run are only repeated if their tool declares that safe. */
export function resume(state: LoopState): LoopState {
  const { finished, ...rest } = state
  const open = finished !== undefined && !resumable.includes(finished.reason) ? state : { ...rest, interruptions: 0 }
  const decided = mapPending(open, (call) => {
    if (call.state === 'waiting') return { ...call, state: 'planned' }
    if (call.state !== 'started') return call
    return call.repeatable ? { ...call, state: 'planned' } : { ...call, state: 'done', result: unknownOutcome }
  })
  return closePending(decided)
}
