// The fields of a message beside its text and its calls, from the pieces of a stream: what a vendor attaches to a turn, and may
// need again.
import { isJsonObject, type JsonObject } from '../../lib/json.ts'

/** They have a neutral form, or say nothing that could be needed again. */
const own = new Set(['role', 'content', 'tool_calls', 'function_call', 'refusal', 'usage', 'logprobs', 'token_ids'])

/** Names under which servers send the text of their thinking, the usual one first. */
export const thinkingFields = ['reasoning_content', 'reasoning', 'reasoning_text', 'thinking'] as const

/** Values that name something are not written in pieces. */
const labels = new Set(['type', 'id', 'format', 'index', 'name', 'role', 'object', 'signature'])

export function isAttached(name: string, value: unknown): boolean {
  if (own.has(name) || value === null || value === undefined || value === '') return false
  return typeof value !== 'object' || Object.keys(value).length > 0
}

/** Pieces of a text are joined; one that is sent again is the same. */
function mergeText(name: string, before: string, after: string): string {
  if (labels.has(name)) return after || before
  const isThinking = (thinkingFields as readonly string[]).includes(name)
  return !isThinking && before === after ? before : before + after
}

function mergeValue(name: string, before: unknown, after: unknown): unknown {
  if (typeof before === 'string' && typeof after === 'string') return mergeText(name, before, after)
  if (Array.isArray(before) && Array.isArray(after)) return after.reduce(addItem, before)
  if (isJsonObject(before) && isJsonObject(after)) return mergeFields(before, after)
  return after ?? before
}

function mergeFields(before: JsonObject, after: JsonObject): JsonObject {
  const merged = { ...before }
  for (const [name, value] of Object.entries(after)) merged[name] = mergeValue(name, before[name], value)
  return merged
}

/** An item goes on with the one of its index, or of its type when nothing is numbered. */
function addItem(items: unknown[], item: unknown): unknown[] {
  const at = items.findLastIndex((one, position) => continues(one, item, position === items.length - 1))
  if (at === -1) return [...items, item]
  return items.with(at, mergeFields(items[at] as JsonObject, item as JsonObject))
}

function continues(before: unknown, item: unknown, isLast: boolean): boolean {
  if (!isJsonObject(before) || !isJsonObject(item)) return false
  if (item.index !== undefined || before.index !== undefined)
    return item.index === before.index && item.type === before.type
  const hasText = typeof item.text === 'string' || typeof item.summary === 'string'
  return isLast && hasText && item.type === before.type && (item.id ?? before.id) === before.id
}

/** Adds the fields of one delta to those so far, in place. */
export function addAttached(fields: JsonObject, delta: JsonObject): void {
  for (const [name, value] of Object.entries(delta)) {
    if (isAttached(name, value)) fields[name] = mergeValue(name, fields[name], value)
  }
}
