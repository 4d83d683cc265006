// The execution workspace of one attempt, once everything that its task leaves open is decided.
import type { WorkspaceProvider } from '../../kinds/tasks/execution.ts'

type Named = { namespace: string; name: string }

/** The effective settings of one attempt (specification: Task execution workspace). */
export type ResolvedWorkspace = {
  provider: WorkspaceProvider
  template: Named
  reusePolicy: 'none' | 'session'
  /** The session that the workspace belongs to; absent: it is of this attempt alone. */
  reuseKey?: string
  cleanupPolicy: 'delete' | 'retain'
  boot: boolean
  pool?: Named
  processMode?: string
  /** What the agent of the task calls its program. */
  program?: string
  claimTimeoutSeconds: number
  commandTimeoutSeconds: number
  /** Name and namespace of the claim. */
  claim: Named
}

/** What a program in a workspace finds of its settings: variables that begin with this. */
export const workspaceVariables = 'SVC_EXECUTION_WORKSPACE_'

/** Folders of a workspace, relative to its root. */
export const workspaceFolders = {
  /** Where the agent works; it lasts as long as the workspace. */
  work: 'work',
  /** What belongs to the service; below it each attempt has a folder of its own, which is gone when it has ended. */
  own: '.svc',
} as const

/** Files in the folder of an attempt. */
export const workspaceFiles = {
  /** The WorkAssignment as gzipped JSON. */
  assignment: 'assignment.json.gz',
  /** For programs that look there for a folder of their own. */
  temporary: 'tmp',
} as const
