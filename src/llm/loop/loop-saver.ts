// Saves loop states one after another; skips a state that became outdated while it waited.
import { waitUnlessAborted } from '../call/linked-signal.ts'
import type { LoopState } from './loop-state.ts'

export type Saver = {
  /**
   * Resolves when the current or a later state is saved, or when the run is to end. Rejects when saving failed.
   * `read` is called just before the state is written, and never when nobody saves.
   */
  save(read: () => LoopState): Promise<void>
}

export function createSaver(write: ((state: LoopState) => Promise<void>) | undefined, signal: AbortSignal): Saver {
  let waiting: (() => LoopState) | undefined
  let active: Promise<void> | undefined

  async function drain(save: (state: LoopState) => Promise<void>): Promise<void> {
    try {
      while (waiting !== undefined) {
        const read = waiting
        waiting = undefined
        await save(read())
      }
    } finally {
      active = undefined
    }
  }

  return {
    async save(read) {
      if (write === undefined) return
      waiting = read
      active ??= drain(write)
      await waitUnlessAborted(active, signal)
    },
  }
}
