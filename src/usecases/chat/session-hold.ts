// A session held by one turn: taken over all replicas before anything of the turn happens, kept by a lease, given up when it
// is cancelled from anywhere.
import { isSvcError } from '../../errors.ts'
import type { RememberedModel, SessionKey, TranscriptMessage } from '../../ports/sessions.ts'
import { type HoldDeps, newHolder, readHolder, takeSession } from './session-holder.ts'

const renewAfterMs = 10_000
/** How soon a running turn notices that it was cancelled elsewhere. */
const lookEveryMs = 500

/** What the session keeps of the turn beside its messages. */
export type TurnNotes = {
  usage: { inputTokens: number; outputTokens: number }
  answeredBy: RememberedModel | undefined
}

export type SessionHold = {
  key: SessionKey
  /** Aborts when the turn is to end: its client went away, it was cancelled, or the session is another's. */
  signal: AbortSignal
  wasCancelled(): boolean
  cancel(): void
  /** The client went away. */
  leave(): void
  store(messages: TranscriptMessage[]): Promise<void>
  /** Stores the rest and lets the session go. `compact` runs before it is let go. */
  finish(messages: TranscriptMessage[], notes: TurnNotes, compact?: () => Promise<void>): Promise<void>
}

/** Conflict when another turn or a task has it; NotFound when it is the session of tasks. Made when it is missing (CHAT-029). */
export async function holdSession(deps: HoldDeps, key: SessionKey, turn: string): Promise<SessionHold> {
  const holder = newHolder(deps, turn)
  await takeSession(deps, key, holder)
  return createHold(deps, { key, turn, holder })
}

// Reasons of one's own: making the usual ones costs a stack trace for every turn.
const over = new Error('the turn is over')
const cancelled = new Error('the turn was cancelled')
const left = new Error('the client went away')

type Start = { key: SessionKey; turn: string; holder: string }

/** The turn's place in the session's record. `cancel` is called when it has been lost. */
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
    /** Takes notice of a mark; ends the turn when the session is not its own any more. */
    async look(): Promise<void> {
      const active = (await sessions.get(key))?.activeTask
      if (active === holder) return renew()
      if (active !== undefined && readHolder(active)?.turn === turn) holder = active
      cancel()
    },
    holder: () => holder,
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
    while (!stopping.signal.aborted && !ending.signal.aborted) {
      await clock.sleep(lookEveryMs, stopping.signal).catch(() => {})
      // A store that is away for a moment says nothing about the turn.
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
        // Deleted while the turn ran: there is nothing left to write to.
        if (!isSvcError(error, 'NotFound')) throw error
      }
    },
  }
}
