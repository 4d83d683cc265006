// A session held by one turn: claimed across all replicas before the turn does anything, kept by a lease, and released
// when the turn is cancelled from anywhere.
import { isSvcError } from '../../errors.ts'
import type { RememberedModel, SessionKey, TranscriptMessage } from '../../ports/chat/sessions.ts'
import { type HoldDeps, newHolder, readHolder, takeSession } from './session-holder.ts'

const renewAfterMs = 10_000
/** How soon a running turn notices that it was cancelled elsewhere. */
const lookEveryMs = 500

/** What the session stores about the turn besides its messages. */
export type TurnNotes = {
  usage: { inputTokens: number; outputTokens: number }
  answeredBy: RememberedModel | undefined
}

export type SessionHold = {
  key: SessionKey
  /**
   * Aborts when the turn must end: its client disconnected, it was cancelled, or the session now belongs to another
   * turn.
   */
  signal: AbortSignal
  wasCancelled(): boolean
  cancel(): void
  /** The client disconnected. */
  leave(): void
  store(messages: TranscriptMessage[]): Promise<void>
  /** Stores the rest and releases the session. `compact` runs before the release. */
  finish(messages: TranscriptMessage[], notes: TurnNotes, compact?: () => Promise<void>): Promise<void>
}

/**
 * Conflict when another turn or a task holds it; NotFound when it belongs to tasks. Creates a missing one (CHAT-029).
 */
export async function holdSession(deps: HoldDeps, key: SessionKey, turn: string): Promise<SessionHold> {
  const holder = newHolder(deps, turn)
  await takeSession(deps, key, holder)
  return createHold(deps, { key, turn, holder })
}

// Shared reasons: creating the default ones costs a stack trace per turn.
const over = new Error('the turn is over')
const cancelled = new Error('the turn was cancelled')
const left = new Error('the client disconnected')

type Start = { key: SessionKey; turn: string; holder: string }

/** The turn's claim in the session's record. `cancel` is called when the claim is lost. */
function createLease(deps: HoldDeps, { key, turn, ...start }: Start, cancel: () => void) {
  const { sessions, clock } = deps
  let { holder } = start
  let renewed = clock.now().getTime()

  async function renew(): Promise<void> {
    const now = clock.now().getTime()
    if (now - renewed < renewAfterMs) return
    const next = newHolder(deps, turn)
    if (await sessions.lock(key, next, { replaces: holder })) holder = next
    renewed = now
  }

  return {
    /** Reads the record; ends the turn when the session is no longer its own. */
    async look(): Promise<void> {
      const active = (await sessions.get(key))?.activeTask
      if (active === holder) return renew()
      if (active !== undefined && readHolder(active)?.turn === turn) holder = active
      cancel()
    },
    holder: () => holder,
    /** Also accepts the holder as changed by a cancel mark in between. */
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
    while (!stopping.signal.aborted && !ending.signal.aborted) {
      await clock.sleep(lookEveryMs, stopping.signal).catch(() => {})
      // An unavailable store says nothing about the turn.
      if (!stopping.signal.aborted) await lease.look().catch(() => {})
    }
  }
  const watching = watch()

  async function storeLast(messages: TranscriptMessage[], notes: TurnNotes, compact?: () => Promise<void>) {
    let isFree = false
    try {
      const release = compact === undefined ? { release: lease.holder() } : {}
      isFree = (await sessions.append(key, messages, { ...notes, ...release })).released
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
    async store(messages) {
      await sessions.append(key, messages)
    },
    async finish(messages, notes, compact) {
      stopping.abort(over)
      await watching
      try {
        await storeLast(messages, notes, compact)
      } catch (error) {
        // The session was deleted while the turn ran: there is nothing to write to.
        if (!isSvcError(error, 'NotFound')) throw error
      }
    },
  }
}
