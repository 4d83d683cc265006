// A conversation as it is shown: what people and models said, and each call of a tool with its result. Made of a stored
// transcript, or of the frames of a turn as they come.
import type { ChatFrame } from '../../../../src/contract/api/chat/chat.ts'
import type { TranscriptMessage } from '../../../../src/contract/api/chat/sessions.ts'
import { tryParseJson } from '../../../../src/lib/json.ts'

/** `lost`: the turn ended before the result came. */
export type CallState = 'running' | 'done' | 'failed' | 'lost'

export type CallEntry = {
  type: 'call'
  id: string
  name: string
  args: Record<string, unknown>
  state: CallState
  /** As text; JSON where the tool answered so. */
  result: string
  /** RFC 3339; absent while it runs. */
  at?: string | undefined
}

export type Entry = { type: 'user' | 'answer' | 'note'; text: string; at?: string | undefined } | CallEntry

/** Lines of JSON, as the service keeps them; one that is none is left out. */
export function readMessages(transcript: string): TranscriptMessage[] {
  const lines = transcript.split('\n').map((line) => tryParseJson(line) as TranscriptMessage | undefined)
  return lines.filter((message) => typeof message?.role === 'string') as TranscriptMessage[]
}

const speakers = { user: 'user', assistant: 'answer', system: 'note' } as const

export function toEntries(messages: readonly TranscriptMessage[]): Entry[] {
  const entries: Entry[] = []
  const open = new Map<string, CallEntry>()
  for (const message of messages) {
    const { role, content, ts: at, toolCalls = [] } = message
    if (role === 'tool') {
      closeCall(message, open.get(message.toolCallID ?? ''), entries)
      continue
    }
    if (content !== '') entries.push({ type: speakers[role], text: content, at })
    for (const { id, name, input } of toolCalls) {
      const call: CallEntry = { type: 'call', id, name, args: input, state: 'lost', result: '', at }
      open.set(id, call)
      entries.push(call)
    }
  }
  return entries
}

/** Chat keeps a summary, `list_tasks failed: ...`; agents keep the result itself. */
function closeCall(message: TranscriptMessage, call: CallEntry | undefined, entries: Entry[]): void {
  const { content, name = '', input = {}, ts: at, toolCallID: id = '' } = message
  const state = /^[\w-]{1,128} failed\b/.test(content) ? 'failed' : 'done'
  if (call === undefined) entries.push({ type: 'call', id, name, args: input, state, result: content, at })
  else Object.assign(call, { state, result: content })
}

/** The entries after one more frame of a running turn. */
export function addFrame(entries: readonly Entry[], event: string, frame: ChatFrame): readonly Entry[] {
  if (event === 'message') return addText(entries, frame.content ?? '')
  const { toolCall: call, result = {} } = frame
  if (call === undefined) return entries
  if (event === 'tool_call') return [...entries, { type: 'call', ...call, state: 'running', result: '' }]
  if (event !== 'tool_result') return entries
  const state = result.success === false ? 'failed' : 'done'
  const text = JSON.stringify(result, null, 2)
  return entries.map((entry) => (isCall(entry, call.id) ? { ...entry, state, result: text } : entry))
}

function isCall(entry: Entry, id: string): entry is CallEntry {
  return entry.type === 'call' && entry.id === id
}

function addText(entries: readonly Entry[], text: string): readonly Entry[] {
  const last = entries.at(-1)
  if (last?.type !== 'answer') return [...entries, { type: 'answer', text }]
  return [...entries.slice(0, -1), { ...last, text: last.text + text }]
}

/** Nothing runs once the turn is over. */
export function endCalls(entries: readonly Entry[]): readonly Entry[] {
  return entries.map((entry) =>
    entry.type === 'call' && entry.state === 'running' ? { ...entry, state: 'lost' } : entry,
  )
}
