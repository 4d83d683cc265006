// Which right lets a caller list records of a kind, and so learn that they have changed.
import type { AccessKind } from '../../contract/api/identity/access.ts'
import type { RecordKind } from '../../contract/api/resources/watch.ts'

const listedAs: Record<RecordKind, AccessKind> = {
  Approval: 'Task',
  Audit: 'Audit',
  Budget: 'Budget',
  Delivery: 'RepositoryMonitor',
  Finding: 'RepositoryScan',
  Memory: 'Memory',
  MemoryProposal: 'Memory',
  Message: 'Task',
  Monitor: 'RepositoryMonitor',
  Plan: 'Task',
  Scan: 'RepositoryScan',
  Session: 'Session',
  Usage: 'Usage',
  Workspace: 'Task',
}

/** The kind whose list right is asked for. */
export function accessKindOf(kind: RecordKind): AccessKind {
  return listedAs[kind]
}
