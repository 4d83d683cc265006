// What a task keeps of the context it was created in: a digest of all of it, and the few keys that are shown.
import { createHash } from 'node:crypto'

const recordedKeys = [
  ...['purpose', 'namespace', 'taskType', 'agent', 'allowedAgents', 'repo', 'branch', 'ref', 'maxDepth'],
  ...['allowedTools', 'provider', 'allowedProviders', 'model', 'allowedModels', 'allowedHosts', 'e2e', 'trace_id'],
]
/** Keys that no decision depends on are dropped when their values are longer than this. */
const maxNoteLength = 1024
const notes = new Set(['purpose', 'e2e', 'trace_id'])

type Context = Readonly<Record<string, unknown>>

function byCodeUnit(left: string, right: string): number {
  if (left === right) return 0
  return left < right ? -1 : 1
}

function sortItems(items: readonly unknown[]): unknown[] {
  return items.every((item) => typeof item === 'string') ? [...items].sort(byCodeUnit) : [...items]
}

/**
 * JSON with sorted keys at every level and no white space (the part of RFC 8785 that matters here); `allowed*` lists
 * are sets.
 */
function writeCanonical(value: unknown, key = ''): string {
  if (Array.isArray(value)) {
    const items = key.startsWith('allowed') ? sortItems(value) : value
    return `[${items.map((item) => writeCanonical(item)).join(',')}]`
  }
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const entries = Object.entries(value).sort(([left], [right]) => byCodeUnit(left, right))
  return `{${entries.map(([name, item]) => `${JSON.stringify(name)}:${writeCanonical(item, name)}`).join(',')}}`
}

/** `sha256:` and hex digits; an empty string for an empty context. */
export function digestContext(context: Context): string {
  if (Object.keys(context).length === 0) return ''
  return `sha256:${createHash('sha256').update(writeCanonical(context), 'utf8').digest('hex')}`
}

function writeText(value: unknown): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value.join(',')
  return writeCanonical(value)
}

/** The keys of a task's `transaction.context`, as strings. */
export function recordContext(context: Context): Record<string, string> {
  const entries = recordedKeys
    .filter((key) => Object.hasOwn(context, key))
    .map((key): [string, string] => [key, writeText(context[key])])
    .filter(([key, text]) => !(notes.has(key) && text.length > maxNoteLength))
  return Object.fromEntries(entries)
}
