// Reviews and publishings that are under way: each is advanced, and what keeps one keeps no other.
import type { ItemVerdict, MonitorReviewRecord } from '../../contract/api/monitors/monitor-records.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { messageOf } from '../../errors.ts'
import { delayMs } from '../../lib/backoff.ts'
import { readResultText } from '../../lookup/result-text.ts'
import { isCodeHostError } from '../../ports/codehost/code-host.ts'
import type { ItemState } from '../../ports/monitors/monitors.ts'
import { readDiffLines } from '../../rules/monitors/diff-lines.ts'
import { recognizeFindings } from '../../rules/monitors/known-findings.ts'
import { reviewBackoff } from '../../rules/monitors/selection.ts'
import { type ReviewerAnswer, readVerdict } from '../../rules/monitors/verdict.ts'
import { formatKey } from '../engine/controller.ts'
import { publishReview } from './publish.ts'
import { advanceReview, isUnderWay, readChange, stopReview, type UnderWay } from './review-tasks.ts'
import { type MonitorWork, recordItemEvent, saveItem } from './settings.ts'

type Review = Omit<MonitorReviewRecord, 'monitorNamespace' | 'monitorName'>

const maxResultLength = 1024 * 1024

function reviewIdOf(task: Task): string {
  return `monreview-${task.metadata.uid}`
}

function startReview(
  work: MonitorWork,
  item: UnderWay,
  task: Task,
): Omit<Review, 'verdict' | 'securityStatus' | 'summary'> {
  return {
    id: reviewIdOf(task),
    kind: 'pull_request',
    number: item.number,
    headSHA: item.headSHA,
    runID: item.progress.runID,
    taskName: task.metadata.name,
    findings: [],
    validation: item.progress.validation ?? { status: 'not_run', commands: [] },
    createdAt: work.deps.clock.now().toISOString(),
  }
}

type Rejection = { verdict: 'failed' | 'stale'; reason: string; summary: string }

/** A review that counts for nothing is kept with its reason; the same head is reviewed again, each time later. */
async function reject(work: MonitorWork, item: UnderWay, task: Task, rejection: Rejection): Promise<ItemState> {
  const { verdict, reason, summary } = rejection
  const review: Review = { ...startReview(work, item, task), verdict, reason, summary, securityStatus: 'unknown' }
  await work.deps.records.monitors.addReview(work.key, review, [])
  const { progress: _progress, lastReviewedHeadSHA: _reviewed, ...rest } = item
  const failures = verdict === 'failed' ? (item.failures ?? 0) + 1 : 0
  const { clock, ids } = work.deps
  const waitMs = delayMs(reviewBackoff, failures, ids.random())
  const retryAt = new Date(clock.now().getTime() + waitMs).toISOString()
  const retry = failures === 0 ? {} : { failures, retryAt }
  const saved = await saveItem(work, { ...rest, lastVerdict: verdict, lastReviewID: review.id, ...retry })
  await recordItemEvent(work, item, {
    runID: item.progress.runID,
    eventType: 'review_result_rejected',
    summary,
    metadata: { reviewID: review.id, taskName: task.metadata.name, verdict, reason },
  })
  return saved
}

/** Failed checks speak against a commit that the reviewer found nothing wrong with. */
function weigh({ verdict }: ReviewerAnswer, { validation }: Pick<Review, 'validation'>): ItemVerdict {
  return verdict === 'passed' && validation.status === 'failed' ? 'needs_changes' : verdict
}

type Accepted = { answer: ReviewerAnswer; diff: string }

async function accept(work: MonitorWork, item: UnderWay, task: Task, { answer, diff }: Accepted): Promise<ItemState> {
  const { monitors } = work.deps.records
  const known = await monitors.listFindings(work.key, item.number)
  const recognized = recognizeFindings(answer.findings, { number: item.number, lines: readDiffLines(diff), known })
  const started = startReview(work, item, task)
  const verdict = weigh(answer, started)
  const review: Review = {
    ...started,
    verdict,
    confidence: answer.confidence,
    repairable: answer.repairable,
    securityStatus: answer.security.status,
    summary: answer.summary,
    ...(answer.suggestedComment != null && { suggestedComment: answer.suggestedComment }),
    findings: recognized.map(({ finding }) => finding),
  }
  const found = recognized.map(({ finding: { id, priority, file, title }, anchor }) => {
    return { id, priority, title, number: item.number, ...(file && { file }), ...(anchor && { anchor }) }
  })
  await monitors.addReview(work.key, review, found)
  const { progress: _progress, failures: _failures, retryAt: _retryAt, lastReviewedHeadSHA: _last, ...rest } = item
  const counts = verdict === 'skipped' ? {} : { lastReviewedHeadSHA: item.headSHA }
  // Published in the next step, which is done again when the service ends before it.
  const due = work.deps.clock.now().toISOString()
  const saved = { ...rest, ...counts, lastVerdict: verdict, lastReviewID: review.id, publishRetryAt: due }
  await recordItemEvent(work, item, {
    runID: item.progress.runID,
    eventType: 'review_result_ingested',
    summary: `pull request ${item.number} was reviewed: ${verdict}`,
    metadata: {
      reviewID: review.id,
      taskName: task.metadata.name,
      verdict,
      headSHA: item.headSHA,
      confidence: answer.confidence,
    },
  })
  return saveItem(work, saved)
}

const endings = { Failed: 'review_task_failed', Cancelled: 'review_task_cancelled' } as const

/** Rejects with the faults of the code host. */
async function saveReview(work: MonitorWork, item: UnderWay, task: Task): Promise<ItemState> {
  const { phase, message } = task.status ?? {}
  if (phase === 'Failed' || phase === 'Cancelled') {
    const summary = `the task of the reviewer ended as ${phase}: ${message ?? 'it says no more'}`
    return reject(work, item, task, { verdict: 'failed', reason: endings[phase], summary })
  }
  const result = await readResultText(work.deps.records.results, { taskUid: task.metadata.uid }, maxResultLength)
  if (result === undefined) {
    const summary = 'the task of the reviewer left no result'
    return reject(work, item, task, { verdict: 'failed', reason: 'review_result_missing', summary })
  }
  const change = await readChange(work, item.number, item.headSHA)
  if (change === undefined) {
    const summary = `the head has moved since ${item.headSHA} was given to the reviewer`
    return reject(work, item, task, { verdict: 'stale', reason: 'stale_head_sha', summary })
  }
  const subject = {
    repo: `${work.repository.owner}/${work.repository.name}`,
    number: item.number,
    headSHA: item.headSHA,
  }
  const read = readVerdict(result, subject, readDiffLines(change.diff))
  if ('verdict' in read) return accept(work, item, task, { answer: read.verdict, diff: change.diff })
  return reject(work, item, task, { verdict: 'failed', reason: 'review_result_malformed', summary: read.problem })
}

async function drop(work: MonitorWork, item: UnderWay): Promise<ItemState> {
  const { runID } = item.progress
  const rest = await stopReview(work, item)
  const summary = `the head of pull request ${item.number} has moved; the review of ${item.headSHA} counts for nothing`
  const metadata = { reason: 'stale_head_sha', verdict: 'stale' }
  await recordItemEvent(work, item, { runID, eventType: 'review_result_rejected', summary, metadata })
  return saveItem(work, { ...rest, lastVerdict: 'stale' })
}

async function advanceItem(work: MonitorWork, item: ItemState): Promise<ItemState> {
  if (!isUnderWay(item)) return item
  const step = await advanceReview(work, item)
  if (step === 'waiting') return item
  if (step === 'overtaken') return drop(work, item)
  const now = await work.deps.records.monitors.getItem(work.key, item.number)
  return saveReview(work, now !== undefined && isUnderWay(now) ? now : item, step.ended)
}

function isPublishingDue({ deps }: MonitorWork, { progress, publishRetryAt, state }: ItemState): boolean {
  if (progress !== undefined || state !== 'open' || publishRetryAt === undefined) return false
  return publishRetryAt <= deps.clock.now().toISOString()
}

/** `retry`: look again soon. */
type Advance = { heldUpUntil?: string | undefined; retry: boolean }

/** What keeps one pull request keeps no other. */
async function excuse(work: MonitorWork, item: ItemState, error: unknown): Promise<Advance> {
  if (isCodeHostError(error, 'HeldUp')) return { retry: true, heldUpUntil: error.heldUpUntil }
  if (isCodeHostError(error, 'NotFound')) await abandon(work, item, { reason: 'not_found', verdict: 'failed', error })
  if (isCodeHostError(error, 'TooLarge'))
    await abandon(work, item, { reason: 'change_too_large', verdict: 'needs_human', error })
  const about = { monitor: formatKey(work.key), number: item.number, error: messageOf(error) }
  work.deps.log.warn(about, 'a review is tried again')
  return { retry: true }
}

async function advanceOne(work: MonitorWork, found: ItemState): Promise<Advance> {
  try {
    const item = await advanceItem(work, found)
    const after = isPublishingDue(work, item) ? await publishReview(work, item) : item
    return { retry: after.publishRetryAt !== undefined }
  } catch (error) {
    return excuse(work, found, error)
  }
}

/** One after the other, until the code host takes no more requests. */
export async function advanceAll(work: MonitorWork): Promise<Advance> {
  let retry = false
  for (const found of await work.deps.records.monitors.listUnderWay(work.key)) {
    const further = await advanceOne(work, found)
    if (further.heldUpUntil !== undefined) return further
    retry ||= further.retry
  }
  return { retry }
}

type Resignation = { reason: string; verdict: 'failed' | 'needs_human'; error: Error }

/** The pull request is gone, or more than can be reviewed: this head is not tried again. */
async function abandon(work: MonitorWork, item: ItemState, { reason, verdict, error }: Resignation): Promise<void> {
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
  await recordItemEvent(work, item, { eventType: 'review_result_rejected', summary: error.message, metadata })
}
