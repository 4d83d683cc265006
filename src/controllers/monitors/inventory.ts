// One pass over the pull requests of a repository: what is there, what is reviewed, what is left and why.
import type { PullRequest } from '../../ports/codehost/code-host.ts'
import type { ItemState, MonitorRun } from '../../ports/monitors/monitors.ts'
import { findSkipReason, type SkipReason, satisfiedReasons } from '../../rules/monitors/selection.ts'
import { stopReview } from './review-tasks.ts'
import { type MonitorWork, recordItemEvent, saveItem } from './settings.ts'

export type PassCounts = { selected: number; skipped: number }

type Found = { pullRequests: PullRequest[]; problem?: string }

/** Why a pull request that was asked for by number is no candidate. */
function findTargetProblem(pullRequest: PullRequest, branch: string, run: MonitorRun): string | undefined {
  if (pullRequest.state !== 'open') return 'not_open'
  if (pullRequest.base.branch !== branch) return 'other_base_branch'
  const isOther = run.targetSHA !== undefined && pullRequest.head.commit !== run.targetSHA
  return isOther ? 'head_sha_mismatch' : undefined
}

async function findPullRequests({ host, branch }: MonitorWork, run: MonitorRun): Promise<Found> {
  if (run.targetNumber === undefined) {
    const listed = await host.listPullRequests({ base: branch })
    const pullRequests = listed.filter(({ base }) => base.branch === branch)
    return { pullRequests: pullRequests.toSorted((one, other) => one.number - other.number) }
  }
  const pullRequest = await host.getPullRequest(run.targetNumber)
  const problem = findTargetProblem(pullRequest, branch, run)
  return problem === undefined ? { pullRequests: [pullRequest] } : { pullRequests: [], problem }
}

function describe(pullRequest: PullRequest, before: ItemState | undefined, now: string): ItemState {
  const { number, title, author, url, labels, draft, base, head } = pullRequest
  const mergeable = 'mergeable' in pullRequest ? pullRequest.mergeable : undefined
  return {
    ...before,
    kind: 'pull_request',
    itemKey: String(number),
    number,
    title,
    author,
    url,
    labels,
    draft,
    state: 'open',
    baseBranch: base.branch,
    baseSHA: base.commit,
    headBranch: head.branch,
    headSHA: head.commit,
    ciState: before?.ciState ?? 'unknown',
    ...(typeof mergeable === 'boolean' && { mergeableState: mergeable ? 'mergeable' : 'conflicting' }),
    updatedAt: before?.updatedAt ?? now,
    lastSeenAt: now,
  }
}

/** When the newest review that counts was made of this head. */
async function findReviewTime({ deps, key }: MonitorWork, item: ItemState): Promise<string | undefined> {
  if (item.lastReviewedHeadSHA !== item.headSHA) return undefined
  const reviews = await deps.records.monitors.listReviews(key, { number: item.number, limit: 20 })
  return reviews.find(({ headSHA, reason }) => headSHA === item.headSHA && reason === undefined)?.createdAt
}

async function judge(work: MonitorWork, item: ItemState, run: MonitorRun, selected: number) {
  const { deps, monitor } = work
  const { draft = false, labels, headSHA = '', progress, lastReviewedHeadSHA, retryAt } = item
  const isOwnRequest = run.trigger !== 'schedule'
  return findSkipReason({
    candidate: { draft, labels, headSHA },
    known: {
      pendingSHA: progress === undefined ? undefined : headSHA,
      lastReviewedHeadSHA,
      reviewedAt: await findReviewTime(work, item),
      retryAt: isOwnRequest ? undefined : retryAt,
    },
    rules: monitor.spec,
    now: deps.clock.now(),
    selected,
  })
}

/** The last verdict stays (MON-074). A pull request whose review stands is not called skipped. */
async function skip(work: MonitorWork, item: ItemState, reason: SkipReason, run: MonitorRun): Promise<void> {
  const { skipReason: before, ...rest } = item
  const isSatisfied = satisfiedReasons.includes(reason)
  await work.deps.records.monitors.putItem(work.key, isSatisfied ? rest : { ...rest, skipReason: reason })
  if (isSatisfied || before === reason) return
  const summary = `pull request ${item.number} is not reviewed: ${reason}`
  await recordItemEvent(work, item, {
    runID: run.id,
    eventType: 'item_skipped',
    summary,
    metadata: { reason, labels: item.labels },
  })
}

async function select(work: MonitorWork, item: ItemState, run: MonitorRun): Promise<void> {
  const { skipReason: _skipReason, retryAt: _retryAt, publishRetryAt: _publishRetryAt, ...rest } = item
  const isTargeted = run.targetNumber !== undefined
  await saveItem(work, {
    ...rest,
    lastVerdict: 'queued',
    progress: { runID: run.id, isTargeted, stage: 'validating' },
  })
  const summary = `pull request ${item.number} is to be reviewed at ${item.headSHA}`
  await recordItemEvent(work, item, { runID: run.id, eventType: 'item_selected', summary })
}

/** A review of a commit that is no longer the head is of no use. */
async function dropOvertaken(
  work: MonitorWork,
  before: ItemState | undefined,
  headSHA: string,
): Promise<ItemState | undefined> {
  if (before?.progress === undefined || before.headSHA === headSHA) return before
  return { ...(await stopReview(work, before)), lastVerdict: 'stale' }
}

async function look(work: MonitorWork, pullRequest: PullRequest, run: MonitorRun, counts: PassCounts): Promise<void> {
  const { deps, key } = work
  const known = await deps.records.monitors.getItem(key, pullRequest.number)
  const before = await dropOvertaken(work, known, pullRequest.head.commit)
  const item = describe(pullRequest, before, deps.clock.now().toISOString())
  const reason = await judge(work, item, run, counts.selected)
  // Chosen by this run before it was interrupted.
  if (reason === 'review_pending' && item.progress?.runID === run.id) {
    await deps.records.monitors.putItem(key, item)
    counts.selected += 1
  } else if (reason === undefined) {
    await select(work, item, run)
    counts.selected += 1
  } else {
    await skip(work, item, reason, run)
    counts.skipped += 1
  }
}

/** What a whole pass has not seen is closed, merged, or made against another branch now. */
async function retireUnseen(work: MonitorWork, run: MonitorRun, since: string): Promise<void> {
  const reason = 'not_open_or_base_branch_changed'
  for (const item of await work.deps.records.monitors.listUnseen(work.key, since)) {
    const { publishRetryAt: _publishRetryAt, ...rest } = await stopReview(work, item)
    const verdict = item.lastVerdict === 'queued' ? { lastVerdict: 'skipped' as const } : {}
    await saveItem(work, { ...rest, ...verdict, state: 'out_of_scope', skipReason: reason })
    const summary = `pull request ${item.number} is no longer looked at`
    await recordItemEvent(work, item, {
      runID: run.id,
      eventType: 'item_retired',
      summary,
      metadata: { reason, state: 'out_of_scope' },
    })
  }
}

/** Rejects with the faults of the code host; doing it again goes on where it was. */
export async function passOver(work: MonitorWork, run: MonitorRun): Promise<PassCounts> {
  const counts: PassCounts = { selected: 0, skipped: 0 }
  const since = work.deps.clock.now().toISOString()
  const { pullRequests, problem } = await findPullRequests(work, run)
  if (problem !== undefined) {
    const metadata = { reason: problem, number: run.targetNumber }
    const summary = `pull request ${run.targetNumber} was not looked at: ${problem}`
    await work.deps.records.monitors.append(work.key, {
      runID: run.id,
      eventType: 'inventory_skipped',
      actor: 'controller',
      summary,
      metadata,
    })
  }
  for (const pullRequest of pullRequests) await look(work, pullRequest, run, counts)
  if (run.targetNumber === undefined) await retireUnseen(work, run, since)
  return counts
}
