// A session's messages as a model conversation, and tool results as the summaries that a session stores.
import { isJsonObject, tryParseJson } from '../../lib/json.ts'
import type { ContentBlock, Message } from '../../llm/messages/messages.ts'
import { unsealTurn } from '../../llm/messages/seal.ts'
import type { NewMessage } from '../../ports/chat/sessions.ts'

/** 2K characters (SESS-012). */
const maxSummaryLength = 2048

type CallOutcome = { name: string; content: string; isError: boolean }

/** Name, outcome, ids and the start of the text of a tool's result. */
export function summarizeResult({ name, content, isError }: CallOutcome): string {
  const ids = listIds(content)
  const head = `${name} ${isError ? 'failed' : 'succeeded'}${ids === '' ? '' : ` (${ids})`}: `
  const room = maxSummaryLength - head.length
  if (content.length <= room) return head + content
  const note = ` [cut: ${content.length} characters]`
  return head + content.slice(0, Math.max(0, room - note.length)) + note
}

const idFields = ['name', 'taskName', 'namespace', 'phase', 'sessionId', 'errorType'] as const

function listIds(content: string): string {
  const outcome = parseToolContent(content)
  const data = { ...outcome, ...(isJsonObject(outcome.data) ? outcome.data : {}) }
  return idFields
    .filter((field) => typeof data[field] === 'string')
    .map((field) => `${field} ${String(data[field]).slice(0, 253)}`)
    .join(', ')
}

/** The JSON object in a text; any other text becomes `{ text }`. */
export function parseToolContent(text: string): Record<string, unknown> {
  const value = tryParseJson(text)
  return isJsonObject(value) ? value : { text }
}

/** The conversation so far, without what the service itself added for earlier turns. */
export function toConversation(transcript: readonly NewMessage[]): Message[] {
  const messages: Message[] = []
  const called = new Set<string>()
  for (const entry of transcript) {
    for (const { id } of entry.toolCalls ?? []) called.add(id)
    // Every vendor refuses a tool result without its call.
    if (entry.role !== 'tool' || called.has(entry.toolCallID ?? '')) addEntry(messages, entry)
  }
  return closeCalls(messages)
}

function addEntry(messages: Message[], entry: NewMessage): void {
  if (entry.role === 'assistant') addAssistant(messages, entry)
  else if (entry.role === 'user') addBlocks(messages, 'user', [{ type: 'text', text: entry.content }])
  else if (entry.role === 'tool') addResult(messages, entry)
}

/** Merges consecutive messages of one role: a failed turn leaves a question without an answer. */
function addBlocks(messages: Message[], role: Message['role'], blocks: ContentBlock[]): void {
  const last = messages.at(-1)
  if (last?.role === role) last.content.push(...blocks)
  else if (blocks.length > 0) messages.push({ role, content: blocks })
}

/** What the vendor wants back belongs to one turn, so that only turns without it are merged. */
function addAssistant(messages: Message[], { content, toolCalls = [], sealed }: NewMessage): void {
  const text: ContentBlock[] = content === '' ? [] : [{ type: 'text', text: content }]
  const uses = toolCalls.map(({ id, name, input }): ContentBlock => ({ type: 'tool_use', id, name, args: input }))
  const blocks = [...text, ...uses]
  const turn = unsealTurn({ role: 'assistant', content: blocks }, sealed)
  if (turn.origin === undefined || messages.at(-1)?.role === 'assistant') addBlocks(messages, 'assistant', blocks)
  else messages.push(turn)
}

function addResult(messages: Message[], { content, toolCallID = '' }: NewMessage): void {
  addBlocks(messages, 'user', [{ type: 'tool_result', toolUseId: toolCallID, content, isError: false }])
}

/** Puts each call's result into the next message, before all text: both vendors require it. */
function closeCalls(messages: Message[]): Message[] {
  return messages.flatMap((message, index): Message[] => {
    if (message.role === 'user') return [orderResults(message)]
    const next = messages[index + 1]
    const answered = new Set(next?.content.flatMap((block) => (block.type === 'tool_result' ? [block.toolUseId] : [])))
    const open = message.content.flatMap((block) =>
      block.type === 'tool_use' && !answered.has(block.id) ? [block.id] : [],
    )
    if (open.length === 0) return [message]
    const lost = open.map(
      (id): ContentBlock => ({ type: 'tool_result', toolUseId: id, content: noResult, isError: true }),
    )
    if (next?.role !== 'user') return [message, { role: 'user', content: lost }]
    next.content.unshift(...lost)
    return [message]
  })
}

const noResult = 'The turn ended before this call returned; it may or may not have taken effect.'

function orderResults(message: Message): Message {
  const results = message.content.filter((block) => block.type === 'tool_result')
  if (results.length === 0) return message
  return { ...message, content: [...results, ...message.content.filter((block) => block.type !== 'tool_result')] }
}

/** The approximate size of messages in the store, in bytes. */
export function measureTranscript(messages: readonly NewMessage[]): number {
  return messages.reduce((sum, message) => sum + measureMessage(message), 0)
}

function measureMessage({ content, toolCalls, sealed = '' }: NewMessage): number {
  const calls = toolCalls === undefined ? 0 : Buffer.byteLength(JSON.stringify(toolCalls))
  return Buffer.byteLength(content) + calls + sealed.length + 64
}

/**
 * What to keep of a session that has grown too large: the first user message and the newest exchanges that fit. An
 * answer with tool calls and the results of those stay or go together (SESS-009). The newest exchange always stays.
 */
export function truncateTranscript<M extends NewMessage>(messages: readonly M[], maxBytes: number): M[] {
  if (measureTranscript(messages) <= maxBytes) return [...messages]
  const first = messages.findIndex((message) => message.role === 'user')
  const head = first === -1 ? [] : messages.slice(first, first + 1)
  const groups = groupExchanges(messages.slice(first + 1))
  const newest: M[][] = []
  let left = maxBytes - measureTranscript(head)
  for (const group of groups.reverse()) {
    left -= measureTranscript(group)
    if (left < 0 && newest.length > 0) break
    newest.unshift(group)
  }
  return [...head, ...newest.flat()]
}

function groupExchanges<M extends NewMessage>(messages: readonly M[]): M[][] {
  const groups: M[][] = []
  for (const message of messages) {
    const last = groups.at(-1)
    if (last !== undefined && message.role === 'tool') last.push(message)
    else groups.push([message])
  }
  return groups
}
