// Picks the token counts out of an answer while its bytes go by; parses only the part that holds them (PROXY-004).
import { isJsonObject, tryParseJson } from '../../lib/json.ts'
import { noUsage, type TokenUsage } from '../../llm/messages/messages.ts'
import { findUsage, readUsage } from '../../llm/messages/usage-reader.ts'
import { skipNested } from './request-text.ts'

export interface UsageScanner {
  push(chunk: Buffer): void
  /** What is known so far; undefined when the answer has not reported usage. */
  read(): TokenUsage | undefined
  /** The last frame with counts, or the whole answer when it is short. */
  last(): unknown
}

// Inside a JSON string the quote would be escaped, so these bytes always begin a field name: `usage`, `usageMetadata`.
const usageName = Buffer.from('"usage')
const lineFeed = 0x0a
const colon = 0x3a
const quote = 0x22
const space = 0x20
const letterN = 0x6e
/** Vendors put the counts near the end of an answer; only little follows them. */
const tailBytes = 65_536
/** A frame with a whole answer (`response.completed`) may be long; frames longer than this are passed on unread. */
const maxLineBytes = 8 * 1_048_576

/** llmo repeats `"usage":null` in each frame except the last. */
function isNull(bytes: Buffer, at: number): boolean {
  if (bytes[at] !== quote || bytes[at + 1] !== colon) return false
  return bytes[bytes[at + 2] === space ? at + 3 : at + 2] === letterN
}

/** For answers in server-sent events, in pieces of any size. */
export function createStreamScanner(): UsageScanner {
  let usage: TokenUsage | undefined
  let last: unknown
  /** The bytes of an incomplete line. */
  let open: Buffer[] = []
  let openBytes = 0

  function readLine(line: Buffer): void {
    const text = line.toString('utf8')
    if (!text.startsWith('data:')) return
    const frame = tryParseJson(text.slice(5))
    const counts = findUsage(frame)
    if (counts === undefined) return
    usage = readUsage(usage ?? noUsage, counts)
    last = frame
  }

  /** Reads the line around `at`; returns where to continue. */
  function readAround(bytes: Buffer, at: number): number {
    const after = at + usageName.length
    if (isNull(bytes, after)) return after
    const found = bytes.indexOf(lineFeed, at)
    const end = found === -1 ? bytes.length : found
    readLine(bytes.subarray(bytes.lastIndexOf(lineFeed, at) + 1, end))
    return end
  }

  function readLines(bytes: Buffer): void {
    let from = bytes.indexOf(usageName)
    while (from !== -1) from = bytes.indexOf(usageName, readAround(bytes, from))
  }

  function keepOpen(rest: Buffer): void {
    openBytes += rest.length
    if (openBytes <= maxLineBytes) open.push(rest)
    else open = []
  }

  return {
    push(chunk) {
      const last = chunk.lastIndexOf(lineFeed)
      if (last === -1) return keepOpen(chunk)
      const whole = chunk.subarray(0, last + 1)
      const isKept = openBytes > 0 && openBytes <= maxLineBytes
      readLines(isKept ? Buffer.concat([...open, whole]) : whole)
      open = []
      openBytes = 0
      if (last + 1 < chunk.length) keepOpen(chunk.subarray(last + 1))
    },
    read() {
      if (openBytes > 0 && open.length > 0) readLines(Buffer.concat(open))
      return usage
    },
    last: () => last,
  }
}

/** Whether only the end of the answer follows the counts: then they are the answer's own, not part of a tool call. */
function closesAnswer(rest: string): boolean {
  return rest === '}' || tryParseJson(`{"usage":0${rest}`) !== undefined
}

function readTail(tail: Buffer): TokenUsage | undefined {
  const at = tail.lastIndexOf(usageName)
  const start = at === -1 ? -1 : tail.indexOf('{', at + usageName.length)
  if (start === -1 || !/^\w*"\s*:\s*$/.test(tail.toString('latin1', at + usageName.length, start))) return undefined
  try {
    const end = skipNested(tail, start)
    const counts = tryParseJson(tail.toString('utf8', start, end))
    if (!isJsonObject(counts) || !closesAnswer(tail.toString('utf8', end))) return undefined
    return readUsage(noUsage, counts)
  } catch {
    // A broken answer is for the caller to read; it says nothing about tokens.
    return undefined
  }
}

/** For answers that are one JSON object; keeps only its end. */
export function createAnswerScanner(): UsageScanner {
  let parts: Buffer[] = []
  let bytes = 0
  let isWhole = true
  let last: { json: unknown } | undefined

  function joinParts(): Buffer {
    const [only] = parts
    return parts.length === 1 && only ? only : Buffer.concat(parts)
  }

  function readWhole(): unknown {
    last ??= { json: isWhole && parts.length > 0 ? tryParseJson(joinParts().toString('utf8')) : undefined }
    return last.json
  }

  function readParts(): TokenUsage | undefined {
    if (parts.length === 0) return undefined
    const tail = joinParts()
    const counts = findUsage(readWhole())
    return counts === undefined ? readTail(tail) : readUsage(noUsage, counts)
  }

  return {
    push(chunk) {
      parts.push(chunk)
      bytes += chunk.length
      while (parts[0] !== undefined && bytes - parts[0].length >= tailBytes) {
        bytes -= parts.shift()?.length ?? 0
        isWhole = false
      }
    },
    read() {
      const usage = readParts()
      parts = []
      return usage
    },
    last: readWhole,
  }
}

export interface FrameFilter {
  /** What may go on to the client; empty while a frame is incomplete. */
  push(chunk: Buffer): Buffer
  /** What was still buffered when the stream ended. */
  rest(): Buffer
}

const nothing = Buffer.alloc(0)
/** No frame of counts is this long: anything longer is passed on as it arrives. */
const maxBufferedBytes = 65_536
/** A frame without choices contains an empty list. */
const emptyList = Buffer.from('[]')

/**
 * Where the first frame of `text` at or after `from` ends; -1 when it is incomplete. Texts have one character per byte.
 */
function findEnd(text: string, from: number): number {
  const frameEnd = /\r\n\r\n|\n\n|\r\r/g
  frameEnd.lastIndex = from
  return frameEnd.exec(text) === null ? -1 : frameEnd.lastIndex
}

function isUsageOnly(frame: string): boolean {
  const data = /^data:(.*)$/m.exec(frame)?.[1]
  if (data === undefined || !data.includes('"usage"')) return false
  try {
    const { choices, usage } = JSON.parse(data) as { choices?: unknown; usage?: unknown }
    return Array.isArray(choices) && choices.length === 0 && typeof usage === 'object' && usage !== null
  } catch {
    return false
  }
}

/** Passes on complete frames at once; an incomplete one is of no use to anybody. */
export function createUsageFrameFilter(): FrameFilter {
  let buffered: Buffer = nothing
  /** True within a frame that was too long to buffer. */
  let isLong = false

  function keepFrames(bytes: Buffer, text: string, whole: number): Buffer {
    if (!bytes.includes(emptyList)) return bytes.subarray(0, whole)
    const passed: Buffer[] = []
    for (let at = 0; at < whole; ) {
      const end = findEnd(text, at)
      if (isLong || !isUsageOnly(text.slice(at, end))) passed.push(bytes.subarray(at, end))
      isLong = false
      at = end
    }
    return Buffer.concat(passed)
  }

  return {
    push(chunk) {
      const bytes = buffered.length === 0 ? chunk : Buffer.concat([buffered, chunk])
      const text = bytes.toString('latin1')
      const whole = Math.max(...['\n\n', '\r\n\r\n', '\r\r'].map((end) => findLast(text, end)))
      const out = whole === 0 ? nothing : keepFrames(bytes, text, whole)
      if (whole > 0) isLong = false
      buffered = bytes.subarray(whole)
      if (!isLong && buffered.length <= maxBufferedBytes) return out
      isLong = true
      const all = Buffer.concat([out, buffered])
      buffered = nothing
      return all
    },
    rest() {
      const last = buffered
      buffered = nothing
      return last.length > 0 && isUsageOnly(last.toString('latin1')) ? nothing : last
    },
  }
}

/** The position after the last `end` in the text; 0 when there is none. */
function findLast(text: string, end: string): number {
  const at = text.lastIndexOf(end)
  return at === -1 ? 0 : at + end.length
}
