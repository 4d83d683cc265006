// The difference between two states of a run, as JSON that is appended to what was saved instead of writing it all
// again. States are never modified in place: an identical object is unchanged and is not examined.
import { isJsonObject, type JsonObject } from '../../contract/schema/json.ts'

/** A new value, or the changed parts of an object or a list; `length` is the new length of a list. */
export type StateChange =
  | { set: unknown }
  | { fields: Record<string, StateChange>; without?: string[] }
  | { items: Record<string, StateChange>; length?: number }

function findParts(before: JsonObject | unknown[], after: JsonObject | unknown[]): Record<string, StateChange> {
  const earlier = new Map(Object.entries(before))
  const parts = Object.entries(after).flatMap(([key, value]) => {
    const change = value === undefined ? undefined : findChange(earlier.get(key), value)
    return change === undefined ? [] : [[key, change] as const]
  })
  // Own fields, whatever their names are.
  return Object.fromEntries(parts)
}

function compareObjects(before: JsonObject, after: JsonObject): StateChange {
  // Own fields alone: every object inherits `toString`.
  const has = (object: JsonObject, key: string) => Object.hasOwn(object, key) && object[key] !== undefined
  const without = Object.keys(before).filter((key) => has(before, key) && !has(after, key))
  return { fields: findParts(before, after), ...(without.length === 0 ? {} : { without }) }
}

function compareLists(before: unknown[], after: unknown[]): StateChange {
  return { items: findParts(before, after), ...(after.length < before.length ? { length: after.length } : {}) }
}

/** The change from `before` to `after`; undefined when they are equal. */
export function findChange(before: unknown, after: unknown): StateChange | undefined {
  if (before === after) return undefined
  if (Array.isArray(before) && Array.isArray(after)) return compareLists(before, after)
  return isJsonObject(before) && isJsonObject(after) ? compareObjects(before, after) : { set: after }
}

/** The state after the change; leaves the one before unmodified. */
export function applyChange(before: unknown, change: StateChange): unknown {
  if ('set' in change) return change.set
  if ('items' in change) {
    const items = (before as unknown[]).slice(0, change.length)
    for (const [at, item] of Object.entries(change.items)) items[Number(at)] = applyChange(items[Number(at)], item)
    return items
  }
  const fields = new Map(Object.entries(before as JsonObject))
  for (const key of change.without ?? []) fields.delete(key)
  for (const [key, field] of Object.entries(change.fields)) fields.set(key, applyChange(fields.get(key), field))
  return Object.fromEntries(fields)
}
