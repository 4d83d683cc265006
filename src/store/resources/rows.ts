// The statements on the tables of resources.
import type { Kind } from '../../contract/kinds/index.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'
import type { Reader, Tx } from '../database/database.ts'
import { joinSql, sql } from '../database/statement.ts'
import { decodeText } from '../database/stored-text.ts'
import { formatCreated } from '../watching/list-order.ts'
import type { IndexEntry, StoredObject } from '../watching/stored-object.ts'
import { listIndexRows, parseRow, type StoredRow } from './stored-row.ts'

/** The JSON of an object and its version. */
export type TextRow = { text: string; version: number }

export function readText(reader: Reader, kind: Kind, key: ResourceKey): Promise<TextRow | undefined> {
  return reader.first(
    sql<TextRow>`select object as text, resource_version as version from resources
      where kind = ${kind} and namespace = ${key.namespace} and name = ${key.name}`,
  )
}

export async function readRow(reader: Reader, kind: Kind, key: ResourceKey): Promise<StoredRow | undefined> {
  const row = await readText(reader, kind, key)
  return row === undefined ? undefined : parseRow(row.text)
}

async function insertEntries(tx: Tx, object: StoredObject, entries: IndexEntry[]): Promise<void> {
  if (entries.length === 0) return
  const { kind, metadata } = object
  const rows = entries.map(
    ({ field, value }) => sql`(${kind}, ${field}, ${value}, ${metadata.namespace}, ${metadata.name})`,
  )
  await tx.run(sql`insert into resource_index (kind, field, value, namespace, name) values ${joinSql(rows, ', ')}`)
}

async function deleteEntries(tx: Tx, object: StoredObject, entries: IndexEntry[]): Promise<void> {
  const { kind, metadata } = object
  for (const { field, value } of entries) {
    await tx.run(sql`delete from resource_index where kind = ${kind} and field = ${field} and value = ${value}
      and namespace = ${metadata.namespace} and name = ${metadata.name}`)
  }
}

/** False when the name is taken. */
export async function insertRow(tx: Tx, row: StoredRow): Promise<boolean> {
  const { kind, metadata } = row.object
  const { changes } = await tx.run(sql`insert into resources (kind, namespace, name, resource_version, created, object)
    values (${kind}, ${metadata.namespace}, ${metadata.name}, ${Number(metadata.resourceVersion)},
      ${formatCreated(row.object)}, ${row.text})
    on conflict do nothing`)
  if (changes > 0) await insertEntries(tx, row.object, listIndexRows(row.object))
  return changes > 0
}

function subtractEntries(entries: IndexEntry[], others: IndexEntry[]): IndexEntry[] {
  return entries.filter((entry) => !others.some((other) => other.field === entry.field && other.value === entry.value))
}

export async function replaceRow(tx: Tx, before: StoredObject, row: StoredRow): Promise<void> {
  const { kind, metadata } = row.object
  await tx.run(sql`update resources set object = ${row.text}, resource_version = ${Number(metadata.resourceVersion)}
    where kind = ${kind} and namespace = ${metadata.namespace} and name = ${metadata.name}`)
  const old = listIndexRows(before)
  const fresh = listIndexRows(row.object)
  await deleteEntries(tx, before, subtractEntries(old, fresh))
  await insertEntries(tx, row.object, subtractEntries(fresh, old))
}

export async function deleteRow(tx: Tx, object: StoredObject): Promise<void> {
  const { kind, metadata } = object
  await tx.run(sql`delete from resources
    where kind = ${kind} and namespace = ${metadata.namespace} and name = ${metadata.name}`)
  await deleteEntries(tx, object, listIndexRows(object))
}

/** The version of the last write, stored apart from the rows because the last write may have removed one. */
export async function readCounter(reader: Reader): Promise<number> {
  const row = await reader.first(sql<{ version: number }>`select resource_version as version from resource_counter`)
  return row?.version ?? 0
}

export async function saveCounter(tx: Tx, version: number): Promise<void> {
  await tx.run(sql`update resource_counter set resource_version = ${version}`)
}

export function readCounts(reader: Reader): Promise<{ kind: Kind; namespace: string; count: number }[]> {
  return reader.all(
    sql<{ kind: Kind; namespace: string; count: number }>`
      select kind, namespace, count(*) as count from resources group by kind, namespace`,
  )
}

/** How many objects have each value of the field. */
export async function countValues(reader: Reader, kind: Kind, field: string): Promise<Record<string, number>> {
  const rows = await reader.all(
    sql<{ value: string; count: number }>`select value, count(*) as count from resource_index
      where kind = ${kind} and field = ${field} group by value`,
  )
  return Object.fromEntries(rows.map(({ value, count }) => [decodeText(value), Number(count)]))
}
