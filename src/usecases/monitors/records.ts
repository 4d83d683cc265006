// What a monitor has seen and done, for people.
import type { RepositoryMonitorSpec } from '../../contract/kinds/monitors/repository-monitor.ts'
import { SvcError } from '../../errors.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import type {
  EventQuery,
  ItemQuery,
  ItemState,
  MonitorEvent,
  MonitorItem,
  MonitorKey,
  MonitorReviewRecord,
  MonitorRun,
  ReviewQuery,
  RunQuery,
} from '../../ports/monitors/monitors.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'
import { identifyCaller } from '../../rules/identity/caller-identity.ts'
import { findReviewSkip, type PublishSkip } from '../../rules/monitors/publish.ts'
import { requireAccess } from '../identity/access.ts'
import { notFound } from '../resources/listing.ts'
import type { UsecaseDeps } from '../service/deps.ts'
import { keyOfMonitor, signalMonitor } from './runs.ts'

/** All: NotFound. */
export type MonitorRecordUsecases = {
  listRuns(caller: Caller, key: ResourceKey, query: RunQuery): Promise<MonitorRun[]>
  listItems(caller: Caller, key: ResourceKey, query: ItemQuery): Promise<MonitorItem[]>
  listReviews(caller: Caller, key: ResourceKey, query: ReviewQuery): Promise<MonitorReviewRecord[]>
  listEvents(caller: Caller, key: ResourceKey, query: EventQuery): Promise<MonitorEvent[]>
  setDismissed(
    caller: Caller,
    key: ResourceKey,
    finding: { number: number; id: string; dismissed: boolean },
  ): Promise<void>
  /** Has the last review published; NotFound, or Conflict where it cannot be. */
  publishReview(caller: Caller, key: ResourceKey, number: number): Promise<MonitorItem>
}

const settingsProblems: Partial<Record<PublishSkip, string>> = {
  security_sensitive_not_public:
    'its review concerns security, and the monitor posts no such review; read it here, or set spec.review.publish.postSecuritySensitive',
  invalid_review_result: 'its review has no verdict that can be posted; have it reviewed again',
}

/** Conflict, with what to do, where the review is not one of the pull request as it is, or the monitor never posts it. */
function findPublishProblem(
  item: ItemState,
  review: MonitorReviewRecord | undefined,
  spec: RepositoryMonitorSpec,
): string | undefined {
  if (item.state !== 'open') return 'it is closed, merged, or made against another branch'
  if (item.progress !== undefined) return 'it is being reviewed; wait until that has ended'
  if (review === undefined || review.reason !== undefined) return 'it has no review; have it reviewed first'
  if (review.headSHA !== item.headSHA) return 'its head is another commit than the review is of; have it reviewed again'
  if (item.lastPublishPhase === 'succeeded')
    return `its review is posted${item.lastPublishURL ? ` at ${item.lastPublishURL}` : ''}`
  const skip = findReviewSkip(review, spec, { hasPublished: false, isWished: true })
  return skip && (settingsProblems[skip] ?? skip)
}

export function createMonitorRecordUsecases({ ports }: UsecaseDeps): MonitorRecordUsecases {
  const { monitors } = ports.records

  async function find(
    caller: Caller,
    key: ResourceKey,
    verb: 'get' | 'operate' | 'update' = 'get',
  ): Promise<MonitorKey> {
    await requireAccess(ports, caller, { verb, kind: 'RepositoryMonitor', ...key })
    const monitor = await ports.resources.get('RepositoryMonitor', key)
    if (monitor === undefined) throw await notFound(ports, caller, 'RepositoryMonitor', key)
    return keyOfMonitor(monitor)
  }

  return {
    listRuns: async (caller, key, query) => monitors.listRuns(await find(caller, key), query),
    listItems: async (caller, key, query) => monitors.listItems(await find(caller, key), query),
    listReviews: async (caller, key, query) => monitors.listReviews(await find(caller, key), query),
    listEvents: async (caller, key, query) => monitors.listEvents(await find(caller, key), query),

    async publishReview(caller, key, number) {
      // Whoever may change the monitor decides what it publishes.
      const monitor = await find(caller, key, 'update')
      const stored = await ports.resources.get('RepositoryMonitor', key)
      if (stored?.spec.gitSecretRef === undefined) {
        const advice = 'set spec.gitSecretRef, --secret on the command line'
        throw new SvcError('InvalidRequest', `the monitor has no login for the code host: ${advice}`)
      }
      const item = await monitors.getItem(monitor, number)
      if (item === undefined) throw new SvcError('NotFound', `the monitor has not seen a pull request ${number}`)
      const review = await monitors.getReview(monitor, item.lastReviewID ?? '')
      const problem = findPublishProblem(item, review, stored.spec)
      if (problem !== undefined || review === undefined)
        throw new SvcError('Conflict', `nothing can be posted on pull request ${number}: ${problem}`)
      const now = ports.clock.now().toISOString()
      await monitors.putItem(monitor, { ...item, publishWish: review.id, publishRetryAt: now })
      await monitors.append(monitor, {
        itemKind: 'pull_request',
        itemNumber: number,
        itemSHA: review.headSHA,
        eventType: 'review_publish_requested',
        actor: identifyCaller(caller).name,
        summary: `the review of pull request ${number} is to be published`,
        metadata: { reviewID: review.id },
      })
      await signalMonitor(ports, monitor, review.id)
      const [shown] = await monitors.listItems(monitor, { number, limit: 1 })
      if (shown === undefined) throw new SvcError('NotFound', `the monitor has not seen a pull request ${number}`)
      return shown
    },

    async setDismissed(caller, key, { number, id, dismissed }) {
      const monitor = await find(caller, key, 'operate')
      if (!(await monitors.setDismissed(monitor, { number, id }, dismissed))) {
        throw new SvcError('NotFound', `pull request ${number} has no finding "${id}"`)
      }
      await monitors.append(monitor, {
        itemKind: 'pull_request',
        itemNumber: number,
        eventType: dismissed ? 'finding_dismissed' : 'finding_restored',
        actor: identifyCaller(caller).name,
        summary: dismissed ? `finding ${id} was dismissed` : `finding ${id} counts again`,
        metadata: { finding: id },
      })
    },
  }
}
