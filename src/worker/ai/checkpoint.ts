// The saved state of a run, from which another attempt continues after the last completed turn. It is written whole now and
// then and appended to in between, so that the amount written grows with the conversation and not with its square.
import { z } from 'zod'
import type { WorkAssignment } from '../../contract/api/tasks/assignment.ts'
import { isJsonObject, type JsonObject } from '../../lib/json.ts'
import type { LoopState } from '../../llm/loop/loop-state.ts'
import type { WorkerApi } from '../api.ts'

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

/** Validated as far as a wrong value could do harm; the rest belongs to the loop, in the same version. */
const SavedRun = z.object({
  kind: z.literal('ai'),
  state: z.looseObject({
    version: z.literal(1),
    messages: z.array(z.looseObject({ role: z.enum(['user', 'assistant']), content: z.array(z.looseObject({})) })),
    pending: z.array(
      z.looseObject({ id: z.string(), name: z.string(), state: z.enum(['planned', 'started', 'waiting', 'done']) }),
    ),
    iteration: z.int().min(0),
  }),
})

/** Endings that a new attempt should overcome: it starts over instead of failing the same way. */
const fruitless = ['refusal', 'max_tokens', 'invalid_output']

/** The state that an earlier attempt left, if it can be resumed. */
export async function loadRun(api: WorkerApi, task: WorkAssignment['task']): Promise<LoopState | undefined> {
  if (task.attempt === 1) return undefined
  const saved = SavedRun.safeParse(await readSaved(api))
  if (!saved.success) return undefined
  const state = saved.data.state as unknown as LoopState
  const { finished } = state
  const isFruitless = finished !== undefined && (fruitless.includes(finished.reason) || state.text.trim() === '')
  return isFruitless ? undefined : state
}

async function readSaved(api: Pick<WorkerApi, 'loadCheckpoint'>): Promise<unknown> {
  const [state, ...changes] = (await api.loadCheckpoint()) ?? []
  try {
    return (changes as StateChange[]).reduce(applyChange, state)
  } catch {
    // From another version: the attempt starts over.
    return undefined
  }
}

function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}

/** This much may always be appended before the state is written whole again. */
const minRoundBytes = 262_144
/** Longer changes are refused. */
const maxChangeBytes = 1_000_000

export type SaveRun = (state: LoopState) => Promise<void>

/** Saves each state once. A run that has not started is not saved: it can start the same way again. */
export function createRunSaver(api: Pick<WorkerApi, 'saveCheckpoint' | 'appendCheckpoint'>): SaveRun {
  let last: LoopState | undefined
  /** How many bytes may still be appended, and the number of changes. */
  let room = 0
  let count = 0

  async function saveWhole(state: LoopState): Promise<void> {
    const run = { kind: 'ai', state }
    await api.saveCheckpoint(run)
    room = Math.max(minRoundBytes, sizeOf(run))
    count = 0
  }

  async function save(state: LoopState): Promise<void> {
    const change = findChange({ state: last }, { state })
    const size = last === undefined ? Number.POSITIVE_INFINITY : sizeOf(change)
    if (size > Math.min(room, maxChangeBytes)) return saveWhole(state)
    await api.appendCheckpoint(count + 1, change)
    count += 1
    room -= size
  }

  return async (state) => {
    const isFresh = state.llmCalls === 0 && state.pending.length === 0
    if (state === last || isFresh) return
    await save(state)
    last = state
  }
}
