// Runs of monitors: queued by people, and by events of the code host.
import type { MonitorRunRequest } from '../../contract/api/monitors/monitors.ts'
import type { RepositoryMonitor } from '../../contract/kinds/monitors/repository-monitor.ts'
import { isSvcError, messageOf, SvcError } from '../../errors.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import type { MonitorKey, MonitorRun, Queued } from '../../ports/monitors/monitors.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'
import { identifyCaller } from '../../rules/identity/caller-identity.ts'
import {
  isForMonitor,
  nameEventRun,
  type PullRequestEvent,
  runRequestedAnnotation,
} from '../../rules/monitors/events.ts'
import { requireAccess } from '../identity/access.ts'
import { notFound } from '../resources/listing.ts'
import { repeatOnConflict } from '../resources/write-conflict.ts'
import type { UsecaseDeps } from '../service/deps.ts'

/** What became of an event: how many monitors it was for, and of their runs. */
export type QueuedEvent = {
  matchedMonitors: number
  queued: number
  /** A run for the same commit was waiting already. */
  cached: number
  /** The delivery had been seen before. */
  skipped: number
  /** Of the runs that are new, or were waiting. */
  runIDs: string[]
}

export type MonitorRunUsecases = {
  /** NotFound; Conflict while a run is queued or running. */
  createRun(caller: Caller, key: ResourceKey, request: MonitorRunRequest): Promise<MonitorRun>
  /**
   * Queues a run for exactly the commit of the event, for each monitor that it is for. However often and on how many replicas
   * the same delivery or the same commit arrives, one run waits for it. For callers whose right was checked elsewhere.
   */
  queueEvent(event: PullRequestEvent): Promise<QueuedEvent>
}

/** The identity under which a monitor's records are kept. */
export function keyOfMonitor({ metadata }: RepositoryMonitor): MonitorKey {
  const { uid, namespace, name } = metadata
  return { uid, namespace, name }
}

/**
 * So that the controller looks, on whichever replica that is. One that was deleted meanwhile has nothing to do. `id`: of what it
 * is to do.
 */
export async function signalMonitor(
  { resources }: Pick<UsecaseDeps['ports'], 'resources'>,
  { namespace, name, uid }: MonitorKey,
  id: string,
): Promise<void> {
  await repeatOnConflict(async () => {
    const monitor = await resources.get('RepositoryMonitor', { namespace, name })
    if (monitor?.metadata.uid !== uid) return
    const annotations = { ...monitor.metadata.annotations, [runRequestedAnnotation]: id }
    await resources.update('RepositoryMonitor', { ...monitor, metadata: { ...monitor.metadata, annotations } })
  })
}

function count(result: QueuedEvent, { outcome, run }: Queued): void {
  result.matchedMonitors += 1
  result[outcome === 'repeated' ? 'skipped' : outcome] += 1
  if (outcome !== 'repeated') result.runIDs.push(run.id)
}

export function createMonitorRuns(deps: UsecaseDeps): MonitorRunUsecases {
  const { resources, records, ids } = deps.ports

  const signal = (monitor: MonitorKey, runID: string) => signalMonitor(deps.ports, monitor, runID)

  /** A run that nobody would hear of does not stay in the way of the next one. */
  async function signalOrFail(monitor: MonitorKey, run: MonitorRun): Promise<void> {
    try {
      await signal(monitor, run.id)
    } catch (error) {
      const failed = { phase: 'failed' as const, error: `the run could not be announced: ${messageOf(error)}` }
      await records.monitors.changeRun(monitor, run.id, {
        ...failed,
        completedAt: deps.ports.clock.now().toISOString(),
      })
      throw isSvcError(error) ? error : new SvcError('Internal', failed.error, { cause: error })
    }
  }

  function queueFor(monitor: MonitorKey, event: PullRequestEvent): Promise<Queued> {
    const { number, headSHA, delivery, action, sender, repository } = event
    const id = nameEventRun(monitor, delivery)
    const draft = { id, trigger: 'pull_request_event' as const, targetKind: 'pull_request' as const }
    return records.monitors.queueRun(
      monitor,
      { ...draft, targetNumber: number, targetSHA: headSHA },
      {
        runID: id,
        itemKind: 'pull_request',
        itemNumber: number,
        itemSHA: headSHA,
        eventType: 'exact_event_run_queued',
        actor: 'codehost-webhook',
        summary: `a run for pull request ${number} was queued: ${action} by ${sender}`,
        metadata: { action, delivery, sender, repository: `${repository.owner}/${repository.name}` },
      },
    )
  }

  async function queueAndSignal(monitor: MonitorKey, event: PullRequestEvent): Promise<Queued> {
    const queued = await queueFor(monitor, event)
    // Also for a repeated delivery: the process may have ended before the first one was announced.
    if (queued.run.phase === 'queued') await signal(monitor, queued.run.id)
    return queued
  }

  async function findMonitors(event: PullRequestEvent): Promise<MonitorKey[]> {
    const { items } = await resources.list('RepositoryMonitor', {})
    return items.filter((monitor) => isForMonitor(monitor, event, deps.ports.codeHosts.hosts)).map(keyOfMonitor)
  }

  return {
    async createRun(caller, key, request) {
      await requireAccess(deps.ports, caller, { verb: 'operate', kind: 'RepositoryMonitor', ...key })
      const found = await resources.get('RepositoryMonitor', key)
      if (found === undefined) throw await notFound(deps.ports, caller, 'RepositoryMonitor', key)
      const monitor = keyOfMonitor(found)
      const requestedBy = identifyCaller(caller)
      const id = ids.next('monrun')
      const what = request.targetNumber === undefined ? 'every pull request' : `pull request ${request.targetNumber}`
      const { run } = await records.monitors.queueRun(
        monitor,
        { ...request, id, trigger: 'manual', requestedBy },
        {
          runID: id,
          eventType: 'run_queued',
          actor: requestedBy.name,
          summary: `a run over ${what} was asked for`,
        },
      )
      await signalOrFail(monitor, run)
      return run
    },

    async queueEvent(event) {
      const result: QueuedEvent = { matchedMonitors: 0, queued: 0, cached: 0, skipped: 0, runIDs: [] }
      for (const monitor of await findMonitors(event)) count(result, await queueAndSignal(monitor, event))
      return result
    },
  }
}
