// Units of work on pooled connections, each a transaction; one that conflicts with another runs again.
import type { Client, Pool, PoolClient } from 'pg'
import { isSvcError } from '../../errors.ts'
import { type Backoff, delayMs } from '../../lib/backoff.ts'
import type { Clock, Ids } from '../../lib/clock.ts'
import type { Tx } from '../database/database.ts'
import { composeCommit, type Note } from './announcements.ts'
import { describeUnknownCommit, isConnectionLoss, isContention, isStalePlan, translateError } from './errors.ts'
import { createExecutor, type Executor, type Preparer } from './executor.ts'

const TRIES = 8
const backoff: Backoff = { firstMs: 20, maxMs: 2_560, jitter: 'full' }

export type UnitDeps = {
  pool: Pool
  preparer: Preparer
  /** Identifies the announcing process. */
  instance: string
  clock: Clock
  ids: Ids
}

/** What a unit leaves behind once it is committed. */
export type Unit<T> = { value: T; hooks: (() => void)[] }

async function connect({ pool }: UnitDeps): Promise<PoolClient> {
  try {
    return await pool.connect()
  } catch (error) {
    throw translateError(error)
  }
}

async function commit(client: PoolClient, text: string): Promise<void> {
  let answered: Awaited<ReturnType<Client['query']>> | { command: string }[]
  try {
    answered = await client.query(text)
  } catch (error) {
    throw isConnectionLoss(error) ? describeUnknownCommit(error) : error
  }
  const last = Array.isArray(answered) ? answered.at(-1) : answered
  // A transaction with a failed statement in it answers a commit with a rollback, and without an error.
  if (last?.command !== 'COMMIT') throw new Error('a unit of work went on after one of its statements failed')
}

/** Leaves no transaction behind: a connection that cannot end its own is closed. */
async function abandon(client: PoolClient, error: unknown): Promise<void> {
  if (isConnectionLoss(error) || isSvcError(error, 'Unavailable')) return client.release(true)
  try {
    await client.query('rollback')
    client.release()
  } catch {
    client.release(true)
  }
}

type Notify = (channel: string, note: string) => void

async function runOnce<T>(deps: UnitDeps, work: (tx: Tx) => Promise<T>, notify: Notify): Promise<Unit<T>> {
  const client = await connect(deps)
  const hooks: (() => void)[] = []
  const notes: Note[] = []
  const tx: Tx = {
    ...createExecutor(client, deps.preparer),
    afterCommit: (publish) => void hooks.push(publish),
    announce(channel, note) {
      notes.push({ channel, note })
      hooks.push(() => notify(channel, note))
    },
  }
  try {
    await client.query('begin')
    const value = await work(tx)
    await commit(client, composeCommit(deps.instance, notes))
    client.release()
    return { value, hooks }
  } catch (error) {
    await abandon(client, error)
    throw error
  }
}

async function readOnce<T>(deps: UnitDeps, read: (execute: Executor) => Promise<T>): Promise<T> {
  const client = await connect(deps)
  try {
    const value = await read(createExecutor(client, deps.preparer))
    client.release()
    return value
  } catch (error) {
    client.release(isConnectionLoss(error))
    throw error
  }
}

/** A connection may have been lost while in the pool: another one is tried, once. */
function mayTryAgain(error: unknown, attempt: number): boolean {
  if (isContention(error) || isStalePlan(error)) return attempt < TRIES
  return isConnectionLoss(error) && attempt === 1 && !String(error).includes('timeout')
}

async function prepareNext({ preparer, clock, ids }: UnitDeps, error: unknown, attempt: number): Promise<void> {
  if (isStalePlan(error)) preparer.forget()
  if (isContention(error)) await clock.sleep(delayMs(backoff, attempt, ids.random()))
}

async function tryAgain<T>(deps: UnitDeps, run: () => Promise<T>, attempt = 1): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (!mayTryAgain(error, attempt)) throw translateError(error)
    await prepareNext(deps, error, attempt)
  }
  return tryAgain(deps, run, attempt + 1)
}

/** Runs the work in a transaction, and again after a conflict. Nothing of it is kept when it fails. */
export function runUnit<T>(deps: UnitDeps, work: (tx: Tx) => Promise<T>, notify: Notify): Promise<Unit<T>> {
  return tryAgain(deps, () => runOnce(deps, work, notify))
}

export function runRead<T>(deps: UnitDeps, read: (execute: Executor) => Promise<T>): Promise<T> {
  return tryAgain(deps, () => readOnce(deps, read))
}
