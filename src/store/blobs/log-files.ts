// One task's log on disk: segment files named after the number of their first line.
import { type FileHandle, mkdir, open, readdir, readFile, rm, stat, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode } from '../../lib/error-code.ts'
import type { LogLine } from '../../ports/tasks/outputs.ts'
import { syncFolder } from './disk-blobs.ts'
import { decodeLogLine, findSoundLength, splitLines } from './log-format.ts'
import { toStorageError } from './storage-errors.ts'

const SEGMENT_BYTES = 1024 * 1024
/** How much of a task's log is kept at least, if it wrote that much (TASK-050). */
const KEPT_BYTES = 10 * 1024 * 1024
const MARK_BYTES = 32 * 1024
const NAME = /^(\d{16})\.log$/

type Segment = { first: number; bytes: number }
/** The position of a line in the last segment, so that a follower need not read the segment from its start. */
type Mark = { seq: number; offset: number }

/** What is known about a task's files; the last segment is the one that grows. */
export type SegmentedLog = {
  folder: string
  segments: Segment[]
  /** The number of the next line. */
  next: number
  marks: Mark[]
  handle?: FileHandle | undefined
  openFile: (path: string) => Promise<FileHandle>
}

function locate(log: SegmentedLog, segment: Segment): string {
  return join(log.folder, `${String(segment.first).padStart(16, '0')}.log`)
}

async function listSegments(folder: string): Promise<Segment[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return []
    throw error
  })
  const firsts = names.flatMap((name) => NAME.exec(name)?.[1] ?? [])
  return firsts.sort().map((first) => ({ first: Number(first), bytes: 0 }))
}

function addMark(log: SegmentedLog, mark: Mark): void {
  const last = log.marks.at(-1)
  if (last === undefined || mark.offset - last.offset >= MARK_BYTES) log.marks.push(mark)
}

async function scanLast(log: SegmentedLog, segment: Segment): Promise<void> {
  const bytes = await readFile(locate(log, segment))
  segment.bytes = findSoundLength(bytes)
  log.next = segment.first
  for (const line of splitLines(bytes.subarray(0, segment.bytes))) {
    addMark(log, { seq: log.next, offset: line.start })
    log.next += 1
  }
}

/** Reads the current state; changes nothing on disk. */
export async function loadTaskLog(folder: string, openFile: SegmentedLog['openFile']): Promise<SegmentedLog> {
  const log: SegmentedLog = { folder, segments: await listSegments(folder), next: 1, marks: [], openFile }
  for (const segment of log.segments.slice(0, -1)) segment.bytes = (await stat(locate(log, segment))).size
  const last = log.segments.at(-1)
  if (last !== undefined) await scanLast(log, last)
  return log
}

async function openLast(log: SegmentedLog): Promise<{ handle: FileHandle; segment: Segment }> {
  const existing = log.segments.at(-1)
  const segment = existing ?? { first: log.next, bytes: 0 }
  if (existing === undefined) log.segments.push(segment)
  if (log.handle === undefined) {
    await mkdir(log.folder, { recursive: true })
    log.handle = await log.openFile(locate(log, segment))
    // Drops an incomplete line after a crash, or an incomplete batch after a full disk.
    if (existing !== undefined) await log.handle.truncate(segment.bytes)
  }
  return { handle: log.handle, segment }
}

/** Makes what was written to the open segment durable, and closes it. */
export async function closeTaskLog(log: SegmentedLog): Promise<void> {
  const handle = log.handle
  if (handle === undefined) return
  log.handle = undefined
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
  await syncFolder(log.folder)
}

async function writeAll(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  let written = 0
  while (written < bytes.length) {
    written += (await handle.write(bytes, written, bytes.length - written, position + written)).bytesWritten
  }
}

function takePart(segment: Segment, lines: Buffer[], start: number): Buffer[] {
  let room = SEGMENT_BYTES - segment.bytes
  let end = start
  for (; end < lines.length && (room > 0 || end === start); end += 1) room -= lines[end]?.length ?? 0
  return lines.slice(start, end)
}

async function writePart(log: SegmentedLog, lines: Buffer[], start: number): Promise<number> {
  const { handle, segment } = await openLast(log)
  const part = takePart(segment, lines, start)
  await writeAll(handle, Buffer.concat(part), segment.bytes)
  for (const line of part) {
    addMark(log, { seq: log.next, offset: segment.bytes })
    segment.bytes += line.length
    log.next += 1
  }
  if (segment.bytes >= SEGMENT_BYTES) await startSegment(log)
  return start + part.length
}

async function startSegment(log: SegmentedLog): Promise<void> {
  await closeTaskLog(log)
  log.segments.push({ first: log.next, bytes: 0 })
  log.marks = []
}

async function dropOldest(log: SegmentedLog): Promise<void> {
  let total = log.segments.reduce((sum, segment) => sum + segment.bytes, 0)
  for (
    let oldest = log.segments[0];
    oldest !== undefined && total - oldest.bytes >= KEPT_BYTES;
    oldest = log.segments[0]
  ) {
    log.segments.shift()
    total -= oldest.bytes
    await rm(locate(log, oldest), { force: true })
  }
}

type Snapshot = Pick<SegmentedLog, 'next' | 'marks' | 'segments'>

function takeSnapshot(log: SegmentedLog): Snapshot {
  return { next: log.next, marks: [...log.marks], segments: log.segments.map((segment) => ({ ...segment })) }
}

/** Restores the state before the batch: new files are removed, and the one it extended is cut. */
async function rollBack(log: SegmentedLog, before: Snapshot): Promise<void> {
  await log.handle?.close().catch(() => undefined)
  log.handle = undefined
  const begun = log.segments.slice(before.segments.length)
  Object.assign(log, before)
  for (const segment of begun) await rm(locate(log, segment), { force: true })
  const last = log.segments.at(-1)
  // Tried again when the file is next opened.
  if (last !== undefined) await truncate(locate(log, last), last.bytes).catch(() => undefined)
}

/** Appends encoded lines, all or none. StorageFull when the disk is. */
export async function writeLines(log: SegmentedLog, lines: Buffer[]): Promise<void> {
  const before = takeSnapshot(log)
  try {
    for (let start = 0; start < lines.length; ) start = await writePart(log, lines, start)
  } catch (error) {
    await rollBack(log, before)
    throw toStorageError(error)
  }
  await dropOldest(log)
}

/** A piece of a segment file: its lines begin with number `seq` at offset `start`. */
export type LogRange = { path: string; seq: number; start: number; end: number }

/** The pieces of files with the lines from `seq` on, as of now; lines appended later are not included. */
export function findRanges(log: SegmentedLog, seq: number): LogRange[] {
  return log.segments.flatMap((segment, index) => {
    const isLast = index === log.segments.length - 1
    const until = log.segments[index + 1]?.first ?? log.next
    if (until <= seq) return []
    const mark = isLast ? log.marks.findLast((candidate) => candidate.seq <= seq) : undefined
    const { seq: first, offset } = mark ?? { seq: segment.first, offset: 0 }
    return [{ path: locate(log, segment), seq: first, start: offset, end: segment.bytes }]
  })
}

async function readRange(range: LogRange): Promise<Buffer> {
  const handle = await open(range.path, 'r')
  try {
    const bytes = Buffer.alloc(range.end - range.start)
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, range.start)
    return bytes.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}

/** The lines of the piece from `seq` on; none of a segment that was dropped meanwhile. */
async function* readLines(range: LogRange, seq: number): AsyncGenerator<LogLine> {
  const bytes = await readRange(range).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return Buffer.alloc(0)
    throw error
  })
  let next = range.seq
  for (const { start, end } of splitLines(bytes)) {
    if (next >= seq) yield { seq: next, ...decodeLogLine(bytes.toString('utf8', start, end)) }
    next += 1
  }
}

/** The lines of the pieces from `seq` on. */
export async function* readRanges(ranges: LogRange[], seq: number): AsyncGenerator<LogLine> {
  for (const range of ranges) yield* readLines(range, seq)
}

/** The same, piece by piece from the newest back. */
export async function* readRangesBack(ranges: LogRange[], seq: number): AsyncGenerator<LogLine[]> {
  for (const range of ranges.toReversed()) {
    const lines: LogLine[] = []
    for await (const line of readLines(range, seq)) lines.push(line)
    yield lines
  }
}
