// Execution workspaces as people see them: which there are, what they cost, and the end of one.
import { z } from 'zod'
import { Name, Timestamp } from '../../kinds/resources/metadata.ts'
import { workspaceProviders } from '../../kinds/tasks/execution.ts'
import { field } from '../../schema/field.ts'
import { limitedText } from '../../schema/text.ts'
import { listOf, NamespaceQuery, NamespacesListQuery } from '../resources/list.ts'
import { errorResponses, routesOf } from '../resources/route.ts'

/** `InUse`: by an attempt; `Retained`: ready for the next task; `Suspended`: its files are kept; `Ending`: it is deleted. */
export const workspaceStates = ['InUse', 'Retained', 'Suspended', 'Ending'] as const

/** An execution workspace that there is. */
export const WorkspaceItem = z
  .object({
    name: field(Name, 'Name of the workspace.', 'svc-ws-0c9d'),
    namespace: field(Name, 'Namespace of the tasks that it is for.', 'default'),
    provider: field(z.enum(workspaceProviders), 'Who provides it.'),
    template: field(z.string(), 'Template that it was made from.', 'default'),
    state: field(z.enum(workspaceStates), 'Whether it is used.'),
    cleanupPolicy: field(z.enum(['delete', 'retain']), 'What becomes of it when its task has ended.'),
    sessionName: field(z.string().optional(), 'Session whose tasks use it again.', 'support-42'),
    taskName: field(z.string().optional(), 'Task that uses it now.', 'fix-tests'),
    createdAt: field(Timestamp, 'When it was claimed.'),
    usedAt: field(Timestamp, 'When a task last took it or let go of it.'),
    expiresAt: field(Timestamp.optional(), 'When it is deleted unless a task takes it before.'),
    ageSeconds: field(z.int().min(0), 'How old it is, in seconds.', 5400),
    cost: field(
      z.number().nonnegative().optional(),
      'What it has cost since it was made, at `--execution-workspace-hourly-cost`; without that it is unknown.',
      0.12,
    ),
  })
  .meta({ id: 'Workspace' })
export type WorkspaceItem = z.infer<typeof WorkspaceItem>

/** Limits of a command that a person runs in a workspace. */
export const commandLimits = { seconds: 300, outputBytes: 1_048_576, arguments: 1000 } as const

/** A command for a workspace. */
export const WorkspaceCommandRequest = z
  .strictObject({
    command: field(
      z.array(limitedText(131_072)).min(1).max(commandLimits.arguments),
      'Program and arguments; it begins in the folder of the agent.',
      ['git', 'status'],
    ),
    timeoutSeconds: field(
      z.int().min(1).max(commandLimits.seconds).default(60),
      'Seconds after which it is ended, at most 300.',
      60,
    ),
  })
  .meta({ id: 'WorkspaceCommand' })

/** What the command printed. */
export const WorkspaceCommandResult = z
  .object({
    exitCode: field(z.int(), 'Exit code; 124 when its time was up, 128 and more when a signal ended it.', 0),
    stdout: field(z.string(), 'Standard output, at most 1 MiB.', 'nothing to commit'),
    stderr: field(z.string(), 'Standard error, at most 1 MiB.', ''),
    truncated: field(z.boolean(), 'Whether it printed more.'),
  })
  .meta({ id: 'WorkspaceCommandResult' })
export type WorkspaceCommandResult = z.infer<typeof WorkspaceCommandResult>

const params = z.object({ name: field(Name, 'Name of the workspace.', 'svc-ws-0c9d') })

export const listWorkspaces = routesOf({ tag: 'Workspaces', kind: 'Task' }).list('/api/v1/workspaces', {
  summary: 'List execution workspaces',
  description:
    'Lists the execution workspaces that there are, oldest first: of the namespaces whose tasks the caller may list.',
  query: z.object({ namespace: NamespacesListQuery.shape.namespace }),
  responses: { 200: { description: 'Workspaces, oldest first', schema: listOf(WorkspaceItem, 'WorkspaceList') } },
})

const one = routesOf({
  tag: 'Workspaces',
  base: '/api/v1/workspaces/:name',
  kind: 'Task',
  params,
  query: NamespaceQuery,
})

export const releaseWorkspace = one.delete('', {
  summary: 'End a retained workspace',
  description: 'Deletes a workspace with all that is in it. 409 while a task uses it: cancel the task first.',
  responses: { ...errorResponses(404, 409, 503), 204: { description: 'Deleted' } },
})

export const runInWorkspace = one.post('/commands', {
  summary: 'Run a command in a workspace',
  description:
    'Runs a command in the folder of the agent and answers what it printed. A retained workspace is resumed for it; no task gets it meanwhile.',
  body: WorkspaceCommandRequest,
  responses: {
    ...errorResponses(404, 409, 503),
    200: { description: 'What the command printed', schema: WorkspaceCommandResult },
  },
})
