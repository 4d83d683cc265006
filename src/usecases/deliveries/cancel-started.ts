// Cancels the tasks that an issue or pull request has started.

import type { CodeHostEvent } from '../../contract/codehost-events.ts'
import { isTerminalPhase, type Task } from '../../contract/resources/task.ts'
import { isSvcError } from '../../errors.ts'
import type { Ports } from '../../ports/index.ts'
import { isEndedBy, subjectLabels } from '../../rules/codehost/subject.ts'
import { markCancelled } from '../../rules/task-decision.ts'
import { repeatOnConflict } from '../write-conflict.ts'

/** The task's name, or undefined when it has ended meanwhile. */
async function cancel({ resources }: Pick<Ports, 'resources'>, task: Task, why: string): Promise<string | undefined> {
  const { namespace, name, uid } = task.metadata
  return repeatOnConflict(async () => {
    const found = await resources.get('Task', { namespace, name })
    if (found?.metadata.uid !== uid || isTerminalPhase(found.status?.phase)) return undefined
    await resources.update('Task', markCancelled(found, why))
    return `${namespace}/${name}`
  }).catch((error: unknown) => {
    if (isSvcError(error, 'NotFound')) return undefined
    throw error
  })
}

/**
 * Those made before the event, in all namespaces; with a label only those that it made. `why` is shown on each. Repeating is
 * harmless.
 */
export async function cancelStarted(
  ports: Pick<Ports, 'resources'>,
  event: CodeHostEvent,
  { label, why }: { label?: string | undefined; why: string },
): Promise<string[]> {
  const { target, repository } = event
  if (target === undefined) return []
  const marks = Object.entries(subjectLabels(repository.fullName, target.number))
  const labelSelector = marks.map(([key, value]) => `${key}=${value}`).join(',')
  const { items } = await ports.resources.list('Task', { labelSelector })
  const wanted = items.filter(
    ({ metadata, status }) => !isTerminalPhase(status?.phase) && isEndedBy(metadata.annotations ?? {}, event, label),
  )
  const cancelled = await Promise.all(wanted.map((task) => cancel(ports, task, why)))
  return cancelled.filter((name) => name !== undefined)
}
