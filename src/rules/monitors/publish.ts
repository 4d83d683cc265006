// Whether a review is published, and the text of it that is safe to show.
import {
  type ItemVerdict,
  type MonitorFinding,
  type MonitorReviewRecord,
  type Priority,
  priorities,
} from '../../contract/api/monitors/monitor-records.ts'
import type { MonitorPublish, RepositoryMonitorSpec } from '../../contract/kinds/monitors/repository-monitor.ts'
import { neutralize } from '../codehost/harmless-text.ts'
import { findBlockingLabels } from './selection.ts'

export const maxReviewBodyLength = 60_000
const maxCommentLength = 4000
const blank = '\u200b'

/** Between backticks, which nothing in it ends; before any free text of its line, where another backtick would open them. */
function code(text: string): string {
  const inner = text.replaceAll('`', "'").replaceAll('<!--', `<${blank}!--`)
  return `\`${inner.replace(/\s+/g, ' ').trim()}\``
}

/** One line of it. */
function line(text: string): string {
  return neutralize(text.replace(/\s+/g, ' ').trim())
}

const headings: Record<string, string> = {
  passed: 'No problems found',
  needs_changes: 'Changes needed',
  needs_human: 'A person should look at this',
  security_sensitive: 'This concerns security',
}

function writeFinding(finding: MonitorFinding): string {
  const { priority, file, line: number, title, body, recommendation } = finding
  const where = file === undefined ? '' : `${code(number === undefined ? file : `${file}:${number}`)} `
  const advice = recommendation === undefined ? [] : [`  Suggestion: ${line(recommendation)}`]
  return [`- **${priority}** ${where}${line(title)}`, `  ${line(body)}`, ...advice].join('\n')
}

function writeValidation({ status, commands }: MonitorReviewRecord['validation']): string[] {
  if (commands.length === 0) return []
  if (status === 'not_run') return ['**The checks could not be run at this commit**']
  const lines = commands.map(({ command, exitCode }) => {
    const end = exitCode === undefined ? 'did not end' : exitCode === 0 ? 'passed' : `failed with exit code ${exitCode}`
    return `- ${code(command)} ${end}`
  })
  return [`**Checks at this commit: ${status}**`, lines.join('\n')]
}

/** The hidden line by which a publishing is known again after a crash. */
export function writePublishMarker(parts: Record<string, string | number>): string {
  const words = Object.entries(parts).map(([key, value]) => `${key}=${String(value).replace(/[^\w./-]/g, '_')}`)
  return `<!-- svc:repo-monitor ${words.join(' ')} -->`
}

type BodyParts = {
  review: MonitorReviewRecord
  /** New findings that are not comments at their line. */
  listed: readonly MonitorFinding[]
  /** How many findings were shown before and still hold. */
  repeated: number
  /** Of the service: the last lines of the text. */
  markers: readonly string[]
}

/** The body of a review; the markers come last and are the only hidden text in it. */
export function writeReviewBody({ review, listed, repeated, markers }: BodyParts): string {
  const { verdict, confidence = 'low', headSHA, summary, validation } = review
  const earlier = repeated === 0 ? [] : [`${repeated} of the findings of earlier reviews still hold.`]
  const parts = [
    `### ${headings[verdict] ?? verdict}`,
    `Verdict: \`${verdict}\` · confidence: ${confidence} · commit: \`${headSHA.slice(0, 8)}\``,
    neutralize(summary),
    ...(listed.length === 0 ? [] : [listed.map(writeFinding).join('\n')]),
    ...earlier,
    ...writeValidation(validation),
    markers.join('\n'),
  ]
  return parts.filter((part) => part !== '').join('\n\n')
}

/** The text of a comment at a line. */
export function writeInlineComment({ priority, title, body, recommendation }: MonitorFinding): string {
  const advice = recommendation === undefined ? '' : `\n\nSuggestion: ${neutralize(recommendation)}`
  return `**${priority}** ${line(title)}\n\n${neutralize(body)}${advice}`.slice(0, maxCommentLength)
}

/** Verdicts after which a pull request waits for a person. What is skipped is counted apart from it (MON-075). */
export const blockedVerdicts: readonly ItemVerdict[] = [
  'failed',
  'stale',
  'needs_changes',
  'needs_human',
  'security_sensitive',
]

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

type PublishState = {
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

function findSettingsSkip(
  verdict: Reviewed['verdict'],
  { publish }: RepositoryMonitorSpec['review'],
  isWished: boolean,
): PublishSkip | undefined {
  if (!publish?.enabled && !isWished) return 'publish_disabled'
  const isWanted = switches[verdict]
  if (isWanted === undefined) return 'invalid_review_result'
  if (publish !== undefined && isWanted(publish)) return undefined
  // Publishing it is for whoever sets the monitor up, and not for everybody who may run it.
  if (verdict === 'security_sensitive') return 'security_sensitive_not_public'
  return isWished ? undefined : 'verdict_not_configured'
}

/** What can be derived from the review and the settings alone. `isWished`: a person has asked for this very review. */
export function findReviewSkip(
  { verdict, findings }: Reviewed,
  spec: Pick<RepositoryMonitorSpec, 'review' | 'gitSecretRef'>,
  { hasPublished, isWished = false }: { hasPublished: boolean; isWished?: boolean },
): PublishSkip | undefined {
  const refusal = findSettingsSkip(verdict, spec.review, isWished)
  if (refusal !== undefined) return refusal
  if (spec.gitSecretRef === undefined) return 'missing_git_secret'
  // What was said of an earlier commit is not said again; that there is nothing any more is worth a word.
  const isRepetition = findings.length > 0 && findings.every(({ state }) => state !== 'new')
  return hasPublished && isRepetition && !isWished ? 'nothing_new' : undefined
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

function isAtLeast(priority: Priority, min: Priority): boolean {
  return priorities.indexOf(priority) <= priorities.indexOf(min)
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
