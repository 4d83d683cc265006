// What a turn writes to its session: messages, tool results as summaries, interrupted text; and the session's size limit.
import type { ChatToolCall } from '../../contract/api/chat/chat.ts'
import { isSvcError, messageOf, SvcError } from '../../errors.ts'
import type { LoopEvent } from '../../llm/loop/loop.ts'
import type { ToolResult } from '../../llm/loop/tool-host.ts'
import { type ModelEvent, type ToolUseBlock, type Turn, textOf, toolUsesOf } from '../../llm/messages/messages.ts'
import { sealTurn } from '../../llm/messages/seal.ts'
import type { UsageRecord } from '../../ports/budgets/usage.ts'
import type { NewMessage, RememberedModel, Sessions } from '../../ports/chat/sessions.ts'
import type { Counted } from '../budgets/ledger.ts'
import type { UsecaseDeps } from '../service/deps.ts'
import { measureTranscript, parseToolContent, summarizeResult, truncateTranscript } from './history.ts'
import type { TurnEnding, TurnParts } from './turn-preparation.ts'

/** Calls of one model answer that wait for their results: both are stored together or not at all. */
type OpenCalls = { answer: NewMessage; uses: ToolUseBlock[]; results: Map<string, ToolResult> }

export type Recorder = {
  push(event: LoopEvent): void
  /** What is complete since the last time, if it is more than the user's message. */
  take(): NewMessage[]
  /** Everything that is left. `closing` is appended to the answer. */
  close(closing: string): NewMessage[]
  /** In the order in which the model called them. */
  calls(): ChatToolCall[]
}

const unanswered: ToolResult = {
  content: 'the turn ended before the call returned; it may or may not have taken effect',
  isError: true,
}

type Draft = {
  unsaved: NewMessage[]
  calls: ChatToolCall[]
  open: OpenCalls | undefined
  /** Text of the model call in progress. */
  partial: string
  /** True when the current model call is the last one: its tool calls are not run. */
  isSummary: boolean
}

export function createRecorder(userMessage: string): Recorder {
  const record: Draft = {
    unsaved: [{ role: 'user', content: userMessage }],
    calls: [],
    open: undefined,
    partial: '',
    isSummary: false,
  }
  return {
    push: (event) => addEvent(record, event),
    take: () => (record.unsaved.some((message) => message.role === 'tool') ? takeAll(record) : []),
    close(closing) {
      closeCalls(record)
      if (record.partial !== '') record.unsaved.push({ role: 'assistant', content: record.partial })
      addClosing(record, closing)
      return takeAll(record)
    },
    calls: () => record.calls,
  }
}

function addEvent(record: Draft, event: LoopEvent): void {
  if (event.type === 'turn') addTurn(record, event.turn)
  else if (event.type === 'prompt') addPrompt(record, event)
  else if (event.type === 'tool_result') addResult(record, event)
  else if (event.type === 'discarded') record.partial = ''
  else if (event.type === 'model') addDeltas(record, event.events)
}

function addDeltas(record: Draft, events: ModelEvent[]): void {
  for (const event of events) if (event.type === 'text_delta') record.partial += event.text
}

function addTurn(record: Draft, { message }: Turn): void {
  closeCalls(record)
  record.partial = ''
  const content = textOf(message)
  const uses = record.isSummary ? [] : toolUsesOf(message)
  const toolCalls = uses.map(({ id, name, args }) => ({ id, name, input: args }))
  const sealed = sealTurn(message)
  const answer: NewMessage = { role: 'assistant', content, ...(sealed !== undefined && { sealed }) }
  if (uses.length > 0) record.open = { answer: { ...answer, toolCalls }, uses, results: new Map() }
  else if (content !== '') record.unsaved.push(answer)
}

function addPrompt(record: Draft, event: Extract<LoopEvent, { type: 'prompt' }>): void {
  closeCalls(record)
  record.isSummary = event.reason === 'summary'
  record.unsaved.push({ role: 'system', content: event.text })
}

function addResult(record: Draft, { call, result }: Extract<LoopEvent, { type: 'tool_result' }>): void {
  const { open } = record
  open?.results.set(call.id, result)
  if (open?.results.size === open?.uses.length) closeCalls(record)
}

function closeCalls(record: Draft): void {
  const { open, unsaved, calls } = record
  if (open === undefined) return
  unsaved.push(open.answer)
  for (const { id, name, args } of open.uses) {
    const result = open.results.get(id) ?? unanswered
    unsaved.push({ role: 'tool', name, toolCallID: id, content: summarizeResult({ name, ...result }) })
    calls.push({ name, args, result: parseToolContent(result.content) })
  }
  record.open = undefined
}

/** The last answer followed by the closing, or the closing alone. */
function addClosing({ unsaved }: Draft, closing: string): void {
  const last = unsaved.at(-1)
  if (closing === '') return
  if (last?.role === 'assistant') last.content = `${last.content}\n\n${closing}`
  else unsaved.push({ role: 'assistant', content: closing })
}

function takeAll(record: Draft): NewMessage[] {
  const taken = record.unsaved
  record.unsaved = []
  return taken
}

/** A truncated session gets room for several turns, so that it is not truncated every time. */
const compactedShare = 0.75

/** What one model call used, both for its record and as already counted in the ledger. */
export type CountedCall = { record: Omit<UsageRecord, 'createdAt'>; counted: Counted }

type Stored = TurnEnding & { recorder: Recorder; usage: CountedCall[]; closing: string }

/** Stores what is left of the turn and releases the session. Returns what went wrong as an error for the caller. */
export async function storeTurn(deps: UsecaseDeps, parts: TurnParts, turn: Stored): Promise<SvcError | undefined> {
  const { records } = deps.ports
  const { lease, settings, choices } = parts
  const messages = turn.recorder.close(turn.closing)
  const { inputTokens = 0, outputTokens = 0 } = turn.state?.usage ?? {}
  const isLarge = turn.historyBytes + measureTranscript(messages) > settings.maxSessionBytes * compactedShare
  const compact = isLarge ? () => compactSession(records.sessions, lease.key, settings.maxSessionBytes) : undefined
  try {
    // Requested together, so that a store that supports it makes them one commit.
    await Promise.all([
      lease.finish(messages, { usage: { inputTokens, outputTokens }, answeredBy: rememberFirst(choices) }, compact),
      recordUsage(deps, turn.usage),
    ])
    return undefined
  } catch (error) {
    if (isSvcError(error)) return error
    return new SvcError('Internal', `the turn could not be stored: ${messageOf(error)}`, { cause: error })
  }
}

/** Stamped with the time of writing, because budgets search for new records by time. */
async function recordUsage({ ports: { records, clock }, ledger }: UsecaseDeps, usage: CountedCall[]): Promise<void> {
  if (usage.length === 0) return
  const createdAt = clock.now().toISOString()
  await records.usage.record(usage.map(({ record }) => ({ ...record, createdAt })))
  for (const { counted } of usage) ledger.settle(counted)
}

/** The choice that was first asked: a fallback answers one turn, not the conversation. */
function rememberFirst([first]: TurnParts['choices']): RememberedModel | undefined {
  return first && { namespace: first.provider.namespace, name: first.provider.name, model: first.model }
}

/** Drops the oldest exchanges after the first user message when the session is too large (SESS-004, SESS-009). */
async function compactSession(sessions: Sessions, key: TurnParts['lease']['key'], maxBytes: number): Promise<void> {
  const all = await sessions.transcript(key, { withSeals: true })
  if (measureTranscript(all) <= maxBytes) return
  const truncated = truncateTranscript(all, Math.floor(maxBytes * compactedShare))
  const first = all.findIndex((message) => message.role === 'user')
  const head = first === -1 ? [] : all.slice(first, first + 1)
  const oldest = truncated[head.length]
  if (oldest === undefined) return
  await sessions.compact(key, oldest.id - 1, head)
}
