// The one permanent connection: it receives what other processes announce, and holds locks on what this process uses.
// When it is lost it reconnects by itself, takes its locks again, and has everything checked that it may have missed.
import type { Client, Notification } from 'pg'
import { type Backoff, delayMs } from '../../lib/backoff.ts'
import type { Clock, Ids } from '../../lib/clock.ts'
import { createKeyedQueue } from '../../lib/keyed-queue.ts'
import { CHANNEL } from './announcements.ts'

const backoff: Backoff = { firstMs: 100, maxMs: 5_000 }
/** How long it takes to notice a connection whose other end has vanished. */
const PROBE_MS = 15_000

/** Names that this process uses: while it lives, no other process may remove them. */
export type SharedLocks = {
  /** Resolves when the others know; also while disconnected, when there is no protection until it is back. */
  acquire(name: string): Promise<void>
  release(name: string): Promise<void>
  isHeld(name: string): boolean
}

export type ListenerSession = SharedLocks & { close(): Promise<void> }

export type SessionOptions = {
  /** A connection that is not open yet. */
  makeClient: () => Client
  clock: Clock
  ids: Ids
  /** Receives the payload of a note. */
  hear: (payload: string) => void
  /** The connection was lost and is back: notes may have been missed. */
  onReturn: () => void
  report: (error: unknown) => void
}

type Connection = {
  ask(text: string, values?: readonly string[]): Promise<void>
  ended: AbortSignal
  end(): Promise<void>
}

const TAKE = 'select pg_advisory_lock_shared(hashtextextended($1, 0))'
const LET_GO = 'select pg_advisory_unlock_shared(hashtextextended($1, 0))'

async function connect(options: SessionOptions): Promise<Connection> {
  const client = options.makeClient()
  const ending = new AbortController()
  client.on('error', () => ending.abort())
  client.on('end', () => ending.abort())
  client.on('notification', ({ payload }: Notification) => options.hear(payload ?? ''))
  const queue = createKeyedQueue()
  async function end(): Promise<void> {
    ending.abort()
    await client.end().catch(() => undefined)
  }
  async function ask(text: string, values: readonly string[] = []): Promise<void> {
    await queue.run('queries', () => client.query({ text, values }))
  }
  try {
    await client.connect()
    await ask(`listen ${CHANNEL}`)
  } catch (error) {
    void end()
    throw error
  }
  return { ask, ended: ending.signal, end }
}

/** Resolves when the connection has ended, which is tested with a query if necessary. */
async function watch({ ended, ask, end }: Connection, clock: Clock): Promise<void> {
  while (!ended.aborted) {
    await clock.sleep(PROBE_MS, ended).catch(() => undefined)
    if (!ended.aborted) await ask('select 1').catch(end)
  }
}

/** Rejects when the first connection cannot be made. */
export async function openSession(options: SessionOptions): Promise<ListenerSession> {
  const { clock, ids } = options
  const counts = new Map<string, number>()
  const closing = new AbortController()
  let current: Connection | undefined = await connect(options)

  async function reconnect(): Promise<Connection | undefined> {
    for (let failures = 1; !closing.signal.aborted; failures += 1) {
      try {
        return await connect(options)
      } catch (error) {
        options.report(error)
        await clock.sleep(delayMs(backoff, failures, ids.random()), closing.signal).catch(() => undefined)
      }
    }
    return undefined
  }

  /** Existing locks are taken again first; later ones are requested after them. */
  function resume(connection: Connection): void {
    current = connection
    for (const name of counts.keys()) connection.ask(TAKE, [name]).catch(() => undefined)
    options.onReturn()
  }

  async function serve(connection: Connection): Promise<void> {
    await watch(connection, clock)
    void connection.end()
    current = undefined
    const next = await reconnect()
    if (closing.signal.aborted) return next?.end()
    if (next === undefined) return
    resume(next)
    return serve(next)
  }

  const serving = serve(current)
  return {
    async acquire(name) {
      const count = counts.get(name) ?? 0
      counts.set(name, count + 1)
      if (count === 0) await current?.ask(TAKE, [name]).catch(() => undefined)
    },
    async release(name) {
      const count = counts.get(name) ?? 0
      if (count > 1) return void counts.set(name, count - 1)
      if (counts.delete(name)) await current?.ask(LET_GO, [name]).catch(() => undefined)
    },
    isHeld: (name) => counts.has(name),
    async close() {
      closing.abort()
      // The server releases the locks when the connection is closed.
      await current?.end()
      await serving
    },
  }
}
