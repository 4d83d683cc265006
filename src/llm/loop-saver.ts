// Saves loop states one after another; a state that was overtaken while it waited is skipped.
import type { LoopState } from './loop-state.ts'

export type Saver = {
  /** Resolves when this state or a later one is saved. Rejects when saving failed. */
  save(state: LoopState): Promise<void>
}

export function createSaver(write: (state: LoopState) => Promise<void>): Saver {
  let waiting: LoopState | undefined
  let active: Promise<void> | undefined

  async function drain(): Promise<void> {
    try {
      while (waiting !== undefined) {
        const state = waiting
        waiting = undefined
        await write(state)
      }
    } finally {
      active = undefined
    }
  }

  return {
    save(state) {
      waiting = state
      active ??= drain()
      return active
    },
  }
}
