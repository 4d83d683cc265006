// Ends what a pull request has started at the monitors of its repository: runs that wait, and reviews that are under way.
import { isTerminalPhase, type Task } from '../../contract/kinds/tasks/task.ts'
import type { ItemState, MonitorKey } from '../../ports/monitors/monitors.ts'
import { codeHostKeys } from '../../rules/codehost/subject.ts'
import { isOfRepository, nameEventRun, type PullRequestEvent } from '../../rules/monitors/events.ts'
import { monitorLabel } from '../../rules/monitors/tasks.ts'
import type { UsecaseDeps } from '../service/deps.ts'
import { cancelByService } from '../tasks/cancel.ts'
import { keyOfMonitor } from './runs.ts'

export type Withdrawal = {
  repository: PullRequestEvent['repository']
  number: number
  /** Only what these deliveries have started; absent: all of it. */
  deliveries?: readonly string[] | undefined
  /** The pull request itself has ended. */
  isClosed: boolean
  /** Shown on whatever ends. */
  why: string
}

export type Withdrawn = { cancelledTasks: string[]; cancelledRuns: string[] }

/** At one monitor; `isMeant`: of a run by its id. */
type Part = Withdrawal & { monitor: MonitorKey; isMeant(runID: string | undefined): boolean }

const maxRuns = 200
const runAnnotation = 'svc.ai/monitor-run-id'

function aboutItem({ number, headSHA, progress }: ItemState) {
  const known = { ...(headSHA && { itemSHA: headSHA }), ...(progress && { runID: progress.runID }) }
  return { itemKind: 'pull_request', itemNumber: number, ...known }
}

export function createWithdrawal({ ports }: Pick<UsecaseDeps, 'ports'>) {
  const { resources, records, clock, codeHosts } = ports

  async function endRuns({ monitor, number, isMeant, why }: Part): Promise<string[]> {
    const runs = await records.monitors.listRuns(monitor, { trigger: 'pull_request_event', limit: maxRuns })
    const waiting = runs.filter(({ id, phase, targetNumber }) => {
      return phase === 'queued' && targetNumber === number && isMeant(id)
    })
    const ended: string[] = []
    for (const { id } of waiting) {
      const about = { runID: id, itemKind: 'pull_request', itemNumber: number }
      const event = { ...about, eventType: 'run_succeeded', actor: 'codehost-webhook', summary: why }
      if (await records.monitors.withdrawRun(monitor, id, event)) ended.push(id)
    }
    return ended
  }

  function leave({ progress: _progress, publishRetryAt: _retryAt, ...rest }: ItemState, isClosed: boolean): ItemState {
    const verdict = rest.lastVerdict === 'queued' ? { lastVerdict: 'skipped' as const } : {}
    const left = isClosed
      ? { state: 'out_of_scope' as const, skipReason: 'not_open_or_base_branch_changed' }
      : { skipReason: 'review_task_cancelled' }
    return { ...rest, ...verdict, ...left, updatedAt: clock.now().toISOString() }
  }

  /** Before its tasks end, so that their end is not taken for a review that failed. */
  async function leaveItem({ monitor, number, isMeant, isClosed, why }: Part): Promise<void> {
    const item = await records.monitors.getItem(monitor, number)
    if (item === undefined) return
    const isConcerned = item.progress === undefined ? isClosed : isMeant(item.progress.runID)
    if (!isConcerned) return
    const left = leave(item, isClosed)
    await records.monitors.putItem(monitor, left)
    await records.monitors.append(monitor, {
      ...aboutItem(item),
      eventType: isClosed ? 'item_retired' : 'item_skipped',
      actor: 'codehost-webhook',
      summary: why,
      metadata: { reason: left.skipReason, state: left.state },
    })
  }

  async function endTasks({ monitor, number, isMeant, why }: Part): Promise<string[]> {
    const labelSelector = `${monitorLabel}=${monitor.name},${codeHostKeys.number}=${number}`
    const { items } = await resources.list('Task', { namespace: monitor.namespace, labelSelector })
    const isOwn = ({ metadata, status }: Task) =>
      !isTerminalPhase(status?.phase) &&
      metadata.ownerReferences?.some(({ uid }) => uid === monitor.uid) === true &&
      isMeant(metadata.annotations?.[runAnnotation])
    const ended = await Promise.all(items.filter(isOwn).map((task) => cancelByService(ports, task, why)))
    return ended.filter((name) => name !== undefined)
  }

  /** Repeating is harmless. */
  return async (withdrawal: Withdrawal): Promise<Withdrawn> => {
    const { items } = await resources.list('RepositoryMonitor', {})
    const withdrawn: Withdrawn = { cancelledTasks: [], cancelledRuns: [] }
    for (const found of items.filter((monitor) => isOfRepository(monitor, withdrawal.repository, codeHosts.hosts))) {
      const monitor = keyOfMonitor(found)
      const runs =
        withdrawal.deliveries && new Set(withdrawal.deliveries.map((delivery) => nameEventRun(monitor, delivery)))
      const part = { ...withdrawal, monitor, isMeant: (id: string | undefined) => runs?.has(id ?? '') ?? true }
      withdrawn.cancelledRuns.push(...(await endRuns(part)))
      await leaveItem(part)
      withdrawn.cancelledTasks.push(...(await endTasks(part)))
    }
    return withdrawn
  }
}

export type Withdraw = ReturnType<typeof createWithdrawal>
