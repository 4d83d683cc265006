// Who holds a session, as text in its record: a chat turn with the end of its lease, or a task.
import { SvcError } from '../../errors.ts'
import type { SessionKey } from '../../ports/chat/sessions.ts'
import type { Ports } from '../../ports/index.ts'

/** How long the claim of a replica that died lasts. */
const leaseMs = 30_000
const attempts = 3

export type HoldDeps = Pick<Ports, 'clock'> & { sessions: Ports['records']['sessions'] }

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

export function newHolder({ clock }: Pick<HoldDeps, 'clock'>, turn: string): string {
  return writeHolder({ state: 'turn', turn, expires: clock.now().getTime() + leaseMs })
}

/** Marks a turn of another replica as cancelled; false when that turn has ended or renewed its claim in between. */
export function markCancelled(deps: HoldDeps, key: SessionKey, active: string): Promise<boolean> {
  const holder = readHolder(active)
  if (holder === undefined) return Promise.resolve(false)
  return deps.sessions.lock(key, writeHolder({ ...holder, state: 'cancel' }), { replaces: active })
}

/** Releases what a replica that died held; harmless otherwise. */
export async function releaseExpired(deps: HoldDeps, key: SessionKey, active: string): Promise<void> {
  if (isExpired(active, deps.clock.now())) await deps.sessions.unlock(key, active)
}

function isExpired(active: string, now: Date): boolean {
  const holder = readHolder(active)
  return holder !== undefined && holder.expires < now.getTime()
}

/** Conflict when another turn or a task holds the session; NotFound when it belongs to tasks. Creates a missing one. */
export async function takeSession(deps: HoldDeps, key: SessionKey, holder: string): Promise<void> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const present = await deps.sessions.get(key)
    if (present !== undefined && present.sessionType !== 'chat') throw noChat(key)
    const active = present?.activeTask
    const replaces = active !== undefined && isExpired(active, deps.clock.now()) ? { replaces: active } : {}
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
