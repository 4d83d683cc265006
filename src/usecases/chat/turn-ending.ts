// How a turn ends: its failure, and a sentence that names its unfinished tasks, whatever the model says about them.

import { isTerminalPhase, type TaskPhase } from '../../contract/kinds/tasks/task.ts'
import { SvcError } from '../../errors.ts'
import type { LoopState } from '../../llm/loop/loop-state.ts'
import type { ModelError } from '../../llm/messages/messages.ts'
import type { ResourceKey, ResourceReader } from '../../ports/resources/resources.ts'
import { explainModelError } from '../providers/failure.ts'

export function toFailure(error: ModelError): SvcError {
  return explainModelError({ ...error, message: `chat error: ${error.message}` })
}

/** The failure that a run ended with; undefined when it has an answer, even a short one. */
export function failureOf({ finished }: LoopState, wasCancelled: boolean): SvcError | undefined {
  if (finished?.reason === 'error') {
    return toFailure(finished.error ?? { reason: 'Internal', message: 'the model gave no answer' })
  }
  if (finished?.reason !== 'cancelled') return undefined
  return wasCancelled
    ? new SvcError('Conflict', 'the turn was cancelled')
    : new SvcError('ClientClosed', 'the client disconnected before the turn ended')
}

function isOpen(phase: TaskPhase | undefined): boolean {
  return !isTerminalPhase(phase) && phase !== 'Scheduled'
}

/** One sentence, empty when all have ended. */
export async function describeRunning(
  resources: Pick<ResourceReader, 'get'>,
  created: readonly ResourceKey[],
): Promise<string> {
  const tasks = await Promise.all(created.map((key) => resources.get('Task', key)))
  const open = tasks.filter(
    (task) => task !== undefined && task.spec.schedule === undefined && isOpen(task.status?.phase),
  )
  if (open.length === 0) return ''
  const names = open.map((task) => `${task?.metadata.name} (${task?.status?.phase ?? 'Pending'})`)
  return `[Not finished yet: ${names.join(', ')}. Ask again to hear how it went.]`
}
