// What a worker in an execution workspace reports about it.
import { z } from 'zod'
import { Name } from '../../kinds/resources/metadata.ts'
import type { WorkspaceProvider } from '../../kinds/tasks/execution.ts'
import { ExecutionWorkspaceStatus } from '../../kinds/tasks/task.ts'
import { field } from '../../schema/field.ts'
import { limitedText } from '../../schema/text.ts'
import { errorResponses, workerRoutes } from '../resources/route.ts'

/** How the workspace is, as the worker in it sees it. */
export const WorkspaceReport = ExecutionWorkspaceStatus.pick({ phase: true, reason: true })
  .required()
  .extend({
    message: field(limitedText(1000).optional(), 'What happened, in one sentence.', 'the worker runs'),
  })
  .strict()
  .meta({ id: 'WorkspaceReport' })
export type WorkspaceReport = z.infer<typeof WorkspaceReport>

export const reportWorkspace = workerRoutes.post('/tasks/:namespace/:taskName/execution-workspace/status', {
  summary: 'Tell how the execution workspace of the attempt is',
  description: 'Shows in the status of the task how its execution workspace is. Only the live attempt may tell it.',
  params: z.object({
    namespace: field(Name, 'Namespace of the task.', 'default'),
    taskName: field(Name, 'Name of the task.', 'fix-tests'),
  }),
  body: WorkspaceReport,
  responses: { ...errorResponses(400, 404), 204: { description: 'Shown' } },
})

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
  /** Who asked for the task, as records know callers; absent: nobody knows. */
  requester?: string
  /** Every Secret that something inside may have the entries of. */
  secrets: Named[]
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
  /** For programs that look there for a folder of their own. It is there once the worker has read its assignment. */
  temporary: 'tmp',
} as const
