// Records beside resources: keys of idempotent requests, versions of agents, and changes of records.
import type { AgentVersion, AgentVersionContent } from '../../contract/api/agents/agents.ts'
import type { RecordKind } from '../../contract/api/resources/watch.ts'
import type { Agent } from '../../contract/kinds/agents/agent.ts'
import type { ResourceKey } from './resources.ts'

export type IdempotentOutcome = {
  status: number
  kind: string
  namespace: string
  name: string
  /** Of the object; absent in outcomes stored before this field existed. */
  uid?: string
}

export type IdempotencyClaim =
  /** The key was free: do the work, then `settle` or `release`. */
  | { state: 'claimed' }
  /** Another request with this key is under way. */
  | { state: 'running' }
  /** Completed before, with the same body. */
  | { state: 'settled'; outcome: IdempotentOutcome }
  /** Used before, with another body. */
  | { state: 'mismatch' }

export interface IdempotencyKeys {
  /**
   * `key` and `bodyHash` are keyed hashes from the caller; a claim of a dead process can be taken over after `staleMs`.
   */
  claim(
    key: string,
    bodyHash: string,
    options: { now: Date; ttlMs: number; staleMs: number },
  ): Promise<IdempotencyClaim>
  settle(key: string, outcome: IdempotentOutcome): Promise<void>
  release(key: string): Promise<void>
  sweep(before: Date): Promise<number>
}

/** Of one agent by its uid: one that is made again under the name has none of the former one's. */
export type AgentKey = ResourceKey & { uid: string }

export interface AgentVersions {
  /** Whether the content was due as a version (`isVersionDue`) and was added; the oldest beyond `agentVersionLimits` go. */
  note(agent: Agent, content: AgentVersionContent): Promise<boolean>
  /** Newest first; only numbers below `before`. */
  list(agent: AgentKey, page: { limit: number; before?: number | undefined }): Promise<AgentVersion[]>
  /** Every agent that has versions, deleted ones included, by namespace and name. */
  agents(): Promise<AgentKey[]>
  /** Without a uid: of every agent that had the name. */
  remove(agent: ResourceKey & { uid?: string | undefined }): Promise<void>
}

/** `namespace` is absent where it is not known, and for records of the whole service. */
export type RecordChange = { kind: RecordKind; namespace?: string }

export interface RecordChanges {
  /**
   * Calls back soon after records have changed, at most once a second for each kind and namespace; undefined: anything may have
   * changed. Returns the function that ends it.
   */
  subscribe(listener: (change: RecordChange | undefined) => void): () => void
}
