// What a monitor keeps: runs, pull requests, reviews with their findings, and events.
import { z } from 'zod'
import { Name, Timestamp } from '../../kinds/resources/metadata.ts'
import { field } from '../../schema/field.ts'
import { RecordedCaller } from '../identity/caller.ts'

export const runTriggers = ['manual', 'schedule', 'pull_request_event'] as const
/** What started a run. */
export type RunTrigger = (typeof runTriggers)[number]
export const monitorRunPhases = ['queued', 'running', 'succeeded', 'failed'] as const
/** How far a run is. */
export type MonitorRunPhase = (typeof monitorRunPhases)[number]

const sha = z.string().regex(/^[0-9a-f]{40}([0-9a-f]{24})?$/, 'must be the full id of a commit, in lower case')
const exampleSha = '4f2a6c1d8e9b0a3f5c7d1e2b4a6f8c0d9e1b3a5f'

const whose = {
  monitorNamespace: field(Name, 'Namespace of the monitor.', 'default'),
  monitorName: field(z.string(), 'Name of the monitor.', 'reviews'),
}

/** What a run looks at: everything, one pull request, or one commit of it. */
export const runTarget = {
  targetKind: field(
    z.enum(['', 'pull_request'], 'must be empty or pull_request').optional(),
    'Kind of the target: `pull_request`, or empty.',
  ),
  targetNumber: field(
    z.int().min(1).max(2_147_483_647).optional(),
    'Number of the only pull request to look at. Without it: all that are open.',
    42,
  ),
  targetSHA: field(
    sha.optional(),
    'The head must be this commit; a pull request with another is left alone.',
    exampleSha,
  ),
}

/** One pass over the pull requests of a repository. */
export const MonitorRun = z
  .object({
    id: field(z.string(), 'Id of the run.', 'monrun-0192f0c1'),
    ...whose,
    trigger: field(z.enum(runTriggers), 'What started it.'),
    ...runTarget,
    phase: field(z.enum(monitorRunPhases), 'How far it is.'),
    queuedAt: field(Timestamp, 'When it was asked for.'),
    startedAt: field(Timestamp.optional(), 'When it started.'),
    completedAt: field(Timestamp.optional(), 'When it ended.'),
    heldUpUntil: field(Timestamp.optional(), 'The code host takes no more requests until then; then it goes on.'),
    selectedCount: field(z.int().min(0), 'Pull requests that it sent to the reviewer.', 3),
    createdTaskCount: field(z.int().min(0), 'Tasks that it created.', 3),
    skippedCount: field(z.int().min(0), 'Pull requests that it skipped.', 7),
    error: field(z.string().optional(), 'Why it failed.', 'the secret codehost-token has no token'),
    requestedBy: field(RecordedCaller.optional(), 'Who asked for it.'),
  })
  .meta({ id: 'MonitorRun' })
export type MonitorRun = z.infer<typeof MonitorRun>

export const reviewVerdicts = ['passed', 'needs_changes', 'needs_human', 'security_sensitive', 'skipped'] as const
/** What a reviewer can find. */
export type ReviewVerdict = (typeof reviewVerdicts)[number]
export const itemVerdicts = [...reviewVerdicts, 'queued', 'stale', 'failed'] as const
/** What is known about a pull request: what a review found, or how far the review is. */
export type ItemVerdict = (typeof itemVerdicts)[number]

export const publishPhases = ['started', 'succeeded', 'skipped', 'failed'] as const
/** How far the publishing of a review is. */
export type PublishPhase = (typeof publishPhases)[number]

/** A pull request as a monitor sees it. */
export const MonitorItem = z
  .object({
    ...whose,
    kind: field(z.enum(['pull_request']), 'What it is.'),
    itemKey: field(z.string(), 'Its number as text.', '42'),
    number: field(z.int(), 'Its number.', 42),
    state: field(z.string(), 'Its state: `open` or `out_of_scope`.', 'open'),
    title: field(z.string().optional(), 'Its title.', 'Speed up the parser'),
    author: field(z.string().optional(), 'Who opened it.', 'ada'),
    url: field(z.string().optional(), 'Its address at the code host.', 'https://github.com/owner/repo/pull/42'),
    labels: field(z.array(z.string()), 'Its labels.', ['parser']),
    draft: field(z.boolean().optional(), 'Whether it is a draft.'),
    baseBranch: field(z.string().optional(), 'Branch that it is to be merged into.', 'main'),
    headBranch: field(z.string().optional(), 'Branch that it comes from.', 'faster'),
    headSHA: field(z.string().optional(), 'Commit that it would merge.', exampleSha),
    baseSHA: field(z.string().optional(), 'Commit that it is compared with.', exampleSha),
    mergeableState: field(z.string().optional(), 'Whether it can be merged, as the code host says.', 'clean'),
    ciState: field(z.string().optional(), 'State of its checks.', 'unknown'),
    skipReason: field(z.string().optional(), 'Why it is not reviewed now.', 'draft'),
    lastReviewID: field(
      z.string().optional(),
      'Task of the review, and once that has ended the id of the review.',
      'monreview-0192f0c1',
    ),
    lastReviewedHeadSHA: field(z.string().optional(), 'Commit that was last reviewed to the end.', exampleSha),
    lastVerdict: field(z.enum(itemVerdicts).optional(), 'Verdict of the last review, or how far the review is.'),
    repairState: field(z.string().optional(), 'State of a repair; none is made yet.', 'queued'),
    automergeState: field(z.string().optional(), 'State of a merge; none is made yet.', 'pending'),
    lastPublishID: field(z.string().optional(), 'Id of the last publishing.', 'monpub-0192f0c1'),
    lastPublishPhase: field(z.enum(publishPhases).optional(), 'How far it is.'),
    lastPublishReason: field(z.string().optional(), 'Why nothing was published.', 'publish_disabled'),
    lastPublishURL: field(
      z.string().optional(),
      'Address of what was published.',
      'https://github.com/owner/repo/pull/42#pullrequestreview-1',
    ),
    updatedAt: field(Timestamp, 'When it last changed.'),
    lastSeenAt: field(Timestamp, 'When a run last saw it.'),
  })
  .meta({ id: 'MonitorItem' })
export type MonitorItem = z.infer<typeof MonitorItem>

export const priorities = ['P0', 'P1', 'P2', 'P3'] as const
/** How urgent a finding is; P0 is the most urgent. */
export type Priority = (typeof priorities)[number]
export const findingConfidences = ['low', 'medium', 'high'] as const

/** One thing that a review found. */
export const MonitorFinding = z
  .object({
    id: field(z.string(), 'Id of the finding, the same in every review of the pull request.', 'find-1f6c2a9b04d1'),
    priority: field(z.enum(priorities), 'How urgent it is; P0 is the most urgent.'),
    confidence: field(z.enum(findingConfidences), 'How sure the reviewer is.'),
    file: field(z.string().optional(), 'File that it is about.', 'src/parser.ts'),
    line: field(z.int().optional(), 'Line of the new file; always a line of the diff.', 12),
    title: field(z.string(), 'What is wrong, in a few words.', 'The last token is dropped'),
    body: field(z.string(), 'What is wrong.', 'The loop ends one token too early.'),
    recommendation: field(z.string().optional(), 'What to do.', 'Use <= instead of <.'),
    state: field(z.enum(['new', 'shown', 'dismissed']), 'Whether it is new, was shown before, or was dismissed.'),
  })
  .meta({ id: 'MonitorFinding' })
export type MonitorFinding = z.infer<typeof MonitorFinding>

/** How a validation command ended. */
export const ValidationOutcome = z
  .object({
    command: field(z.string(), 'The command.', 'npm test'),
    exitCode: field(z.int().optional(), 'Its exit code; absent when it did not run to its end.', 0),
    output: field(z.string(), 'The end of what it printed.', 'all tests passed'),
  })
  .meta({ id: 'ValidationOutcome' })
export type ValidationOutcome = z.infer<typeof ValidationOutcome>

export const checkStatuses = ['not_run', 'passed', 'failed'] as const

/** What the validation commands showed. */
export const MonitorValidationResult = z
  .object({
    status: field(z.enum(checkStatuses), 'Whether they ran, and whether all of them ended with exit code 0.'),
    reason: field(z.string().optional(), 'Why they did not run, or did not pass.', 'only documentation changed'),
    commands: field(z.array(ValidationOutcome), 'Each command that was to run.'),
  })
  .meta({ id: 'MonitorValidationResult' })
export type MonitorValidationResult = z.infer<typeof MonitorValidationResult>

/** One review of one commit. */
export const MonitorReviewRecord = z
  .object({
    id: field(z.string(), 'Id of the review.', 'monreview-0192f0c1'),
    ...whose,
    kind: field(z.enum(['pull_request']), 'What was reviewed.'),
    number: field(z.int(), 'Number of the pull request.', 42),
    headSHA: field(z.string(), 'Commit that was reviewed.', exampleSha),
    runID: field(z.string(), 'Run that asked for it.', 'monrun-0192f0c1'),
    taskName: field(z.string(), 'Task of the reviewer.', 'monrev-reviews-42-4f2a6c1d'),
    verdict: field(z.enum(itemVerdicts), 'What it found.'),
    reason: field(z.string().optional(), 'Why it counts for nothing.', 'review_result_malformed'),
    confidence: field(z.enum(findingConfidences).optional(), 'How sure the reviewer is.'),
    repairable: field(z.boolean().optional(), 'Whether a program could repair what it found.'),
    securityStatus: field(z.string(), 'What it says about security; `unknown` when it counts for nothing.', 'clear'),
    summary: field(z.string(), 'What it says in short.', 'One token is lost at the end of the input.'),
    suggestedComment: field(
      z.string().optional(),
      'Comment that the reviewer suggests.',
      'Please add a test for the last token.',
    ),
    findings: field(z.array(MonitorFinding), 'What it found.'),
    validation: field(MonitorValidationResult, 'What the validation commands showed.'),
    createdAt: field(Timestamp, 'When it was made.'),
  })
  .meta({ id: 'MonitorReview' })
export type MonitorReviewRecord = z.infer<typeof MonitorReviewRecord>

/** Something that a monitor did, for people who ask why. */
export const MonitorEvent = z
  .object({
    id: field(z.string(), 'Id of the event.', 'mevt-0192f0c1'),
    ...whose,
    runID: field(z.string().optional(), 'Run that it belongs to.', 'monrun-0192f0c1'),
    itemKind: field(z.string().optional(), 'Kind of the item that it is about.', 'pull_request'),
    itemNumber: field(z.int().optional(), 'Number of the pull request that it is about.', 42),
    itemSHA: field(z.string().optional(), 'Commit that it is about.', exampleSha),
    eventType: field(z.string(), 'What happened.', 'item_skipped'),
    actor: field(z.string().optional(), 'Who did it.', 'controller'),
    summary: field(z.string().optional(), 'What happened, in one sentence.', 'the pull request is a draft'),
    metadata: field(z.record(z.string(), z.unknown()).optional(), 'More about it.', { reason: 'draft' }),
    createdAt: field(Timestamp, 'When it happened.'),
  })
  .meta({ id: 'MonitorEvent' })
export type MonitorEvent = z.infer<typeof MonitorEvent>
