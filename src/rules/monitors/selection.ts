// Which open pull requests a run sends to the reviewer, and why it leaves the others.
import type { RepositoryMonitorSpec } from '../../contract/kinds/monitors/repository-monitor.ts'
import { tryParseDuration } from '../../contract/values/duration.ts'
import type { Backoff } from '../../lib/backoff.ts'

export const skipReasons = [
  'draft',
  'missing_head_sha',
  'blocked_label',
  'review_pending',
  'already_reviewed',
  'review_failed_recently',
  'over_limit',
] as const
/** Why a pull request is left out, in the order in which reasons are looked for. */
export type SkipReason = (typeof skipReasons)[number]

/** Reasons that say nothing against the pull request: its review stands, or is under way. */
export const satisfiedReasons: readonly SkipReason[] = ['review_pending', 'already_reviewed']

export type ReviewCandidate = { draft: boolean; labels: readonly string[]; headSHA: string }

export type KnownItem = {
  /** The commit whose review is under way. */
  pendingSHA?: string | undefined
  lastReviewedHeadSHA?: string | undefined
  /** When the newest review that counts was made of this head. */
  reviewedAt?: string | undefined
  /** Before that, a review that failed is not tried again by itself. */
  retryAt?: string | undefined
}

export type SelectionRules = Pick<RepositoryMonitorSpec, 'targets' | 'review' | 'policy'>

/** The labels of a pull request that the policy names; upper and lower case are the same. */
export function findBlockingLabels(labels: readonly string[], policy: RepositoryMonitorSpec['policy']): string[] {
  const named = [...(policy?.protectedLabels ?? []), ...(policy?.pauseLabels ?? [])].map((label) => label.toLowerCase())
  return labels.filter((label) => named.includes(label.toLowerCase()))
}

function isReviewFresh({ reviewedAt }: KnownItem, { review }: SelectionRules, now: Date): boolean {
  const ttlMs = tryParseDuration(review.staleReviewTTL ?? '') ?? 0
  if (ttlMs === 0) return true
  return reviewedAt !== undefined && now.getTime() - Date.parse(reviewedAt) < ttlMs
}

type Question = { candidate: ReviewCandidate; known: KnownItem; rules: SelectionRules; now: Date; selected: number }

const tests: Record<SkipReason, (question: Question) => boolean> = {
  draft: ({ candidate, rules }) => candidate.draft && !rules.targets.pullRequests.includeDrafts,
  missing_head_sha: ({ candidate }) => candidate.headSHA === '',
  blocked_label: ({ candidate, rules }) => findBlockingLabels(candidate.labels, rules.policy).length > 0,
  review_pending: ({ candidate, known }) => known.pendingSHA === candidate.headSHA,
  already_reviewed: ({ candidate, known, rules, now }) =>
    known.lastReviewedHeadSHA === candidate.headSHA && isReviewFresh(known, rules, now),
  review_failed_recently: ({ known, now }) => known.retryAt !== undefined && now.toISOString() < known.retryAt,
  over_limit: ({ rules, selected }) => selected >= rules.targets.pullRequests.maxPerRun,
}

/** Why the pull request is not reviewed now; undefined: it is. `selected`: how many the run has chosen before it. */
export function findSkipReason(question: Question): SkipReason | undefined {
  return skipReasons.find((reason) => tests[reason](question))
}

/** When a head whose review has failed is tried again. */
export const reviewBackoff: Backoff = { firstMs: 600_000, maxMs: 86_400_000 }
