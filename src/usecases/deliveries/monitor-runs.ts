// Tells monitors of a pull request that has changed.
import type { CodeHostEvent } from '../../contract/codehost-events.ts'
import type { MonitorRunUsecases } from '../monitors/runs.ts'
import type { QueuedRuns } from './carry-out.ts'

/** Undefined for an event that does not say at which commit the pull request is. */
export async function queueEventRuns(
  monitors: Pick<MonitorRunUsecases, 'queueEvent'>,
  { repository, target, action, sender }: CodeHostEvent,
  delivery: string,
): Promise<QueuedRuns | undefined> {
  if (target?.head === undefined || target.base === undefined) return undefined
  const [owner = '', name = ''] = repository.fullName.split('/')
  const { matchedMonitors, queued, cached, skipped, runIDs } = await monitors.queueEvent({
    repository: { host: new URL(repository.url).host, owner, name, defaultBranch: repository.defaultBranch ?? '' },
    number: target.number,
    headSHA: target.head.sha,
    baseBranch: target.base.branch,
    delivery,
    action,
    sender,
  })
  return {
    matchedMonitors,
    monitorRunsQueued: queued,
    monitorRunsCached: cached,
    monitorRunsSkipped: skipped,
    runIDs,
  }
}
