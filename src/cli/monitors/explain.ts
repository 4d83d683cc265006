// Why a pull request was not reviewed, or what came of its review, whether that was posted, and what to do: for people.
import { commandHint } from '../../client/command-hint.ts'
import type {
  MonitorEvent,
  MonitorItem,
  MonitorReviewRecord,
  MonitorRun,
} from '../../contract/api/monitors/monitor-records.ts'
import type { RepositoryMonitor } from '../../contract/kinds/monitors/repository-monitor.ts'
import type { PublishSkip } from '../../rules/monitors/publish.ts'
import { findBlockingLabels, type SkipReason } from '../../rules/monitors/selection.ts'

const shortSha = 10

const nameOf = ({ monitor }: Story): string => monitor.metadata.name
const headOf = (sha: string | undefined): string => (sha ?? 'an unknown commit').slice(0, shortSha)
const again = (story: Story): string =>
  `to review it now: ${commandHint(`monitor run ${nameOf(story)} --pr ${story.number}`)}`

/** Why the monitor does nothing at all. */
function explainMonitor(story: Story): Explanation | undefined {
  const { spec, status } = story.monitor
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  if (spec.suspend) {
    return {
      what: 'The monitor is suspended and starts no runs by itself.',
      todo: commandHint(`monitor update ${nameOf(story)} --suspend off`),
    }
  }
  if (ready?.status === 'False') {
    const look = `change what is wrong, then ${commandHint(`monitor run ${nameOf(story)}`)}`
    return {
      what: `The monitor cannot work: ${quoteLine(ready.message ?? ready.reason ?? 'it does not say why')}.`,
      todo: look,
    }
  }
  const until = status?.heldUpUntil
  if (until === undefined) return undefined
  return {
    what: `The code host takes no more requests until ${until}; the monitor goes on by itself then.`,
    todo: 'wait; a GitHub App has a larger quota than the token of a person',
  }
}

const unseenReasons: Record<string, string> = {
  not_open: 'it is closed or merged',
  other_base_branch: 'it is made against another branch than the one that is monitored',
  head_sha_mismatch: 'its head was another commit than the run was asked for',
}

/** Looking again would end as it did. */
function explainFailedRun({ number, monitor }: Story, { error = 'it does not say why' }: MonitorRun): Explanation {
  const { owner, repository } = monitor.spec
  return {
    what: `A run looked for pull request ${number}, and failed: ${quoteLine(error)}.`,
    todo: `check the number: it must be that of an open pull request of ${owner}/${repository}, not of an issue`,
  }
}

/** Nothing is known of the pull request. */
function explainUnseen(story: Story): Explanation {
  const reason = story.events.find(({ eventType }) => eventType === 'inventory_skipped')?.metadata?.reason
  const known = unseenReasons[String(reason)]
  if (known !== undefined) return { what: `Pull request ${story.number} was not looked at: ${known}.` }
  const found = explainMonitor(story)
  if (found !== undefined) return { ...found, what: `Pull request ${story.number} was never looked at. ${found.what}` }
  if (story.run?.phase === 'failed') return explainFailedRun(story, story.run)
  if (story.run?.phase === 'queued' || story.run?.phase === 'running')
    return { what: `Pull request ${story.number} is being looked for right now.`, todo: 'wait a moment, and ask again' }
  const { spec, status } = story.monitor
  const branch = spec.branch ?? status?.branch
  const against = branch === undefined ? 'the monitored branch' : `the branch ${branch}`
  const since =
    status?.lastRunTime === undefined ? 'no run has looked yet' : `the last run looked at ${status.lastRunTime}`
  return {
    what: `Pull request ${story.number} was never seen open against ${against}: ${since}.`,
    todo: again(story),
  }
}

type SkipExplainer = (story: Story, item: MonitorItem) => Explanation

function explainLabels(story: Story, { labels }: MonitorItem): Explanation {
  const named = findBlockingLabels(labels, story.monitor.spec.policy)
  if (named.length === 0)
    return {
      what: 'was not reviewed because of a label, which nothing in spec.policy names by now',
      todo: again(story),
    }
  const which = `the label ${named.map((label) => `"${quoteLine(label)}"`).join(', ')}`
  const todo = `take the label off, or out of spec.policy: ${commandHint(`monitor edit ${nameOf(story)}`)}`
  return { what: `is not reviewed because it has ${which}, which spec.policy names`, todo }
}

const skips: Partial<Record<SkipReason, SkipExplainer>> = {
  draft: (story) => {
    if (story.monitor.spec.targets.pullRequests.includeDrafts)
      return { what: 'was not reviewed as a draft; the monitor reviews drafts by now', todo: again(story) }
    const todo = `mark it as ready for review, or ${commandHint(`monitor update ${nameOf(story)} --drafts on`)}`
    return { what: 'is not reviewed because it is a draft', todo }
  },
  missing_head_sha: () => ({
    what: 'is not reviewed because the code host names no commit as its head',
    todo: 'push to it again',
  }),
  blocked_label: explainLabels,
  review_failed_recently: (story) => {
    const cause = causeOf(story)
    return { what: `waits for its next try, because its last review failed${cause}`, todo: again(story) }
  },
  over_limit: (story) => {
    const { maxPerRun } = story.monitor.spec.targets.pullRequests
    const todo = `${again(story)}; for more of them in each run: ${commandHint(`monitor update ${nameOf(story)} --max-per-run COUNT`)}`
    return { what: `waits for a later run, because one run has at most ${maxPerRun} reviewed`, todo }
  },
}

function explainSkipped(story: Story, item: MonitorItem): Explanation {
  const explainer = skips[item.skipReason as SkipReason]
  const explained = explainer?.(story, item) ?? { what: `is not reviewed: ${quoteLine(item.skipReason ?? '')}` }
  const before = item.lastVerdict === undefined ? '' : ` Its last verdict was ${item.lastVerdict}.`
  return { ...explained, what: `Pull request ${story.number} ${explained.what}.${before}` }
}

/** `: why`, of the last review that came to nothing. */
function causeOf({ events, review }: Story): string {
  const rejected = events.find(({ eventType }) => eventType === 'review_result_rejected')
  const cause = rejected?.summary ?? review?.summary
  return cause === undefined ? '' : ` (${quoteLine(cause)})`
}

function explainQueued(story: Story, { headSHA, lastReviewID = '' }: MonitorItem): Explanation {
  const blocked = explainMonitor(story)
  const stage = `Pull request ${story.number} is being reviewed at ${headOf(headSHA)}.`
  if (blocked !== undefined) return { ...blocked, what: `${stage} ${blocked.what}` }
  const task = lastReviewID.startsWith('monrev-') ? lastReviewID : story.events.map(taskOf).find(Boolean)
  return { what: stage, todo: task === undefined ? 'wait' : `follow it: ${commandHint(`task logs ${task}`)}` }
}

function taskOf({ eventType, metadata }: MonitorEvent): string | undefined {
  return eventType === 'review_task_created' ? String(metadata?.taskName) : undefined
}

/** A review that was not used, or never came about. */
function isVoid({ lastVerdict }: MonitorItem, { events }: Story): boolean {
  if (lastVerdict === 'failed' || lastVerdict === 'stale') return true
  return events.find(({ eventType }) => eventType.startsWith('review_result_'))?.eventType === 'review_result_rejected'
}

function explainVoid(story: Story, { headSHA, lastVerdict }: MonitorItem): Explanation {
  const what = `The review of pull request ${story.number} at ${headOf(headSHA)} counts for nothing, verdict ${lastVerdict}${causeOf(story)}.`
  if (lastVerdict === 'needs_human') return { what, todo: 'it is for a person to review' }
  const log = story.review && `what the reviewer did: ${commandHint(`task logs ${story.review.taskName}`)}`
  return { what, todo: [again(story), log].filter(Boolean).join('; ') }
}

function explainReviewed(story: Story, item: MonitorItem): Explanation {
  const { lastVerdict, lastReviewedHeadSHA, headSHA } = item
  const count = story.review?.findings.length ?? 0
  const found = count === 0 ? '' : ` with ${count} ${count === 1 ? 'finding' : 'findings'}`
  const at = headOf(lastReviewedHeadSHA ?? story.review?.headSHA)
  const what = `Pull request ${story.number} was reviewed at ${at}: ${lastVerdict}${found}.`
  if (lastReviewedHeadSHA !== undefined && lastReviewedHeadSHA !== headSHA) {
    return { what: `${what} Its head is ${headOf(headSHA)} now, which the next run looks at.`, todo: again(story) }
  }
  const published = explainPublishing(item, story)
  const read = `read it: ${commandHint(`monitor reviews ${nameOf(story)} --pr ${story.number}`)}`
  return { what: `${what} ${published.what}`, todo: published.todo ?? read }
}

/** In one or two sentences; `todo` is what a person can do about it. */
export function explain(story: Story): Explanation {
  const { item } = story
  if (item === undefined) return explainUnseen(story)
  if (item.state !== 'open') {
    const verdict = item.lastVerdict === undefined ? '' : ` Its last verdict was ${item.lastVerdict}.`
    const what = `Pull request ${story.number} is no longer looked at: it is closed, merged, or made against another branch.${verdict}`
    return { what }
  }
  if (item.lastVerdict === 'queued') return explainQueued(story, item)
  if (item.skipReason !== undefined) return explainSkipped(story, item)
  if (item.lastVerdict === undefined) return explainUnseen(story)
  return isVoid(item, story) ? explainVoid(story, item) : explainReviewed(story, item)
}

type PublishExplainer = (story: Story) => Explanation

const post = ({ monitor, number }: Story): string => commandHint(`monitor post ${monitor.metadata.name} --pr ${number}`)

const later = 'it is posted once that has changed, while the commit is the head'

const publishSkips: Record<PublishSkip, PublishExplainer> = {
  publish_disabled: (story) =>
    story.monitor.spec.review.publish?.enabled
      ? { what: 'It was not posted: the monitor posts by now, and did not when it was made', todo: post(story) }
      : {
          what: 'It was not posted, because the monitor posts nothing',
          todo: `${post(story)}; to have later ones posted by themselves: ${commandHint(`monitor update ${nameOf(story)} --publish inline`)}`,
        },
  verdict_not_configured: (story) => ({
    what: 'It was not posted, because reviews with this verdict were not to be',
    todo: `${post(story)}; for later ones change spec.review.publish: ${commandHint(`monitor edit ${nameOf(story)}`)}`,
  }),
  security_sensitive_not_public: () => ({
    what: 'It was not posted, because it concerns security, which is not published',
  }),
  missing_git_secret: (story) =>
    story.monitor.spec.gitSecretRef === undefined
      ? {
          what: 'It was not posted, because the monitor has no login for the code host',
          todo: commandHint(`monitor update ${nameOf(story)} --secret SECRET`),
        }
      : { what: 'It was not posted for want of a login, which the monitor has by now: it is going to be posted' },
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

function explainFailure(item: MonitorItem, { events }: Story): Explanation {
  const failed = events.find(({ eventType }) => eventType === 'review_publish_failed')
  const error = failed?.metadata?.error
  const why = quoteLine(typeof error === 'string' ? error : (item.lastPublishReason ?? 'it does not say why'))
  const todo =
    item.lastPublishReason === 'codehost_permission_denied'
      ? 'give the login of spec.gitSecretRef the right pull_requests=write, then push again'
      : 'nothing where the code host was away: it is tried again every five minutes'
  return { what: `The code host refused to take it: ${why}.`, todo }
}

export function explainPublishing(item: MonitorItem, story: Story): Explanation {
  const { lastPublishPhase: phase, lastPublishReason: reason, lastPublishURL: url } = item
  if (phase === undefined) return { what: 'It has not been posted yet.' }
  if (phase === 'started') return { what: 'Whether it was posted is being found out.' }
  if (phase === 'succeeded') return { what: `It is posted${url === undefined ? '' : ` at ${url}`}.` }
  if (phase === 'failed') return explainFailure(item, story)
  const explained = publishSkips[reason as PublishSkip]?.(story)
  return explained === undefined
    ? { what: `It was not posted: ${reason}.` }
    : { ...explained, what: `${explained.what}.` }
}

/** What a monitor knows of one pull request; events are the newest first. */
export type Story = {
  monitor: RepositoryMonitor
  number: number
  item?: MonitorItem | undefined
  review?: MonitorReviewRecord | undefined
  events: readonly MonitorEvent[]
  /** The last run that was to look at a pull request of which nothing is known. */
  run?: MonitorRun | undefined
}

export type Explanation = { what: string; todo?: string | undefined }

const maxQuoteLength = 300

/** One line of what a model, a repository or the code host wrote. */
export function quoteLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length <= maxQuoteLength ? line : `${line.slice(0, maxQuoteLength)}…`
}
