// Data that an earlier state of the program stored opens in this one, a data folder as well as a PostgreSQL database: it is
// migrated, and everything in it is there.
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock as clock, systemIds as ids } from '../../src/runtime/host/clock.ts'
import { createTokens } from '../../src/store/identity/tokens.ts'
import { openPostgresRecords, type PostgresRecords } from '../../src/store/postgres/records.ts'
import { type PostgresServer, postgresMissing, startPostgres } from '../fixtures/postgres.ts'
import { command, kept, readRecords } from '../fixtures/stored-data/records.ts'
import {
  createTask,
  makeFolder,
  readResult,
  removeFolder,
  root,
  type Service,
  startService,
  waitForPhase,
} from './service.ts'

const fixtures = join(root, 'test', 'fixtures', 'stored-data')
const states = readdirSync(fixtures).flatMap((name) => /^(\d{4})\.json$/.exec(name)?.[1] ?? [])

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

async function openState(state: string): Promise<Service> {
  const folder = makeFolder()
  const opened: (typeof open)[number] = { folder }
  open.push(opened)
  execFileSync('tar', ['-xzf', join(fixtures, `${state}.tar.gz`), '-C', folder])
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

describe.each(states)('a data folder of migration %s', (state) => {
  const answers = JSON.parse(readFileSync(join(fixtures, `${state}.json`), 'utf8')) as Record<string, object>

  it('opens, still has all its data, and accepts more [PLAT-004]', async () => {
    const service = await openState(state)
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

const dumps = readdirSync(fixtures).flatMap((name) => /^postgres-(\d{4})\.json$/.exec(name)?.[1] ?? [])
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

  it.each(dumps)('of migration %s opens, still has all its data, and accepts more [PLAT-004]', async (state) => {
    const known = JSON.parse(readFileSync(join(fixtures, `postgres-${state}.json`), 'utf8')) as Record<string, unknown>
    expect(Object.values(known).every((value) => JSON.stringify(value).length > 2)).toBe(true)
    server.execute('postgres', `create database "kept-${state}"`)
    server.execute(`kept-${state}`, gunzipSync(readFileSync(join(fixtures, `postgres-${state}.sql.gz`))).toString())
    const store = await openPostgresRecords({ url: server.urlOf(`kept-${state}`), poolSize: 4, clock, ids })
    opened.push(store)
    const { records, database } = store
    const tokens = createTokens({ database, clock, ids })
    const read = async () => JSON.parse(JSON.stringify(await readRecords(records, tokens)))
    expect(await read()).toMatchObject(known)
    await records.sessions.append(kept, [{ role: 'user', content: 'and more' }])
    await records.logs.append(command, ['third line'])
    const later = await read()
    expect(later.transcript.map(({ content }: { content: string }) => content)).toEqual([
      'hello',
      '',
      'kept words',
      'and more',
    ])
    expect(later.logs.map(({ seq }: { seq: number }) => seq)).toEqual([1, 2, 3])
  })
})
