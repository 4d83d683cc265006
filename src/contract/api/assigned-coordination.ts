// What a worker is told about the coordination of its agent.

import { z } from 'zod'
import { field } from '../field.ts'

/** How the agent of a task coordinates. */
export const AssignedCoordination = z.object({
  iteration: field(z.int().min(0), 'Iteration that the attempt works in, from 0.', 0),
})
export type AssignedCoordination = z.infer<typeof AssignedCoordination>
