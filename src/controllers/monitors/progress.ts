// Reviews and publishings that are under way: each is brought a step further, and what keeps one keeps no other.
import { messageOf } from '../../errors.ts'
import { isCodeHostError } from '../../ports/codehost/code-host.ts'
import type { ItemState } from '../../ports/monitors/monitor-records.ts'
import { formatKey } from '../engine/key.ts'
import { ingestReview } from './ingest.ts'
import { publishReview } from './publish.ts'
import { advanceReview, isUnderWay, stopReview, type UnderWay } from './review-tasks.ts'
import { type MonitorWork, saveItem, tellItem } from './settings.ts'

async function drop(work: MonitorWork, item: UnderWay): Promise<ItemState> {
  const { runID } = item.progress
  const rest = await stopReview(work, item)
  const summary = `the head of pull request ${item.number} has moved; the review of ${item.headSHA} counts for nothing`
  const metadata = { reason: 'stale_head_sha', verdict: 'stale' }
  await tellItem(work, item, { runID, eventType: 'review_result_rejected', summary, metadata })
  return saveItem(work, { ...rest, lastVerdict: 'stale' })
}

async function bringFurther(work: MonitorWork, item: ItemState): Promise<ItemState> {
  if (!isUnderWay(item)) return item
  const step = await advanceReview(work, item)
  if (step === 'waiting') return item
  if (step === 'overtaken') return drop(work, item)
  const now = await work.deps.records.monitors.getItem(work.key, item.number)
  return ingestReview(work, now !== undefined && isUnderWay(now) ? now : item, step.ended)
}

function isPublishingDue({ deps }: MonitorWork, { progress, publishRetryAt, state }: ItemState): boolean {
  if (progress !== undefined || state !== 'open' || publishRetryAt === undefined) return false
  return publishRetryAt <= deps.clock.now().toISOString()
}

/** `retry`: look again soon. */
export type Further = { heldUpUntil?: string | undefined; retry: boolean }

/** What keeps one pull request keeps no other. */
async function excuse(work: MonitorWork, item: ItemState, error: unknown): Promise<Further> {
  if (isCodeHostError(error, 'HeldUp')) return { retry: true, heldUpUntil: error.heldUpUntil }
  if (isCodeHostError(error, 'NotFound')) await giveUp(work, item, { reason: 'not_found', verdict: 'failed', error })
  if (isCodeHostError(error, 'TooLarge'))
    await giveUp(work, item, { reason: 'change_too_large', verdict: 'needs_human', error })
  const about = { monitor: formatKey(work.key), number: item.number, error: messageOf(error) }
  work.deps.log.warn(about, 'a review is tried again')
  return { retry: true }
}

async function bringOneFurther(work: MonitorWork, found: ItemState): Promise<Further> {
  try {
    const item = await bringFurther(work, found)
    const after = isPublishingDue(work, item) ? await publishReview(work, item) : item
    return { retry: after.publishRetryAt !== undefined }
  } catch (error) {
    return excuse(work, found, error)
  }
}

/** One after the other, until the code host takes no more requests. */
export async function bringAllFurther(work: MonitorWork): Promise<Further> {
  let retry = false
  for (const found of await work.deps.records.monitors.listUnderWay(work.key)) {
    const further = await bringOneFurther(work, found)
    if (further.heldUpUntil !== undefined) return further
    retry ||= further.retry
  }
  return { retry }
}

type Resignation = { reason: string; verdict: 'failed' | 'needs_human'; error: Error }

/** The pull request is gone, or more than can be reviewed: this head is not tried again. */
async function giveUp(work: MonitorWork, item: ItemState, { reason, verdict, error }: Resignation): Promise<void> {
  const { publishRetryAt: _retryAt, lastPublishPhase: phase, ...rest } = await stopReview(work, item)
  const published = phase === undefined || phase === 'started' ? {} : { lastPublishPhase: phase }
  const { headSHA } = item
  await saveItem(work, {
    ...rest,
    ...published,
    ...(headSHA && { lastReviewedHeadSHA: headSHA }),
    lastVerdict: verdict,
  })
  const metadata = { reason, verdict }
  await tellItem(work, item, { eventType: 'review_result_rejected', summary: error.message, metadata })
}
