// What happens to the records when their PostgreSQL fails: restarted, gone, slow, full.
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { isSvcError } from '../../../src/errors.ts'
import { systemClock as clock, systemIds as ids } from '../../../src/lib/system-clock.ts'
import { sql } from '../../../src/store/database/statement.ts'
import type { PostgresDatabase } from '../../../src/store/postgres/database.ts'
import { createPostgresRecords, openPostgresRecords } from '../../../src/store/postgres/records.ts'
import type { RecordStores } from '../../../src/store/records.ts'
import { makeDatabase, openBody, openReplica, prepareTemplate } from '../../contracts/postgres-bench.ts'
import { collect, MEBIBYTE, makeBody, readText, textBody } from '../../contracts/record-bench.ts'
import { type PostgresServer, postgresMissing, startPostgres } from '../../fixtures/postgres.ts'
import { openSmallDisk, type SmallDisk, smallDiskRefusal } from '../../fixtures/small-disk.ts'
import { waitFor } from '../../fixtures/time.ts'

const key = { taskUid: 'task-1', attempt: 1 }
const draft = { ...key, namespace: 'default', taskName: 't', type: 'X' }
const unavailable = { reason: 'Unavailable', status: 503, retryAfterSeconds: expect.any(Number) }

describe.skipIf(postgresMissing !== undefined)('records while PostgreSQL fails', () => {
  let server: PostgresServer
  let name: string
  let database: PostgresDatabase
  let records: RecordStores
  beforeAll(async () => {
    server = await startPostgres()
    await prepareTemplate(server)
  }, 60_000)
  afterAll(() => server.remove(), 60_000)
  beforeEach(async () => {
    name = makeDatabase(server)
    database = await openReplica(server, name)
    records = createPostgresRecords({ database, clock, ids })
  })
  afterEach(async () => {
    await database.close()
  })

  /** How many bodies went; none while the database comes back. */
  const sweep = () => records.sweepOrphans().catch(() => 0)

  /** Events of one task, each with a text of its own, until told to stop; a refused one is not repeated. */
  function writeEvents(taskUid: string) {
    const acknowledged: string[] = []
    const refused: unknown[] = []
    let isOver = false
    const write = async () => {
      for (let count = 0; !isOver; count += 1) {
        const message = `${taskUid} ${count}`
        await records.events.append({ ...draft, taskUid, message }).then(
          () => acknowledged.push(message),
          async (error: unknown) => {
            refused.push(error)
            await clock.sleep(5)
          },
        )
      }
    }
    const writing = write()
    const end = async () => {
      isOver = true
      await writing
    }
    return { taskUid, acknowledged, refused, end }
  }

  it.each(['fast', 'immediate'] as const)('keeps every acknowledged write over a restart (%s)', async (how) => {
    const writers = Array.from({ length: 6 }, (_, index) => writeEvents(`task-${index}`))
    const reach = (count: number) =>
      waitFor(() => writers.every((writer) => writer.acknowledged.length >= count), `${count} each`)
    await reach(20)
    await server.stop(how)
    await waitFor(() => writers.every((writer) => writer.refused.length > 0), 'each was refused')
    await server.start()
    await reach(Math.max(...writers.map((writer) => writer.acknowledged.length)) + 20)
    for (const { end, taskUid, acknowledged, refused } of writers) {
      await end()
      expect(refused.filter((error) => !isSvcError(error, 'Unavailable'))).toEqual([])
      const stored = await records.events.list({ taskUid })
      const messages = stored.map(({ message }) => message)
      expect(messages.filter((message) => acknowledged.includes(message))).toEqual(acknowledged)
      expect(new Set(messages).size).toBe(messages.length)
      expect(stored.map(({ seq }) => seq)).toEqual(stored.map((_, index) => index + 1))
    }
  })

  it('refuses everything while PostgreSQL is away, leaves nothing half-written, and works again when it is back', async () => {
    await records.results.put(key, textBody('kept'), 'text/plain')
    await records.logs.append(key, ['kept'])
    await server.stop('immediate')
    const large = { ...key, attempt: 2 }
    await expect(records.results.put(large, makeBody(MEBIBYTE).body, 'text/plain')).rejects.toMatchObject(unavailable)
    await expect(records.events.append({ ...draft, message: 'm' })).rejects.toMatchObject(unavailable)
    await expect(records.logs.append(key, ['lost'])).rejects.toMatchObject(unavailable)
    await expect(records.results.get('task-1')).rejects.toMatchObject(unavailable)
    await expect(collect(records.logs.read('task-1', {}))).rejects.toMatchObject(unavailable)
    await server.start()
    expect(await readText(await records.results.get('task-1'))).toBe('kept')
    expect((await collect(records.logs.read('task-1', {}))).map(({ text }) => text)).toEqual(['kept'])
    await records.events.append({ ...draft, message: 'm' })
    expect((await records.events.list({ taskUid: 'task-1' })).map(({ seq }) => seq)).toEqual([1])
    await records.results.put(large, makeBody(MEBIBYTE).body, 'text/plain')
    expect(await records.sweepOrphans()).toBe(0)
  })

  it('leaves no body behind that was being received when PostgreSQL went away', async () => {
    const { body, push } = openBody()
    const count = (table: string) => Number(server.execute(name, `select count(*) from ${table}`))
    const stored = records.results.put(key, body, 'text/plain').catch((error: unknown) => error)
    push(MEBIBYTE)
    await waitFor(() => count('blob_pieces') > 0, 'the first pieces are stored')
    await server.stop('immediate')
    push(MEBIBYTE)
    expect(await stored).toMatchObject(unavailable)
    await server.start()
    expect(count('blobs')).toBe(1)
    await waitFor(() => sweep().then(() => count('blobs') === 0), 'what came in is swept')
    expect(await records.results.get('task-1')).toBeUndefined()
  })

  it('makes every follower look again when notifications may have been missed', async () => {
    const other = await openReplica(server, name)
    const writer = createPostgresRecords({ database: other, clock, ids })
    let looks = 0
    const cooling: string[] = []
    records.events.onAppend('task-1', () => {
      looks += 1
    })
    records.rateLimits.onCoolDown((provider) => cooling.push(provider.name))
    server.execute(
      name,
      "select pg_terminate_backend(pid) from pg_stat_activity where query ilike 'listen%' and datname = current_database()",
    )
    await writer.events.append({ ...draft, message: 'missed' })
    await writer.rateLimits.coolDown(
      { namespace: 'default', name: 'main' },
      {
        until: new Date(Date.now() + 60_000),
        reason: 'busy',
        ...({ failure: 'RateLimited', asked: true } as const),
      },
    )
    await waitFor(() => looks > 0 && cooling.includes('main'), 'they look again')
    const before = looks
    await writer.events.append({ ...draft, message: 'heard' })
    await waitFor(() => looks > before, 'notes come again')
    await other.close()
  })

  it('holds the bodies that are being read again after its session was lost', async () => {
    await records.results.put(key, makeBody(MEBIBYTE, 0x31).body, 'text/plain')
    const reading = (await records.results.get('task-1'))?.open()
    const other = await openReplica(server, name)
    const writer = createPostgresRecords({ database: other, clock, ids })
    const countLocks = () => Number(server.execute(name, "select count(*) from pg_locks where locktype = 'advisory'"))
    await waitFor(() => countLocks() === 1, 'the body is held')
    server.execute(name, "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory'")
    await waitFor(() => countLocks() === 1, 'the body is held again')
    await writer.results.put(key, textBody('new'), 'text/plain')
    expect(await writer.sweepOrphans()).toBe(0)
    expect(await readText(reading === undefined ? undefined : { open: () => reading })).toBe('1'.repeat(MEBIBYTE))
    await other.close()
  })

  it('makes units wait for a connection, and refuses them when none becomes free', async () => {
    const small = await openReplica(server, name, { poolSize: 2, connectTimeoutMs: 2000 })
    const held = Promise.withResolvers<void>()
    const started = [0, 1].map(() => Promise.withResolvers<void>())
    const holders = started.map(({ resolve }) =>
      small.write(async (tx) => {
        await tx.first(sql`select 1`)
        resolve()
        await held.promise
      }),
    )
    await Promise.all(started.map(({ promise }) => promise))
    await expect(small.read.first(sql`select 1`)).rejects.toMatchObject(unavailable)
    const waiting = small.read.first(sql`select 2 as two`)
    held.resolve()
    await Promise.all(holders)
    expect(await waiting).toEqual({ two: 2 })
    const many = Array.from({ length: 100 }, (_, index) => small.read.first(sql`select ${String(index)} as text`))
    expect(await Promise.all(many)).toHaveLength(100)
    await small.close()
  })

  it('ends a statement that takes too long, and continues', async () => {
    const impatient = await openReplica(server, name, { statementTimeoutMs: 200 })
    await expect(impatient.read.first(sql`select pg_sleep(60)`)).rejects.toMatchObject(unavailable)
    await expect(impatient.write((tx) => tx.first(sql`select pg_sleep(60)`))).rejects.toMatchObject(unavailable)
    expect(await impatient.read.first(sql`select 1 as one`)).toEqual({ one: 1 })
    await impatient.close()
  })

  it('reports at the start that PostgreSQL is away, does not answer, or has no such database', async () => {
    const openAt = (url: string) => openPostgresRecords({ url, clock, ids, connectTimeoutMs: 300 })
    await expect(openAt(server.urlOf('missing'))).rejects.toMatchObject({
      ...unavailable,
      message: expect.stringMatching(/database "missing" does not exist\. Check --database-url/),
    })
    await expect(openAt('postgres://svc@127.0.0.1:1/svc')).rejects.toMatchObject(unavailable)
    const folder = mkdtempSync(join(tmpdir(), 'svc-mute-'))
    const mute = createServer(() => undefined).listen(join(folder, '.s.PGSQL.5432'))
    await expect(openAt(`postgres://svc@${encodeURIComponent(folder)}/svc`)).rejects.toMatchObject(unavailable)
    mute.close()
    rmSync(folder, { recursive: true })
  })

  it('fails the health check', async () => {
    const opened = await openPostgresRecords({ url: server.urlOf(name), clock, ids })
    const { signal } = new AbortController()
    await opened.health.check(signal)
    await server.stop('fast')
    await expect(opened.health.check(signal)).rejects.toMatchObject(unavailable)
    await server.start()
    await opened.health.check(signal)
    await opened.close()
  })

  it('fails the health check while it answers but takes no writes, as a standby does', async () => {
    const opened = await openPostgresRecords({ url: server.urlOf(name), clock, ids })
    server.execute(name, `alter database "${name}" set default_transaction_read_only = on`)
    expect(await opened.records.events.list({ taskUid: 'task-1' })).toEqual([])
    await expect(opened.health.check(new AbortController().signal)).rejects.toMatchObject(unavailable)
    await opened.close()
  })
})

const noDisk = postgresMissing ?? smallDiskRefusal

describe.skipIf(noDisk !== undefined)(`a database disk that is really full ${noDisk ?? ''}`, () => {
  let disk: SmallDisk
  let server: PostgresServer
  beforeAll(async () => {
    disk = openSmallDisk(24)
    server = await startPostgres()
    server.give(disk.folder)
    server.execute('postgres', `create tablespace small location '${disk.folder}'`)
    server.execute('postgres', 'create database small tablespace small')
  }, 60_000)
  afterAll(async () => {
    await server.remove()
    disk.remove()
  })

  it('refuses what does not fit, keeps what was there, and recovers', async () => {
    const { records, close } = await openPostgresRecords({ url: server.urlOf('small'), clock, ids })
    await records.results.put(key, textBody('small'), 'text/plain')
    await records.logs.append(key, ['before'])
    const fill = async () => {
      for (let attempt = 2; attempt < 9; attempt += 1) {
        await records.results.put({ ...key, attempt }, makeBody(4 * MEBIBYTE).body, 'text/plain')
      }
    }
    await expect(fill()).rejects.toMatchObject({ reason: 'StorageFull', status: 507 })
    expect(await readText(await records.results.get('task-1', 1))).toBe('small')
    await records.results.removeTask('task-1')
    disk.resize(64)
    await records.results.put(key, makeBody(MEBIBYTE).body, 'text/plain')
    await records.logs.append(key, ['after'])
    expect((await collect(records.logs.read('task-1', {}))).map(({ text }) => text)).toEqual(['before', 'after'])
    await close()
  })
})
