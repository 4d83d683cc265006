// Restores the loop's own calls in an llmo conversation that a client sends back: each as tool call and tool message
// (PROXY-014).
import type { JsonObject } from '../../lib/json.ts'
import { lostResult, readCall, readResultLine } from '../loop/server-calls.ts'

export type Restored = {
  messages: JsonObject[]
  /** The session in the latest call of a server tool. */
  session?: string
}

type ServerCall = { id: string; name: string; args: string; result?: string }
/**
 * One turn of the model: its text, and the calls of the service's tools, of which the first `answered` have results.
 */
type Segment = { lines: string[]; calls: ServerCall[]; answered: number }

function textOf(message: JsonObject): string {
  const { content } = message
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map((part: JsonObject) => (part.type === 'text' ? String(part.text) : '')).join('')
}

function isTouched(message: JsonObject): boolean {
  return message.role === 'assistant' && /^\[Tool \S+ call svc_/m.test(textOf(message))
}

function answerCall(segment: Segment, line: string): boolean {
  const call = segment.calls[segment.answered]
  const content = call && readResultLine(line, call.name)
  if (call === undefined || content === undefined) return false
  call.result = content
  segment.answered += 1
  return true
}

function isAnswered({ calls, answered }: Segment): boolean {
  return calls.length > 0 && calls.length === answered
}

function startSegment(): Segment {
  return { lines: [], calls: [], answered: 0 }
}

/** The turns that the loop merged into one text. */
function splitTurns(text: string, noteSession: (session: string) => void): Segment[] {
  let segment = startSegment()
  const segments = [segment]
  for (const line of text.split('\n')) {
    if (answerCall(segment, line)) continue
    if (isAnswered(segment)) {
      segment = startSegment()
      segments.push(segment)
    }
    const call = readCall(line)
    if (call === undefined) segment.lines.push(line)
    else {
      noteSession(call.session)
      segment.calls.push({ id: call.id, name: call.name, args: call.args })
    }
  }
  return dropBlank(segments)
}

/** Lines between a result and the next call may be blank: they do not start a turn. */
function dropBlank(segments: Segment[]): Segment[] {
  return segments.filter(({ lines, calls }) => calls.length > 0 || lines.some((line) => line.trim() !== ''))
}

function toToolCall({ id, name, args }: ServerCall): JsonObject {
  return { id, type: 'function', function: { name, arguments: args } }
}

function toToolMessage({ id, result }: ServerCall): JsonObject {
  return { role: 'tool', tool_call_id: id, content: result ?? lostResult }
}

/** `own`: calls of the client's tools, which belong to the last turn. */
function encodeTurn({ lines, calls }: Segment, message: JsonObject, own: unknown[]): JsonObject[] {
  const { tool_calls: _calls, ...rest } = message
  const text = lines.join('\n').trim()
  const all = [...calls.map(toToolCall), ...own]
  const content = text === '' && all.length > 0 ? null : text
  return [{ ...rest, content, ...(all.length > 0 ? { tool_calls: all } : {}) }, ...calls.map(toToolMessage)]
}

/** Untouched messages stay the same objects. */
export function restoreMessages(messages: JsonObject[]): Restored {
  if (!messages.some(isTouched)) return { messages }
  let session: string | undefined
  const restored = messages.flatMap((message) => {
    if (!isTouched(message)) return [message]
    const turns = splitTurns(textOf(message), (found) => {
      session = found
    })
    const own = Array.isArray(message.tool_calls) ? message.tool_calls : []
    return turns.flatMap((turn, at) => encodeTurn(turn, message, at === turns.length - 1 ? own : []))
  })
  return { messages: restored, session }
}
