// Restores the loop's own blocks in an llma conversation that a client sends back: each as tool_use and tool_result
// (PROXY-014).
import { parseForeignObject } from '../../contract/schema/foreign-json.ts'
import type { JsonObject } from '../../lib/json.ts'
import { isFailure, lostResult, readCall, readResult, readServerCallId } from '../loop/server-calls.ts'

type Wire = { role: string; content: string | JsonObject[] } & JsonObject

export type Restored = {
  messages: JsonObject[]
  /** The session in the latest call of a server tool. */
  session?: string
}

type ServerCall = { id: string; name: string; result?: JsonObject }
/**
 * One turn of the model: its blocks, and those calls that the service answers, of which the first `answered` have
 * results.
 */
type Segment = { blocks: JsonObject[]; calls: ServerCall[]; answered: number; hasOthers: boolean }

function blocksOf(message: Wire): JsonObject[] {
  return typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content
}

function isUnsigned(block: JsonObject): boolean {
  return block.type === 'thinking' && !block.signature
}

function readCallBlock(block: JsonObject): { session: string; id: string; block: JsonObject } | undefined {
  if (block.type === 'tool_use') {
    const known = readServerCallId(block.id)
    return known && { ...known, block: { ...block, id: known.id } }
  }
  const call = block.type === 'text' ? readCall(String(block.text)) : undefined
  if (call === undefined) return undefined
  const { session, id, name, args } = call
  return { session, id, block: { type: 'tool_use', id, name, input: parseForeignObject(args) ?? {} } }
}

function isTouched(message: Wire): boolean {
  if (message.role !== 'assistant') return false
  return blocksOf(message).some((block) => isUnsigned(block) || readCallBlock(block) !== undefined)
}

function makeResult(id: string, content: string, from: JsonObject = {}): JsonObject {
  const cache = from.cache_control === undefined ? {} : { cache_control: from.cache_control }
  return { type: 'tool_result', tool_use_id: id, content, ...(isFailure(content) ? { is_error: true } : {}), ...cache }
}

function answerCall(segment: Segment, block: JsonObject): boolean {
  const call = segment.calls[segment.answered]
  const content = call && block.type === 'text' ? readResult(String(block.text), call.name) : undefined
  if (call === undefined || content === undefined) return false
  call.result = makeResult(call.id, content, block)
  segment.answered += 1
  return true
}

function isAnswered({ calls, answered }: Segment): boolean {
  return calls.length > 0 && calls.length === answered
}

function startSegment(): Segment {
  return { blocks: [], calls: [], answered: 0, hasOthers: false }
}

/** Adds a block of the model; returns the conversation's session when it is a server tool's call. */
function addBlock(segment: Segment, block: JsonObject): string | undefined {
  const call = readCallBlock(block)
  segment.blocks.push(call?.block ?? block)
  if (call !== undefined) segment.calls.push({ id: call.id, name: String(call.block.name) })
  else if (block.type === 'tool_use') segment.hasOthers = true
  return call?.session
}

/** The turns that the loop merged into one message. */
function splitTurns(blocks: JsonObject[]): { turns: Segment[]; session?: string } {
  const segments = [startSegment()]
  let session: string | undefined
  for (const block of blocks.filter(isSendable)) {
    const last = segments.at(-1) ?? startSegment()
    if (answerCall(last, block)) continue
    if (isAnswered(last) && !last.hasOthers) segments.push(startSegment())
    session = addBlock(segments.at(-1) ?? last, block) ?? session
  }
  return { turns: segments.filter((turn) => turn.blocks.length > 0), session }
}

/** Vendors refuse unsigned thinking and empty texts. */
function isSendable(block: JsonObject): boolean {
  return !isUnsigned(block) && !(block.type === 'text' && block.text === '')
}

/**
 * What the client wrote, after the results that belong before it; its own result for a server tool's call only counts
 * when there is no other.
 */
function mergeResults(message: Wire, calls: ServerCall[]): Wire {
  const own: JsonObject[] = []
  const clientResults = new Map<string, JsonObject>()
  for (const block of blocksOf(message)) {
    const known = readServerCallId(block.tool_use_id)
    if (known === undefined) own.push(block)
    else if (!clientResults.has(known.id)) clientResults.set(known.id, { ...block, tool_use_id: known.id })
  }
  const results = calls.map((call) => call.result ?? clientResults.get(call.id) ?? makeResult(call.id, lostResult))
  const content = [...results, ...own]
  return { ...message, content: content.length > 0 ? content : [...clientResults.values()].map(toText) }
}

/** The client only refers to calls that are already answered: keep it as text, because a message must not be empty. */
function toText(block: JsonObject): JsonObject {
  const content = typeof block.content === 'string' ? block.content : JSON.stringify(block.content ?? '')
  return { type: 'text', text: `[Tool result]: ${content}` }
}

function needsMerge(message: Wire, calls: ServerCall[]): boolean {
  return calls.length > 0 || blocksOf(message).some((block) => readServerCallId(block.tool_use_id) !== undefined)
}

type Draft = { messages: Wire[]; waiting: ServerCall[]; session?: string }

/** Results without a following client message get a message of their own. */
function settle(draft: Draft): void {
  if (draft.waiting.length > 0) draft.messages.push(mergeResults({ role: 'user', content: [] }, draft.waiting))
  draft.waiting = []
}

function addAssistant(draft: Draft, message: Wire): void {
  settle(draft)
  if (!isTouched(message)) {
    draft.messages.push(message)
    return
  }
  const { turns, session } = splitTurns(blocksOf(message))
  if (session !== undefined) draft.session = session
  for (const turn of turns) {
    settle(draft)
    draft.messages.push({ ...message, content: turn.blocks })
    draft.waiting = turn.calls
  }
}

function addOther(draft: Draft, message: Wire): void {
  draft.messages.push(needsMerge(message, draft.waiting) ? mergeResults(message, draft.waiting) : message)
  draft.waiting = []
}

/** Untouched messages stay the same objects. */
export function restoreMessages(received: JsonObject[]): Restored {
  const messages = received as Wire[]
  if (!messages.some(isTouched)) return { messages }
  const draft: Draft = { messages: [], waiting: [] }
  for (const message of messages) {
    if (message.role === 'assistant') addAssistant(draft, message)
    else addOther(draft, message)
  }
  settle(draft)
  return { messages: draft.messages, session: draft.session }
}
