// The pull request of a branch that a task has pushed; no model is asked.
import { z } from 'zod'
import { Name } from '../../kinds/resources/metadata.ts'
import { field } from '../../schema/field.ts'
import { limitedText } from '../../schema/text.ts'
import { NamespaceQuery } from '../resources/list.ts'
import { errorResponses, routesOf } from '../resources/route.ts'

/** What people say of a pull request; what they leave out is taken from the task. */
export const TaskPullRequestBody = z
  .strictObject({
    title: field(
      limitedText(1000).trim().min(1, 'must not be empty').optional(),
      'Title. Without it: the first line of the prompt.',
      'Fix the sum',
    ),
    body: field(
      limitedText(65_536).optional(),
      'Description, in Markdown. Without it: what the task said that it did.',
      'The sum left out the last line.',
    ),
    base: field(
      limitedText(255).min(1).optional(),
      'Branch that it is for. Without it: the one that the task began with.',
      'main',
    ),
    draft: field(z.boolean().default(false), 'Whether it is a draft.'),
  })
  .meta({ id: 'TaskPullRequestBody' })
/** The same, with what is left out filled in. */
export type TaskPullRequestBody = z.output<typeof TaskPullRequestBody>

/** The pull request of the branch. */
export const TaskPullRequest = z
  .object({
    prNumber: field(z.int().min(1), 'Number of the pull request.', 12),
    prURL: field(z.string(), 'Address of the pull request.', 'https://github.com/owner/repo/pull/12'),
    status: field(z.enum(['created', 'existing']), 'Whether the branch had one already.'),
  })
  .meta({ id: 'TaskPullRequest' })
export type TaskPullRequest = z.infer<typeof TaskPullRequest>

export const openTaskPullRequest = routesOf({ tag: 'Tasks', kind: 'Task' }).post('/api/v1/tasks/:id/pull-request', {
  summary: 'Open the pull request of the branch that a task has pushed',
  description:
    'Opens a pull request for the branch that the task has pushed, with the login of its workspace, or answers the open one that the branch has. 409 while the task has not ended.',
  params: z.object({ id: field(Name, 'Name of the task.', 'nightly-report') }),
  query: NamespaceQuery,
  body: TaskPullRequestBody,
  bodyOptional: true,
  responses: { ...errorResponses(404, 409), 200: { description: 'The pull request', schema: TaskPullRequest } },
})
