// Records written and read, on SQLite and on PostgreSQL, beside the floor: one inserted row per transaction through pg.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { Pool } from 'pg'
import { systemClock as clock, systemIds as ids } from '../src/lib/system-clock.ts'
import { openPostgresRecords } from '../src/store/postgres/records.ts'
import { createRecords, type RecordStores } from '../src/store/records.ts'
import { openSqlite } from '../src/store/sqlite/database.ts'
import { type PostgresServer, postgresMissing, startPostgres } from '../test/fixtures/postgres.ts'
import { percentile, type Row, report, round } from './measure.ts'

const parallel = 10
const count = 2000
const bodies = 10
const bodyBytes = 10 * 1024 * 1024

export async function run(): Promise<void> {
  const rows = await measureSqlite()
  if (postgresMissing === undefined) rows.push(...(await measurePostgres()))
  else console.log(`PostgreSQL is skipped: ${postgresMissing}`)
  report('records', rows)
}

async function measure(what: string, times: number, work: (index: number) => Promise<unknown>): Promise<Row> {
  const samples: number[] = []
  const started = performance.now()
  let next = 0
  const runner = async () => {
    for (let index = next++; index < times; index = next++) {
      const began = performance.now()
      await work(index)
      samples.push(performance.now() - began)
    }
  }
  await Promise.all(Array.from({ length: Math.min(parallel, times) }, runner))
  const perSecond = round((times / (performance.now() - started)) * 1000, 0)
  return {
    what,
    'per second': perSecond,
    'p50 ms': round(percentile(samples, 0.5)),
    'p99 ms': round(percentile(samples, 0.99)),
  }
}

function makeBody(size: number): Readable {
  return Readable.from(
    Array.from({ length: Math.ceil(size / 65_536) }, () => Buffer.alloc(Math.min(size, 65_536), 0x61)),
  )
}

async function readBody(records: RecordStores, taskUid: string): Promise<void> {
  const result = await records.results.get(taskUid)
  if (result === undefined || (await buffer(result.open())).length !== bodyBytes)
    throw new Error('the body is not whole')
}

async function measureStores(name: string, records: RecordStores): Promise<Row[]> {
  const key = (index: number) => ({ taskUid: `task-${index % 50}`, attempt: 1 })
  const event = { namespace: 'default', taskName: 't', type: 'X' }
  const put = (prefix: string, size: number) => (index: number) =>
    records.results.put({ taskUid: `${prefix}-${index}`, attempt: 1 }, makeBody(size), 'text/plain')
  return [
    await measure(`${name}: event appended`, count, (index) =>
      records.events.append({ ...key(index), ...event, message: String(index) }),
    ),
    await measure(`${name}: two log lines appended`, count, (index) => records.logs.append(key(index), ['one', 'two'])),
    await measure(`${name}: result of 500 bytes stored`, count, put('small', 500)),
    await measure(`${name}: result of 500 bytes found`, count, (index) => records.results.get(`small-${index}`)),
    await measure(`${name}: result of 10 MiB stored`, bodies, put('large', bodyBytes)),
    await measure(`${name}: result of 10 MiB read`, bodies, (index) => readBody(records, `large-${index}`)),
  ]
}

async function measureSqlite(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-'))
  const database = openSqlite({ path: join(folder, 'svc.db') })
  const records = createRecords({ database, blobDir: folder, clock, ids })
  const rows = await measureStores('SQLite', records)
  await records.close()
  await database.close()
  await rm(folder, { recursive: true })
  return rows
}

async function measureFloor(server: PostgresServer): Promise<Row> {
  server.execute('bench', 'create table floor (id integer, text text)')
  const pool = new Pool({ connectionString: server.urlOf('bench'), max: parallel })
  const row = await measure('floor: PostgreSQL row inserted by pg', count, async (index) => {
    const client = await pool.connect()
    await client.query('begin')
    await client.query({ name: 'floor', text: 'insert into floor values ($1, $2)', values: [index, 'text'] })
    await client.query('commit')
    client.release()
  })
  await pool.end()
  return row
}

async function measurePostgres(): Promise<Row[]> {
  const server = await startPostgres(['fsync=on'])
  try {
    server.execute('postgres', 'create database bench')
    const floor = await measureFloor(server)
    const { records, close } = await openPostgresRecords({ url: server.urlOf('bench'), clock, ids })
    const rows = await measureStores('PostgreSQL', records)
    await close()
    return [floor, ...rows]
  } finally {
    await server.remove()
  }
}
