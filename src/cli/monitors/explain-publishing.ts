// Whether a review was posted at the code host, and if not why, and what to do.

import { typed } from '../../client/typed.ts'
import type { MonitorItem } from '../../contract/api/monitors/monitor-records.ts'
import type { PublishSkip } from '../../rules/monitors/publish.ts'
import { quote, type Story, type Told } from './story.ts'

type Teller = (name: string) => Told

const later = 'it is posted once that has changed, while the commit is the head'

const skips: Record<PublishSkip, Teller> = {
  publish_disabled: (name) => ({
    what: 'It was not posted, because the monitor posts nothing',
    todo: `${typed(`monitor update ${name} --publish inline`)}; reviews from then on are posted`,
  }),
  verdict_not_configured: (name) => ({
    what: 'It was not posted, because reviews with this verdict are not to be',
    todo: `change spec.review.publish: ${typed(`monitor edit ${name}`)}`,
  }),
  security_sensitive_not_public: () => ({
    what: 'It was not posted, because it concerns security, which is not told in public',
  }),
  missing_git_secret: (name) => ({
    what: 'It was not posted, because the monitor has no login for the code host',
    todo: typed(`monitor update ${name} --secret SECRET`),
  }),
  invalid_review_result: () => ({ what: 'There is nothing in it to post' }),
  pr_closed: () => ({ what: 'It was not posted, because the pull request was closed by then' }),
  head_sha_changed: () => ({ what: 'It was not posted, because the head had moved by then' }),
  base_branch_mismatch: () => ({ what: `The base branch is another one by now; ${later}` }),
  draft_pr: () => ({ what: `The pull request is a draft again; ${later}` }),
  blocked_label: () => ({ what: `The pull request has a label that spec.policy names by now; ${later}` }),
  nothing_new: () => ({ what: 'It was not posted, because each finding was shown before' }),
  duplicate_same_head: () => ({ what: 'It was not posted, because a review of this commit was posted before' }),
  body_too_large: () => ({ what: 'It was not posted, because it is longer than the code host takes' }),
}

function tellFailure(item: MonitorItem, { events }: Story): Told {
  const failed = events.find(({ eventType }) => eventType === 'review_publish_failed')
  const error = failed?.metadata?.error
  const why = quote(typeof error === 'string' ? error : (item.lastPublishReason ?? 'it does not say why'))
  const todo =
    item.lastPublishReason === 'codehost_permission_denied'
      ? 'give the login of spec.gitSecretRef the right pull_requests=write, then push again'
      : 'nothing where the code host was away: it is tried again every five minutes'
  return { what: `The code host refused to take it: ${why}.`, todo }
}

export function explainPublishing(item: MonitorItem, story: Story): Told {
  const { lastPublishPhase: phase, lastPublishReason: reason, lastPublishURL: url } = item
  if (phase === undefined) return { what: 'It has not been posted yet.' }
  if (phase === 'started') return { what: 'Whether it was posted is being found out.' }
  if (phase === 'succeeded') return { what: `It is posted${url === undefined ? '' : ` at ${url}`}.` }
  if (phase === 'failed') return tellFailure(item, story)
  const told = skips[reason as PublishSkip]?.(story.monitor.metadata.name)
  return told === undefined ? { what: `It was not posted: ${reason}.` } : { ...told, what: `${told.what}.` }
}
