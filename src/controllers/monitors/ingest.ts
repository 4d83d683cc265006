// What became of a reviewer's task: a review that counts, or the reason why there is none.

import type { ItemVerdict, MonitorReviewRecord } from '../../contract/api/monitors/monitor-records.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { readResultText } from '../../lookup/result-text.ts'
import type { ItemState } from '../../ports/monitors/monitor-records.ts'
import { readDiffLines } from '../../rules/monitors/diff-lines.ts'
import { recognizeFindings } from '../../rules/monitors/known-findings.ts'
import { retryDelayMs } from '../../rules/monitors/selection.ts'
import { readVerdict, type Verdict } from '../../rules/monitors/verdict.ts'
import { readChange } from './change.ts'
import type { UnderWay } from './review-tasks.ts'
import { type MonitorWork, saveItem, tellItem } from './settings.ts'

type Review = Omit<MonitorReviewRecord, 'monitorNamespace' | 'monitorName'>

const longestResult = 1024 * 1024

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
  const retryAt = new Date(work.deps.clock.now().getTime() + retryDelayMs(failures)).toISOString()
  const retry = failures === 0 ? {} : { failures, retryAt }
  const saved = await saveItem(work, { ...rest, lastVerdict: verdict, lastReviewID: review.id, ...retry })
  await tellItem(work, item, {
    runID: item.progress.runID,
    eventType: 'review_result_rejected',
    summary,
    metadata: { reviewID: review.id, taskName: task.metadata.name, verdict, reason },
  })
  return saved
}

/** Failed checks speak against a commit that the reviewer found nothing wrong with. */
function weigh({ verdict }: Verdict, { validation }: Pick<Review, 'validation'>): ItemVerdict {
  return verdict === 'passed' && validation.status === 'failed' ? 'needs_changes' : verdict
}

type Accepted = { given: Verdict; diff: string }

async function accept(work: MonitorWork, item: UnderWay, task: Task, { given, diff }: Accepted): Promise<ItemState> {
  const { monitors } = work.deps.records
  const known = await monitors.listFindings(work.key, item.number)
  const placed = recognizeFindings(given.findings, { number: item.number, lines: readDiffLines(diff), known })
  const started = startReview(work, item, task)
  const verdict = weigh(given, started)
  const review: Review = {
    ...started,
    verdict,
    confidence: given.confidence,
    repairable: given.repairable,
    securityStatus: given.security.status,
    summary: given.summary,
    ...(given.suggestedComment != null && { suggestedComment: given.suggestedComment }),
    findings: placed.map(({ finding }) => finding),
  }
  const found = placed.map(({ finding: { id, priority, file, title }, anchor }) => {
    return { id, priority, title, number: item.number, ...(file && { file }), ...(anchor && { anchor }) }
  })
  await monitors.addReview(work.key, review, found)
  const { progress: _progress, failures: _failures, retryAt: _retryAt, lastReviewedHeadSHA: _last, ...rest } = item
  const counts = verdict === 'skipped' ? {} : { lastReviewedHeadSHA: item.headSHA }
  // Published in the next step, which is done again when the service ends before it.
  const due = work.deps.clock.now().toISOString()
  const saved = { ...rest, ...counts, lastVerdict: verdict, lastReviewID: review.id, publishRetryAt: due }
  await tellItem(work, item, {
    runID: item.progress.runID,
    eventType: 'review_result_ingested',
    summary: `pull request ${item.number} was reviewed: ${verdict}`,
    metadata: {
      reviewID: review.id,
      taskName: task.metadata.name,
      verdict,
      headSHA: item.headSHA,
      confidence: given.confidence,
    },
  })
  return saveItem(work, saved)
}

const endings = { Failed: 'review_task_failed', Cancelled: 'review_task_cancelled' } as const

/** Rejects with the faults of the code host. */
export async function ingestReview(work: MonitorWork, item: UnderWay, task: Task): Promise<ItemState> {
  const { phase, message } = task.status ?? {}
  if (phase === 'Failed' || phase === 'Cancelled') {
    const summary = `the task of the reviewer ended as ${phase}: ${message ?? 'it says no more'}`
    return reject(work, item, task, { verdict: 'failed', reason: endings[phase], summary })
  }
  const result = await readResultText(work.deps.records.results, { taskUid: task.metadata.uid }, longestResult)
  if (result === undefined) {
    const summary = 'the task of the reviewer left no result'
    return reject(work, item, task, { verdict: 'failed', reason: 'review_result_missing', summary })
  }
  const change = await readChange(work, item.number, item.headSHA)
  if (change === undefined) {
    const summary = `the head has moved since ${item.headSHA} was given to the reviewer`
    return reject(work, item, task, { verdict: 'stale', reason: 'stale_head_sha', summary })
  }
  const asked = { repo: `${work.repository.owner}/${work.repository.name}`, number: item.number, headSHA: item.headSHA }
  const read = readVerdict(result, asked, readDiffLines(change.diff))
  if ('verdict' in read) return accept(work, item, task, { given: read.verdict, diff: change.diff })
  return reject(work, item, task, { verdict: 'failed', reason: 'review_result_malformed', summary: read.problem })
}
