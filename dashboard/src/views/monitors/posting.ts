// Whether “Post review” is offered: the service refuses what is left out here (`src/rules/monitors/publish.ts`).
import type { MonitorItem } from '../../../../src/contract/api/monitors/monitor-records.ts'
import type { RepositoryMonitorSpec } from '../../../../src/contract/kinds/monitors/repository-monitor.ts'
import type { StoredObject } from '../objects/object-kinds.ts'

type Spec = StoredObject['spec']

/** Whether a monitor with these settings posts a review with this verdict when somebody asks for it. */
function mayPost(verdict: MonitorItem['lastVerdict'], spec: Spec): boolean {
  const { gitSecretRef, review } = spec as Partial<RepositoryMonitorSpec>
  if (gitSecretRef === undefined) return false
  return verdict !== 'security_sensitive' || review?.publish?.postSecuritySensitive === true
}

/** Whether its head was reviewed to the end, and that review is not at the code host and may be posted there. */
export function hasReviewToPost(item: MonitorItem, spec: Spec): boolean {
  const { headSHA, lastReviewedHeadSHA, lastPublishPhase, lastVerdict } = item
  const isReviewed = headSHA !== undefined && lastReviewedHeadSHA === headSHA
  return isReviewed && lastPublishPhase !== 'succeeded' && lastPublishPhase !== 'started' && mayPost(lastVerdict, spec)
}
