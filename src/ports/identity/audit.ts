// Who did what, and who was refused: records that are added, read and expire, but never change.
import type { AccessKind, AccessVerb } from '../../contract/api/identity/access.ts'
import type { RecordedCaller } from '../../contract/api/identity/caller.ts'

/** Never contains a value, a body, a query or a message: it names the object, not its content. */
export type AuditRecord = {
  /** Increases with time. */
  id: string
  createdAt: string
  /** Absent when the credential was not valid. */
  caller?: RecordedCaller
  /** The edge; `chat` means that a model acted for the caller. */
  via: 'api' | 'proxy' | 'worker' | 'chat'
  verb: AccessVerb
  kind?: AccessKind
  namespace?: string
  name?: string
  /** Pattern of the route, such as `/api/v1/tasks/:id`. */
  route?: string
  /** Address of the connection. */
  address?: string
  allowed: boolean
  /** Status of the answer. */
  status?: number
  requestId?: string
  /** Set for what a model did in a chat. */
  session?: string
  /** Set for what a task did. */
  taskUid?: string
}

export type AuditQuery = {
  namespace?: string
  /** The caller's id; for records from before ids existed, its name. */
  caller?: string
  kind?: string
  verb?: string
  allowed?: boolean
  /** `until` is exclusive. */
  since?: Date
  until?: Date
  /** Only records older than the one with this time and id. */
  before?: { createdAt: string; id: string }
  limit: number
}

export interface Audit {
  /** All or none; a record whose id exists already is skipped. */
  append(records: readonly AuditRecord[]): Promise<void>
  /** Newest first. */
  list(query: AuditQuery): Promise<AuditRecord[]>
  sweep(before: Date): Promise<number>
}
