// A log line in a segment file: `<attempt>@<mark> <text>` and a line end, with the text escaped by stored-text.ts. Lines of before there were
// marks are `<attempt> <text>`.
import { reachesLevel, readLogMark, writeLogMark } from '../../contract/api/tasks/log-marks.ts'
import { cutLine } from '../../lib/line-reader.ts'
import type { LogDraft, LogLine, LogQuery } from '../../ports/tasks/outputs.ts'
import { decodeText, encodeLine } from '../database/stored-text.ts'

const LINE_END = 0x0a

/** Lines that are too long are cut (TASK-050). `now`: when a line was written that does not say. */
export function encodeLogLine(attempt: number, draft: LogDraft, now: Date): Buffer {
  const line: Exclude<LogDraft, string> = typeof draft === 'string' ? { text: draft } : draft
  const { text, time = now.getTime(), stream = 'stdout', level } = line
  return Buffer.from(`${attempt}@${writeLogMark({ time, stream, level })} ${encodeLine(cutLine(text))}\n`)
}

export function decodeLogLine(stored: string): Omit<LogLine, 'seq'> {
  const space = stored.indexOf(' ')
  const [attempt, mark = ''] = stored.slice(0, space).split('@')
  return { attempt: Number(attempt), ...readLogMark(mark), text: decodeText(stored.slice(space + 1)) }
}

type LineFilter = (line: LogLine) => boolean

/** Undefined: the query takes every line. */
export function createLineFilter({ attempt, stream, since, level }: LogQuery): LineFilter | undefined {
  const from = since?.getTime()
  const filters: (LineFilter | undefined)[] = [
    attempt === undefined ? undefined : (line) => line.attempt === attempt,
    stream === undefined ? undefined : (line) => line.stream === stream,
    from === undefined ? undefined : ({ time = Number.NEGATIVE_INFINITY }) => time >= from,
    level === undefined ? undefined : (line) => reachesLevel(line, level),
  ]
  const wanted = filters.filter((filter) => filter !== undefined)
  return wanted.length === 0 ? undefined : (line) => wanted.every((takes) => takes(line))
}

type LinePieces = {
  /** From the oldest on. */
  forth(): AsyncIterable<LogLine>
  /** Piece by piece from the newest back. */
  back(): AsyncIterable<LogLine[]>
}

/** The lines of a log that the filter takes, or the last of these. */
export async function* filterLines(
  { forth, back }: LinePieces,
  filter: LineFilter,
  tailLines: number | undefined,
): AsyncGenerator<LogLine> {
  if (tailLines !== undefined) return yield* await collectTail(back(), filter, tailLines)
  for await (const line of forth()) if (filter(line)) yield line
}

async function collectTail(pieces: AsyncIterable<LogLine[]>, filter: LineFilter, count: number): Promise<LogLine[]> {
  if (count === 0) return []
  let tail: LogLine[] = []
  for await (const piece of pieces) {
    tail = [...piece.filter(filter), ...tail]
    if (tail.length >= count) break
  }
  return tail.slice(-count)
}

/** The complete lines of the bytes, with the offset of each; anything after the last line end is left out. */
export function* splitLines(bytes: Buffer): Generator<{ start: number; end: number }> {
  let start = 0
  for (let end = bytes.indexOf(LINE_END); end !== -1; end = bytes.indexOf(LINE_END, start)) {
    yield { start, end }
    start = end + 1
  }
}

/**
 * How many bytes at the start are complete lines. A power cut may leave half a line, or zeros where data was not
 * written yet; no line contains a NUL byte, so both can be recognized.
 */
export function findSoundLength(bytes: Buffer): number {
  const damage = bytes.indexOf(0)
  const sound = damage === -1 ? bytes : bytes.subarray(0, damage)
  return sound.lastIndexOf(LINE_END) + 1
}
