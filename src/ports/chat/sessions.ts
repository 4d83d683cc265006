// Conversations: a named, ordered transcript that one task or chat turn at a time may write.

export type SessionKey = { namespace: string; name: string }

/** What answers a conversation: the provider that was first asked, and its name of the model. */
export type RememberedModel = { namespace: string; name: string; model: string }

export type Session = SessionKey & {
  sessionType: 'task' | 'chat'
  /** As it was renamed, else how the first message of a user begins. */
  title?: string
  /** UID of the task, or id of the chat turn, that holds the session now. */
  activeTask?: string
  /** For a chat: what answered its last turn. */
  answeredBy?: RememberedModel
  messageCount: number
  inputTokens: number
  outputTokens: number
  createdAt: string
  updatedAt: string
}

export type NewMessage = {
  role: 'user' | 'assistant' | 'tool' | 'system'
  content: string
  name?: string
  input?: Record<string, unknown>
  toolCalls?: { id: string; name: string; input: Record<string, unknown> }[]
  toolCallID?: string
  /** Of an assistant: what its vendor wants back with the turn (`writeSeal`); for the model alone. */
  sealed?: string
  /** With milliseconds; set by the store when absent. */
  ts?: string
}

export type StoredMessage = NewMessage & { id: number; ts: string }

/** A session as an agent program keeps it itself. */
export type StoredProgramSession = {
  /** The agent, its program and its model: nobody else can go on with it. */
  program: string
  /** What the program calls its session. */
  id: string
  /** The program's own file. */
  text: string
}

/** Whose Secrets a session was given. */
export type SessionParticipant = {
  /** A key of `callerKey`; absent: nobody is known. */
  requester?: string | undefined
  secrets: readonly SessionKey[]
}

export interface Sessions {
  /** Creates it when missing and `create` is set; otherwise undefined. */
  ensure(
    key: SessionKey,
    options: { create: boolean; sessionType: Session['sessionType'] },
  ): Promise<Session | undefined>
  get(key: SessionKey): Promise<Session | undefined>
  /** Newest first; `after` is the cursor of the last page. */
  list(query: {
    namespace?: string
    /** Of all namespaces only these; no part of the cursor. */
    namespaces?: readonly string[]
    sessionType?: Session['sessionType'] | undefined
    limit: number
    continue?: string
  }): Promise<{ items: Session[]; continue?: string }>
  /** The session with its new title; undefined when it does not exist. */
  rename(key: SessionKey, title: string): Promise<Session | undefined>
  /** The namespaces that hold sessions, in order. */
  namespaces(): Promise<string[]>
  /**
   * True when `holder` holds it now (also if it did before); false when another does. NotFound, unless `create` creates
   * it. `replaces`: takes it over from that holder. Atomic across replicas.
   */
  lock(
    key: SessionKey,
    holder: string,
    options?: { replaces?: string; create?: Session['sessionType'] },
  ): Promise<boolean>
  /**
   * Releases it if `holder` holds it. `expiresAt`: it expires then unless somebody holds it; absent: the usual
   * retention.
   */
  unlock(key: SessionKey, holder: string, options?: { expiresAt?: Date | undefined }): Promise<void>
  /**
   * Appends in order, in one transaction. NotFound. `dedupe`: a second append with the same key does nothing.
   * `release`: also releases the session, in the same transaction, if that holder holds it; `released` says whether it
   * did.
   */
  append(
    key: SessionKey,
    messages: NewMessage[],
    options?: {
      dedupe?: string
      usage?: { inputTokens: number; outputTokens: number }
      release?: string
      /** What answered; absent: unchanged. */
      answeredBy?: RememberedModel | undefined
    },
  ): Promise<{ released: boolean }>
  /** The newest `limit` messages, oldest of them first (SESS-015). `withSeals`: for a model, and never for a reader. */
  transcript(
    key: SessionKey,
    options?: { limit?: number; beforeId?: number; withSeals?: boolean },
  ): Promise<StoredMessage[]>
  /**
   * Replaces the messages with id up to `throughId` by these (chat truncation). NotFound; InvalidRequest when they are
   * more.
   */
  compact(key: SessionKey, throughId: number, replacement: NewMessage[]): Promise<void>
  /**
   * Replaces what a program has kept of the session; `more`: messages that will be appended about the same work. Conflict
   * unless the holder holds it.
   */
  keepProgram(key: SessionKey, stored: StoredProgramSession, by: { holder: string; more: number }): Promise<void>
  /** What the program has kept; undefined when the session has gone another way since, and when another program kept it. */
  findProgram(key: SessionKey, program: string): Promise<StoredProgramSession | undefined>
  /**
   * Notes who takes part with Secrets, until the session is removed; nothing without any. `others`: who was noted with
   * other Secrets or for somebody else; of several that come at once each finds those before it. `added`: it was not noted
   * yet. The session need not exist.
   */
  join(key: SessionKey, participant: SessionParticipant): Promise<{ others: SessionParticipant[]; added: boolean }>
  /** Takes back what `join` has added. */
  leave(key: SessionKey, participant: SessionParticipant): Promise<void>
  /** Removes it with its messages; false when it did not exist. Conflict while it is held. */
  remove(key: SessionKey): Promise<boolean>
  /**
   * Removes sessions not updated since `before` and expired ones, unless they are held; returns how many. Participants
   * without a session go when they are as old.
   */
  sweep(before: Date): Promise<number>
}

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
  roles?: readonly NewMessage['role'][] | undefined
  limit: number
  /** In UTF-16 code units. */
  maxSnippetLength: number
}

export type TranscriptMatch = {
  namespace: string
  sessionName: string
  messageId: number
  role: NewMessage['role']
  /** Of the tool, on its messages. */
  name?: string | undefined
  /** The text around the first match of a term, with `…` where some is left out. */
  snippet: string
  createdAt: string
}

export interface Transcripts {
  /**
   * The best first, the newer of two that are as good. Of a term that very many messages contain the newest are
   * compared. What was appended is found at once, whether or not `index` has reached it.
   */
  search(query: TranscriptQuery): Promise<TranscriptMatch[]>
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
  roles?: readonly NewMessage['role'][] | undefined
  limit?: number | undefined
  maxSnippetLength?: number | undefined
}

/** The same for a task: in its namespace, and without its own session unless it names one. */
export interface TranscriptSearch {
  search(query: TaskTranscriptQuery, signal: AbortSignal): Promise<Omit<TranscriptMatch, 'namespace'>[]>
}
