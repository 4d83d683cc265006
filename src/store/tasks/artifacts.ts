// Artifacts and input files of tasks in SQL: one row per task and path. A later attempt's file replaces that of an
// earlier one.
import { SvcError } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { findPathFault } from '../../lib/inner-path.ts'
import type { ArtifactInfo, Artifacts } from '../../ports/tasks/outputs.ts'
import type { BlobLimits, BlobReference, Blobs, StoredBlob } from '../blobs/blobs.ts'
import type { Database, Reader, Tx } from '../database/database.ts'
import { type Fragment, sql } from '../database/statement.ts'
import { decodeText, encodeText } from '../database/stored-text.ts'

const MEBIBYTE = 1024 * 1024
const FILE_LIMIT = 10 * MEBIBYTE
const TASK_LIMIT = 50 * MEBIBYTE
const NAME_BYTES = 255

/** The table of one sort of files, and what errors call them. */
type Kind = { table: Fragment; locks: Fragment; one: string; taskFull: string }

const named = (text: string): Fragment => ({ text, parameters: [] })
const artifactKind: Kind = {
  table: named('artifacts'),
  locks: named('artifact_locks'),
  one: 'artifact',
  taskFull: 'the artifacts of this task would exceed 50 MiB in total: keep fewer or smaller files',
}
const inputKind: Kind = {
  table: named('inputs'),
  locks: named('input_locks'),
  one: 'file',
  taskFull: 'the files that this task is given would exceed 50 MiB in total: give fewer or smaller ones',
}

type InfoRow = {
  task_uid: string
  attempt: number
  filename: string
  size: number
  content_type: string
  created_at: string
}
type ArtifactRow = InfoRow & BlobReference

function toInfo(row: InfoRow): ArtifactInfo {
  return {
    taskUid: row.task_uid,
    attempt: row.attempt,
    filename: row.filename,
    contentType: decodeText(row.content_type),
    size: row.size,
    createdAt: row.created_at,
  }
}

function findNameProblem(filename: string): string | undefined {
  const fault = findPathFault(filename)
  if (fault !== undefined) return fault
  if (Buffer.byteLength(filename) > NAME_BYTES) return `is longer than ${NAME_BYTES} bytes`
  return undefined
}

function checkFilename(filename: string): void {
  const problem = findNameProblem(filename)
  if (problem === undefined) return
  throw new SvcError(
    'InvalidRequest',
    `the artifact's file name ${problem}: choose a plain file name, or a path of such names`,
    {
      details: [{ path: 'filename', message: problem }],
    },
  )
}

/** The size of the task's other files in bytes. */
async function sumOthers(reader: Reader, { table }: Kind, taskUid: string, filename: string): Promise<number> {
  const row = await reader.first(sql<{ bytes: number }>`select coalesce(sum(size), 0) as bytes from ${table}
    where task_uid = ${taskUid} and filename <> ${filename}`)
  return Number(row?.bytes ?? 0)
}

/** Limits for one upload; because others may run at the same time, the total is checked again when the row is written. */
async function findLimits(reader: Reader, kind: Kind, taskUid: string, filename: string): Promise<BlobLimits> {
  const left = TASK_LIMIT - (await sumOthers(reader, kind, taskUid, filename))
  if (left < FILE_LIMIT) return { limit: left, tooLarge: kind.taskFull }
  return { limit: FILE_LIMIT, tooLarge: `the ${kind.one} is over 10 MiB: split it` }
}

/** Serializes uploads to one task from here to the end of the transaction. */
async function lockTask(tx: Tx, { locks }: Kind, taskUid: string): Promise<void> {
  await tx.run(sql`insert into ${locks} (task_uid) values (${taskUid})
    on conflict (task_uid) do update set task_uid = excluded.task_uid`)
}

async function replaceRow(tx: Tx, kind: Kind, info: ArtifactInfo, blob: StoredBlob): Promise<string | null> {
  const { taskUid, filename, attempt } = info
  const { table } = kind
  await lockTask(tx, kind, taskUid)
  if ((await sumOthers(tx, kind, taskUid, filename)) + blob.size > TASK_LIMIT) {
    throw new SvcError('TooLarge', kind.taskFull)
  }
  const earlier = await tx.first(sql<{ attempt: number; blob_id: string | null }>`select attempt, blob_id from ${table}
    where task_uid = ${taskUid} and filename = ${filename}`)
  if (earlier !== undefined && earlier.attempt > attempt) {
    throw new SvcError('Conflict', `attempt ${earlier.attempt} has stored ${filename}: attempt ${attempt} is over`)
  }
  await tx.run(sql`insert into ${table}
      (task_uid, filename, attempt, size, content_type, created_at, blob_id, content)
    values (${taskUid}, ${filename}, ${attempt}, ${blob.size}, ${encodeText(info.contentType)}, ${info.createdAt},
      ${blob.blob_id}, ${blob.content})
    on conflict (task_uid, filename) do update set attempt = excluded.attempt, size = excluded.size,
      content_type = excluded.content_type, created_at = excluded.created_at, blob_id = excluded.blob_id,
      content = excluded.content`)
  return earlier?.blob_id ?? null
}

type Deps = { database: Database; blobs: Blobs; clock: Clock }

function createFiles({ database, blobs, clock }: Deps, kind: Kind): Artifacts {
  const { table, locks } = kind
  return {
    async put({ taskUid, attempt }, { filename, contentType, body }) {
      checkFilename(filename)
      const limits = await findLimits(database.read, kind, taskUid, filename)
      const { info, replaced } = await blobs.store(body, limits, async (blob) => {
        const createdAt = clock.now().toISOString()
        const info = { taskUid, attempt, filename, contentType, size: blob.size, createdAt }
        return { info, replaced: await database.write((tx) => replaceRow(tx, kind, info, blob)) }
      })
      await blobs.remove([replaced])
      return info
    },

    async list(taskUid) {
      const rows =
        await database.read.all(sql<InfoRow>`select task_uid, attempt, filename, size, content_type, created_at
        from ${table} where task_uid = ${taskUid} order by filename`)
      return rows.map(toInfo)
    },

    async open(taskUid, filename) {
      // PostgreSQL rejects queries with a NUL character.
      if (findNameProblem(filename) !== undefined) return undefined
      const row = await database.read.first(sql<ArtifactRow>`select * from ${table}
        where task_uid = ${taskUid} and filename = ${filename}`)
      return row === undefined ? undefined : { info: toInfo(row), open: () => blobs.open(row) }
    },

    async removeTask(taskUid) {
      const removed = await database.write(async (tx) => {
        await tx.run(sql`delete from ${locks} where task_uid = ${taskUid}`)
        return tx.all(
          sql<{ blob_id: string | null }>`delete from ${table} where task_uid = ${taskUid} returning blob_id`,
        )
      })
      await blobs.remove(removed.map((row) => row.blob_id))
    },
  }
}

export function createArtifacts(deps: Deps): Artifacts {
  return createFiles(deps, artifactKind)
}

/** Input files of tasks. */
export function createInputs(deps: Deps): Artifacts {
  return createFiles(deps, inputKind)
}
