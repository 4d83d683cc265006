// What the tables of monitors have in common: each row is JSON beside the columns that lists filter by.
import type { Clock } from '../../lib/clock.ts'
import type { MonitorKey } from '../../ports/monitors/monitors.ts'
import type { Database } from '../database/database.ts'
import { type Fragment, sql } from '../database/statement.ts'
import { encodeText } from '../database/stored-text.ts'

export type MonitorParts = { database: Database; clock: Clock }

/** The fields by which a record says whose it is. */
export function nameOwner({ namespace, name }: MonitorKey): { monitorNamespace: string; monitorName: string } {
  return { monitorNamespace: namespace, monitorName: name }
}

/** The condition for what comes after the last entry of a page, newest first by time and id. */
export function matchOlder(column: string, before: readonly [string, string] | undefined): Fragment[] {
  if (before === undefined) return []
  const name: Fragment = { text: column, parameters: [] }
  return [sql`(${name}, id) < (${encodeText(before[0])}, ${encodeText(before[1])})`]
}
