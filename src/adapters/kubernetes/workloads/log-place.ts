// Which parts of a log are new: a log is read again after a cut connection and after a restart of the service.
import type { LogPart } from './log-stream.ts'

/** The last line that was taken, and how much of it. */
export type LogPlace = { stamp: bigint; nth: number; bytes: number; isWhole: boolean }

export type LogSieve = {
  /** What of the part was not taken before; empty when all was. */
  take(part: LogPart): Buffer
  place(): LogPlace | undefined
  /** The log is read anew, from this moment or an earlier one. */
  rewind(): void
}

const nothing = Buffer.alloc(0)

function isBefore(a: { stamp: bigint; nth: number }, b: { stamp: bigint; nth: number }): boolean {
  return a.stamp < b.stamp || (a.stamp === b.stamp && a.nth < b.nth)
}

/** Lets every byte through once, however often the log is read from its start or from the last line's second. */
export function createLogSieve(start?: LogPlace): LogSieve {
  let place = start
  /** Bytes that came of the line of `place` in this reading. */
  let seen = 0

  function takeSame(at: LogPlace, part: LogPart): Buffer {
    const from = seen
    seen += part.bytes.length
    if (at.isWhole || seen <= at.bytes) return nothing
    const fresh = part.bytes.subarray(Math.max(0, at.bytes - from))
    place = { ...at, bytes: seen, isWhole: part.isEnd }
    return fresh
  }

  return {
    take(part) {
      if (place !== undefined && isBefore(part, place)) return nothing
      if (place !== undefined && !isBefore(place, part)) return takeSame(place, part)
      seen = part.bytes.length
      place = { stamp: part.stamp, nth: part.nth, bytes: seen, isWhole: part.isEnd }
      return part.bytes
    },
    place: () => place,
    rewind() {
      seen = 0
    },
  }
}
