// Steps of the schema, and the check that a database has the steps that this version of the service knows.
import { createHash } from 'node:crypto'
import { SvcError } from '../../errors.ts'

/** One step of the schema. Never changed once released: every database stores its checksum. */
export type Migration = {
  /** 1, 2, 3 ... without gaps. */
  number: number
  name: string
  /** Statements of the dialect, separated by `;`. */
  statements: string
}

export type AppliedMigration = { number: number; name: string; checksum: string }

/** Distinguishes a step from another one with the same number. */
export function computeChecksum(migration: Migration): string {
  return createHash('sha256').update(migration.statements).digest('hex')
}

function checkNewest(known: readonly Migration[], applied: readonly AppliedMigration[]): void {
  const newest = applied.at(-1)
  if (newest === undefined || newest.number <= known.length) return
  throw new SvcError(
    'Unavailable',
    `The database was written by a newer version of the service (schema ${newest.number}, this one knows ` +
      `${known.length}). Start that version, or restore a backup made by this one.`,
  )
}

/** Unavailable when the database has a newer schema, or another history. */
export function checkApplied(known: readonly Migration[], applied: readonly AppliedMigration[]): void {
  checkNewest(known, applied)
  for (const row of applied) {
    const migration = known[row.number - 1]
    if (migration !== undefined && computeChecksum(migration) === row.checksum) continue
    throw new SvcError(
      'Unavailable',
      `The database has another schema step ${row.number} (${row.name}) than this version of the service. ` +
        'Start the version that made it, or restore a backup.',
    )
  }
}
