// Proves that a database takes writes: it answers reads while its disk is full or it has become a standby.
import type { Tx } from './database.ts'
import { sql } from './statement.ts'

const newest = sql`number = (select max(number) from migrations)`

/** Changes nothing in the end, but is written. SQLite writes no row that an update leaves as it was, so this one changes and is changed back. */
export async function touch(tx: Tx): Promise<void> {
  await tx.run(sql`update migrations set name = name || '.' where ${newest}`)
  await tx.run(sql`update migrations set name = substr(name, 1, length(name) - 1) where ${newest}`)
}
