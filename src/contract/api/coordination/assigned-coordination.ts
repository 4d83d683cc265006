// What a worker is told about the coordination of its agent.
import { z } from 'zod'
import { field } from '../../schema/field.ts'

/** The plan that an earlier attempt has saved. */
export const AssignedPlan = z.object({
  iteration: field(z.int().min(0), 'Iteration that saved it, from 0.', 0),
  summary: field(z.string(), 'What was done.', 'two of three pages read'),
  progressPct: field(z.int(), 'Progress in percent.', 60),
  planDocument: field(z.string(), 'The plan in Markdown.', '- [x] read the pages'),
})
export type AssignedPlan = z.infer<typeof AssignedPlan>

/** How the task belongs to a family of coordinated tasks. */
export const AssignedCoordination = z.object({
  iteration: field(z.int().min(0), 'Iteration that the attempt works in, from 0.', 0),
  coordinates: field(
    z.boolean(),
    'Whether the model has the tools to coordinate; otherwise only those to talk to its siblings.',
  ),
  approvalRequiredTools: field(z.array(z.string()).optional(), 'Tools that need approval before each call.', [
    'delete_agent',
  ]),
  autonomous: field(
    z
      .object({
        maxIterations: field(z.int().min(0), 'Iterations at most; 0 means no limit.', 10),
        plan: field(AssignedPlan.optional(), 'The newest plan. Absent: none was saved.'),
      })
      .optional(),
    'Present: the agent works in iterations, each of which begins with nothing but the plan.',
  ),
})
export type AssignedCoordination = z.infer<typeof AssignedCoordination>
