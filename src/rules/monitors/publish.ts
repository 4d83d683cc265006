// Whether a review is published, and what of it.
import type { MonitorFinding, MonitorReviewRecord, Priority } from '../../contract/api/monitors/monitor-records.ts'
import { priorities } from '../../contract/api/monitors/monitor-records.ts'
import type { MonitorPublish, RepositoryMonitorSpec } from '../../contract/kinds/monitors/repository-monitor.ts'
import { findBlockingLabels } from './selection.ts'

export type PublishSkip =
  | 'publish_disabled'
  | 'invalid_review_result'
  | 'verdict_not_configured'
  | 'security_sensitive_not_public'
  | 'missing_git_secret'
  | 'pr_closed'
  | 'head_sha_changed'
  | 'base_branch_mismatch'
  | 'draft_pr'
  | 'blocked_label'
  | 'nothing_new'
  | 'duplicate_same_head'
  | 'body_too_large'

/** Reasons that may pass: the review is published later, while its commit is still the head. */
export const passingReasons: readonly PublishSkip[] = [
  'missing_git_secret',
  'pr_closed',
  'base_branch_mismatch',
  'draft_pr',
  'blocked_label',
]

export type PublishState = {
  open: boolean
  draft: boolean
  labels: readonly string[]
  headSHA: string
  baseBranch: string
}

type Reviewed = Pick<MonitorReviewRecord, 'verdict' | 'headSHA' | 'findings'>

const switches: Partial<Record<string, (publish: MonitorPublish) => boolean>> = {
  passed: ({ postPassed }) => postPassed,
  needs_changes: ({ postNeedsChanges }) => postNeedsChanges,
  needs_human: ({ postNeedsHuman }) => postNeedsHuman,
  security_sensitive: ({ postSecuritySensitive }) => postSecuritySensitive,
}

/** What can be told from the review and the settings alone. */
export function findReviewSkip(
  { verdict, findings }: Reviewed,
  spec: Pick<RepositoryMonitorSpec, 'review' | 'gitSecretRef'>,
  hasPublished: boolean,
): PublishSkip | undefined {
  const { publish } = spec.review
  if (!publish?.enabled) return 'publish_disabled'
  const isWanted = switches[verdict]
  if (isWanted === undefined) return 'invalid_review_result'
  if (!isWanted(publish))
    return verdict === 'security_sensitive' ? 'security_sensitive_not_public' : 'verdict_not_configured'
  if (spec.gitSecretRef === undefined) return 'missing_git_secret'
  // What was said of an earlier commit is not said again; that there is nothing any more is worth a word.
  const isRepetition = findings.length > 0 && findings.every(({ state }) => state !== 'new')
  return hasPublished && isRepetition ? 'nothing_new' : undefined
}

/** What the pull request as it is now says against it. */
export function findStateSkip(
  state: PublishState,
  { headSHA }: Pick<Reviewed, 'headSHA'>,
  { branch, rules }: { branch: string; rules: Pick<RepositoryMonitorSpec, 'targets' | 'policy'> },
): PublishSkip | undefined {
  if (!state.open) return 'pr_closed'
  if (state.headSHA !== headSHA) return 'head_sha_changed'
  if (state.baseBranch !== branch) return 'base_branch_mismatch'
  if (state.draft && !rules.targets.pullRequests.includeDrafts) return 'draft_pr'
  return findBlockingLabels(state.labels, rules.policy).length > 0 ? 'blocked_label' : undefined
}

function isAtLeast(priority: Priority, least: Priority): boolean {
  return priorities.indexOf(priority) <= priorities.indexOf(least)
}

/** The new findings that become comments at added lines, most urgent first. */
export function chooseInline(
  findings: readonly MonitorFinding[],
  publish: MonitorPublish,
  isAdded: (file: string, line: number) => boolean,
): MonitorFinding[] {
  const { inline, mode } = publish
  if (mode !== 'summary_with_inline_findings' || !inline?.enabled) return []
  return findings
    .filter(({ state, priority, file, line }) => {
      if (state !== 'new' || file === undefined || line === undefined) return false
      return isAtLeast(priority, inline.minPriority) && isAdded(file, line)
    })
    .toSorted((one, other) => priorities.indexOf(one.priority) - priorities.indexOf(other.priority))
    .slice(0, inline.maxComments)
}
