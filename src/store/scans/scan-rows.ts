// What the tables of scans have in common: bodies as JSON beside the columns that lists filter and sort by.
import type { PageQuery, RecordPage } from '../../ports/scans/scans.ts'
import type { Reader, Tx } from '../database/database.ts'
import { type Fragment, joinSql, sql } from '../database/statement.ts'
import { decodeText, encodeText } from '../database/stored-text.ts'

type ListedRow = { id: string; sort_key: string; body: string }

/** A name of a table or column of ours. */
const nameSql = (name: string): Fragment => ({ text: name, parameters: [] })

/** Conditions for the columns that have a value. */
export function matchColumns(values: Record<string, string | undefined>): Fragment[] {
  return Object.entries(values).flatMap(([column, value]) =>
    value === undefined ? [] : [sql`${nameSql(column)} = ${encodeText(value)}`],
  )
}

/** One page of a table, in descending order of the column and then the id. */
export async function readPage<T>(
  reader: Reader,
  { table, order, where }: { table: string; order: string; where: readonly Fragment[] },
  { limit, after }: PageQuery,
): Promise<RecordPage<T>> {
  const column = nameSql(order)
  const rest = after === undefined ? [] : [sql`(${column}, id) < (${encodeText(after.order)}, ${encodeText(after.id)})`]
  const rows = await reader.all(sql<ListedRow>`select id, ${column} as sort_key, body from ${nameSql(table)}
    where ${joinSql([...where, ...rest], ' and ')} order by ${column} desc, id desc limit ${limit + 1}`)
  const items = rows.slice(0, limit).map(({ body }) => JSON.parse(body) as T)
  const last = rows[limit - 1]
  if (rows.length <= limit || last === undefined) return { items }
  return { items, next: { order: decodeText(last.sort_key), id: decodeText(last.id) } }
}

/** JSON escapes NUL and lone surrogates by itself (ECMA-404). */
export function parseScanBody<T>(row: { body: string } | undefined): T | undefined {
  return row === undefined ? undefined : (JSON.parse(row.body) as T)
}

/** Announces what people ask of a scan, in the form that `readNote` reads. */
export const requestChannel = 'scans'

export function announceRequest(tx: Tx, { namespace, name }: { namespace: string; name: string }): void {
  tx.announce(requestChannel, `${namespace}/${name}`)
}

export function readNote(note: string | undefined): { namespace: string; name: string } | undefined {
  const [namespace, name] = note?.split('/') ?? []
  return namespace === undefined || name === undefined ? undefined : { namespace, name }
}
