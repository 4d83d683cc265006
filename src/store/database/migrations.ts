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
  /**
   * Steps from before the first release that led to the same schema: how many, the checksum of the first, and that of
   * the checksums of all, one a line.
   */
  replaces?: { steps: number; first: string; all: string }
}

export type AppliedMigration = { number: number; name: string; checksum: string }

/** What brings a database up to date. */
export type MigrationPlan = {
  /** Recorded in the place of all that was applied: the schema is there already. */
  adopted?: Migration
  /** To be applied, in order. */
  missing: readonly Migration[]
}

const digest = (text: string) => createHash('sha256').update(text).digest('hex')

/** Distinguishes a step from another one with the same number. */
export function computeChecksum(migration: Migration): string {
  return digest(migration.statements)
}

function refuse(message: string): never {
  throw new SvcError('Unavailable', message)
}

function checkApplied(known: readonly Migration[], applied: readonly AppliedMigration[]): void {
  for (const [at, migration] of known.entries()) {
    const row = applied[at]
    if (row === undefined || computeChecksum(migration) === row.checksum) continue
    refuse(
      `The database has another schema step ${row.number} (${row.name}) than this version of the service. ` +
        'Start the version that made it, or restore a backup.',
    )
  }
  const newest = applied.at(-1)
  if (newest === undefined || newest.number <= known.length) return
  refuse(
    `The database was written by a newer version of the service (schema ${newest.number}, this one knows ` +
      `${known.length}). Start that version, or restore a backup made by this one.`,
  )
}

/** Whether the database has the whole schema of the first step, by the steps that led to it before the first release. */
function canAdopt({ replaces }: Migration, applied: readonly AppliedMigration[]): boolean {
  if (replaces === undefined || applied[0]?.checksum !== replaces.first) return false
  if (applied.length < replaces.steps) {
    refuse(
      `The database is of a version before the first release (schema step ${applied.length} of ${replaces.steps}). ` +
        'Start the last version before the first release on it once, then this one.',
    )
  }
  return digest(applied.map(({ checksum }) => checksum).join('\n')) === replaces.all
}

/** `applied` in order. Unavailable when the database has a newer schema, or another history. */
export function planMigrations(known: readonly Migration[], applied: readonly AppliedMigration[]): MigrationPlan {
  const [first] = known
  if (first !== undefined && canAdopt(first, applied)) return { adopted: first, missing: known.slice(1) }
  checkApplied(known, applied)
  return { missing: known.slice(applied.length) }
}
