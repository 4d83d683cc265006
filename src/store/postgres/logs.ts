// Logs in pieces of rows: appends that are made together become one or more pieces, numbered under the lock of the
// task's head, so that lines from several replicas become visible in the order of their numbers.
import type { Clock } from '../../lib/clock.ts'
import type { LogDraft, LogLine, LogQuery, UnfinishedLine } from '../../ports/tasks/outputs.ts'
import type { AttemptKey } from '../../ports/tasks/workloads.ts'
import { createLineFilter, decodeLogLine, encodeLogLine, filterLines, splitLines } from '../blobs/log-format.ts'
import type { Database, Tx } from '../database/database.ts'
import { createSharedListeners } from '../database/listeners.ts'
import { joinSql, sql } from '../database/statement.ts'
import { checkTaskUid, type LogStore } from '../tasks/logs.ts'

const MEBIBYTE = 1024 * 1024
const PIECE_BYTES = 64 * 1024
const PIECES_PER_READ = 64
/**
 * How much of a task's log is kept at least, if it wrote that much (TASK-050); the rest is cut a mebibyte at a time.
 */
const KEPT_BYTES = 10.5 * MEBIBYTE
const CUT_BYTES = KEPT_BYTES + MEBIBYTE

/** Lines and the beginning of one, as they are stored. */
type Added = { lines: StoredLine[]; unfinished: Buffer | undefined }
type Waiting = Added & { resolve: () => void; reject: (error: unknown) => void }
/** With what pieces are found by: its attempt, and when it was written. */
type StoredLine = { bytes: Buffer; attempt: number; time: number }
type Piece = { firstSeq: number; lines: StoredLine[]; size: number }

function groupLines(firstSeq: number, lines: readonly StoredLine[]): Piece[] {
  const pieces: Piece[] = []
  lines.forEach((line, index) => {
    const last = pieces.at(-1)
    const size = line.bytes.length
    if (last !== undefined && last.size + size <= PIECE_BYTES) {
      last.lines.push(line)
      last.size += size
    } else pieces.push({ firstSeq: firstSeq + index, lines: [line], size })
  })
  return pieces
}

async function growHead(tx: Tx, taskUid: string, grown: { lines: number; size: number }) {
  const head = await tx.first(sql<{ next_seq: number; size: number }>`insert into log_heads (task_uid, next_seq, size)
    values (${taskUid}, ${grown.lines + 1}, ${grown.size})
    on conflict (task_uid) do update set next_seq = log_heads.next_seq + ${grown.lines},
      size = log_heads.size + ${grown.size} returning next_seq, size`)
  return head ?? { next_seq: grown.lines + 1, size: grown.size }
}

async function dropOldest(tx: Tx, taskUid: string): Promise<void> {
  const dropped = await tx.all(sql<{ size: number }>`delete from log_pieces
    where task_uid = ${taskUid} and first_seq < (
      select max(first_seq) from (
        select first_seq, sum(size) over (order by first_seq desc) as kept from log_pieces where task_uid = ${taskUid}
      ) as sums where kept >= ${KEPT_BYTES})
    returning size`)
  const size = dropped.reduce((sum, piece) => sum + piece.size, 0)
  await tx.run(sql`update log_heads set size = size - ${size} where task_uid = ${taskUid}`)
}

async function insertLines(tx: Tx, taskUid: string, lines: readonly StoredLine[]): Promise<void> {
  const size = lines.reduce((sum, line) => sum + line.bytes.length, 0)
  const head = await growHead(tx, taskUid, { lines: lines.length, size })
  for (const piece of groupLines(head.next_seq - lines.length, lines)) {
    const attempts = piece.lines.map(({ attempt }) => attempt)
    const newest = piece.lines.reduce((latest, { time }) => Math.max(latest, time), 0)
    await tx.run(sql`insert into log_pieces (task_uid, first_seq, size, bytes, first_attempt, last_attempt, newest)
      values (${taskUid}, ${piece.firstSeq}, ${piece.size}, ${Buffer.concat(piece.lines.map(({ bytes }) => bytes))},
        ${Math.min(...attempts)}, ${Math.max(...attempts)}, ${newest})`)
  }
  if (head.size > CUT_BYTES) await dropOldest(tx, taskUid)
}

async function setUnfinished(tx: Tx, taskUid: string, line: Buffer): Promise<void> {
  await tx.run(sql`insert into unfinished_lines (task_uid, bytes) values (${taskUid}, ${line})
    on conflict (task_uid) do update set bytes = excluded.bytes`)
}

async function dropUnfinished(tx: Tx, taskUid: string): Promise<void> {
  await tx.run(sql`delete from unfinished_lines where task_uid = ${taskUid}`)
}

/** Removes and returns the unfinished line if it is the attempt's: it may be that of a later attempt already. */
async function takeUnfinished(tx: Tx, { taskUid, attempt }: AttemptKey): Promise<UnfinishedLine | undefined> {
  const row = await tx.first(
    sql<{ bytes: Buffer }>`select bytes from unfinished_lines where task_uid = ${taskUid} for update`,
  )
  const line = row && decodeUnfinished(row.bytes)
  if (line?.attempt !== attempt) return undefined
  await dropUnfinished(tx, taskUid)
  return line
}

function decodeUnfinished(bytes: Buffer): UnfinishedLine {
  const { attempt, text } = decodeLogLine(bytes.toString('utf8', 0, bytes.length - 1))
  return { attempt, text }
}

type PieceRow = { first_seq: number; bytes: Buffer }
/** Numbers of lines. */
type Span = { from: number; end: number }

/** Pieces in which lines of the query may be, from the one with line `from` on, before line `end`. Of old ones it is not known. */
function findPieces(taskUid: string, { from, end }: Span, { attempt, since }: LogQuery) {
  return joinSql(
    [
      sql`task_uid = ${taskUid} and first_seq < ${end} and first_seq >= coalesce(
        (select max(first_seq) from log_pieces where task_uid = ${taskUid} and first_seq <= ${from}), 0)`,
      ...(attempt === undefined
        ? []
        : [sql`(last_attempt is null or (first_attempt <= ${attempt} and last_attempt >= ${attempt}))`]),
      ...(since === undefined ? [] : [sql`newest >= ${since.getTime()}`]),
    ],
    ' and ',
  )
}

function selectPieces(taskUid: string, span: Span, query: LogQuery) {
  return sql<PieceRow>`select first_seq, bytes from log_pieces where ${findPieces(taskUid, span, query)}
    order by first_seq limit ${PIECES_PER_READ}`
}

/** The piece's lines from number `from` on. */
function* decodePiece(row: PieceRow, from: number): Generator<LogLine> {
  let seq = row.first_seq
  for (const { start, end } of splitLines(row.bytes)) {
    if (seq >= from) yield { seq, ...decodeLogLine(row.bytes.toString('utf8', start, end)) }
    seq += 1
  }
}

async function* readLines(database: Database, taskUid: string, { span, query }: { span: Span; query: LogQuery }) {
  let { from } = span
  while (from < span.end) {
    const rows = await database.read.all(selectPieces(taskUid, { from, end: span.end }, query))
    const before = from
    for (const line of rows.flatMap((row) => [...decodePiece(row, before)])) {
      yield line
      from = line.seq + 1
    }
    // Removed meanwhile.
    if (from === before) return
  }
}

function startOfTail({ first, end }: { first: number; end: number }, tailLines: number | undefined): number {
  return Math.max(first, tailLines === undefined ? 1 : end - tailLines)
}

/** Pieces from the newest back. */
async function* readBack(
  database: Database,
  taskUid: string,
  { span, query }: { span: Span; query: LogQuery },
): AsyncGenerator<LogLine[]> {
  for (let { end } = span; end > span.from; ) {
    const rows = await database.read.all(sql<PieceRow>`select first_seq, bytes from log_pieces
      where ${findPieces(taskUid, { from: span.from, end }, query)}
      order by first_seq desc limit ${PIECES_PER_READ}`)
    for (const row of rows) yield [...decodePiece(row, span.from)]
    end = rows.at(-1)?.first_seq ?? 0
  }
}

/** Appends of one task that arrive while one is in progress are stored together. */
function createAppender(store: (taskUid: string, added: Added) => Promise<void>) {
  const waiting = new Map<string, Waiting[]>()
  const running = new Map<string, Promise<void>>()

  async function storeBatch(taskUid: string, batch: Waiting[]): Promise<void> {
    const lines = batch.flatMap((entry) => entry.lines)
    const unfinished = batch.findLast((entry) => entry.unfinished !== undefined)?.unfinished
    try {
      await store(taskUid, { lines, unfinished })
    } catch (error) {
      for (const entry of batch) entry.reject(error)
      return
    }
    for (const entry of batch) entry.resolve()
  }

  async function drain(taskUid: string): Promise<void> {
    for (let batch = waiting.get(taskUid); batch !== undefined; batch = waiting.get(taskUid)) {
      waiting.delete(taskUid)
      await storeBatch(taskUid, batch)
    }
    running.delete(taskUid)
  }

  return {
    async append(taskUid: string, added: Added): Promise<void> {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      waiting.set(taskUid, [...(waiting.get(taskUid) ?? []), { ...added, resolve, reject }])
      if (!running.has(taskUid)) running.set(taskUid, drain(taskUid))
      await promise
    },
    finish: async () => void (await Promise.all(running.values())),
  }
}

export function createPostgresLogs({ database, clock }: { database: Database; clock: Pick<Clock, 'now'> }): LogStore {
  const listeners = createSharedListeners(database, 'logs')
  const appender = createAppender((taskUid, { lines, unfinished }) =>
    database.write(async (tx) => {
      if (lines.length > 0) await insertLines(tx, taskUid, lines)
      if (unfinished?.length === 0) await dropUnfinished(tx, taskUid)
      else if (unfinished !== undefined) await setUnfinished(tx, taskUid, unfinished)
      listeners.announce(tx, taskUid)
    }),
  )
  const encode = (attempt: number, draft: LogDraft): StoredLine => {
    const now = clock.now()
    const time = (typeof draft === 'string' ? undefined : draft.time) ?? now.getTime()
    return { bytes: encodeLogLine(attempt, draft, now), attempt, time }
  }
  /** Removes the unfinished line once it is complete. */
  const encodeUnfinished = (attempt: number, text: string) =>
    text === '' ? Buffer.alloc(0) : encode(attempt, text).bytes
  return {
    async append({ taskUid, attempt }, lines, text) {
      checkTaskUid(taskUid)
      if (lines.length === 0 && text === undefined) return
      await appender.append(taskUid, {
        lines: lines.map((line) => encode(attempt, line)),
        unfinished: text === undefined ? undefined : encodeUnfinished(attempt, text),
      })
    },

    async unfinished(taskUid) {
      const row = await database.read.first(sql<{ bytes: Buffer }>`select bytes from unfinished_lines
        where task_uid = ${taskUid}`)
      return row && decodeUnfinished(row.bytes)
    },

    async finishLine(key) {
      await database.write(async (tx) => {
        const line = await takeUnfinished(tx, key)
        if (line === undefined) return
        await insertLines(tx, key.taskUid, [encode(line.attempt, line.text)])
        listeners.announce(tx, key.taskUid)
      })
    },

    async *read(taskUid, { tailLines, ...query }) {
      checkTaskUid(taskUid)
      const filter = createLineFilter(query)
      const head = await database.read.first(sql<{ next_seq: number }>`select next_seq from log_heads
        where task_uid = ${taskUid}`)
      const end = head?.next_seq ?? 1
      const first = (query.afterSeq ?? 0) + 1
      const readFrom = (from: number) => readLines(database, taskUid, { span: { from, end }, query })
      if (filter === undefined) return yield* readFrom(startOfTail({ first, end }, tailLines))
      const back = () => readBack(database, taskUid, { span: { from: first, end }, query })
      yield* filterLines({ forth: () => readFrom(first), back }, filter, tailLines)
    },

    onAppend: listeners.add,

    async removeTask(taskUid) {
      checkTaskUid(taskUid)
      await database.write(async (tx) => {
        await tx.run(sql`delete from log_heads where task_uid = ${taskUid}`)
        await tx.run(sql`delete from log_pieces where task_uid = ${taskUid}`)
        await dropUnfinished(tx, taskUid)
      })
    },

    flush: appender.finish,
    close: appender.finish,

    async taskUids(after, limit) {
      const rows = await database.read.all(sql<{ task_uid: string }>`select task_uid from log_heads
        where task_uid > ${after ?? ''} order by task_uid limit ${limit}`)
      return rows.map((row) => row.task_uid)
    },
  }
}
