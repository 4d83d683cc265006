// What of a task can still be changed: everything before it starts, nearly nothing afterwards. `crd-rules.ts` says the
// same to kubectl.
import { isDeepStrictEqual } from 'node:util'
import type { RequestedBy } from '../contract/resources/requester.ts'
import { fixedFields, hasStarted, type Task, TaskSpec } from '../contract/resources/task.ts'

/** The service stamps these itself; a body without them keeps them. */
const stamped: readonly string[] = ['requestedBy', 'transaction']

/** What changes how or when a task runs, but not what it does. */
export const harmlessFields: readonly string[] = ['suspend', 'priority', 'ttlSecondsAfterFinished']

/** Fields in which the new spec differs from the stored one. */
export function listChangedFields(before: Task, spec: TaskSpec): (keyof TaskSpec)[] {
  // Defaults that came after the task was stored are no change.
  const stored = TaskSpec.safeParse(before.spec).data ?? before.spec
  return TaskSpec.keyof().options.filter(
    (field) => !stamped.includes(field) && !isDeepStrictEqual(stored[field], spec[field]),
  )
}

/** Those of the changed fields that are fixed by now. */
export function findFixedChanges(before: Task, changed: readonly (keyof TaskSpec)[]): (keyof TaskSpec)[] {
  return hasStarted(before.status) ? changed.filter((field) => fixedFields.includes(field)) : []
}

/** Whether the change would have the task do something else in the name of somebody who did not ask for it. */
export function actsForAnother(
  before: Task,
  changed: readonly (keyof TaskSpec)[],
  asker: RequestedBy | undefined,
): boolean {
  const { requestedBy } = before.spec
  if (requestedBy === undefined || changed.every((field) => harmlessFields.includes(field))) return false
  return requestedBy.issuer !== asker?.issuer || requestedBy.subject !== asker?.subject
}
