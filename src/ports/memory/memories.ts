// Durable memories. Nothing removes one by itself, neither its age nor its task: deletion marks it, and it stays readable.
import type { RecordedCaller } from '../../contract/api/identity/caller.ts'
import type { Memory } from '../../contract/api/memory/memories.ts'
import type { MemoryProposal, ProposalStatus } from '../../contract/api/memory/memory-proposals.ts'
import type { ProposeMemory, RecallMemory } from '../../contract/api/memory/memory-tools.ts'
import type { QueryVector } from './vectors.ts'

export type { Memory }
export type MemoryKey = { namespace: string; id: string }

/** What its writer decides about a new memory. */
export type MemoryDraft = Omit<
  Memory,
  'deleted' | 'supersededBy' | 'createdAt' | 'updatedAt' | 'lastRecalledAt' | 'recalledCount'
>

/** Present fields replace those of the memory; `deleted` also disables it. */
export type MemoryChange = Partial<
  Pick<Memory, 'sessionName' | 'agentName' | 'taskName' | 'parentTask' | 'source' | 'content' | 'tags'>
> & { disabled?: boolean; deleted?: true }

/** A memory must match everything that is given. */
export type MemoryFilter = {
  namespace: string
  sessionName?: string | undefined
  agentName?: string | undefined
  taskName?: string | undefined
  parentTask?: string | undefined
  source?: string | undefined
  /** It has all of them. */
  tags?: readonly string[] | undefined
  ids?: readonly string[] | undefined
}

export type MemoryQuery = MemoryFilter & {
  /** Words of which it has any, best match first, no text twice. Absent or blank: the last changed first. */
  query?: string | undefined
  /** The query as a vector: memories that are like it are found as well, and what it tells adds to their scores. */
  vector?: QueryVector | undefined
  /** Also those that are disabled or superseded. */
  includeDisabled?: boolean
  /** Also those that are deleted. */
  includeDeleted?: boolean
  limit: number
}

/** `reader`: who recalls, such as the uid of a task; `accept`: which of those that were found, all by default. */
type RecallQuery = MemoryFilter &
  Pick<MemoryQuery, 'vector' | 'limit'> & { query: string; reader: string; accept?: (memory: Memory) => boolean }

export interface Memories {
  /**
   * AlreadyExists when the id is taken in the namespace. The memory that it supersedes gets the link back and leaves normal
   * recall: InvalidRequest when there is no such memory, Conflict when another one supersedes it already.
   */
  create(draft: MemoryDraft): Promise<Memory>
  get(key: MemoryKey): Promise<Memory | undefined>
  /** Undefined when there is none. */
  change(key: MemoryKey, change: MemoryChange): Promise<Memory | undefined>
  /** False when there is none, or it is deleted. */
  setDisabled(key: MemoryKey, disabled: boolean): Promise<boolean>
  /** Counts nothing. */
  list(query: MemoryQuery): Promise<Memory[]>
  /**
   * The memories of normal recall that match best. Each is counted once for each reader, however often that
   * one asks.
   */
  recall(query: RecallQuery): Promise<Memory[]>
  /** How much each of these search terms tells in the namespace: the fewer memories have it, the more, most where none has. */
  weigh(namespace: string, terms: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** Forgets what the task has recalled; its memories and their counts stay. */
  removeTask(taskUid: string): Promise<void>
}

export type { MemoryProposal }
export type ProposalKey = { namespace: string; id: string }

/** What its writer decides about a new proposal. */
export type ProposalDraft = Omit<
  MemoryProposal,
  | 'status'
  | 'reviewer'
  | 'reviewNote'
  | 'reviewedBy'
  | 'reviewedAt'
  | 'appliedMemoryId'
  | 'appliedBy'
  | 'appliedAt'
  | 'createdAt'
  | 'updatedAt'
>

export type ProposalQuery = {
  namespace: string
  taskName?: string | undefined
  agentName?: string | undefined
  type?: string | undefined
  status?: ProposalStatus | undefined
  /** Text in title, description, content or name of the skill, in any case. */
  query?: string | undefined
  limit: number
}

type ReviewNote = Pick<MemoryProposal, 'reviewer' | 'reviewNote' | 'reviewedBy'> & {
  status: 'accepted' | 'rejected' | 'pending'
}

/** The memory gets this id, unless the proposal has been applied already; `content`: what is remembered instead. */
export type Application = {
  memoryId: string
  appliedBy: string
  createdBy?: RecordedCaller
  content?: string | undefined
}

/** NotFound when there is no such proposal; Conflict, with its state, when the step does not follow from that. */
export interface MemoryProposals {
  /** Pending. AlreadyExists when the id is taken in the namespace. */
  create(draft: ProposalDraft): Promise<MemoryProposal>
  get(key: ProposalKey): Promise<MemoryProposal | undefined>
  /** Newest first. */
  list(query: ProposalQuery): Promise<MemoryProposal[]>
  /** How many nobody has decided about, by namespace. */
  countPending(): Promise<Record<string, number>>
  /** Of several reviewers at once one decides; the others get Conflict. */
  review(key: ProposalKey, note: ReviewNote): Promise<MemoryProposal>
  /** One memory for each proposal, on all replicas. InvalidRequest when nothing can be made of it. */
  apply(key: ProposalKey, application: Application): Promise<Memory>
  /** Harmless when it is archived. */
  archive(key: ProposalKey): Promise<void>
}

export interface TaskMemory {
  /** The best match first. */
  recall(args: RecallMemory): Promise<Memory[]>
  /** The same call makes one proposal. Nobody but a person applies it. */
  propose(call: string, args: ProposeMemory): Promise<MemoryProposal>
}
