// Which execution workspaces there are, and which attempt holds which: recorded before a claim is made, so that a service
// that starts again knows what to go on with and what to clean up.
import type { WorkspaceProvider } from '../../contract/kinds/tasks/execution.ts'
import type { AttemptKey } from '../tasks/workloads.ts'
import type { WorkspaceClaim } from './execution-workspaces.ts'

/** Which workspace: of which provider, under which name of a claim. */
export type WorkspaceKey = { provider: WorkspaceProvider; namespace: string; name: string }

export type WorkspaceHolder = AttemptKey & { namespace: string; taskName: string }

/** How far the attempt that holds it is. Before `running` nothing of the attempt goes on by itself. */
export type LeaseStep = 'claiming' | 'running'

/** What is needed to go on with a workspace after a restart of the service; it has no secrets. */
export type WorkspaceFacts = {
  claim: WorkspaceClaim
  cleanupPolicy: 'delete' | 'retain'
  session?: string
  /** Absolute path inside. Absent: it has never been ready. */
  root?: string
  /** Id of the command that runs the attempt. */
  command?: string
  /** When the attempt that runs began. */
  startedAt?: string
  /** What was checked out in it, and the commit that its changes are compared with. */
  checkout?: { url: string; branch?: string; ref?: string; baseSHA: string }
  /** Nothing of it runs. */
  isSuspended?: boolean
  /** Who asked for its tasks, as records know callers. Absent: nobody knows. */
  requester?: string
  /** What its tasks were given. Absent: an earlier version has recorded it. */
  secrets?: readonly { namespace: string; name: string }[]
}

export type WorkspaceRecord = WorkspaceKey & {
  /** Namespace of the tasks that it is for. */
  owner: string
  holder?: WorkspaceHolder
  step?: LeaseStep
  /** It was taken away from everybody, to be deleted. */
  isSeized: boolean
  /** Since when it is lent: nobody gets it, and it stays as it is. */
  lentAt?: Date
  facts: WorkspaceFacts
  createdAt: Date
  /** When it was last taken or released. */
  usedAt: Date
}

export type WorkspaceLeaseRequest = WorkspaceKey & { holder: WorkspaceHolder; facts: WorkspaceFacts; quota: number }

export interface WorkspaceRecords {
  /**
   * Records that the attempt holds the workspace; holding it twice is harmless. `busy`: another attempt does. `full`: the
   * namespace of the task has as many workspaces as its quota (0: no limit) allows, and this would be a further one.
   */
  lease(request: WorkspaceLeaseRequest): Promise<'leased' | 'busy' | 'full'>
  /** Changes what is known of a workspace that the attempt holds; Conflict when it does not. */
  note(
    key: WorkspaceKey,
    holder: AttemptKey,
    change: { step?: LeaseStep; facts?: Partial<WorkspaceFacts> },
  ): Promise<void>
  /** Nobody holds it any more; without effect when another attempt does. */
  release(key: WorkspaceKey, holder: AttemptKey): Promise<void>
  /**
   * Takes one that nobody holds, or this attempt, away from everybody: what is seized is going to be deleted. False when another attempt
   * holds it, or it is lent. Repeating is harmless.
   */
  seize(key: WorkspaceKey, holder?: AttemptKey): Promise<boolean>
  /** Takes one that nobody holds for a short while, to be given back; since when it is lent. Undefined when it cannot be had. */
  lend(key: WorkspaceKey): Promise<Date | undefined>
  /** Without effect unless it is lent since then. */
  returnLoan(key: WorkspaceKey, lentAt: Date, facts: Partial<WorkspaceFacts>): Promise<void>
  /** Forgets it, whoever holds it. */
  remove(key: WorkspaceKey): Promise<void>
  get(key: WorkspaceKey): Promise<WorkspaceRecord | undefined>
  ofAttempt(attempt: AttemptKey): Promise<WorkspaceRecord | undefined>
  /** Ordered by age, oldest first. `owners`: namespaces of tasks; absent: all. */
  list(query?: { owners?: readonly string[] }): Promise<WorkspaceRecord[]>
}
