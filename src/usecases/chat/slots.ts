// How many turns run at once on this replica (LIM-016).
import { SvcError } from '../../errors.ts'

const retryAfterSeconds = 5

export type Slots = {
  /** Takes a slot; what is given back frees it, once. TooManyRequests when none is left. */
  take(): () => void
}

export function createSlots(most: number): Slots {
  let taken = 0
  return {
    take() {
      if (taken >= most)
        throw new SvcError('TooManyRequests', 'too many concurrent chat requests', { retryAfterSeconds })
      taken += 1
      let isHeld = true
      return () => {
        if (isHeld) taken -= 1
        isHeld = false
      }
    },
  }
}
