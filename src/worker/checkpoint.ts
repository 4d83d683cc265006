// The saved state of a run: what another attempt needs to go on from the last finished turn.
import { z } from 'zod'
import type { WorkAssignment } from '../contract/api/assignment.ts'
import type { LoopState } from '../llm/loop-state.ts'
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
  const saved = SavedRun.safeParse(await api.loadCheckpoint())
  if (!saved.success) return undefined
  const state = saved.data.state as unknown as LoopState
  const { finished } = state
  const isFruitless = finished !== undefined && (fruitless.includes(finished.reason) || state.text.trim() === '')
  return isFruitless ? undefined : state
}

/** Saves each state once. A run that has not begun is not worth saving: it begins the same way again. */
export function createRunSaver(api: WorkerApi): (state: LoopState) => Promise<void> {
  let last: LoopState | undefined
  return async (state) => {
    const isFresh = state.llmCalls === 0 && state.pending.length === 0
    if (state === last || isFresh) return
    await api.saveCheckpoint({ kind: 'ai', state })
    last = state
  }
}
