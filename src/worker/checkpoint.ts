// The saved state of a run: what another attempt needs to go on from the last finished turn. Written whole now and then,
// and added to in between, so that what is written grows with the conversation and not with its square.
import { z } from 'zod'
import type { WorkAssignment } from '../contract/api/assignment.ts'
import type { LoopState } from '../llm/loop-state.ts'
import { applyChange, findChange, type StateChange } from '../llm/state-change.ts'
import type { WorkerApi } from './api.ts'

/** Checked as far as a wrong one could do harm; the rest is the loop's own, of the same version. */
const SavedRun = z.object({
  kind: z.literal('ai'),
  state: z.looseObject({
    version: z.literal(1),
    messages: z.array(z.looseObject({ role: z.enum(['user', 'assistant']), content: z.array(z.looseObject({})) })),
    pending: z.array(
      z.looseObject({ id: z.string(), name: z.string(), state: z.enum(['planned', 'started', 'done']) }),
    ),
    iteration: z.int().min(0),
  }),
})

/** Ends that a new attempt is meant to overcome: it begins anew instead of failing the same way. */
const fruitless = ['refusal', 'max_tokens']

/** The state that an earlier attempt left, if it can be taken up. */
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
    // Of another version: the attempt begins anew.
    return undefined
  }
}

function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}

/** As much may always be added before the state is written whole again. */
const smallestRound = 262_144
/** Longer changes are not taken. */
const longestChange = 1_000_000

export type SaveRun = (state: LoopState) => Promise<void>

/** Saves each state once. A run that has not begun is not worth saving: it begins the same way again. */
export function createRunSaver(api: Pick<WorkerApi, 'saveCheckpoint' | 'appendCheckpoint'>): SaveRun {
  let last: LoopState | undefined
  /** Bytes that may still be added, and how many changes there are. */
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
