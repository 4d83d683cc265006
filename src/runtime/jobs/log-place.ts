// Which parts of a log are new when it is read again after a broken connection. Lines are counted, not compared: their
// timestamps do not always increase, since two streams are written independently and clocks are set back.
import type { LogPart } from './log-stream.ts'

export type LogSieve = {
  /** The part that was not taken before; empty when all of it was. */
  take(part: LogPart): Buffer
  /** From when to read the log now; undefined: from its start. Lines taken since then are skipped once. */
  rewind(): bigint | undefined
}

const nothing = Buffer.alloc(0)
const second = 1_000_000_000n
/** How far timestamps may go back within a log. */
const keptSeconds = 3n

/** Number of lines taken in each of the last seconds. */
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
  /** Bytes taken of an incomplete line; undefined between two lines. */
  let open: number | undefined
  /** Lines to skip, and bytes received of the current one. */
  let left = 0
  let seen = 0

  function pass(part: LogPart): Buffer {
    if (open === undefined) lines.add(part.stamp)
    open = part.isEnd ? undefined : (open ?? 0) + part.bytes.length
    return part.bytes
  }

  /** The rest of a line of which `taken` bytes were taken. */
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
      // Later than everything taken: the log was rotated, and the lines to skip are no longer in it.
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
