// Copies a database while others may be writing to it, and lists the bodies that its rows refer to.
import { chmodSync } from 'node:fs'
import Sqlite from 'better-sqlite3'
import { messageOf, SvcError } from '../../errors.ts'
import { isBlobId } from '../blobs/blobs.ts'

/** All pages in one step: a copy in several steps starts again after each write, and under load would never end. */
const allPages = 2 ** 31 - 1

/** A single file that can be read from anywhere; the service turns write-ahead logging on again. */
function settleFile(path: string): void {
  const copy = new Sqlite(path)
  copy.pragma('journal_mode = delete')
  copy.close()
}

/** Copies the database as of one moment into a new file that only its owner can read. */
export async function copyDatabase(from: string, to: string): Promise<void> {
  const source = new Sqlite(from, { readonly: true, fileMustExist: true, timeout: 10_000 })
  try {
    await source.backup(to, { progress: () => allPages })
    chmodSync(to, 0o600)
    settleFile(to)
  } finally {
    source.close()
  }
}

export type SnapshotFacts = {
  /** The names of the bodies that its rows refer to. */
  blobs: string[]
  secrets: number
}

/** InvalidRequest when the file is not a sound database of this service. */
export function inspectSnapshot(path: string): SnapshotFacts {
  try {
    const database = new Sqlite(path, { readonly: true, fileMustExist: true })
    try {
      return inspect(database)
    } finally {
      database.close()
    }
  } catch (error) {
    throw new SvcError('InvalidRequest', `${path} is not a sound database of this service: ${messageOf(error)}`)
  }
}

function inspect(database: Sqlite.Database): SnapshotFacts {
  const answer = database.pragma('quick_check(1)', { simple: true })
  if (answer !== 'ok') throw new Error(String(answer))
  const blobs = database
    .prepare(
      `select blob_id from results where blob_id is not null union select blob_id from artifacts where blob_id is not null
       union select blob_id from inputs where blob_id is not null
       union select blob_id from checkpoints where blob_id is not null`,
    )
    .pluck()
    .all() as string[]
  const foreign = blobs.find((id) => !isBlobId(id))
  if (foreign !== undefined) throw new Error(`it names the body ${JSON.stringify(foreign)}, as no service does`)
  return { blobs, secrets: database.prepare('select count(*) from secrets').pluck().get() as number }
}
