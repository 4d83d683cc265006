// Data that the version before stored opens in this one, a data folder, its backup, and a PostgreSQL database: it is
// taken over, and everything in it is there.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock as clock, systemIds as ids } from '../../src/lib/system-clock.ts'
import type { Database } from '../../src/store/database/database.ts'
import { createTokens } from '../../src/store/identity/tokens.ts'
import { openPostgresRecords, type PostgresRecords } from '../../src/store/postgres/records.ts'
import { createRecords, type RecordStores } from '../../src/store/records.ts'
import { openSqlite } from '../../src/store/sqlite/database.ts'
import { type PostgresServer, postgresMissing, startPostgres } from '../fixtures/postgres.ts'
import { command, kept, readRecords } from '../fixtures/stored-data/records.ts'
import {
  createTask,
  environmentOf,
  launchSvc,
  makeFolder,
  readResult,
  removeFolder,
  root,
  type Service,
  startService,
  waitForPhase,
} from './service.ts'

const fixtures = join(root, 'test', 'fixtures', 'stored-data')
const readKnown = (name: string) => JSON.parse(readFileSync(join(fixtures, name), 'utf8')) as Record<string, object>
const unpack = (name: string, folder: string) => execFileSync('tar', ['-xzf', join(fixtures, name), '-C', folder])

/** What is stored is old by the time it is read. */
const keepAll = [
  '--task-ttl',
  '0',
  ...['session', 'event', 'audit', 'usage'].flatMap((kind) => [`--${kind}-retention`, '36500d']),
]

const open: { folder: string; service?: Service }[] = []
afterAll(async () => {
  for (const { folder, service } of open) {
    await service?.stop()
    removeFolder(folder)
  }
})

function makeOpened() {
  const opened: (typeof open)[number] = { folder: makeFolder() }
  open.push(opened)
  return opened
}

async function openFolder(): Promise<Service> {
  const opened = makeOpened()
  unpack('sqlite.tar.gz', opened.folder)
  opened.service = await startService({ folder: opened.folder, flags: keepAll })
  return opened.service
}

async function restoreBackup(): Promise<Service> {
  const opened = makeOpened()
  const { folder } = opened
  unpack('backup.tar.gz', folder)
  expect(await launchSvc(['restore', join(folder, 'backup')], environmentOf(folder))).toMatchObject({ code: 0 })
  opened.service = await startService({ folder, flags: keepAll })
  return opened.service
}

type Known = { status?: { message?: string; conditions?: { message?: string }[] }; items?: Known[] }

const listObjects = (known: Known): Known[] => [known, ...(known.items ?? [])]

function forgetStatus(known: Known): void {
  for (const object of listObjects(known)) delete object.status
}

/** Controllers write them anew, in the words of the present. */
function forgetMessages(known: Known): void {
  for (const { status } of listObjects(known)) {
    for (const told of [status, ...(status?.conditions ?? [])]) delete told?.message
  }
}

describe.each([
  { of: 'a data folder', openStored: openFolder },
  { of: 'a backup', openStored: restoreBackup },
])('$of of the version before', ({ openStored }) => {
  const answers = readKnown('answers.json')

  it('opens, still has all its data, and accepts more [PLAT-004]', async () => {
    const service = await openStored()
    expect(Object.keys(answers).length).toBeGreaterThan(10)
    for (const [path, known] of Object.entries(answers)) {
      // What a Provider's status says is of the present: nobody answers at the fixture's address.
      if (path.includes('/providers')) forgetStatus(known)
      forgetMessages(known)
      const answer = await service.call('GET', path)
      expect([path, answer.status, answer.body]).toMatchObject([path, 200, known])
    }
    // The word itself would be struck out of what the task prints.
    const env = [{ name: 'WORD', valueFrom: { secretKeyRef: { name: 'kept-key', key: 'word' } } }]
    await createTask(service, 'opened', {
      type: 'container',
      command: ['/bin/sh', '-c', 'test "$WORD" = "a word of the fixture" && echo the same'],
      env,
    })
    await waitForPhase(service, 'opened', 'Succeeded')
    expect(await readResult(service, 'opened')).toBe('the same\n')
  })
})

async function readStored(records: RecordStores, database: Database) {
  const read = await readRecords(records, createTokens({ database, clock, ids }))
  return JSON.parse(JSON.stringify(read)) as Record<string, unknown>
}

it('every record of a data folder of the version before is read back [PLAT-004]', async () => {
  const { folder } = makeOpened()
  unpack('sqlite.tar.gz', folder)
  const blobDir = join(folder, 'share', 'svc')
  const database = openSqlite({ path: join(blobDir, 'svc.db') })
  const records = createRecords({ database, blobDir, clock, ids })
  expect(await readStored(records, database)).toEqual(readKnown('sqlite.json'))
  await records.close()
  await database.close()
})

const tracedTask = '01a203e6-0000-7000-8000-000000000009'
const storedSteps = readFileSync(join(fixtures, 'steps.sql'), 'utf8')

/** Steps as they were stored before traces of chats: what they were is what is read, and more can be added. */
async function expectSteps({ steps }: RecordStores): Promise<void> {
  const startedAt = '2026-11-28T00:00:00.000Z'
  const root = { id: '0', kind: 'attempt', name: 'attempt 1', startedAt }
  expect(await steps.list({ taskUid: tracedTask, limit: 10 })).toEqual([
    expect.objectContaining({
      seq: 2,
      attempt: 1,
      id: '1',
      kind: 'model',
      model: expect.objectContaining({ cost: 0.25 }),
    }),
    expect.objectContaining({ seq: 3, parent: '1', error: 'no such file', input: '{"path":"a.txt"}', output: 'no' }),
    { ...root, seq: 4, attempt: 1 },
  ])
  expect(await steps.lastAttempt(tracedTask)).toBe(1)
  await steps.write({ taskUid: tracedTask, attempt: 1 }, [{ ...root, kind: 'attempt', durationMs: 1, outcome: 'ok' }])
  expect((await steps.list({ taskUid: tracedTask, limit: 10 })).at(-1)).toMatchObject({
    id: '0',
    seq: 5,
    outcome: 'ok',
  })
}

it('steps of a data folder of the version before are read back, and go on', async () => {
  const blobDir = makeOpened().folder
  const database = openSqlite({ path: join(blobDir, 'svc.db') })
  const records = createRecords({ database, blobDir, clock, ids })
  const statements = storedSteps.split(';\n').filter((text) => text.trim() !== '')
  await database.write(async (tx) => {
    for (const text of statements) await tx.run({ text, parameters: [] })
  })
  await expectSteps(records)
  await records.close()
  await database.close()
})

if (postgresMissing !== undefined) console.log(`stored PostgreSQL databases are skipped: ${postgresMissing}`)

describe.skipIf(postgresMissing !== undefined)('a PostgreSQL database', () => {
  let server: PostgresServer
  const opened: PostgresRecords[] = []
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(async () => {
    for (const each of opened) await each.close()
    await server.remove()
  })

  it('of the version before opens, still has all its data, and accepts more [PLAT-004]', async () => {
    server.execute('postgres', 'create database kept')
    server.execute('kept', gunzipSync(readFileSync(join(fixtures, 'postgres.sql.gz'))).toString())
    const store = await openPostgresRecords({ url: server.urlOf('kept'), poolSize: 4, clock, ids })
    opened.push(store)
    const { records, database } = store
    server.execute('kept', storedSteps)
    await expectSteps(records)
    const read = () => readStored(records, database)
    expect(await read()).toEqual(readKnown('postgres.json'))
    await records.sessions.append(kept, [{ role: 'user', content: 'and more' }])
    await records.logs.append(command, ['third line'])
    const later = await read()
    expect((later.transcript as { content: string }[]).map(({ content }) => content)).toEqual([
      'hello',
      '',
      'kept words',
      'and more',
    ])
    expect((later.task as { logs: { seq: number }[] }).logs.map(({ seq }) => seq)).toEqual([1, 2, 3])
  })
})
