// Proves that a database takes writes: it answers reads while its disk is full or it has become a standby.
import type { Tx } from './database.ts'
import { sql } from './statement.ts'

/** Changes nothing, but is written. */
export function touch(tx: Tx): Promise<unknown> {
  return tx.run(sql`update migrations set name = name where number = (select max(number) from migrations)`)
}
