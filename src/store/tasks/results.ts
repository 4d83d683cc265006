// Results in SQL: one row per attempt, the bytes in it or in a blob.
import type { Readable } from 'node:stream'
import type { Clock } from '../../lib/clock.ts'
import type { ResultInfo, Results } from '../../ports/tasks/outputs.ts'
import type { AttemptKey } from '../../ports/tasks/workloads.ts'
import type { BlobReference, Blobs, StoredBlob } from '../blobs/blobs.ts'
import type { Database, Tx } from '../database/database.ts'
import { sql } from '../database/statement.ts'
import { decodeText, encodeText } from '../database/stored-text.ts'

export const resultLimits = {
  limit: 10 * 1024 * 1024,
  tooLarge: 'the result is over 10 MiB: keep large output as artifacts and return a summary',
  empty: 'the result is empty: send at least one byte',
}

type ResultRow = BlobReference & {
  task_uid: string
  attempt: number
  size: number
  content_type: string
  created_at: string
}

function toInfo(row: ResultRow): ResultInfo {
  return {
    taskUid: row.task_uid,
    attempt: row.attempt,
    size: row.size,
    contentType: decodeText(row.content_type),
    createdAt: row.created_at,
  }
}

/** Returns the body that it replaces. */
export async function writeResult(tx: Tx, info: ResultInfo, blob: StoredBlob): Promise<string | null> {
  // Locks the row, or creates it without a body: of two concurrent saves the later must see the earlier one.
  const earlier = await tx.first(sql<{ blob_id: string | null }>`insert into results
      (task_uid, attempt, size, content_type, created_at) values (${info.taskUid}, ${info.attempt}, 0, '', '')
    on conflict (task_uid, attempt) do update set attempt = excluded.attempt returning blob_id`)
  await tx.run(sql`update results set size = ${blob.size}, content_type = ${encodeText(info.contentType)},
      created_at = ${info.createdAt}, blob_id = ${blob.blob_id}, content = ${blob.content}
    where task_uid = ${info.taskUid} and attempt = ${info.attempt}`)
  return earlier?.blob_id ?? null
}

export function createResults(deps: { database: Database; blobs: Blobs; clock: Clock }): Results {
  const { database, blobs, clock } = deps
  return {
    async put(key: AttemptKey, body: Readable, contentType: string) {
      const { info, replaced } = await blobs.store(body, resultLimits, async (blob) => {
        const { taskUid, attempt } = key
        const info = { taskUid, attempt, size: blob.size, contentType, createdAt: clock.now().toISOString() }
        return { info, replaced: await database.write((tx) => writeResult(tx, info, blob)) }
      })
      await blobs.remove([replaced])
      return info
    },

    async get(taskUid, attempt) {
      const ofAttempt = attempt === undefined ? sql`` : sql` and attempt = ${attempt}`
      const row = await database.read.first(sql<ResultRow>`select * from results where task_uid = ${taskUid}${ofAttempt}
        order by attempt desc limit 1`)
      return row === undefined ? undefined : { info: toInfo(row), open: () => blobs.open(row) }
    },

    async removeTask(taskUid) {
      const removed = await database.write((tx) =>
        tx.all(sql<BlobReference>`delete from results where task_uid = ${taskUid} returning blob_id`),
      )
      await blobs.remove(removed.map((row) => row.blob_id))
    },
  }
}
