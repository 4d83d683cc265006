// What the status of a task shows of those that it created.
import { z } from 'zod'
import { field } from '../../schema/field.ts'

/** A task that was created by another one. */
export const ChildTask = z.object({
  name: field(z.string(), 'Name of the child task.', 'research-1'),
  agent: field(z.string().optional(), 'Agent of the child task.', 'researcher'),
  phase: field(z.string().optional(), 'Phase of the child task.', 'Succeeded'),
  result: field(
    z.string().optional(),
    'Its result, cut to 4096 characters and then ending in `[truncated]`.',
    'The page describes three products.',
  ),
})
export type ChildTask = z.infer<typeof ChildTask>
