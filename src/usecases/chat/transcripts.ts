// Search in transcripts, for people and for tasks.
import { transcriptLimits } from '../../contract/api/chat/transcripts.ts'
import { SvcError } from '../../errors.ts'
import type { TaskTranscriptQuery, TranscriptHit, TranscriptQuery } from '../../ports/chat/transcript-search.ts'
import type { Caller, WorkerIdentity } from '../../ports/identity/identity.ts'
import { splitTerms } from '../../rules/memory/quoted-terms.ts'
import { keepAllowed, requireListing } from '../identity/access.ts'
import type { UsecaseDeps } from '../service/deps.ts'
import { requireLiveAttempt, requireOwnNamespace } from '../tasks/worker/live-attempt.ts'

export type TranscriptUsecases = {
  /** Without a namespace: in all that the caller may list. InvalidRequest for a query without a word. */
  search(caller: Caller, query: TaskTranscriptQuery & { namespace: string | undefined }): Promise<TranscriptHit[]>
}

export type WorkerTranscripts = {
  /** Forbidden in another namespace than the task's own. Without a named session the task's own is left out. */
  searchTranscripts(identity: WorkerIdentity, namespace: string, query: TaskTranscriptQuery): Promise<TranscriptHit[]>
}

/** The query as the store reads it. */
function readQuery({ query, ...given }: TaskTranscriptQuery): Omit<TranscriptQuery, 'namespace' | 'namespaces'> {
  const terms = splitTerms(query)
  if (terms.length === 0) throw new SvcError('InvalidRequest', 'query must have at least one word')
  const { hits, snippet } = transcriptLimits
  return {
    ...given,
    terms,
    limit: given.limit ?? hits.standard,
    maxSnippetLength: given.maxSnippetLength ?? snippet.standard,
  }
}

export function createTranscriptUsecases({ ports }: UsecaseDeps): TranscriptUsecases {
  const { sessions, transcripts } = ports.records
  return {
    async search(caller, { namespace, ...given }) {
      const place = await requireListing(ports, caller, 'Session', { namespace, heldIn: sessions.namespaces })
      const found = await transcripts.search({ ...readQuery(given), ...place })
      // To list sessions does not show what was said in them.
      const read = ({ namespace, sessionName: name }: TranscriptHit) =>
        ({ verb: 'get', kind: 'Session', namespace, name }) as const
      return keepAllowed(ports, caller, { of: found, read })
    },
  }
}

export function createWorkerTranscripts({ ports }: UsecaseDeps): WorkerTranscripts {
  const { records, resources } = ports
  return {
    async searchTranscripts(identity, namespace, given) {
      requireOwnNamespace(identity, namespace)
      const { sessionRef } = (await requireLiveAttempt(resources, identity)).spec
      const isOpen = given.sessionName === undefined && given.excludeSessionName === undefined
      const excludeSessionName = isOpen ? sessionRef?.name : given.excludeSessionName
      return records.transcripts.search({ ...readQuery(given), namespace, excludeSessionName })
    },
  }
}
