// Which parts of a log are new when it is read again after a cut connection. Counted, not compared: the moments of lines
// do not always rise, since two streams are written by two hands and clocks are set back.
import type { LogPart } from './log-stream.ts'

export type LogSieve = {
  /** What of the part was not taken before; empty when all was. */
  take(part: LogPart): Buffer
  /** From when the log is to be read now; undefined: from its start. What was taken since then is left out once. */
  rewind(): bigint | undefined
}

const nothing = Buffer.alloc(0)
const second = 1_000_000_000n
/** How far moments may go back within a log. */
const keptSeconds = 3n

/** Lines taken in each of the last seconds. */
function createLineCount() {
  const counts = new Map<bigint, number>()
  let latest = -1n

  function dropOld(): void {
    const old = [...counts.keys()].filter((at) => at < latest / second - keptSeconds)
    for (const at of old) counts.delete(at)
  }

  return {
    latest: () => latest,
    add(stamp: bigint): void {
      if (stamp > latest) latest = stamp
      const at = stamp / second
      if (!counts.has(at)) dropOld()
      counts.set(at, (counts.get(at) ?? 0) + 1)
    },
    since: (from: bigint) =>
      [...counts].filter(([at]) => at * second >= from).reduce((sum, [, count]) => sum + count, 0),
  }
}

export function createLogSieve(): LogSieve {
  const lines = createLineCount()
  /** Bytes that were taken of a line whose end has not come; undefined between two lines. */
  let open: number | undefined
  /** Lines to leave out, and bytes that came of the present one. */
  let left = 0
  let seen = 0

  function pass(part: LogPart): Buffer {
    if (open === undefined) lines.add(part.stamp)
    open = part.isEnd ? undefined : (open ?? 0) + part.bytes.length
    return part.bytes
  }

  /** The rest of the line of which `taken` bytes were taken. */
  function goOn(part: LogPart, taken: number, before: number): Buffer {
    const length = before + part.bytes.length
    if (length <= taken) return nothing
    left = 0
    open = part.isEnd ? undefined : length
    return part.bytes.subarray(Math.max(0, taken - before))
  }

  function leaveOut(part: LogPart): Buffer {
    const before = seen
    const isCut = left === 1 && open !== undefined
    seen = part.isEnd ? 0 : seen + part.bytes.length
    if (part.isEnd) left -= 1
    return isCut ? goOn(part, open ?? 0, before) : nothing
  }

  return {
    take(part) {
      // Later than all that was taken: the log was rotated, and what is left to leave out is not in it any more.
      if (left > 0 && seen === 0 && part.stamp > lines.latest()) {
        left = 0
        open = undefined
      }
      return left > 0 ? leaveOut(part) : pass(part)
    },
    rewind() {
      seen = 0
      if (lines.latest() < 0n) return undefined
      const from = (lines.latest() / second - 1n) * second
      left = lines.since(from)
      return from
    },
  }
}
