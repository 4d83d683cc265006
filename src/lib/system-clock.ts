// The machine's own clock and randomness.
import { randomFillSync } from 'node:crypto'
import { V7Generator } from 'uuidv7'
import { onAbort } from './abort.ts'
import { type Clock, type Ids, maxTimerMs } from './clock.ts'

export const systemClock: Clock = {
  now: () => new Date(),
  // Whole, as those of `now`: people read them in logs.
  monotonic: () => Math.floor(performance.now()),
  // Not from timers/promises, which creates an error with a stack for each cancelled sleep, and most are cancelled.
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const removeListener = onAbort(signal, () => {
        clearTimeout(timer)
        reject(signal?.reason)
      })
      const onTime = () => {
        removeListener()
        resolve()
      }
      const timer = setTimeout(onTime, Math.min(Math.max(0, ms), maxTimerMs)).unref()
    }),
}

const wordsPerFill = 1024

/** A call for random bytes costs more than the rest of an id, so many are fetched at once. */
function createRandomWords() {
  const words = new Uint32Array(wordsPerFill)
  let next = wordsPerFill
  return {
    nextUint32(): number {
      if (next === wordsPerFill) {
        randomFillSync(words)
        next = 0
      }
      return words[next++] ?? 0
    },
  }
}

const words = createRandomWords()
const generator = new V7Generator(words)
const digitsPerWord = 8

function makeHex(length: number): string {
  let digits = ''
  while (digits.length < length) digits += words.nextUint32().toString(16).padStart(digitsPerWord, '0')
  return digits.slice(0, length)
}

function makeUuid(): string {
  return generator.generate().toString()
}

export const systemIds: Ids = {
  next: (prefix) => (prefix === undefined ? makeUuid() : `${prefix}-${makeUuid()}`),
  hex: makeHex,
  random: () => words.nextUint32() / 2 ** 32,
}
