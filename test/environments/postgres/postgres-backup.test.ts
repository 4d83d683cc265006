// The records of a cluster's backup: out of one database while it is written to, and into an empty one.
import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mapUids } from '../../../src/cluster/backup/uids.ts'
import { systemClock as clock, systemIds as ids } from '../../../src/lib/system-clock.ts'
import { sql } from '../../../src/store/database/statement.ts'
import { openPostgresRecords } from '../../../src/store/postgres/records.ts'
import { restoreBackup } from '../../../src/upkeep/backup.ts'
import { type ClusterObjects, restoreClusterBackup, takeClusterBackup } from '../../../src/upkeep/cluster-backup.ts'
import { type PostgresServer, postgresMissing, startPostgres } from '../../fixtures/postgres.ts'

describe.skipIf(postgresMissing !== undefined)('the backup of a cluster', () => {
  let server: PostgresServer
  const folder = mkdtempSync(join(tmpdir(), 'svc-cluster-backup-'))
  const uid = randomUUID()
  const uids = new Map([[uid, randomUUID()]])
  const large = 'é'.repeat(3 * 1024 * 1024)

  beforeAll(async () => {
    server = await startPostgres()
  }, 60_000)
  afterAll(async () => {
    rmSync(folder, { recursive: true })
    await server.remove()
  }, 60_000)

  function makeDatabase(name: string): string {
    server.execute('postgres', `create database ${name}`)
    return server.urlOf(name)
  }

  const objects = (whileRead: () => Promise<void> = async () => undefined): ClusterObjects => ({
    read: async () => ({ lines: [JSON.stringify({ kind: 'Task', uid })], secrets: 1 }),
    requireNone: whileRead,
    restore: async () => (line) => mapUids(line, uids),
  })

  const open = (url: string) => openPostgresRecords({ url, clock, ids, poolSize: 3 })

  it('brings every record back under the new uid of its task', async () => {
    const databaseUrl = makeDatabase('source')
    const source = await open(databaseUrl)
    const key = { taskUid: uid, attempt: 1 }
    await source.records.results.put(key, Readable.from([Buffer.from(large)]), 'text/plain')
    await source.records.results.put(
      { taskUid: randomUUID(), attempt: 1 },
      Readable.from([Buffer.from('x')]),
      'text/plain',
    )
    await source.records.logs.append(key, ['one', 'two'])
    const event = { taskUid: uid, namespace: 'team', taskName: 't', type: 'PhaseChanged', message: 'm', attempt: 1 }
    await source.records.events.append(event)
    await source.database.write((tx) =>
      tx.run(sql`insert into messages (namespace, parent_task, from_task, to_task, content, created_at, from_uid)
        values ('team', 'p', 't', 'u', 'hello', '2026', ${uid})`),
    )
    const target = join(folder, 'backup')
    const note = await takeClusterBackup({ objects: objects(), databaseUrl }, target, { withSecrets: false })
    await source.close()
    expect(note.cluster?.objects).toBe(1)
    expect(statSync(target).mode & 0o077).toBe(0)
    for (const name of ['objects.jsonl', 'records.jsonl', 'backup.json'])
      expect(statSync(join(target, name)).mode & 0o077).toBe(0)

    const url = makeDatabase('fresh')
    await restoreClusterBackup({ objects: objects(), databaseUrl: url }, target)
    const restored = await open(url)
    const taskUid = uids.get(uid) ?? ''
    const result = await restored.records.results.get(taskUid)
    expect(await text(result?.open() as never)).toBe(large)
    expect(await restored.records.results.get(uid)).toBeUndefined()
    const events = server.execute('fresh', `select count(*) from events where task_uid = '${taskUid}'`)
    expect(events.trim()).toBe('1')
    // The next number of a row is none that was brought back.
    server.execute(
      'fresh',
      `insert into messages (namespace, parent_task, from_task, to_task, content, created_at) values ('n','p','f','t','c','2026')`,
    )
    expect(server.execute('fresh', 'select count(distinct id) from messages').trim()).toBe('2')
    await restored.close()
    const count = (name: string) =>
      server
        .execute(
          name,
          `select sum((xpath('/row/c/text()', query_to_xml('select count(*) as c from '||quote_ident(relname), false, true, '')))[1]::text::int) from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' and relpersistence = 'p'`,
        )
        .trim()
    expect(Number(count('fresh'))).toBe(Number(count('source')) + 1)
  })

  it('is refused where something is, or where it is not whole', async () => {
    const target = join(folder, 'backup')
    const full = { objects: objects(), databaseUrl: server.urlOf('source') }
    await expect(restoreClusterBackup(full, target)).rejects.toThrow(/has records already/)
    const url = makeDatabase('other')
    const refusing = objects(async () => {
      throw new Error('a Task is there')
    })
    await expect(restoreClusterBackup({ objects: refusing, databaseUrl: url }, target)).rejects.toThrow(
      'a Task is there',
    )
    const paths = { dataDir: join(folder, 'data'), secretKeyFile: join(folder, 'key') }
    await expect(restoreBackup({ paths } as never, target)).rejects.toThrow(/backup of a cluster.*--cluster/)
    const lines = readFileSync(join(target, 'records.jsonl'), 'utf8').trimEnd()
    truncateSync(join(target, 'records.jsonl'), Buffer.byteLength(lines.slice(0, lines.lastIndexOf('\n'))))
    const empty = { objects: objects(), databaseUrl: url }
    await expect(restoreClusterBackup(empty, target)).rejects.toThrow(/damaged: it has \d+ of \d+ records/)
    expect(existsSync(paths.dataDir)).toBe(false)
  })
})
