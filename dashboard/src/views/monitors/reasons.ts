// Why a pull request is not reviewed, and why a review was not posted: what to do about it on these pages.

/** By the words that the service records. */
const skips: Record<string, string> = {
  draft: 'It is a draft. Mark it as ready for review, or include drafts in targets.pullRequests.',
  missing_head_sha: 'The code host names no commit as its head. Push to it again.',
  blocked_label: 'It has a label that spec.policy names. Take the label off, or change the policy.',
  review_failed_recently: 'Its last review failed, and the next try comes later. “Review now” does not wait.',
  over_limit:
    'A run has only so many reviewed (targets.pullRequests.maxPerRun). “Review now” does not wait for the next run.',
  already_reviewed: 'This commit has been reviewed. It is reviewed again when something is pushed.',
  review_pending: 'It is being reviewed.',
}

const publishing: Record<string, string> = {
  publish_disabled:
    'The monitor posts nothing by itself. “Post review” posts this one, and review.publish.enabled the next ones.',
  verdict_not_configured:
    'Reviews with this verdict are not posted by themselves (review.publish). “Post review” posts this one.',
  security_sensitive_not_public:
    'It concerns security, and such reviews are not to be posted (review.publish.postSecuritySensitive).',
  missing_git_secret: 'The monitor has no login for the code host. Set gitSecretRef.',
  invalid_review_result: 'What the reviewer answered could not be used.',
  pr_closed: 'The pull request was closed meanwhile.',
  head_sha_changed: 'Something was pushed meanwhile; the new commit is reviewed next.',
  base_branch_mismatch: 'It is made against another branch now.',
  draft_pr: 'It is a draft now.',
  blocked_label: 'It has a label now that spec.policy names.',
}

export function explainSkip(reason: string): string {
  return skips[reason] ?? `It is not reviewed: ${reason}`
}

export function explainPublishing(reason: string): string {
  return publishing[reason] ?? reason
}
