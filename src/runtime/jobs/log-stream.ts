// Reads the log of a container as the kubelet sends it: each line after its timestamp; after a broken connection only
// the parts that are new. Lines are counted, not compared: their timestamps do not always increase, since two streams
// are written independently and clocks are set back.

/** Bytes of one line; a long line comes in several parts. */
export type LogLinePart = {
  /** In nanoseconds since 1970. */
  stamp: bigint
  bytes: Buffer
  /** Whether `bytes` includes the line end. */
  isEnd: boolean
}

const newline = 10
const space = 32
/** RFC 3339 with nine digits and an offset. */
const maxStampLength = 64

const secondLength = '2026-01-01T00:00:00'.length

/** RFC 3339 with nanoseconds, which Date would cut. */
export function readStamp(text: string): bigint | undefined {
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/.exec(text)
  if (match === null) return undefined
  const milliseconds = Date.parse(`${match[1]}${match[3]}`)
  return BigInt(milliseconds) * 1_000_000n + BigInt((match[2] ?? '').padEnd(9, '0'))
}

/** Parses consecutive timestamps: most differ only in their fraction of a second. */
function createStampReader(): (text: string) => bigint | undefined {
  let known = { second: '', zone: '', base: 0n }

  function findBase(second: string, zone: string): bigint | undefined {
    if (second === known.second && zone === known.zone) return known.base
    const base = readStamp(`${second}${zone}`)
    if (base !== undefined) known = { second, zone, base }
    return base
  }

  return (text) => {
    const fraction = text.slice(secondLength + 1, secondLength + 10)
    if (text[secondLength] !== '.' || !/^\d{9}$/.test(fraction)) return readStamp(text)
    const base = findBase(text.slice(0, secondLength), text.slice(secondLength + 10))
    return base === undefined ? undefined : base + BigInt(Number(fraction))
  }
}

/** Back to RFC 3339, rounded down to the second, for `sinceTime`. */
export function writeSecond(stamp: bigint): string {
  return new Date(Number(stamp / 1_000_000_000n) * 1000).toISOString()
}

export type LogReader = { push(chunk: Uint8Array): LogLinePart[] }

type Line = { stamp: bigint }

/** Separates the timestamp of each line from its content. */
function createLineStarter() {
  const read = createStampReader()
  let head: Buffer = Buffer.alloc(0)
  let last = 0n

  /** Undefined while the timestamp is incomplete. */
  return (bytes: Buffer): { line: Line; rest: Buffer } | undefined => {
    const gathered = head.length === 0 ? bytes : Buffer.concat([head, bytes])
    const end = gathered.indexOf(space)
    if (end === -1 && gathered.length < maxStampLength) {
      head = gathered
      return undefined
    }
    head = Buffer.alloc(0)
    const stamp = end === -1 ? undefined : read(gathered.toString('latin1', 0, end))
    // A line without a timestamp is from the kubelet itself, for example that a file is gone: it belongs to the line
    // before.
    last = stamp ?? last
    return { line: { stamp: last }, rest: stamp === undefined ? gathered : gathered.subarray(end + 1) }
  }
}

/** Splits chunks of any size into parts of lines. */
export function createLogReader(): LogReader {
  const begin = createLineStarter()
  let line: Line | undefined

  /** The first part of the bytes, and the rest. */
  function cut(bytes: Buffer): { part: LogLinePart; rest: Buffer } | undefined {
    const started = line === undefined ? begin(bytes) : { line, rest: bytes }
    if (started === undefined) return undefined
    const end = started.rest.indexOf(newline)
    const own = end === -1 ? started.rest : started.rest.subarray(0, end + 1)
    line = end === -1 ? started.line : undefined
    return { part: { ...started.line, bytes: own, isEnd: end !== -1 }, rest: started.rest.subarray(own.length) }
  }

  return {
    push(chunk) {
      const parts: LogLinePart[] = []
      let rest: Buffer = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
      while (rest.length > 0) {
        const next = cut(rest)
        if (next === undefined) break
        parts.push(next.part)
        rest = next.rest
      }
      return parts
    },
  }
}

export type LogSieve = {
  /** The part that was not taken before; empty when all of it was. */
  take(part: LogLinePart): Buffer
  /** From when to read the log now; undefined: from its start. Lines taken since then are skipped once. */
  rewind(): bigint | undefined
}

const nothing = Buffer.alloc(0)
const second = 1_000_000_000n
/** How far timestamps may go back within a log. */
const windowSeconds = 3n

/** Number of lines taken in each of the last seconds. */
function createLineCount() {
  const counts = new Map<bigint, number>()
  let latest = -1n

  function dropOld(): void {
    const old = [...counts.keys()].filter((at) => at < latest / second - windowSeconds)
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

  function pass(part: LogLinePart): Buffer {
    if (open === undefined) lines.add(part.stamp)
    open = part.isEnd ? undefined : (open ?? 0) + part.bytes.length
    return part.bytes
  }

  /** The rest of a line of which `taken` bytes were taken. */
  function goOn(part: LogLinePart, taken: number, before: number): Buffer {
    const length = before + part.bytes.length
    if (length <= taken) return nothing
    left = 0
    open = part.isEnd ? undefined : length
    return part.bytes.subarray(Math.max(0, taken - before))
  }

  function leaveOut(part: LogLinePart): Buffer {
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
