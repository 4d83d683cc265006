// Proposals of what to remember. Nothing removes one by itself: those that are done with are archived.
import type { RecordedCaller } from '../../contract/api/identity/caller.ts'
import type { MemoryProposal, ProposalStatus } from '../../contract/api/memory/memory-proposals.ts'
import type { Memory } from './memories.ts'

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

export type ReviewNote = Pick<MemoryProposal, 'reviewer' | 'reviewNote' | 'reviewedBy'> & {
  status: 'accepted' | 'rejected'
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
