// Where a task is, and whether it is over.
import type { TaskDetail } from '../../../../src/contract/api/tasks/tasks.ts'
import type { TraceStep } from '../../../../src/contract/api/tasks/trace.ts'
import { terminalPhases } from '../../../../src/contract/kinds/tasks/task.ts'

export type TaskPlace = { namespace: string; name: string }

/** What says what became of it needs. */
export type OutcomeProps = { task: TaskDetail; place: TaskPlace; steps: readonly TraceStep[] }

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
