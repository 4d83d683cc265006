// What can still be changed about a task: everything before it starts, almost nothing afterwards. `crd-rules.ts` states
// the same rules for kubectl.
import { isDeepStrictEqual } from 'node:util'
import type { RequestedBy } from '../../contract/kinds/tasks/requester.ts'
import {
  fixedFields,
  hasStarted,
  isTerminalPhase,
  lastingFields,
  type Task,
  TaskSpec,
} from '../../contract/kinds/tasks/task.ts'

/** The service sets these itself; an update without them keeps them. */
const stamped: readonly string[] = ['requestedBy', 'transaction']

/** Fields that change how or when a task runs, but not what it does. */
export const harmlessFields: readonly string[] = ['suspend', 'priority', 'ttlSecondsAfterFinished']

/** Fields in which the new spec differs from the stored one. */
export function listChangedFields(before: Task, spec: TaskSpec): (keyof TaskSpec)[] {
  // A default that was added after the task was stored is not a change.
  const stored = TaskSpec.safeParse(before.spec).data ?? before.spec
  return TaskSpec.keyof().options.filter(
    (field) => !stamped.includes(field) && !isDeepStrictEqual(stored[field], spec[field]),
  )
}

/** Whether the change decides when the task runs: it goes on, or has another schedule. `references.ts` states it for kubectl. */
export function startsByChange(before: Task, changed: readonly (keyof TaskSpec)[]): boolean {
  const goesOn = changed.includes('suspend') && before.spec.suspend === true
  return goesOn || changed.includes('schedule') || changed.includes('timeZone')
}

/** Those of the changed fields that can no longer change. */
export function findFixedChanges(before: Task, changed: readonly (keyof TaskSpec)[]): (keyof TaskSpec)[] {
  const hasEnded = isTerminalPhase(before.status?.phase)
  const isFixed = (field: keyof TaskSpec) => fixedFields.includes(field) || (hasEnded && lastingFields.includes(field))
  return hasStarted(before.status) ? changed.filter(isFixed) : []
}

/** Whether the change makes the task do something else in the name of somebody who did not ask for it. */
export function actsForAnother(
  before: Task,
  changed: readonly (keyof TaskSpec)[],
  asker: RequestedBy | undefined,
): boolean {
  const { requestedBy } = before.spec
  if (requestedBy === undefined || changed.every((field) => harmlessFields.includes(field))) return false
  return requestedBy.issuer !== asker?.issuer || requestedBy.subject !== asker?.subject
}
