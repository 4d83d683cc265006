// The saved state of a run, from which another attempt continues after the last completed turn. It is written whole now and
// then and appended to in between, so that the amount written grows with the conversation and not with its square.
import { z } from 'zod'
import type { WorkAssignment } from '../../contract/api/tasks/assignment.ts'
import type { LoopState } from '../../llm/loop/loop-state.ts'
import { applyChange, findChange, type StateChange } from '../../llm/loop/state-change.ts'
import type { WorkerApi } from '../api.ts'

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
const smallestRound = 262_144
/** Longer changes are refused. */
const longestChange = 1_000_000

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
    room = Math.max(smallestRound, sizeOf(run))
    count = 0
  }

  async function save(state: LoopState): Promise<void> {
    const change = findChange({ state: last }, { state })
    const size = last === undefined ? Number.POSITIVE_INFINITY : sizeOf(change)
    if (size > Math.min(room, longestChange)) return saveWhole(state)
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
