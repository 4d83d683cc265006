// Who did what, and who was refused what: records that are only ever added, read and outlived.
import type { AccessKind, AccessVerb } from '../contract/access.ts'
import type { RecordedCaller } from '../contract/api/caller.ts'

/** Never a value, a body, a query or a message: what is asked for is named, what it says is not. */
export type AuditRecord = {
  /** Rises with time. */
  id: string
  createdAt: string
  /** Absent for a credential that was not good. */
  caller?: RecordedCaller
  /** The edge; `chat`: a model did it for the caller. */
  via: 'api' | 'proxy' | 'worker' | 'chat'
  verb: AccessVerb
  kind?: AccessKind
  namespace?: string
  name?: string
  /** Pattern of the route, such as `/api/v1/tasks/:id`. */
  route?: string
  /** Address that the connection came from. */
  address?: string
  allowed: boolean
  /** Of the answer. */
  status?: number
  requestId?: string
  /** Of what a model did in a chat. */
  session?: string
  /** Of what a task did. */
  taskUid?: string
}

export type AuditQuery = {
  namespace?: string
  /** Its id; of records from before they had one, its name. */
  caller?: string
  kind?: string
  verb?: string
  allowed?: boolean
  /** `until` is exclusive. */
  since?: Date
  until?: Date
  /** Only what is older than the record of this time and id. */
  before?: { createdAt: string; id: string }
  limit: number
}

export interface Audit {
  /** All or none; a record with an id that is there is left out. */
  append(records: readonly AuditRecord[]): Promise<void>
  /** Newest first. */
  list(query: AuditQuery): Promise<AuditRecord[]>
  sweep(before: Date): Promise<number>
}
