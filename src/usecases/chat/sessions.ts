// Sessions and their transcripts, for people.
import { SvcError } from '../../errors.ts'
import type { Session, SessionKey, StoredMessage } from '../../ports/chat/sessions.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import { requireAccess, requireListing } from '../identity/access.ts'
import type { UsecaseDeps } from '../service/deps.ts'

export type SessionUsecases = {
  list(
    caller: Caller,
    /** Without a namespace: of all that the caller may list. */
    query: {
      namespace: string | undefined
      sessionType?: Session['sessionType'] | undefined
      limit: number
      continue?: string
    },
  ): Promise<{ items: Session[]; continue?: string }>
  /** The session with its messages, oldest first. NotFound. */
  get(
    caller: Caller,
    key: SessionKey,
    maxMessages: number | undefined,
  ): Promise<{ session: Session; messages: StoredMessage[] }>
  /** NotFound. */
  rename(caller: Caller, key: SessionKey, title: string): Promise<Session>
  /** Harmless when it does not exist. Conflict while a task or turn holds it. */
  remove(caller: Caller, key: SessionKey): Promise<void>
}

function notFound({ namespace, name }: SessionKey): SvcError {
  return new SvcError('NotFound', `session not found: "${name}" in namespace "${namespace}"`)
}

export function createSessionUsecases({ ports }: UsecaseDeps): SessionUsecases {
  const { sessions } = ports.records
  return {
    async list(caller, { namespace, ...query }) {
      const place = await requireListing(ports, caller, 'Session', { namespace, heldIn: sessions.namespaces })
      return sessions.list({ ...query, ...place })
    },
    async get(caller, key, maxMessages) {
      await requireAccess(ports, caller, { verb: 'get', kind: 'Session', ...key })
      const session = await sessions.get(key)
      if (session === undefined) throw notFound(key)
      const limit = maxMessages ?? Math.max(session.messageCount, 1)
      return { session, messages: await sessions.transcript(key, { limit }) }
    },
    async rename(caller, key, title) {
      await requireAccess(ports, caller, { verb: 'update', kind: 'Session', ...key })
      const session = await sessions.rename(key, title)
      if (session === undefined) throw notFound(key)
      return session
    },
    async remove(caller, key) {
      await requireAccess(ports, caller, { verb: 'delete', kind: 'Session', ...key })
      await sessions.remove(key)
    },
  }
}
