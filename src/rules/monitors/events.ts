// Which monitors an event of the code host is for, and the names of what follows from it.
import { createHash } from 'node:crypto'
import type { RepositoryMonitor } from '../../contract/kinds/monitors/repository-monitor.ts'
import { readRepositoryUrl, repositoryKey } from '../../contract/values/repository-url.ts'

/** The id of the run that was asked for last; a change of it makes the controller look. */
export const runRequestedAnnotation = 'svc.ai/repository-monitor-run-requested-at'

/** What the code host says has happened to a pull request. */
export type PullRequestEvent = {
  repository: { host?: string | undefined; owner: string; name: string; defaultBranch: string }
  number: number
  headSHA: string
  baseBranch: string
  /** Id of the delivery, which tells repeated ones. */
  delivery: string
  action: string
  sender: string
}

function hash(...parts: string[]): string {
  return createHash('sha256').update(parts.join('\0')).digest('hex').slice(0, 12)
}

/** The id of the run that a delivery asks a monitor for: the same each time that it is delivered. */
export function nameEventRun({ uid, name }: { uid: string; name: string }, delivery: string): string {
  return `monrun-${name}-${hash(uid, delivery)}`
}

/** The id of the run that is due at a time of the schedule. */
export function nameScheduledMonitorRun(monitor: { uid: string; name: string }, tick: Date): string {
  return nameEventRun(monitor, tick.toISOString())
}

/** Whether the monitor looks after the repository. */
export function isOfRepository(
  { spec }: RepositoryMonitor,
  repository: PullRequestEvent['repository'],
  hosts: readonly string[],
): boolean {
  const read = readRepositoryUrl(spec.repoURL, hosts)
  if ('problem' in read || repositoryKey(read.repository) !== repositoryKey(repository)) return false
  return repository.host === undefined || repository.host.toLowerCase() === read.repository.host
}

/** Whether the event is for the monitor (MON-019). Drafts and labels are judged when the run looks. */
export function isForMonitor(monitor: RepositoryMonitor, event: PullRequestEvent, hosts: readonly string[]): boolean {
  const { metadata, spec, status } = monitor
  if (metadata.deletionTimestamp !== undefined || spec.suspend || !spec.review.exactEventEnabled) return false
  if (!isOfRepository(monitor, event.repository, hosts)) return false
  const branch = spec.branch ?? status?.branch ?? event.repository.defaultBranch
  return branch === event.baseBranch
}
