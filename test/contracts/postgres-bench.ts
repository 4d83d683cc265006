// The bench of the record suites over a real PostgreSQL: a database of its own for each test.
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import type { Clock, Ids } from '../../src/lib/clock.ts'
import { systemClock, systemIds } from '../../src/lib/system-clock.ts'
import type { Database, Tx } from '../../src/store/database/database.ts'
import { sql } from '../../src/store/database/statement.ts'
import { createSignInLinks } from '../../src/store/identity/sign-in-links.ts'
import { createTokenAuthenticator } from '../../src/store/identity/token-authenticator.ts'
import { createTokens } from '../../src/store/identity/tokens.ts'
import { createPostgresBlobs } from '../../src/store/postgres/blobs.ts'
import { openPostgres, type PostgresDatabase, type PostgresOptions } from '../../src/store/postgres/database.ts'
import { createPostgresLogs } from '../../src/store/postgres/logs.ts'
import { composeRecords } from '../../src/store/records.ts'
import { createConfigMaps } from '../../src/store/resources/configmaps.ts'
import { createSecretStorage } from '../../src/store/resources/secrets.ts'
import type { PostgresServer } from '../fixtures/postgres.ts'
import type { BenchStores, RecordBench, RecordFaults } from './record-bench.ts'

const START = Date.parse('2026-03-01T12:00:00.000Z')
const TEMPLATE = 'svc_template'

const ids: Ids = {
  next: (prefix) => (prefix === undefined ? randomUUID() : `${prefix}-${randomUUID()}`),
  hex: (length) => randomUUID().replaceAll('-', '').slice(0, length),
  random: () => 0.5,
}

/** Refuses pieces of bodies and logs as a full disk does, once `svc.disk_bytes` are used up. */
const quota = `
create function spend_disk() returns trigger language plpgsql as $$
declare room text := current_setting('svc.disk_bytes', true);
begin
  if coalesce(room, '') = '' then return new; end if;
  if room::bigint < octet_length(new.bytes) then
    raise exception 'could not extend file: No space left on device' using errcode = '53100';
  end if;
  perform set_config('svc.disk_bytes', (room::bigint - octet_length(new.bytes))::text, true);
  return new;
end $$;
create trigger blob_quota before insert on blob_pieces for each row execute function spend_disk();
create trigger log_quota before insert on log_pieces for each row execute function spend_disk();
`

/** Makes the database that those of the tests are copies of. */
export async function prepareTemplate(server: PostgresServer): Promise<void> {
  server.execute('postgres', `create database ${TEMPLATE}`)
  await (await openPostgres({ url: server.urlOf(TEMPLATE), clock: systemClock, ids: systemIds })).close()
  server.execute(TEMPLATE, quota)
}

let count = 0

/** A new database with the schema in it; its name. */
export function makeDatabase(server: PostgresServer): string {
  count += 1
  const name = `svc_${process.pid}_${count}`
  server.execute('postgres', `create database ${name} template ${TEMPLATE}`)
  return name
}

export function openReplica(server: PostgresServer, name: string, options: Partial<PostgresOptions> = {}) {
  return openPostgres({ url: server.urlOf(name), clock: systemClock, ids: systemIds, poolSize: 5, ...options })
}

/** A body that gives what is pushed and does not end by itself. */
export function openBody(): { body: Readable; push: (size: number) => void } {
  const body = new Readable({ read: () => undefined })
  return { body, push: (size) => void body.push(Buffer.alloc(size, 0x61)) }
}

/** Writes take from the bytes that are left on the pretended disk; one that fails takes none. */
function limitDisk(database: Database, faults: RecordFaults): Database {
  async function writeWithin<T>(tx: Tx, work: (tx: Tx) => Promise<T>): Promise<T> {
    if (faults.diskBytes === undefined) return work(tx)
    await tx.all(sql`select set_config('svc.disk_bytes', ${String(faults.diskBytes)}, true)`)
    const value = await work(tx)
    const left = await tx.first(sql<{ left: string }>`select current_setting('svc.disk_bytes') as left`)
    faults.diskBytes = Number(left?.left)
    return value
  }
  return { ...database, write: (work) => database.write((tx) => writeWithin(tx, work)) }
}

function breakDatabase(database: Database, faults: RecordFaults): Database {
  return {
    ...database,
    write: (work) => {
      if (faults.writes === 'hang') {
        faults.hanging += 1
        return new Promise(() => undefined)
      }
      if (faults.writes === 'fail') return Promise.reject(new Error('the process died before the transaction'))
      return database.write(work)
    },
  }
}

function openStores(opened: PostgresDatabase, faults: RecordFaults, clock: Clock): BenchStores {
  const database = breakDatabase(opened, faults)
  const disk = limitDisk(opened, faults)
  const blobs = createPostgresBlobs({ database: disk, locks: opened.locks, ids })
  const records = composeRecords({ database, blobs, logs: createPostgresLogs({ database: disk, clock }), clock })
  return {
    ...records,
    tokens: createTokens({ database, clock, ids }),
    signInLinks: createSignInLinks({ database, clock, ids }),
    secrets: createSecretStorage({ database }),
    configMaps: createConfigMaps({ database, clock }),
  }
}

/** Everything but which migrations there were; tables without rows cost nothing, as they would if they were truncated. */
const empty = `
set session_replication_role = replica;
do $$ declare name text; begin
  for name in select tablename from pg_tables where schemaname = 'public' and tablename <> 'migrations' loop
    execute format('delete from %I', name);
  end loop;
  for name in select sequencename from pg_sequences where schemaname = 'public' loop
    execute format('alter sequence %I restart', name);
  end loop;
end $$;
`

/** Databases that a test is done with: to empty one takes a tenth of the time of making one. */
const emptied: string[] = []

export async function openPostgresBench(server: PostgresServer): Promise<RecordBench> {
  const name = emptied.pop() ?? makeDatabase(server)
  let time = START
  const clock: Clock = { now: () => new Date(time), sleep: systemClock.sleep }
  const faults: RecordFaults = { diskBytes: undefined, writes: 'work', hanging: 0 }
  let database = await openReplica(server, name)
  let stores = openStores(database, faults, clock)
  return {
    stores: () => stores,
    reopen: async () => {
      await database.close()
      faults.writes = 'work'
      database = await openReplica(server, name)
      stores = openStores(database, faults, clock)
    },
    authenticator: (extra = {}) => createTokenAuthenticator({ tokens: stores.tokens, clock, ...extra }),
    faults,
    advance: (ms) => {
      time += ms
    },
    now: () => new Date(time),
    countBodies: async () =>
      (await database.read.first(sql<{ count: number }>`select count(*) as count from blobs`))?.count ?? 0,
    close: async () => {
      await database.close()
      server.execute(name, empty)
      emptied.push(name)
    },
  }
}
