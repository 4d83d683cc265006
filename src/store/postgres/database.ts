// PostgreSQL behind the Database interface: a pool of connections for the work, one more that listens.
import { randomUUID } from 'node:crypto'
import type { Clock, Ids } from '../../lib/clock.ts'
import type { Database, Dialect, Tx } from '../database/database.ts'
import { createListeners, runHook } from '../database/listeners.ts'
import type { Migration } from '../database/migrations.ts'
import { sql } from '../database/statement.ts'
import { decodeNotes } from './announcements.ts'
import { type ConnectionOptions, createClient, createPool, useClient } from './connections.ts'
import { describeClosed, describeStart } from './errors.ts'
import { createPreparer } from './executor.ts'
import { applyMigrations } from './migrate.ts'
import { migrations as allMigrations } from './migrations.ts'
import { type ListenerSession, openSession, type SharedLocks } from './session.ts'
import { termIndex } from './term-index.ts'
import { runRead, runUnit } from './units.ts'

export type PostgresOptions = ConnectionOptions & {
  clock: Clock
  ids: Ids
  /** Tests open older versions; all others leave this out. */
  migrations?: readonly Migration[]
}

export interface PostgresDatabase extends Database {
  /** What this process is using, visible to every process on the database. */
  locks: SharedLocks
}

type Hub = ReturnType<typeof createListeners<string | undefined>>

async function listen(options: PostgresOptions, hub: Hub, instance: string): Promise<ListenerSession> {
  const { clock, ids, report = () => undefined } = options
  try {
    return await openSession({
      makeClient: () => createClient(options),
      clock,
      ids,
      hear: (payload) => {
        for (const { channel, note } of decodeNotes(instance, payload)) runHook(() => hub.notify(channel, note))
      },
      onReturn: () => runHook(() => hub.notifyAll(undefined)),
      report,
    })
  } catch (error) {
    throw describeStart(error)
  }
}

/** Numbers up to 65,535 as those that a smallint holds. */
function encodeGrams(grams: readonly number[]): string {
  return `{${grams.map((gram) => gram - 32_768).join(',')}}`
}

const dialect: Dialect = {
  claimRows: sql` for update skip locked`,
  terms: termIndex,
  encodeGrams,
  matchGrams: (grams) => sql`transcript_grams.grams @> ${encodeGrams(grams)}::smallint[]`,
  // It counts how often each value is there.
  besideIndex: (condition) => condition,
  listNumbers: (numbers) => sql`(select unnest(${`{${numbers.join(',')}}`}::bigint[]) as wanted) as listed`,
}

/** Opens (and migrates) the database. Unavailable when it cannot be reached, or has a newer schema. */
export async function openPostgres(options: PostgresOptions): Promise<PostgresDatabase> {
  const { clock, ids } = options
  await useClient(options, (client) => applyMigrations(client, options.migrations ?? allMigrations))
  const hub: Hub = createListeners<string | undefined>()
  const instance = randomUUID()
  const session = await listen(options, hub, instance)
  const pool = createPool(options)
  const deps = { pool, preparer: createPreparer(), instance, clock, ids }
  const pending = new Set<Promise<unknown>>()
  let isClosed = false

  async function write<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const { value, hooks } = await runUnit(deps, work, hub.notify)
    hooks.forEach(runHook)
    return value
  }

  function track<T>(start: () => Promise<T>): Promise<T> {
    if (isClosed) return Promise.reject(describeClosed())
    const outcome = start()
    const settled = outcome.catch(() => undefined).then(() => void pending.delete(settled))
    pending.add(settled)
    return outcome
  }

  return {
    read: {
      all: (statement) => track(() => runRead(deps, (execute) => execute.all(statement))),
      first: (statement) => track(() => runRead(deps, (execute) => execute.first(statement))),
    },
    dialect,
    write: (work) => track(() => write(work)),
    listen: hub.add,
    locks: session,
    async close() {
      if (isClosed) return
      isClosed = true
      await Promise.all(pending)
      await session.close()
      await pool.end()
    },
  }
}
