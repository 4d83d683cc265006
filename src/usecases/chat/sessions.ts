// Sessions for people, and search in their transcripts for people and tasks.
import { transcriptLimits } from '../../contract/api/chat/transcripts.ts'
import { SvcError } from '../../errors.ts'
import type {
  Session,
  SessionKey,
  StoredMessage,
  TaskTranscriptQuery,
  TranscriptMatch,
  TranscriptQuery,
} from '../../ports/chat/sessions.ts'
import type { Caller, WorkerIdentity } from '../../ports/identity/identity.ts'
import { splitTerms } from '../../rules/memory/search-terms.ts'
import { keepAllowed, requireAccess, requireListing } from '../identity/access.ts'
import { explainAbsent, maxGuessed } from '../resources/listing.ts'
import type { UsecaseDeps } from '../service/deps.ts'
import { requireLiveAttempt, requireOwnNamespace } from '../tasks/worker/live-attempt.ts'

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

export function createSessionUsecases({ ports }: UsecaseDeps): SessionUsecases {
  const { sessions } = ports.records

  const list: SessionUsecases['list'] = async (caller, { namespace, ...query }) => {
    const scope = await requireListing(ports, caller, 'Session', { namespace, storedIn: sessions.namespaces })
    return sessions.list({ ...query, ...scope })
  }

  const notFound = (caller: Caller, key: SessionKey) =>
    explainAbsent('session', key, async () => {
      const { items } = await list(caller, { namespace: key.namespace, limit: maxGuessed })
      return items.map(({ name }) => name)
    })

  return {
    list,
    async get(caller, key, maxMessages) {
      await requireAccess(ports, caller, { verb: 'get', kind: 'Session', ...key })
      const session = await sessions.get(key)
      if (session === undefined) throw await notFound(caller, key)
      const limit = maxMessages ?? Math.max(session.messageCount, 1)
      return { session, messages: await sessions.transcript(key, { limit }) }
    },
    async rename(caller, key, title) {
      await requireAccess(ports, caller, { verb: 'update', kind: 'Session', ...key })
      const session = await sessions.rename(key, title)
      if (session === undefined) throw await notFound(caller, key)
      return session
    },
    async remove(caller, key) {
      await requireAccess(ports, caller, { verb: 'delete', kind: 'Session', ...key })
      await sessions.remove(key)
    },
  }
}

export type TranscriptUsecases = {
  /** Without a namespace: in all that the caller may list. InvalidRequest for a query without a word. */
  search(caller: Caller, query: TaskTranscriptQuery & { namespace: string | undefined }): Promise<TranscriptMatch[]>
}

export type WorkerTranscripts = {
  /** Forbidden in another namespace than the task's own. Without a named session the task's own is left out. */
  searchTranscripts(identity: WorkerIdentity, namespace: string, query: TaskTranscriptQuery): Promise<TranscriptMatch[]>
}

/** The query as the store reads it. */
function readQuery({ query, ...options }: TaskTranscriptQuery): Omit<TranscriptQuery, 'namespace' | 'namespaces'> {
  const terms = splitTerms(query)
  if (terms.length === 0) throw new SvcError('InvalidRequest', 'query must have at least one word')
  const { hits, snippet } = transcriptLimits
  return {
    ...options,
    terms,
    limit: options.limit ?? hits.standard,
    maxSnippetLength: options.maxSnippetLength ?? snippet.standard,
  }
}

export function createTranscriptUsecases({ ports }: UsecaseDeps): TranscriptUsecases {
  const { sessions, transcripts } = ports.records
  return {
    async search(caller, { namespace, ...query }) {
      const scope = await requireListing(ports, caller, 'Session', { namespace, storedIn: sessions.namespaces })
      const found = await transcripts.search({ ...readQuery(query), ...scope })
      // To list sessions does not show what was said in them.
      const read = ({ namespace, sessionName: name }: TranscriptMatch) =>
        ({ verb: 'get', kind: 'Session', namespace, name }) as const
      return keepAllowed(ports, caller, { of: found, read })
    },
  }
}

export function createWorkerTranscripts({ ports }: UsecaseDeps): WorkerTranscripts {
  const { records, resources } = ports
  return {
    async searchTranscripts(identity, namespace, query) {
      requireOwnNamespace(identity, namespace)
      const { sessionRef } = (await requireLiveAttempt(resources, identity)).spec
      const isOpen = query.sessionName === undefined && query.excludeSessionName === undefined
      const excludeSessionName = isOpen ? sessionRef?.name : query.excludeSessionName
      return records.transcripts.search({ ...readQuery(query), namespace, excludeSessionName })
    },
  }
}
