// Memory proposals: made by anybody who may write memories, decided and applied by people.
import type {
  MemoryProposalCreate,
  ProposalApply,
  ProposalListQuery,
  ProposalReview,
} from '../../contract/api/memory/memory-proposals.ts'
import { SvcError } from '../../errors.ts'
import { redactText } from '../../observability/redaction.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import type { Memory, MemoryProposal, ProposalKey } from '../../ports/memory/memories.ts'
import { identifyCaller } from '../../rules/identity/caller-identity.ts'
import { requireAccess } from '../identity/access.ts'
import type { UsecaseDeps } from '../service/deps.ts'
import { queryOf } from './memories.ts'

/** All: NotFound; Conflict, with the state, when the step does not follow from it. */
export type MemoryProposalUsecases = {
  /** Newest first. InvalidRequest when `query` and `q` differ. */
  list(caller: Caller, namespace: string, query: Omit<ProposalListQuery, 'namespace'>): Promise<MemoryProposal[]>
  get(caller: Caller, key: ProposalKey): Promise<MemoryProposal>
  /** Pending. AlreadyExists. */
  create(caller: Caller, namespace: string, body: MemoryProposalCreate): Promise<MemoryProposal>
  /** Keeps who called beside the name that the reviewer gives. */
  review(caller: Caller, key: ProposalKey, body: ProposalReview): Promise<void>
  /** The same memory each time. InvalidRequest when nothing can be made of it. */
  apply(caller: Caller, key: ProposalKey, body: ProposalApply): Promise<Memory>
  archive(caller: Caller, key: ProposalKey): Promise<void>
}

function redactFields<T extends object>(fields: T): T {
  const clean = Object.entries(fields).map(([name, value]) => [
    name,
    typeof value === 'string' ? redactText(value) : value,
  ])
  return Object.fromEntries(clean) as T
}

function nameOr(given: string | undefined, caller: Caller): string {
  return redactText(given?.trim() || caller.username)
}

export function createMemoryProposalUsecases({ ports }: UsecaseDeps): MemoryProposalUsecases {
  const { memoryProposals } = ports.records
  const require = (caller: Caller, verb: 'get' | 'create' | 'update', { namespace, id }: ProposalKey) =>
    requireAccess(ports, caller, { verb, kind: 'Memory', namespace, name: id })

  return {
    async list(caller, namespace, query) {
      await requireAccess(ports, caller, { verb: 'list', kind: 'Memory', namespace })
      return memoryProposals.list({ ...query, namespace, query: queryOf(query) })
    },
    async get(caller, key) {
      await require(caller, 'get', key)
      const found = await memoryProposals.get(key)
      if (found !== undefined) return found
      throw new SvcError('NotFound', `memory proposal not found: "${key.id}" in namespace "${key.namespace}"`)
    },
    async create(caller, namespace, { status: _status, id = ports.ids.next('mprop'), ...proposed }) {
      await require(caller, 'create', { namespace, id })
      return memoryProposals.create({ ...redactFields(proposed), id, namespace, createdBy: identifyCaller(caller) })
    },
    async review(caller, key, { status, reviewer, reviewNote }) {
      await require(caller, 'update', key)
      await memoryProposals.review(key, {
        status,
        reviewer: nameOr(reviewer, caller),
        ...(reviewNote && { reviewNote: redactText(reviewNote) }),
        reviewedBy: identifyCaller(caller),
      })
    },
    async apply(caller, key, { appliedBy, content }) {
      await require(caller, 'update', key)
      const memoryId = ports.ids.next('mem')
      await require(caller, 'create', { ...key, id: memoryId })
      const decided = { appliedBy: nameOr(appliedBy, caller), createdBy: identifyCaller(caller) }
      const edited = content === undefined ? {} : { content: redactText(content) }
      return memoryProposals.apply(key, { ...decided, ...edited, memoryId })
    },
    async archive(caller, key) {
      await require(caller, 'update', key)
      await memoryProposals.archive(key)
    },
  }
}
