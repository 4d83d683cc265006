// Memories, and what is proposed for them.
import type { MemoryCreate, MemoryListQuery, MemoryUpdate } from '../../contract/api/memory/memories.ts'
import type {
  MemoryProposalCreate,
  ProposalApply,
  ProposalListQuery,
  ProposalReview,
} from '../../contract/api/memory/memory-proposals.ts'
import { SvcError } from '../../errors.ts'
import { redactText } from '../../observability/redaction.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import type { Memory, MemoryChange, MemoryKey, MemoryProposal, ProposalKey } from '../../ports/memory/memories.ts'
import { identifyCaller } from '../../rules/identity/caller-identity.ts'
import { requireAccess } from '../identity/access.ts'
import type { UsecaseDeps } from '../service/deps.ts'

export type FoundMemories = { items: Memory[]; notice?: string | undefined }

export type MemoryUsecases = {
  /**
   * Best match first, without a query the last changed; `notice`: what a search could not do. InvalidRequest when `query` and `q`
   * differ.
   */
  list(caller: Caller, namespace: string, query: Omit<MemoryListQuery, 'namespace'>): Promise<FoundMemories>
  /** NotFound. */
  get(caller: Caller, key: MemoryKey): Promise<Memory>
  /** AlreadyExists; InvalidRequest and Conflict for what it supersedes. */
  create(caller: Caller, namespace: string, body: MemoryCreate): Promise<Memory>
  /** NotFound. */
  change(caller: Caller, key: MemoryKey, body: MemoryUpdate): Promise<Memory>
  /** Marks it as deleted. NotFound. */
  remove(caller: Caller, key: MemoryKey): Promise<void>
  /** NotFound, also when it is deleted. */
  setDisabled(caller: Caller, key: MemoryKey, disabled: boolean): Promise<void>
}

/** What to search for, by either name of the parameter. */
export function queryOf({ query, q }: { query?: string | undefined; q?: string | undefined }): string | undefined {
  if (query === undefined || q === undefined || query === q) return query ?? q
  const message = 'is another text than query: give one of the two'
  throw new SvcError('InvalidRequest', `invalid request: q ${message}`, { details: [{ path: 'q', message }] })
}

function notFound({ namespace, id }: MemoryKey): SvcError {
  return new SvcError('NotFound', `memory not found: "${id}" in namespace "${namespace}"`)
}

const textFields = ['sessionName', 'agentName', 'taskName', 'parentTask', 'source', 'content'] as const

/** Fields with a value, without credentials. An empty text is no value. */
function readFields(body: MemoryCreate | MemoryUpdate): Omit<MemoryChange, 'disabled' | 'deleted'> {
  const texts = textFields.flatMap((name) => {
    const text = body[name]
    return text === undefined || text === '' ? [] : [[name, redactText(text)]]
  })
  return { ...Object.fromEntries(texts), ...(body.tags !== undefined && { tags: body.tags.map(redactText) }) }
}

export function createMemoryUsecases({ ports }: UsecaseDeps): MemoryUsecases {
  const { memories } = ports.records
  const require = (caller: Caller, verb: 'get' | 'update' | 'delete', { namespace, id }: MemoryKey) =>
    requireAccess(ports, caller, { verb, kind: 'Memory', namespace, name: id })

  async function change(key: MemoryKey, changes: MemoryChange): Promise<Memory> {
    const changed = await memories.change(key, changes)
    if (changed === undefined) throw notFound(key)
    return changed
  }

  return {
    async list(caller, namespace, query) {
      await requireAccess(ports, caller, { verb: 'list', kind: 'Memory', namespace })
      const wanted = queryOf(query) ?? ''
      const { vector, notice } = wanted.trim() === '' ? {} : ((await ports.queryVectors?.of(namespace, wanted)) ?? {})
      return { items: await memories.list({ ...query, namespace, query: wanted, vector }), notice }
    },
    async get(caller, key) {
      await require(caller, 'get', key)
      const found = await memories.get(key)
      if (found === undefined) throw notFound(key)
      return found
    },
    async create(caller, namespace, body) {
      const id = body.id ?? ports.ids.next('mem')
      await requireAccess(ports, caller, { verb: 'create', kind: 'Memory', namespace, name: id })
      const { supersedes, disabled, content } = body
      const createdBy = identifyCaller(caller)
      const fields = { source: 'manual', ...readFields(body), content: redactText(content) }
      return memories.create({ ...fields, id, namespace, supersedes, disabled, createdBy })
    },
    async change(caller, key, body) {
      await require(caller, 'update', key)
      if (body.deleted === true) await require(caller, 'delete', key)
      return change(key, {
        ...readFields(body),
        ...(body.disabled === true && { disabled: true }),
        ...(body.deleted === true && { deleted: true }),
      })
    },
    async remove(caller, key) {
      await require(caller, 'delete', key)
      await change(key, { deleted: true })
    },
    async setDisabled(caller, key, disabled) {
      await require(caller, 'update', key)
      if (!(await memories.setDisabled(key, disabled))) throw notFound(key)
    },
  }
}

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

function nameOr(name: string | undefined, caller: Caller): string {
  return redactText(name?.trim() || caller.username)
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
