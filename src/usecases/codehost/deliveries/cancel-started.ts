// Cancels the tasks that an issue or pull request has started.

import type { CodeHostEvent } from '../../../contract/api/codehost/events.ts'
import { isTerminalPhase } from '../../../contract/kinds/tasks/task.ts'
import type { Ports } from '../../../ports/index.ts'
import { isEndedBy, subjectLabels } from '../../../rules/codehost/subject.ts'
import { cancelByService } from '../../tasks/cancel.ts'

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
  const cancelled = await Promise.all(wanted.map((task) => cancelByService(ports, task, why)))
  return cancelled.filter((name) => name !== undefined)
}
