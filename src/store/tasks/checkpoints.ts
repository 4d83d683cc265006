// Checkpoints in SQL: one row per task, of the newest attempt that saved, and a row for each change since.
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { isSvcError, SvcError } from '../../errors.ts'
import type { Checkpoints } from '../../ports/tasks/outputs.ts'
import type { AttemptKey } from '../../ports/tasks/workloads.ts'
import type { BlobReference, Blobs, StoredBlob } from '../blobs/blobs.ts'
import type { Database, Tx } from '../database/database.ts'
import { sql } from '../database/statement.ts'
import { decodeText, encodeText } from '../database/stored-text.ts'

const LIMITS = {
  limit: 10 * 1024 * 1024,
  tooLarge: 'the checkpoint is over 10 MiB: shorten the conversation before saving it',
  empty: 'the checkpoint is empty: send the state of the run as JSON',
}

const MAX_CHANGE_BYTES = 1024 * 1024

/** A try fails only when a save has succeeded in the meantime, and a run saves once a model call. */
const LOAD_TRIES = 50

// UTF-8 cannot express a lone surrogate; a state that contains one is stored as UTF-16.
type Encoding = 'utf8' | 'utf16le'

type CheckpointRow = BlobReference & { attempt: number; encoding: Encoding; generation: number; changes: number }
type SaveRequest = AttemptKey & { encoding: Encoding }

function checkAttempt(earlier: { attempt: number } | undefined, attempt: number): void {
  if (earlier === undefined || earlier.attempt <= attempt) return
  throw new SvcError('Conflict', `attempt ${earlier.attempt} has saved a checkpoint: attempt ${attempt} is over`)
}

async function replaceRow(tx: Tx, request: SaveRequest, blob: StoredBlob): Promise<string | null> {
  const { taskUid, attempt, encoding } = request
  // Locks the row, or creates it without a body: of two concurrent saves the later must see the earlier one.
  const earlier = await tx.first(sql<{ attempt: number; blob_id: string | null }>`insert into checkpoints
      (task_uid, attempt, encoding) values (${taskUid}, ${attempt}, ${encoding})
    on conflict (task_uid) do update set task_uid = excluded.task_uid returning attempt, blob_id`)
  checkAttempt(earlier, attempt)
  await tx.run(sql`update checkpoints set attempt = ${attempt}, encoding = ${encoding}, blob_id = ${blob.blob_id},
      content = ${blob.content}, generation = generation + 1, changes = 0
    where task_uid = ${taskUid}`)
  await tx.run(sql`delete from checkpoint_changes where task_uid = ${taskUid}`)
  return earlier?.blob_id ?? null
}

function checkChange(change: string): void {
  if (change === '') throw new SvcError('InvalidRequest', 'the change is empty: send it as JSON')
  if (Buffer.byteLength(change) <= MAX_CHANGE_BYTES) return
  throw new SvcError('TooLarge', 'the change is over 1 MiB: save the whole state instead')
}

async function insertChange(tx: Tx, { taskUid, attempt }: AttemptKey, number: number, change: string): Promise<void> {
  // Locks the row: of two concurrent changes the later must see the earlier one.
  const row = await tx.first(sql<Omit<CheckpointRow, keyof BlobReference | 'encoding'>>`update checkpoints
    set changes = changes where task_uid = ${taskUid} returning attempt, generation, changes`)
  checkAttempt(row, attempt)
  if (row === undefined || row.attempt < attempt || number > row.changes + 1) {
    throw new SvcError('Conflict', `change ${number} has nothing to be added to: save the whole state first`)
  }
  if (number <= row.changes) return
  await tx.run(sql`insert into checkpoint_changes (task_uid, generation, number, change)
    values (${taskUid}, ${row.generation}, ${number}, ${encodeText(change)})`)
  await tx.run(sql`update checkpoints set changes = ${number} where task_uid = ${taskUid}`)
}

export function createCheckpoints(deps: { database: Database; blobs: Blobs }): Checkpoints {
  const { database, blobs } = deps

  async function findRow(taskUid: string): Promise<CheckpointRow | undefined> {
    return database.read.first(sql<CheckpointRow>`select attempt, encoding, generation, changes, blob_id, content
      from checkpoints where task_uid = ${taskUid}`)
  }

  async function readChanges(taskUid: string, { generation, changes }: CheckpointRow): Promise<string[]> {
    if (changes === 0) return []
    const rows = await database.read.all(sql<{ change: string }>`select change from checkpoint_changes
      where task_uid = ${taskUid} and generation = ${generation} and number <= ${changes} order by number`)
    if (rows.length < changes) throw new SvcError('Conflict', 'the checkpoint was saved again in the meantime')
    return rows.map(({ change }) => decodeText(change))
  }

  async function loadState(taskUid: string, tries: number): Promise<Awaited<ReturnType<Checkpoints['load']>>> {
    const row = await findRow(taskUid)
    if (row === undefined) return undefined
    try {
      const state = (await buffer(blobs.open(row))).toString(row.encoding)
      return { attempt: row.attempt, state, changes: await readChanges(taskUid, row) }
    } catch (error) {
      // A save replaced what this row refers to: its own row is there by now.
      if (isSvcError(error, 'Conflict') && tries > 1) return loadState(taskUid, tries - 1)
      throw error
    }
  }

  return {
    async save(key, state) {
      const encoding = state.isWellFormed() ? 'utf8' : 'utf16le'
      checkAttempt(await findRow(key.taskUid), key.attempt)
      const body = Readable.from([Buffer.from(state, encoding)], { objectMode: false })
      const replaced = await blobs.store(body, LIMITS, (blob) =>
        database.write((tx) => replaceRow(tx, { ...key, encoding }, blob)),
      )
      await blobs.remove([replaced])
    },

    async append(key, number, change) {
      checkChange(change)
      await database.write((tx) => insertChange(tx, key, number, change))
    },

    load: (taskUid) => loadState(taskUid, LOAD_TRIES),

    async removeTask(taskUid) {
      const removed = await database.write(async (tx) => {
        await tx.run(sql`delete from checkpoint_changes where task_uid = ${taskUid}`)
        return tx.all(
          sql<{ blob_id: string | null }>`delete from checkpoints where task_uid = ${taskUid} returning blob_id`,
        )
      })
      await blobs.remove(removed.map((row) => row.blob_id))
    },
  }
}
