// Who did what, and who was refused: records that are added, read and expire, but never change.
import type { AccessKind, AccessVerb } from '../../contract/api/identity/access.ts'
import type { AuditItem } from '../../contract/api/identity/audit.ts'

/** Never contains a value, a body, a query or a message: it names the object, not its content. Ids increase with time. */
export type AuditRecord = Omit<AuditItem, 'verb' | 'kind'> & { verb: AccessVerb; kind?: AccessKind | undefined }

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
