// Trying again what a provider refuses for a while: its router or its control service may be away.
import type { Clock } from '../../lib/clock.ts'
import { WorkspaceError } from '../../ports/workspaces/execution-workspaces.ts'

/** Between two tries; about a minute in all. */
const pausesMs = [500, 1000, 2000, 4000, 8000, 15_000, 30_000]

export function isPassing(error: unknown): boolean {
  return error instanceof WorkspaceError && error.reason === 'ProviderUnavailable'
}

/** The last failure when all tries fail; at once for one that lasts, or once the signal aborts. */
export async function persist<T>(clock: Clock, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await work()
    } catch (error) {
      const pauseMs = pausesMs[tries]
      if (!isPassing(error) || pauseMs === undefined || signal.aborted) throw error
      await clock.sleep(pauseMs, signal).catch(() => undefined)
      if (signal.aborted) throw error
    }
  }
}
