// What a worker is told about the coordination of its agent.
import type { AssignedCoordination } from '../../contract/api/assigned-coordination.ts'
import type { NewAttempt } from './references.ts'

/** Undefined when the agent does not coordinate. */
export function assignCoordination({ task, references }: NewAttempt): AssignedCoordination | undefined {
  if (references.agent?.spec.coordination?.enabled !== true) return undefined
  return { iteration: task.status?.iteration ?? 0 }
}
