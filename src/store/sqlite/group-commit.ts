// Group commit: concurrent writers share one transaction and one fsync, each in its own savepoint. The fsync is made by another
// thread: a slow disk holds up those who write, and nobody else.
import { type FileHandle, open } from 'node:fs/promises'
import type Sqlite from 'better-sqlite3'
import { isSvcError, SvcError } from '../../errors.ts'
import type { Database, Tx } from '../database/database.ts'
import { runHook } from '../database/listeners.ts'
import { createExecutor, type Executor, translateError } from './executor.ts'
import type { WriteHealth } from './write-health.ts'

/** Limits the units in one commit, so that a flood of writers does not block the event loop. */
const maxBatch = 128

/** A unit of work, its announcements, which are made with the commit, and its promise, which is settled when that is durable. */
type Unit = {
  run(tx: Tx): Promise<void>
  resolve(): void
  reject(error: unknown): void
  hooks: (() => void)[]
  failure?: { error: unknown }
}

export type CommitQueue = Pick<Database, 'write' | 'close'>

function createUnit<T>(work: (tx: Tx) => Promise<T>): { unit: Unit; outcome: Promise<T> } {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  let value: { result: T } | undefined
  const unit: Unit = {
    run: async (tx) => {
      value = { result: await work(tx) }
    },
    resolve: () => value !== undefined && resolve(value.result),
    reject,
    hooks: [],
  }
  return { unit, outcome: promise }
}

type Announce = (channel: string, note: string) => void

function createTx(execute: Executor, hooks: (() => void)[], announce: Announce): Tx {
  return {
    all: async (statement) => execute.all(statement),
    first: async (statement) => execute.first(statement),
    run: async (statement) => execute.run(statement),
    afterCommit: (publish) => void hooks.push(publish),
    announce: (channel, note) => void hooks.push(() => announce(channel, note)),
  }
}

function publish(units: Unit[]): void {
  for (const { failure, hooks } of units) if (failure === undefined) hooks.forEach(runHook)
}

function answer(units: Unit[]): void {
  for (const unit of units) {
    if (unit.failure === undefined) unit.resolve()
    else unit.reject(unit.failure.error)
  }
}

const storageReasons = ['StorageFull', 'Unavailable']

/** Apart from those of what a unit wanted to do. */
function isStorageFailure({ failure }: Unit): boolean {
  const { error } = failure ?? {}
  return isSvcError(error) && error.cause !== undefined && storageReasons.includes(error.reason)
}

export type CommitQueueOptions = {
  /** With `synchronous = normal`: its commits go to the write-ahead log, and leave the sync of that to `sync`. */
  connection: Sqlite.Database
  /** Called after the commit with what its units announced. */
  announce: Announce
  health: WriteHealth
  /** Makes the log durable. */
  sync(): Promise<void>
}

/** Runs the units in one transaction, publishes them and answers them. Never rejects. */
function createBatchRunner({
  connection,
  announce,
  health,
  sync,
}: CommitQueueOptions): (units: Unit[]) => Promise<void> {
  const execute = createExecutor(connection)
  const begin = connection.prepare('begin immediate')
  const commit = connection.prepare('commit')
  const rollback = connection.prepare('rollback')
  const savepoint = connection.prepare('savepoint unit')
  const release = connection.prepare('release unit')
  const rollbackUnit = connection.prepare('rollback to unit')

  /** Restores the transaction to its state before the unit; throws when SQLite has rolled back all of it. */
  async function runUnit(unit: Unit): Promise<void> {
    savepoint.run()
    try {
      await unit.run(createTx(execute, unit.hooks, announce))
    } catch (error) {
      unit.failure = { error }
      if (!connection.inTransaction) throw error
      rollbackUnit.run()
    }
    release.run()
  }

  function abandon(): void {
    try {
      if (connection.inTransaction) rollback.run()
    } catch {
      // Writers get the error that came first; if the connection is unusable, the next `begin` fails.
    }
  }

  return async function commitBatch(units) {
    try {
      health.verify()
      begin.run()
      for (const unit of units) await runUnit(unit)
      commit.run()
      // A commit into a file that is gone is lost: it is neither told nor acknowledged.
      health.verify()
      // In one step with the commit, as whoever reads sees it from here on. Whoever wrote hears of it when it is durable.
      publish(units)
      await sync()
      health.note(units.find(isStorageFailure)?.failure?.error)
    } catch (error) {
      health.note(error)
      for (const unit of units) unit.failure ??= { error: translateError(error) }
      abandon()
    }
    answer(units)
  }
}

export function createCommitQueue(options: CommitQueueOptions): CommitQueue {
  const commitBatch = createBatchRunner(options)
  let waiting: Unit[] = []
  let flushing = false
  let closed = false
  const idle: (() => void)[] = []

  function flushSoon(): void {
    if (flushing) return
    flushing = true
    // Only after all requests that arrived in this turn of the event loop have asked for their writes.
    setImmediate(() => void flush())
  }

  async function flush(): Promise<void> {
    const batch = waiting.slice(0, maxBatch)
    waiting = waiting.slice(maxBatch)
    await commitBatch(batch)
    flushing = false
    if (waiting.length > 0) flushSoon()
    else for (const resolve of idle.splice(0)) resolve()
  }

  return {
    write: (work) => {
      if (closed) return Promise.reject(new SvcError('Unavailable', 'The database is closed: the service is stopping.'))
      const { unit, outcome } = createUnit(work)
      waiting.push(unit)
      flushSoon()
      return outcome
    },
    close: async () => {
      closed = true
      if (flushing) await new Promise<void>((resolve) => void idle.push(resolve))
    },
  }
}

/**
 * SQLite syncs on the thread that commits with `synchronous = full`, and there everybody waits for the disk
 * (https://sqlite.org/pragma.html#pragma_synchronous).
 */
export type LogSync = {
  /**
   * Makes everything durable that is in the log now. Unavailable once that has failed, until the database is opened again: the system forgets what
   * it could not write, and a later success would say nothing of it.
   */
  sync(): Promise<void>
  close(): Promise<void>
}

type LogSyncOptions = { path: string; syncFile?: ((file: FileHandle) => Promise<void>) | undefined }

function explain(path: string, cause: unknown): SvcError {
  const advice = "see the machine's log, and start the service again when its disk can be written"
  return new SvcError('Unavailable', `The database ${path} could not be made durable: ${advice}.`, { cause })
}

/** For the database that is open at `path`: its log stays the same file until it is closed. */
export function createLogSync({ path, syncFile = (file) => file.datasync() }: LogSyncOptions): LogSync {
  let log: Promise<FileHandle> | undefined
  let failure: SvcError | undefined
  return {
    async sync() {
      if (failure !== undefined) throw failure
      try {
        log ??= open(`${path}-wal`)
        await syncFile(await log)
      } catch (error) {
        failure = explain(path, error)
        throw failure
      }
    },
    close: async () => void (await (await log?.catch(() => undefined))?.close()),
  }
}
