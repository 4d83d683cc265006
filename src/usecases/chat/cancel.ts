// Cancels a session: ends its running turn, here or on another replica, and removes it.
import { SvcError } from '../../errors.ts'
import type { Ports } from '../../ports/index.ts'
import type { SessionKey } from '../../ports/sessions.ts'
import { markCancelled, noChat, readHolder, releaseExpired, type SessionHold } from './session-hold.ts'

/** Turns of this replica, by session. */
export type RunningTurns = Map<string, { hold: SessionHold; done: Promise<unknown> }>

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
  const own = running.get(nameTurn(key))
  own?.hold.cancel()
  await own?.done
  for (let active = await findHolder(deps.sessions, key); active !== undefined; ) {
    if (clock.now().getTime() > deadline) throw refuse(active)
    if (readHolder(active)?.state === 'turn') await markCancelled(deps, key, active)
    await releaseExpired(deps, key, active)
    await clock.sleep(pauseMs)
    active = await findHolder(deps.sessions, key)
  }
  await records.sessions.remove(key)
}

/** Who has the chat session. NotFound when there is none. */
async function findHolder(sessions: Ports['records']['sessions'], key: SessionKey): Promise<string | undefined> {
  const session = await sessions.get(key)
  if (session === undefined || session.sessionType !== 'chat') throw noChat(key)
  return session.activeTask
}

function refuse(holder: string): SvcError {
  const message =
    readHolder(holder) === undefined
      ? 'a task works in this session; cancel the task first'
      : 'chat cancellation is still in progress; try again in a moment'
  return new SvcError('Conflict', message)
}
