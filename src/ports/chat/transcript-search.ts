// Search in the transcripts of sessions.
import type { TranscriptMessage } from './sessions.ts'

export type TranscriptQuery = {
  /** At least one. A message is found that contains them all, in any case, also within words; blanks are any blanks. */
  terms: readonly string[]
  namespace?: string
  /** Of all namespaces only these. */
  namespaces?: readonly string[]
  /** Only this session. */
  sessionName?: string | undefined
  excludeSessionName?: string | undefined
  /** Absent: all. */
  roles?: readonly TranscriptMessage['role'][] | undefined
  limit: number
  /** In UTF-16 code units. */
  maxSnippetLength: number
}

export type TranscriptHit = {
  namespace: string
  sessionName: string
  messageId: number
  role: TranscriptMessage['role']
  /** Of the tool, on its messages. */
  name?: string | undefined
  /** The text around the first place of a term, with `…` where some is left out. */
  snippet: string
  createdAt: string
}

export interface Transcripts {
  /**
   * The best first, the newer of two that are as good. Of a term that very many messages contain the newest are
   * compared. What was appended is found at once, whether or not `index` has reached it.
   */
  search(query: TranscriptQuery): Promise<TranscriptHit[]>
  /**
   * Adds messages that the index does not have yet, one piece of one session; false when there were none. Never in the
   * way of an append for longer than a piece takes.
   */
  index(): Promise<boolean>
  /** How many messages the index does not have yet. */
  countUnindexed(): Promise<number>
}

/** What a search by a task leaves open. */
export type TaskTranscriptQuery = {
  /** Words, and phrases between double quotes. */
  query: string
  sessionName?: string | undefined
  excludeSessionName?: string | undefined
  roles?: readonly TranscriptMessage['role'][] | undefined
  limit?: number | undefined
  maxSnippetLength?: number | undefined
}

/** The same for a task: in its namespace, and without its own session unless it names one. */
export interface TranscriptSearch {
  search(query: TaskTranscriptQuery, signal: AbortSignal): Promise<Omit<TranscriptHit, 'namespace'>[]>
}
