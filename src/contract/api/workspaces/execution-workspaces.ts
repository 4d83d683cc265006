// What a worker in an execution workspace tells about it.
import { z } from 'zod'
import { Name } from '../../kinds/resources/metadata.ts'
import { ExecutionWorkspaceStatus } from '../../kinds/tasks/task.ts'
import { field } from '../../schema/field.ts'
import { defineRoute, errorResponses } from '../resources/route.ts'

/** How the workspace is, as the worker in it sees it. */
export const WorkspaceReport = ExecutionWorkspaceStatus.pick({ phase: true, reason: true })
  .required()
  .extend({
    message: field(z.string().max(1000).optional(), 'What happened, in one sentence.', 'the worker runs'),
  })
  .strict()
  .meta({ id: 'WorkspaceReport' })
export type WorkspaceReport = z.infer<typeof WorkspaceReport>

export const reportWorkspace = defineRoute({
  method: 'POST',
  path: '/internal/v1/tasks/:namespace/:taskName/execution-workspace/status',
  tag: 'Worker API',
  summary: 'Tell how the execution workspace of the attempt is',
  description: 'Shows in the status of the task how its execution workspace is. Only the live attempt may tell it.',
  params: z.object({
    namespace: field(Name, 'Namespace of the task.', 'default'),
    taskName: field(Name, 'Name of the task.', 'fix-tests'),
  }),
  body: WorkspaceReport,
  responses: { ...errorResponses(400, 404), 204: { description: 'Shown' } },
  auth: 'worker',
})
