// Logs in segment files. When append resolves, the operating system has the line, so it outlives the process. It
// becomes durable against a power cut when its segment is full, when the task's file is closed, and by flush.
import { constants, type FileHandle, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { SvcError } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { hasCode } from '../../lib/error-code.ts'
import { removeTree } from '../../lib/tree-removal.ts'
import type { LogDraft, LogQuery, Logs, UnfinishedLine } from '../../ports/tasks/outputs.ts'
import type { AttemptKey } from '../../ports/tasks/workloads.ts'
import { findRanges, readRanges, readRangesBack, type SegmentedLog, writeLines } from '../blobs/log-files.ts'
import { createLineFilter, encodeLogLine, filterLines } from '../blobs/log-format.ts'
import { createOpenLogs, type OpenLog } from '../blobs/open-logs.ts'
import { createListeners } from '../database/listeners.ts'

const OPEN_TASKS = 64

export type LogsOptions = {
  /** Folder with one folder per task; created when missing. */
  folder: string
  clock: Pick<Clock, 'now'>
  /** How many tasks' files are kept open at once. */
  openTasks?: number
  /** Opens a segment for writing; tests give one that fails. */
  openFile?: (path: string) => Promise<FileHandle>
}

export interface LogStore extends Logs {
  /** Makes everything appended so far durable. */
  flush(): Promise<void>
  /** Flushes and closes the files. */
  close(): Promise<void>
  /** Uids of tasks that have a log, after `after` in bytewise order. */
  taskUids(after: string | undefined, limit: number): Promise<string[]>
}

type Waiting = {
  lines: Buffer[]
  unfinished: UnfinishedLine | undefined
  resolve: () => void
  reject: (error: unknown) => void
}

/** InvalidRequest for a uid that could be a path, or is invalid for another reason. */
export function checkTaskUid(taskUid: string): void {
  if (/^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/.test(taskUid)) return
  throw new SvcError('InvalidRequest', 'the task uid is not valid: use the uid in the metadata of the task')
}

function openSegment(path: string): Promise<FileHandle> {
  return open(path, constants.O_RDWR | constants.O_CREAT, 0o600)
}

/** Writes everything that is waiting at once, all or nothing. */
async function writeBatch(log: OpenLog, batch: Waiting[]): Promise<boolean> {
  try {
    const lines = batch.flatMap((waiting) => waiting.lines)
    await writeLines(await log.load(), lines)
  } catch (error) {
    for (const waiting of batch) waiting.reject(error)
    return false
  }
  for (const waiting of batch) waiting.resolve()
  return true
}

function findStart(log: SegmentedLog, range: LogQuery) {
  const from = Math.max((range.afterSeq ?? 0) + 1, range.tailLines === undefined ? 0 : log.next - range.tailLines)
  return { ranges: findRanges(log, from), from }
}

async function listUids(folder: string, after: string | undefined, limit: number): Promise<string[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return []
    throw error
  })
  // Uids are ASCII, where the order of JavaScript's strings is bytewise.
  const rest = names.filter((name) => after === undefined || name > after)
  return rest.sort().slice(0, limit)
}

export function createLogs(options: LogsOptions): LogStore {
  const { folder, clock, openTasks = OPEN_TASKS, openFile = openSegment } = options
  const locate = (taskUid: string) => join(folder, taskUid)
  const logs = createOpenLogs({ locate, openTasks, openFile })
  const listeners = createListeners()
  const waiting = new Map<string, Waiting[]>()
  /** Kept in memory: this process is the only one, so all writers and readers use it. */
  const unfinishedLines = new Map<string, UnfinishedLine>()

  function setUnfinished(taskUid: string, line: UnfinishedLine | undefined): void {
    if (line === undefined) return
    if (line.text === '') unfinishedLines.delete(taskUid)
    else unfinishedLines.set(taskUid, line)
  }

  async function drain(taskUid: string, log: OpenLog): Promise<void> {
    const batch = waiting.get(taskUid) ?? []
    waiting.delete(taskUid)
    if (batch.length === 0 || !(await writeBatch(log, batch))) return
    for (const { unfinished } of batch) setUnfinished(taskUid, unfinished)
    listeners.notify(taskUid)
  }

  async function append({ taskUid, attempt }: AttemptKey, lines: readonly LogDraft[], text?: string): Promise<void> {
    checkTaskUid(taskUid)
    const unfinished = text === undefined ? undefined : { attempt, text }
    if (lines.length === 0) {
      setUnfinished(taskUid, unfinished)
      return unfinished && listeners.notify(taskUid)
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const now = clock.now()
    const encoded = lines.map((line) => encodeLogLine(attempt, line, now))
    const batch = waiting.get(taskUid) ?? []
    batch.push({ lines: encoded, unfinished, resolve, reject })
    waiting.set(taskUid, batch)
    await Promise.all([promise, logs.run(taskUid, (log) => drain(taskUid, log))])
  }

  return {
    append,
    unfinished: async (taskUid) => unfinishedLines.get(taskUid),

    async finishLine(key) {
      const line = unfinishedLines.get(key.taskUid)
      if (line?.attempt === key.attempt) await append(key, [line.text], '')
    },

    async *read(taskUid, { tailLines, ...query }) {
      checkTaskUid(taskUid)
      const filter = createLineFilter(query)
      const range = filter === undefined ? { ...query, tailLines } : query
      const { ranges, from } = await logs.run(taskUid, async (log) => findStart(await log.load(), range))
      const pieces = { forth: () => readRanges(ranges, from), back: () => readRangesBack(ranges, from) }
      yield* filter === undefined ? pieces.forth() : filterLines(pieces, filter, tailLines)
    },

    onAppend: (taskUid, listener) => listeners.add(taskUid, listener),

    async removeTask(taskUid) {
      checkTaskUid(taskUid)
      unfinishedLines.delete(taskUid)
      await logs.run(taskUid, async (log) => {
        await log.close()
        await removeTree(locate(taskUid))
      })
    },

    flush: () => logs.closeAll(),
    close: () => logs.closeAll(),
    taskUids: (after, limit) => listUids(folder, after, limit),
  }
}
