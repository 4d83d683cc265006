// Cancels a session: ends its running turn, here or on another replica, and removes it.
import { SvcError } from '../../errors.ts'
import type { SessionKey } from '../../ports/chat/sessions.ts'
import type { Ports } from '../../ports/index.ts'
import type { SessionHold } from './session-hold.ts'
import { markCancelled, noChat, readHolder, releaseExpired } from './session-holder.ts'

/** Turns of this replica, by session. */
export type RunningTurns = Map<string, RunningTurn>

type RunningTurn = { hold: SessionHold; done: Promise<unknown> }

export function nameTurn({ namespace, name }: SessionKey): string {
  return `${namespace}/${name}`
}

const patienceMs = 5000
const pauseMs = 50

export async function cancelSession(
  { records, clock }: Pick<Ports, 'records' | 'clock'>,
  key: SessionKey,
  running: RunningTurns,
): Promise<void> {
  const deps = { sessions: records.sessions, clock }
  const deadline = clock.now().getTime() + patienceMs
  await endOwn(running.get(nameTurn(key)), clock)
  for (let active = await findHolder(deps.sessions, key); active !== undefined; ) {
    if (clock.now().getTime() >= deadline) throw refuse(active)
    if (readHolder(active)?.state === 'turn') await markCancelled(deps, key, active)
    await releaseExpired(deps, key, active)
    await clock.sleep(pauseMs)
    active = await findHolder(deps.sessions, key)
  }
  await records.sessions.remove(key)
}

// A shared reason: creating the default one costs a stack trace.
const ended = new Error('the turn has ended')

/** Ends a turn of this replica and waits for it, up to a limit: a tool may be slow to stop. */
async function endOwn(own: RunningTurn | undefined, clock: Ports['clock']): Promise<void> {
  if (own === undefined) return
  own.hold.cancel()
  const waiting = new AbortController()
  const late = clock.sleep(patienceMs, waiting.signal).then(
    () => true,
    () => false,
  )
  const isLate = await Promise.race([own.done.then(() => false), late])
  waiting.abort(ended)
  if (isLate) throw stillInProgress()
}

/** Who holds the chat session. NotFound when it does not exist. */
async function findHolder(sessions: Ports['records']['sessions'], key: SessionKey): Promise<string | undefined> {
  const session = await sessions.get(key)
  if (session === undefined || session.sessionType !== 'chat') throw noChat(key)
  return session.activeTask
}

function refuse(holder: string): SvcError {
  if (readHolder(holder) !== undefined) return stillInProgress()
  return new SvcError('Conflict', 'a task is using this session; cancel the task first')
}

function stillInProgress(): SvcError {
  return new SvcError('Conflict', 'chat cancellation is still in progress; try again in a moment')
}
