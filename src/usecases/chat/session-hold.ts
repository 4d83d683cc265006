// A session held by one turn: taken over all replicas, kept by a lease, given up when it is cancelled from anywhere.
import { isSvcError, SvcError } from '../../errors.ts'
import type { Ports } from '../../ports/index.ts'
import type { Session, SessionKey, TranscriptMessage } from '../../ports/sessions.ts'

/** A replica that died lets go after so long. */
const leaseMs = 30_000
const renewAfterMs = 10_000
/** How soon a running turn notices that it was cancelled elsewhere. */
const lookEveryMs = 500
const attempts = 3

type HoldDeps = Pick<Ports, 'clock'> & { sessions: Ports['records']['sessions'] }
type TokenCount = { inputTokens: number; outputTokens: number }

export type SessionHold = {
  key: SessionKey
  /** Aborts when the turn is to end: it was cancelled, or the session is gone. */
  cancelled: AbortSignal
  cancel(): void
  store(messages: TranscriptMessage[]): Promise<void>
  /** Stores the rest and lets the session go. `compact` runs before it is let go. */
  finish(messages: TranscriptMessage[], usage: TokenCount, compact?: () => Promise<void>): Promise<void>
}

type Holder = { state: 'turn' | 'cancel'; turn: string; expires: number }

const holderPattern = /^chat-(turn|cancel)\.([0-9a-f]+)\.(\d+)$/

function writeHolder({ state, turn, expires }: Holder): string {
  return `chat-${state}.${turn}.${expires}`
}

/** Undefined for a task, which holds sessions too. */
export function readHolder(text: string | undefined): Holder | undefined {
  const [, state, turn, expires] = holderPattern.exec(text ?? '') ?? []
  if (state === undefined || turn === undefined) return undefined
  return { state: state === 'turn' ? 'turn' : 'cancel', turn, expires: Number(expires) }
}

/** Marks a turn of another replica as cancelled; false when it has ended or moved on in between. */
export function markCancelled(deps: HoldDeps, key: SessionKey, active: string): Promise<boolean> {
  const holder = readHolder(active)
  if (holder === undefined) return Promise.resolve(false)
  return deps.sessions.lock(key, writeHolder({ ...holder, state: 'cancel' }), { replaces: active })
}

/** Lets go what a replica that died has held; harmless otherwise. */
export async function releaseExpired(deps: HoldDeps, key: SessionKey, active: string): Promise<void> {
  if (isExpired(active, deps.clock.now())) await deps.sessions.unlock(key, active)
}

function isExpired(active: string, now: Date): boolean {
  const holder = readHolder(active)
  return holder !== undefined && holder.expires < now.getTime()
}

/** Conflict when another turn or a task has it; NotFound when it is the session of tasks. Made when it is missing. */
export async function holdSession(deps: HoldDeps, key: SessionKey, turn: string): Promise<SessionHold> {
  const holder = newHolder(deps, turn)
  await takeSession(deps, key, holder)
  return createHold(deps, key, { turn, holder, taken: Promise.resolve() })
}

/** The same for a session that was named just now: nobody can have it, so its write need not be waited for at once. */
export function holdNewSession(deps: HoldDeps, key: SessionKey, turn: string): SessionHold {
  const holder = newHolder(deps, turn)
  const taken = deps.sessions.lock(key, holder, { create: 'chat' }).then(() => undefined)
  // Whoever stores the turn is told.
  taken.catch(() => {})
  return createHold(deps, key, { turn, holder, taken })
}

function newHolder({ clock }: HoldDeps, turn: string): string {
  return writeHolder({ state: 'turn', turn, expires: clock.now().getTime() + leaseMs })
}

async function takeSession(deps: HoldDeps, key: SessionKey, holder: string): Promise<void> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const present = await deps.sessions.get(key)
    if (present !== undefined && present.sessionType !== 'chat') throw noChat(key)
    const active = present?.activeTask
    const replaces = active !== undefined && isExpired(active, deps.clock.now()) ? { replaces: active } : {}
    if (await deps.sessions.lock(key, holder, { create: 'chat', ...replaces })) return
  }
  throw new SvcError('Conflict', `session "${key.name}" has a running turn; wait for its end, or cancel it with DELETE`)
}

export function noChat(key: SessionKey): SvcError {
  return new SvcError('NotFound', `chat session not found: "${key.name}" in namespace "${key.namespace}"`)
}

type Start = { turn: string; holder: string; taken: Promise<void> }

// A reason of its own: making the usual one costs a stack trace for every turn.
const over = new Error('the turn is over')

function createHold(deps: HoldDeps, key: SessionKey, start: Start): SessionHold {
  const { sessions, clock } = deps
  const { taken } = start
  const cancelling = new AbortController()
  const stopping = new AbortController()
  let { holder } = start
  let renewed = clock.now().getTime()

  /** Takes notice of a mark; ends the turn when the session is not its own any more. */
  async function look(): Promise<void> {
    const active = (await sessions.get(key))?.activeTask
    if (active === holder) return renew()
    if (active !== undefined && readHolder(active)?.turn === start.turn) holder = active
    cancelling.abort()
  }

  async function renew(): Promise<void> {
    const now = clock.now().getTime()
    if (now - renewed < renewAfterMs) return
    const next = newHolder(deps, start.turn)
    if (await sessions.lock(key, next, { replaces: holder })) holder = next
    renewed = now
  }

  async function watch(): Promise<void> {
    while (!stopping.signal.aborted && !cancelling.signal.aborted) {
      await clock.sleep(lookEveryMs, stopping.signal).catch(() => {})
      // A store that is away for a moment says nothing about the turn.
      if (!stopping.signal.aborted) await look().catch(() => {})
    }
  }
  const watching = watch()

  return {
    key,
    cancelled: cancelling.signal,
    cancel: () => cancelling.abort(),
    async store(messages) {
      await taken
      await sessions.append(key, messages)
    },
    async finish(messages, usage, compact) {
      stopping.abort(over)
      await Promise.all([watching, taken])
      let isFree = false
      try {
        const release = compact === undefined ? { release: holder } : {}
        isFree = (await sessions.append(key, messages, { usage, ...release })).released
        await compact?.()
      } catch (error) {
        // Deleted while the turn ran: there is nothing left to write to.
        if (!isSvcError(error, 'NotFound')) throw error
      } finally {
        if (!isFree) await letGo(sessions, key, start.turn)
      }
    },
  }
}

/** Also what a mark has made of the holder in between. */
async function letGo(sessions: HoldDeps['sessions'], key: SessionKey, turn: string): Promise<void> {
  const session: Session | undefined = await sessions.get(key)
  const active = session?.activeTask
  if (active !== undefined && readHolder(active)?.turn === turn) await sessions.unlock(key, active)
}
