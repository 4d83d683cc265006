// The machine's own clock and randomness.
import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { uuidv7 } from 'uuidv7'
import type { Clock, Ids } from '../../ports/clock.ts'

// setTimeout wraps beyond this and would fire at once.
const longestDelayMs = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => new Date(),
  async sleep(ms, signal) {
    await delay(Math.min(Math.max(0, ms), longestDelayMs), undefined, { ref: false, ...(signal ? { signal } : {}) })
  },
}

export const systemIds: Ids = {
  next: (prefix) => (prefix === undefined ? uuidv7() : `${prefix}-${uuidv7()}`),
  hex: (length) =>
    randomBytes(Math.ceil(length / 2))
      .toString('hex')
      .slice(0, length),
  random: () => randomBytes(4).readUInt32BE() / 2 ** 32,
}
