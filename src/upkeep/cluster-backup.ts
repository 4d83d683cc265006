// `svc backup --cluster` and `svc restore --cluster`: the objects of a service on a cluster and the records of its database in a
// folder, beside the same note as that of one machine.
import { chmodSync, createReadStream, createWriteStream } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { BackupNote } from '../client/machine.ts'
import { SvcError } from '../errors.ts'
import { dumpRecords, loadRecords, requireEmptyDatabase } from '../store/postgres/dump.ts'
import { readManifest, requireEmpty, writeNote } from './backup.ts'

const names = { objects: 'objects.jsonl', records: 'records.jsonl' }

/** What a cluster gives and takes: objects as lines of JSON. */
export type ClusterObjects = {
  read(): Promise<{ lines: string[]; secrets: number }>
  /** Conflict when one of the service is there, or a replica leads. */
  requireNone(): Promise<void>
  /** Makes them anew, and returns how what refers to them is to be rewritten. */
  restore(lines: readonly string[]): Promise<(text: string) => string>
}

export type ClusterStore = { objects: ClusterObjects; databaseUrl: string }

/** Writes the lines to a file that only its owner can read; returns how many. */
async function writeLines(file: string, lines: AsyncIterable<string>): Promise<number> {
  let count = 0
  async function* end() {
    for await (const line of lines) {
      count += 1
      yield `${line}\n`
    }
  }
  await pipeline(Readable.from(end()), createWriteStream(file, { mode: 0o600, flags: 'wx' }))
  return count
}

function readLines(folder: string, name: string): AsyncIterable<string> {
  return createInterface({ input: createReadStream(join(folder, name)), crlfDelay: Number.POSITIVE_INFINITY })
}

/**
 * Writes a backup into a new or empty folder; the service may be running. Objects are read before the records: what a
 * task that has ended left is in the database before its status says so.
 */
export async function takeClusterBackup(
  { objects, databaseUrl }: ClusterStore,
  folder: string,
  { withSecrets }: { withSecrets: boolean },
): Promise<BackupNote> {
  await requireEmpty(folder, 'name a new folder for the backup')
  chmodSync(folder, 0o700)
  const takenAt = new Date().toISOString()
  const { lines, secrets } = await objects.read()
  await writeFile(join(folder, names.objects), lines.map((line) => `${line}\n`).join(''), { mode: 0o600 })
  let records = 0
  const schema = await dumpRecords(databaseUrl, async (rows) => {
    records = await writeLines(join(folder, names.records), rows)
  })
  const cluster = { objects: lines.length, records, schema }
  const note: BackupNote = { takenAt, bodies: 0, secrets, hasKey: withSecrets, cluster }
  await writeNote(folder, note)
  return note
}

async function readClusterNote(folder: string): Promise<Required<BackupNote>> {
  const { cluster, ...note } = await readManifest(folder)
  if (cluster !== undefined) return { ...note, cluster }
  throw new SvcError('InvalidRequest', `${folder} is the backup of one machine: restore it without --cluster`)
}

async function readObjects(folder: string, expected: number): Promise<string[]> {
  const lines: string[] = []
  for await (const line of readLines(folder, names.objects)) lines.push(line)
  if (lines.length === expected) return lines
  throw new SvcError('InvalidRequest', `${folder} is damaged: it has ${lines.length} of ${expected} objects`)
}

async function checkRecords(folder: string, expected: number): Promise<void> {
  let found = 0
  for await (const _line of readLines(folder, names.records)) found += 1
  if (found === expected) return
  throw new SvcError('InvalidRequest', `${folder} is damaged: it has ${found} of ${expected} records`)
}

/**
 * Restores a backup into a cluster and a database that are empty. Nothing is written when the backup is damaged
 * (InvalidRequest), or something is there already (Conflict).
 */
export async function restoreClusterBackup(
  { objects, databaseUrl }: ClusterStore,
  folder: string,
): Promise<BackupNote> {
  const note = await readClusterNote(folder)
  const lines = await readObjects(folder, note.cluster.objects)
  await checkRecords(folder, note.cluster.records)
  await requireEmptyDatabase(databaseUrl, note.cluster.schema)
  await objects.requireNone()
  const rewrite = await objects.restore(lines)
  async function* rewritten() {
    for await (const line of readLines(folder, names.records)) yield rewrite(line)
  }
  await loadRecords(databaseUrl, { lines: rewritten(), schema: note.cluster.schema })
  return note
}
