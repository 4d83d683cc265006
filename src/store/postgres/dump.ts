// All records of a database as lines of JSON, as of one moment, and back into an empty one.
import type { Client } from 'pg'
import { SvcError } from '../../errors.ts'
import { useClient } from './connections.ts'
import { applyMigrations } from './migrate.ts'
import { migrations } from './migrations.ts'

const fetchedRows = 50
/** Lines of one insert, in characters. */
const batchLength = 4 * 1024 * 1024

/** A line is `{"table":"results","row":{...}}`; the row stays text, whose numbers may be greater than those of JavaScript. */
const tableMark = '{"table":"'
const rowMark = '","row":'

function splitLine(line: string): { table: string; row: string } {
  const middle = line.indexOf(rowMark)
  if (!line.startsWith(tableMark) || middle < 0)
    throw new SvcError('InvalidRequest', 'the backup is damaged: a line of its records cannot be read')
  return { table: line.slice(tableMark.length, middle), row: line.slice(middle + rowMark.length, -1) }
}

/** Tables that a row may refer to come first. What is worth nothing after a crash is left out. */
const listTables = `
select relname as name from pg_class
where relnamespace = current_schema()::regnamespace and relkind = 'r' and relpersistence = 'p' and relname <> 'migrations'
order by exists (select 1 from pg_constraint where contype = 'f' and conrelid = pg_class.oid), relname`

async function readRows<T>(client: Client, text: string, values: readonly unknown[] = []): Promise<T[]> {
  return (await client.query({ text, values })).rows as T[]
}

async function readSchema(client: Client): Promise<number> {
  const [row] = await readRows<{ number: number | null }>(client, 'select max(number) as number from migrations')
  return row?.number ?? 0
}

async function readTables(client: Client): Promise<string[]> {
  return (await readRows<{ name: string }>(client, listTables)).map(({ name }) => name)
}

async function* readLines(client: Client): AsyncGenerator<string> {
  for (const table of await readTables(client)) {
    await client.query(`declare lines no scroll cursor for select row_to_json(t)::text as line from "${table}" t`)
    for (;;) {
      const rows = await readRows<{ line: string }>(client, `fetch ${fetchedRows} from lines`)
      for (const { line } of rows) yield `${tableMark}${table}${rowMark}${line}}`
      if (rows.length === 0) break
    }
    await client.query('close lines')
  }
}

/** Hands on every row as a line; returns the number of the schema's newest step. Unavailable when it cannot be reached. */
export async function dumpRecords(
  url: string,
  write: (lines: AsyncIterable<string>) => Promise<void>,
): Promise<number> {
  return await useClient({ url }, async (client) => {
    await client.query('begin isolation level repeatable read read only')
    const schema = await readSchema(client)
    await write(readLines(client))
    await client.query('commit')
    return schema
  })
}

async function requireEmpty(client: Client, tables: readonly string[]): Promise<void> {
  for (const table of tables) {
    const rows = await readRows(client, `select 1 from "${table}" limit 1`)
    if (rows.length === 0) continue
    throw new SvcError('Conflict', `the database has records already (${table}): name an empty one in SVC_DATABASE_URL`)
  }
}

/** Consecutive lines of one table, of bounded size. */
async function* batchLines(lines: AsyncIterable<string>): AsyncGenerator<{ table: string; rows: string[] }> {
  let batch: { table: string; rows: string[]; length: number } | undefined
  for await (const line of lines) {
    const { table, row } = splitLine(line)
    if (batch !== undefined && (batch.table !== table || batch.length > batchLength)) {
      yield batch
      batch = undefined
    }
    batch ??= { table, rows: [], length: 0 }
    batch.rows.push(row)
    batch.length += line.length
  }
  if (batch !== undefined) yield batch
}

/** Rows that are made later have greater numbers than those that were brought back. */
async function raiseIdentities(client: Client, tables: readonly string[]): Promise<void> {
  const columns = await readRows<{ table_name: string; column_name: string }>(
    client,
    `select table_name, column_name from information_schema.columns
     where table_schema = current_schema() and is_identity = 'YES'`,
  )
  for (const { table_name: table, column_name: column } of columns) {
    if (!tables.includes(table)) continue
    await client.query(
      `select setval(pg_get_serial_sequence('"${table}"', '${column}'), max("${column}")) from "${table}" having count(*) > 0`,
    )
  }
}

export type RecordSource = {
  lines: AsyncIterable<string>
  /** The number of the newest step of the schema that they were read from. */
  schema: number
}

async function insertLines(client: Client, lines: AsyncIterable<string>, known: readonly string[]): Promise<void> {
  for await (const { table, rows } of batchLines(lines)) {
    if (!known.includes(table)) throw new SvcError('InvalidRequest', `the backup has records of unknown kind: ${table}`)
    await client.query({
      text: `insert into "${table}" overriding system value select r.* from json_populate_recordset(null::"${table}", $1::json) r`,
      values: [`[${rows.join(',')}]`],
    })
  }
}

/** Conflict when the database has records, InvalidRequest when its schema is newer than this program knows. */
export async function requireEmptyDatabase(url: string, schema: number): Promise<void> {
  if (!migrations.some(({ number }) => number === schema)) {
    throw new SvcError(
      'InvalidRequest',
      `the backup has schema ${schema}, which this version does not know: use a newer one`,
    )
  }
  await useClient({ url }, async (client) => requireEmpty(client, await readTables(client)))
}

/** A database without a schema gets that of the backup. */
async function prepareSchema(client: Client, schema: number): Promise<void> {
  const [row] = await readRows<{ found: string | null }>(client, `select to_regclass('migrations')::text as found`)
  if (row?.found == null) {
    const upTo = migrations.filter(({ number }) => number <= schema)
    return await applyMigrations(client, upTo)
  }
  const there = await readSchema(client)
  if (there === schema) return
  const message = `the database has schema ${there}, the backup ${schema}: name a new database in SVC_DATABASE_URL`
  throw new SvcError('Conflict', message)
}

/** Writes the records into an empty database, all or none; a later start of the service brings an older schema up to date. */
export async function loadRecords(url: string, { lines, schema }: RecordSource): Promise<void> {
  await useClient({ url }, async (client) => {
    await prepareSchema(client, schema)
    const tables = await readTables(client)
    await client.query('begin')
    await requireEmpty(client, tables)
    await insertLines(client, lines, tables)
    await raiseIdentities(client, tables)
    await client.query('commit')
  })
}
