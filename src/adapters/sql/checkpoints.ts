// Checkpoints in SQL: one row per task, of the newest attempt that saved.
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { isSvcError, SvcError } from '../../errors.ts'
import type { Checkpoints } from '../../ports/checkpoints.ts'
import type { AttemptKey } from '../../ports/workloads.ts'
import type { BlobReference, Blobs, StoredBlob } from './blobs/blobs.ts'
import type { Database, Tx } from './database.ts'
import { sql } from './statement.ts'

const LIMITS = {
  limit: 10 * 1024 * 1024,
  tooLarge: 'the checkpoint is over 10 MiB: shorten the conversation before saving it',
  empty: 'the checkpoint is empty: send the state of the run as JSON',
}

const LOAD_TRIES = 5

// UTF-8 has no form for a lone surrogate; a state that holds one is kept as UTF-16.
type Encoding = 'utf8' | 'utf16le'

type CheckpointRow = BlobReference & { attempt: number; encoding: Encoding }
type SaveRequest = AttemptKey & { encoding: Encoding }

function checkAttempt(earlier: { attempt: number } | undefined, attempt: number): void {
  if (earlier === undefined || earlier.attempt <= attempt) return
  throw new SvcError('Conflict', `attempt ${earlier.attempt} has saved a checkpoint: attempt ${attempt} is over`)
}

async function replaceRow(tx: Tx, request: SaveRequest, blob: StoredBlob): Promise<string | null> {
  const { taskUid, attempt, encoding } = request
  // Locked, or made without a body: of two that come together the later one must see what the earlier one stored.
  const earlier = await tx.first(sql<{ attempt: number; blob_id: string | null }>`insert into checkpoints
      (task_uid, attempt, encoding) values (${taskUid}, ${attempt}, ${encoding})
    on conflict (task_uid) do update set task_uid = excluded.task_uid returning attempt, blob_id`)
  checkAttempt(earlier, attempt)
  await tx.run(sql`update checkpoints set attempt = ${attempt}, encoding = ${encoding}, blob_id = ${blob.blob_id},
      content = ${blob.content}
    where task_uid = ${taskUid}`)
  return earlier?.blob_id ?? null
}

export function createCheckpoints(deps: { database: Database; blobs: Blobs }): Checkpoints {
  const { database, blobs } = deps

  async function findRow(taskUid: string): Promise<CheckpointRow | undefined> {
    return database.read.first(sql<CheckpointRow>`select attempt, encoding, blob_id, content from checkpoints
      where task_uid = ${taskUid}`)
  }

  async function loadState(taskUid: string, tries: number): Promise<{ attempt: number; state: string } | undefined> {
    const row = await findRow(taskUid)
    if (row === undefined) return undefined
    try {
      return { attempt: row.attempt, state: (await buffer(blobs.open(row))).toString(row.encoding) }
    } catch (error) {
      // A save took the place of what this row refers to: its own row is there by now.
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

    load: (taskUid) => loadState(taskUid, LOAD_TRIES),

    async removeTask(taskUid) {
      const removed = await database.write((tx) =>
        tx.all(sql<{ blob_id: string | null }>`delete from checkpoints where task_uid = ${taskUid} returning blob_id`),
      )
      await blobs.remove(removed.map((row) => row.blob_id))
    },
  }
}
