// A session held by one turn: taken over all replicas, kept by a lease, given up when it is cancelled from anywhere.
// One that was named just now is known to nobody: it is taken when its turn does something or lasts, else stored at the end.
import { isSvcError } from '../../errors.ts'
import type { SessionKey, TranscriptMessage } from '../../ports/sessions.ts'
import { busySession, type HoldDeps, newHolder, readHolder, takeSession } from './session-holder.ts'

const renewAfterMs = 10_000
/** How soon a running turn notices that it was cancelled elsewhere. */
const lookEveryMs = 500
/** A turn that lasts longer is made known to the other replicas. */
const takeAfterMs = 100

type TokenCount = { inputTokens: number; outputTokens: number }

export type SessionHold = {
  key: SessionKey
  /** Aborts when the turn is to end: its client went away, it was cancelled, or the session is another's. */
  signal: AbortSignal
  wasCancelled(): boolean
  cancel(): void
  /** The client went away. */
  leave(): void
  /** Resolves once every replica knows that this turn has the session. Conflict when another has it. */
  secure(): Promise<void>
  store(messages: TranscriptMessage[]): Promise<void>
  /** Stores the rest and lets the session go. `compact` runs before it is let go. */
  finish(messages: TranscriptMessage[], usage: TokenCount, compact?: () => Promise<void>): Promise<void>
}

/** Conflict when another turn or a task has it; NotFound when it is the session of tasks. Made when it is missing. */
export async function holdSession(deps: HoldDeps, key: SessionKey, turn: string): Promise<SessionHold> {
  const holder = newHolder(deps, turn)
  await takeSession(deps, key, holder)
  return createHold(deps, { key, turn, holder, isTaken: true })
}

/** The same for a session that was named just now: nobody else can have it. */
export function holdNewSession(deps: HoldDeps, key: SessionKey, turn: string): SessionHold {
  return createHold(deps, { key, turn, holder: newHolder(deps, turn), isTaken: false })
}

// Reasons of one's own: making the usual ones costs a stack trace for every turn.
const over = new Error('the turn is over')
const cancelled = new Error('the turn was cancelled')
const left = new Error('the client went away')

type Start = { key: SessionKey; turn: string; holder: string; isTaken: boolean }

/** The turn's place in the session's record. `cancel` is called when it has been lost. */
function createLease(deps: HoldDeps, { key, turn, ...start }: Start, cancel: () => void) {
  const { sessions, clock } = deps
  let { holder } = start
  let renewed = clock.now().getTime()
  let taken = start.isTaken ? Promise.resolve() : undefined

  async function take(): Promise<void> {
    try {
      if (await sessions.lock(key, holder, { create: 'chat' })) return
    } catch (error) {
      // A store that is away may be back at the next try.
      taken = undefined
      throw error
    }
    cancel()
    throw busySession(key)
  }

  function secure(): Promise<void> {
    taken ??= take()
    return taken
  }

  async function renew(): Promise<void> {
    const now = clock.now().getTime()
    if (now - renewed < renewAfterMs) return
    const next = newHolder(deps, turn)
    if (await sessions.lock(key, next, { replaces: holder })) holder = next
    renewed = now
  }

  return {
    secure,
    /** Takes notice of a mark; ends the turn when the session is not its own any more. */
    async look(): Promise<void> {
      await secure()
      const active = (await sessions.get(key))?.activeTask
      if (active === holder) return renew()
      if (active !== undefined && readHolder(active)?.turn === turn) holder = active
      cancel()
    },
    /** Undefined when nobody was told of the turn. */
    async holder(): Promise<string | undefined> {
      await taken?.catch(() => {})
      return taken === undefined ? undefined : holder
    },
    /** Also what a mark has made of the holder in between. */
    async release(): Promise<void> {
      const active = (await sessions.get(key))?.activeTask
      if (active !== undefined && readHolder(active)?.turn === turn) await sessions.unlock(key, active)
    },
  }
}

function createHold(deps: HoldDeps, start: Start): SessionHold {
  const { sessions, clock } = deps
  const { key } = start
  const ending = new AbortController()
  const stopping = new AbortController()
  const cancel = () => ending.abort(cancelled)
  const lease = createLease(deps, start, cancel)

  async function watch(): Promise<void> {
    let pauseMs = start.isTaken ? lookEveryMs : takeAfterMs
    while (!stopping.signal.aborted && !ending.signal.aborted) {
      await clock.sleep(pauseMs, stopping.signal).catch(() => {})
      pauseMs = lookEveryMs
      // A store that is away for a moment says nothing about the turn.
      if (!stopping.signal.aborted) await lease.look().catch(() => {})
    }
  }
  const watching = watch()

  async function storeLast(messages: TranscriptMessage[], usage: TokenCount, compact?: () => Promise<void>) {
    const holder = await lease.holder()
    if (holder === undefined) {
      await sessions.append(key, messages, { usage, create: 'chat' })
      return compact?.()
    }
    let isFree = false
    try {
      const release = compact === undefined ? { release: holder } : {}
      isFree = (await sessions.append(key, messages, { usage, ...release })).released
      await compact?.()
    } finally {
      if (!isFree) await lease.release()
    }
  }

  return {
    key,
    signal: ending.signal,
    wasCancelled: () => ending.signal.reason === cancelled,
    cancel,
    leave: () => ending.abort(left),
    secure: lease.secure,
    async store(messages) {
      await lease.secure()
      await sessions.append(key, messages)
    },
    async finish(messages, usage, compact) {
      stopping.abort(over)
      await watching
      try {
        await storeLast(messages, usage, compact)
      } catch (error) {
        // Deleted while the turn ran: there is nothing left to write to.
        if (!isSvcError(error, 'NotFound')) throw error
      }
    },
  }
}
