// How tasks are marked with the issue or pull request they work for, and found again by it.
import type { CodeHostEvent } from '../../contract/api/codehost/events.ts'
import { toLabel } from '../tasks/stamp.ts'
import { fileRepositoryName } from './event.ts'

/** Keys of labels and annotations of tasks that the code host asked for. */
export const codeHostKeys = {
  event: 'svc.ai/codehost-event',
  action: 'svc.ai/codehost-action',
  repository: 'svc.ai/codehost-repository',
  target: 'svc.ai/codehost-target',
  number: 'svc.ai/codehost-number',
  label: 'svc.ai/codehost-label',
  delivery: 'svc.ai/codehost-delivery',
  url: 'svc.ai/codehost-url',
  sender: 'svc.ai/codehost-sender',
  happenedAt: 'svc.ai/codehost-happened-at',
} as const

export const createdByKey = 'svc.ai/created-by'

/** Labels by which all tasks of one issue or pull request are found. */
export function subjectLabels(repository: string, number: number): Record<string, string> {
  return {
    [codeHostKeys.repository]: toLabel(fileRepositoryName(repository).replaceAll('/', '.')),
    [codeHostKeys.number]: String(number),
  }
}

/**
 * Whether an event ends a task: it came later than what the task was made for, and is about the task's label or about the
 * whole issue or pull request. An event that says no time counts as later.
 */
export function isEndedBy(
  annotations: Readonly<Record<string, string>>,
  { repository, happenedAt }: CodeHostEvent,
  label: string | undefined,
): boolean {
  const own = annotations[codeHostKeys.repository]
  // Labels of different repositories may be the same; the annotation is exact.
  if (own === undefined || fileRepositoryName(own) !== fileRepositoryName(repository.fullName)) return false
  if (label !== undefined && annotations[codeHostKeys.label]?.toLowerCase() !== label.toLowerCase()) return false
  const madeAt = annotations[codeHostKeys.happenedAt]
  return madeAt === undefined || happenedAt === undefined || madeAt <= happenedAt
}
