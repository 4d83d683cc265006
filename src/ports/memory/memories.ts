// Durable memories. Nothing removes one by itself, neither its age nor its task: deletion marks it, and it stays readable.
import type { Memory } from '../../contract/api/memory/memories.ts'
import type { QueryVector } from './memory-vectors.ts'

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
  /** Words of which it has any, best match first. Absent or blank: the last changed first. */
  query?: string | undefined
  /** The query as a vector: memories that are like it are found as well, and both orders become one. */
  vector?: QueryVector | undefined
  /** Also those that are disabled or superseded. */
  includeDisabled?: boolean
  /** Also those that are deleted. */
  includeDeleted?: boolean
  limit: number
}

/** `reader`: who recalls, such as the uid of a task. */
export type RecallQuery = MemoryFilter & Pick<MemoryQuery, 'vector' | 'limit'> & { query: string; reader: string }

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
   * The memories of normal recall that match best, no text twice. Each is counted once for each reader, however often that
   * one asks.
   */
  recall(query: RecallQuery): Promise<Memory[]>
  /** Forgets what the task has recalled; its memories and their counts stay. */
  removeTask(taskUid: string): Promise<void>
}
