// Where a task is, and whether it is over.
import { terminalPhases } from '../../../../src/contract/kinds/tasks/task.ts'

export type TaskPlace = { namespace: string; name: string }

/** The input of a route about the task. */
export function targetOf({ namespace, name }: TaskPlace) {
  return { params: { id: name }, query: { namespace } }
}

export function taskPath({ namespace, name }: TaskPlace): string {
  return `/tasks/${namespace}/${name}`
}

export function isOver({ status }: { status?: { phase?: string | undefined } | undefined }): boolean {
  return terminalPhases.some((phase) => phase === status?.phase)
}
