// A session leased to one turn: claimed across all replicas before the turn does anything, kept by a lease in its record, and released
// when the turn is cancelled from anywhere.
import { ignoring, SvcError } from '../../errors.ts'
import type { NewMessage, RememberedModel, SessionKey } from '../../ports/chat/sessions.ts'
import type { Ports } from '../../ports/index.ts'

const renewAfterMs = 10_000
/** How soon a running turn notices that it was cancelled elsewhere. */
const lookEveryMs = 500

/** What the session stores about the turn besides its messages. */
export type TurnNotes = {
  usage: { inputTokens: number; outputTokens: number }
  answeredBy: RememberedModel | undefined
}

export type SessionLease = {
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
  store(messages: NewMessage[]): Promise<void>
  /** Stores the rest and releases the session. `compact` runs before the release. */
  finish(messages: NewMessage[], notes: TurnNotes, compact?: () => Promise<void>): Promise<void>
}

/**
 * Conflict when another turn or a task holds it; NotFound when it belongs to tasks. Creates a missing one (CHAT-029).
 */
export async function leaseSession(deps: SessionLeaseDeps, key: SessionKey, turn: string): Promise<SessionLease> {
  const holder = newHolder(deps, turn)
  await takeSession(deps, key, holder)
  return createSessionLease(deps, { key, turn, holder })
}

// Shared reasons: creating the default ones costs a stack trace per turn.
const over = new Error('the turn is over')
const cancelled = new Error('the turn was cancelled')
const left = new Error('the client disconnected')

type Start = { key: SessionKey; turn: string; holder: string }

/** The turn's claim in the session's record. `cancel` is called when the claim is lost. */
function createClaim(deps: SessionLeaseDeps, { key, turn, ...start }: Start, cancel: () => void) {
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

function createSessionLease(deps: SessionLeaseDeps, start: Start): SessionLease {
  const { sessions, clock } = deps
  const { key } = start
  const ending = new AbortController()
  const stopping = new AbortController()
  const cancel = () => ending.abort(cancelled)
  const lease = createClaim(deps, start, cancel)

  async function watch(): Promise<void> {
    while (!stopping.signal.aborted && !ending.signal.aborted) {
      await clock.sleep(lookEveryMs, stopping.signal).catch(() => {})
      // An unavailable store says nothing about the turn.
      if (!stopping.signal.aborted) await lease.look().catch(() => {})
    }
  }
  const watching = watch()

  async function storeLast(messages: NewMessage[], notes: TurnNotes, compact?: () => Promise<void>) {
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
      // Where the session was deleted while the turn ran there is nothing to write to.
      await ignoring(storeLast(messages, notes, compact), 'NotFound')
    },
  }
}

/** How long the claim of a replica that died lasts. */
const leaseMs = 30_000
const attempts = 3

export type SessionLeaseDeps = Pick<Ports, 'clock'> & { sessions: Ports['records']['sessions'] }

type Holder = { state: 'turn' | 'cancel'; turn: string; expires: number }

const holderPattern = /^chat-(turn|cancel)\.([0-9a-f]+)\.(\d+)$/

function writeHolder({ state, turn, expires }: Holder): string {
  return `chat-${state}.${turn}.${expires}`
}

/** Undefined for a task, which can hold sessions too. */
export function readHolder(text: string | undefined): Holder | undefined {
  const [, state, turn, expires] = holderPattern.exec(text ?? '') ?? []
  if (state === undefined || turn === undefined) return undefined
  return { state: state === 'turn' ? 'turn' : 'cancel', turn, expires: Number(expires) }
}

export function newHolder({ clock }: Pick<SessionLeaseDeps, 'clock'>, turn: string): string {
  return writeHolder({ state: 'turn', turn, expires: clock.now().getTime() + leaseMs })
}

/** Marks a turn of another replica as cancelled; false when that turn has ended or renewed its claim in between. */
export function markTurnCancelled(deps: SessionLeaseDeps, key: SessionKey, active: string): Promise<boolean> {
  const holder = readHolder(active)
  if (holder === undefined) return Promise.resolve(false)
  return deps.sessions.lock(key, writeHolder({ ...holder, state: 'cancel' }), { replaces: active })
}

/** Releases what a replica that died held; harmless otherwise. */
export async function releaseExpired(deps: SessionLeaseDeps, key: SessionKey, active: string): Promise<void> {
  if (turnStateOf(active, deps.clock.now()) === 'expired') await deps.sessions.unlock(key, active)
}

/** Of the turn that holds the session: `expired`, its replica has died. Undefined where no turn holds it. */
export function turnStateOf(active: string | undefined, now: Date): 'running' | 'expired' | undefined {
  const holder = readHolder(active)
  return holder && (holder.expires < now.getTime() ? 'expired' : 'running')
}

/** Conflict when another turn or a task holds the session; NotFound when it belongs to tasks. Creates a missing one. */
export async function takeSession(deps: SessionLeaseDeps, key: SessionKey, holder: string): Promise<void> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const present = await deps.sessions.get(key)
    if (present !== undefined && present.sessionType !== 'chat') throw noChat(key)
    const active = present?.activeTask
    const replaces = active !== undefined && turnStateOf(active, deps.clock.now()) === 'expired' && { replaces: active }
    if (await deps.sessions.lock(key, holder, { create: 'chat', ...replaces })) return
  }
  throw busySession(key)
}

export function busySession({ name }: SessionKey): SvcError {
  return new SvcError('Conflict', `session "${name}" has a running turn; wait until it ends, or cancel it with DELETE`)
}

export function noChat(key: SessionKey): SvcError {
  return new SvcError('NotFound', `chat session not found: "${key.name}" in namespace "${key.namespace}"`)
}
