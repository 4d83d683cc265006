// The machine's own clock and randomness.
import { randomBytes } from 'node:crypto'
import { uuidv7 } from 'uuidv7'
import type { Clock, Ids } from '../../ports/clock.ts'

// setTimeout wraps beyond this and would fire at once.
const longestDelayMs = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => new Date(),
  // Not of timers/promises: that makes an error with a stack for each sleep that is given up, and most are.
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const onAbort = () => {
        clearTimeout(timer)
        reject(signal?.reason)
      }
      const onTime = () => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      }
      const timer = setTimeout(onTime, Math.min(Math.max(0, ms), longestDelayMs)).unref()
      signal?.addEventListener('abort', onAbort, { once: true })
    }),
}

export const systemIds: Ids = {
  next: (prefix) => (prefix === undefined ? uuidv7() : `${prefix}-${uuidv7()}`),
  hex: (length) =>
    randomBytes(Math.ceil(length / 2))
      .toString('hex')
      .slice(0, length),
  random: () => randomBytes(4).readUInt32BE() / 2 ** 32,
}
