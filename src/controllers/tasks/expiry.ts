// Removes ended tasks when their time is up: at that minute if the task sets it, otherwise with the next sweep.
import { type Task, terminalPhases } from '../../contract/kinds/tasks/task.ts'
import { isSvcError } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Resources } from '../../ports/resources/resources.ts'
import { timeToRemoval } from '../../rules/tasks/expiry.ts'

/** Deletes exactly this task; false when somebody else has. */
export async function removeEnded(resources: Pick<Resources, 'remove'>, { metadata }: Task): Promise<boolean> {
  try {
    await resources.remove('Task', metadata, { uid: metadata.uid })
    return true
  } catch (error) {
    if (!isSvcError(error, 'NotFound') && !isSvcError(error, 'Conflict')) throw error
    return false
  }
}

type SweepDeps = { resources: Pick<Resources, 'list' | 'remove'>; clock: Clock }

const pageSize = 200
/** Pause between two pages, so that a large store delays nobody. */
const pagePauseMs = 20

async function sweepPhase(
  { resources, clock }: SweepDeps,
  phase: string,
  options: { retentionMs: number; signal: AbortSignal },
) {
  let removed = 0
  let next: string | undefined
  do {
    const page = await resources.list('Task', { fields: { phase }, limit: pageSize, continue: next })
    const due = page.items.filter((task) => timeToRemoval(task, clock.now(), options.retentionMs) === 0)
    for (const task of due) if (await removeEnded(resources, task)) removed += 1
    next = page.continue
    if (next !== undefined) await clock.sleep(pagePauseMs, options.signal)
  } while (next !== undefined && !options.signal.aborted)
  return removed
}

/** Deletes the tasks that ended longer ago than the retention; returns how many. */
export async function sweepEndedTasks(deps: SweepDeps, retentionMs: number, signal: AbortSignal): Promise<number> {
  let removed = 0
  for (const phase of terminalPhases) removed += await sweepPhase(deps, phase, { retentionMs, signal })
  return removed
}
