// Tells monitors of a pull request that has changed, or ended.
import type { CodeHostEvent, CodeHostRepository } from '../../../contract/api/codehost/events.ts'
import type { MonitorRunUsecases } from '../../monitors/runs.ts'
import type { Withdraw, Withdrawal, Withdrawn } from '../../monitors/withdrawal.ts'
import type { QueuedRuns } from './carrying.ts'

function nameRepository({ fullName, url, defaultBranch = '' }: CodeHostRepository) {
  const [owner = '', name = ''] = fullName.split('/')
  return { host: new URL(url).host, owner, name, defaultBranch }
}

/** Ends what the pull request of the event has started. */
export async function withdrawEvent(
  withdraw: Withdraw,
  { repository, target }: CodeHostEvent,
  what: Omit<Withdrawal, 'repository' | 'number'>,
): Promise<Withdrawn> {
  if (target?.kind !== 'pull_request') return { cancelledTasks: [], cancelledRuns: [] }
  return withdraw({ ...what, repository: nameRepository(repository), number: target.number })
}

/** Undefined for an event that does not say at which commit the pull request is. */
export async function queueEventRuns(
  monitors: Pick<MonitorRunUsecases, 'queueEvent'>,
  { repository, target, action, sender }: CodeHostEvent,
  delivery: string,
): Promise<QueuedRuns | undefined> {
  if (target?.head === undefined || target.base === undefined) return undefined
  const { matchedMonitors, queued, cached, skipped, runIDs } = await monitors.queueEvent({
    repository: nameRepository(repository),
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
