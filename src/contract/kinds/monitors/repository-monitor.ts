// RepositoryMonitor: a repository whose pull requests are reviewed as they are opened.
import { z } from 'zod'
import type { Problem } from '../../../errors.ts'
import { field } from '../../schema/field.ts'
import { limitedText } from '../../schema/text.ts'
import { PositiveDuration } from '../../values/duration.ts'
import { Schedule, TimeZone } from '../../values/schedule.ts'
import { Condition, defineResource, Timestamp } from '../resources/metadata.ts'
import { AgentRef, SecretRef } from '../resources/references.ts'
import { GitRevision, ShellCommand } from '../tasks/execution.ts'

const UnusedTarget = z.strictObject({
  enabled: field(z.boolean().default(false), 'Must be false: only pull requests are monitored.'),
  maxPerRun: field(z.int().min(1).max(100).optional(), 'Has no effect.', 20),
})

/** What a monitor watches. */
export const MonitorTargets = z.strictObject({
  pullRequests: field(
    z
      .strictObject({
        enabled: field(z.boolean().default(true), 'Must be true; use `suspend` to pause the monitor.'),
        includeDrafts: field(z.boolean().default(false), 'Monitor drafts as well.'),
        maxPerRun: field(
          z.int().min(1).max(100).default(20),
          'Pull requests that one run sends to the reviewer, at most; the others wait for the next run.',
          20,
        ),
      })
      .prefault({}),
    'Which pull requests are monitored.',
  ),
  issues: field(UnusedTarget.optional(), 'Not supported.'),
  commits: field(UnusedTarget.optional(), 'Not supported.'),
})
export type MonitorTargets = z.infer<typeof MonitorTargets>

/** Agents that work for a monitor. */
export const MonitorAgents = z.strictObject({
  reviewer: field(AgentRef.optional(), 'Agent that reviews pull requests; required.'),
  repairer: field(AgentRef.optional(), 'Agent that repairs what a review found.'),
  implementer: field(AgentRef.optional(), 'Agent that implements changes.'),
})
export type MonitorAgents = z.infer<typeof MonitorAgents>

const InlineComments = z.strictObject({
  enabled: field(z.boolean().default(false), 'Write comments at lines of the change.'),
  minPriority: field(
    z.enum(['P0', 'P1', 'P2', 'P3']).default('P2'),
    'Least priority of a finding that becomes a comment; P0 is the highest.',
  ),
  maxComments: field(z.int().min(0).max(50).default(10), 'Comments of one review at most.', 10),
  onlyChangedLines: field(z.literal(true).default(true), 'Comments are only made at changed lines.'),
})

/** What a monitor posts to the code host. */
export const MonitorPublish = z.strictObject({
  enabled: field(z.boolean().default(false), 'Post reviews at the code host.'),
  mode: field(
    z.enum(['summary_only', 'summary_with_inline_findings']).default('summary_only'),
    'What a posted review consists of.',
  ),
  event: field(z.enum(['COMMENT']).default('COMMENT'), 'Sort of review that is posted.'),
  sameHeadPolicy: field(z.enum(['skip']).default('skip'), 'What happens when the same commit was reviewed before.'),
  postPassed: field(z.boolean().default(false), 'Post reviews that found nothing.'),
  postNeedsChanges: field(z.boolean().default(true), 'Post reviews that ask for changes.'),
  postNeedsHuman: field(z.boolean().default(true), 'Post reviews that ask for a person.'),
  postSecuritySensitive: field(z.boolean().default(false), 'Post reviews that concern security.'),
  inline: field(InlineComments.optional(), 'Comments at lines of the change.'),
})
export type MonitorPublish = z.infer<typeof MonitorPublish>

/** How a monitor reviews. */
export const MonitorReview = z.strictObject({
  event: field(z.enum(['COMMENT', 'APPROVE', 'REQUEST_CHANGES']).default('COMMENT'), 'Sort of review that is made.'),
  requireGreenCI: field(z.boolean().default(false), 'Not supported; must be false.'),
  staleReviewTTL: field(
    PositiveDuration.optional(),
    'A review is made again after this time, as a duration. Without it: a review of the same commit stays valid.',
    '24h',
  ),
  exactEventEnabled: field(
    z.boolean().default(false),
    'An event from the code host starts a review of exactly its commit.',
  ),
  publish: field(MonitorPublish.optional(), 'What is posted at the code host.'),
})
export type MonitorReview = z.infer<typeof MonitorReview>

const MonitorRepair = z.strictObject({
  enabled: field(z.boolean().default(false), 'Repair what reviews find.'),
  requireMaintainerOptIn: field(z.boolean().default(true), 'Only repair when a maintainer has asked for it.'),
  maxRepairsPerPR: field(z.int().min(0).optional(), 'Repairs of one pull request at most.', 3),
  maxRepairsPerHead: field(z.int().min(0).optional(), 'Repairs of one commit at most.', 1),
  maxValidationRetries: field(z.int().min(0).optional(), 'Repairs after failed checks at most.', 2),
  maxReviewFixRetries: field(z.int().min(0).optional(), 'Repairs after a new review at most.', 2),
})

const MonitorAutomerge = z.strictObject({
  enabled: field(z.boolean().default(false), 'Merge pull requests that are ready.'),
  requireMaintainerOptIn: field(z.boolean().default(true), 'Only merge when a maintainer has asked for it.'),
  requireGlobalMergeGate: field(
    z.boolean().default(true),
    'Only merge while merging is allowed for the whole service.',
  ),
  allowedMergeMethods: field(
    z.array(z.enum(['merge', 'squash', 'rebase'])).optional(),
    'Ways to merge that may be used.',
    ['squash'],
  ),
})

const labelList = z.array(limitedText(256)).optional()

/** Labels and permissions that a monitor respects. */
export const MonitorPolicy = z.strictObject({
  protectedLabels: field(
    labelList,
    'Labels of pull requests that are never changed; upper and lower case are the same.',
    ['security'],
  ),
  pauseLabels: field(
    labelList,
    'Labels that pause the monitor for a pull request; upper and lower case are the same.',
    ['on-hold'],
  ),
  optInLabels: field(
    z
      .strictObject({
        autofix: field(labelList, 'Labels that ask for repairs.', ['autofix']),
        automerge: field(labelList, 'Labels that ask for merging.', ['automerge']),
      })
      .optional(),
    'Labels by which a maintainer asks for something.',
  ),
  advisoryLabels: field(
    z
      .strictObject({ enabled: field(z.boolean().default(false), 'Set labels that say what a review found.') })
      .optional(),
    'Labels that the monitor sets.',
  ),
  allowedRepositoryPermissions: field(
    z.array(z.enum(['admin', 'maintain', 'write'])).optional(),
    'Permissions of a person who counts as a maintainer.',
    ['admin', 'maintain'],
  ),
})
export type MonitorPolicy = z.infer<typeof MonitorPolicy>

/** Checks that are run before a review. */
export const MonitorValidation = z.strictObject({
  mode: field(
    z.enum(['off', 'changed', 'full']).default('changed'),
    'When the commands run: never, for changes of more than documentation, or for every change.',
  ),
  commands: field(
    z.array(ShellCommand).max(20, 'must be at most 20').optional(),
    'Shell commands that are run one after another on exactly the reviewed commit, in a sandbox without network and secrets. Their outcome is part of the review.',
    ['npm test'],
  ),
  timeout: field(PositiveDuration.default('15m'), 'Time limit of all commands together, as a duration.', '15m'),
})
export type MonitorValidation = z.infer<typeof MonitorValidation>

const segment = limitedText(256)

/** The spec of a monitor. */
export const RepositoryMonitorSpec = z
  .strictObject({
    provider: field(z.enum(['codehost']).default('codehost'), 'Kind of code host.'),
    repoURL: field(
      limitedText(2048).min(1, 'must not be empty'),
      'Address of the repository: https://<host>/<owner>/<repo>, the same with .git, or git@<host>:<owner>/<repo>.git. Without credentials.',
      'https://github.com/owner/repo',
    ),
    owner: field(segment.optional(), 'Owner of the repository; always set from `repoURL`.', 'owner'),
    repository: field(segment.optional(), 'Name of the repository; always set from `repoURL`.', 'repo'),
    branch: field(
      GitRevision.optional(),
      'Branch that pull requests are made against. Without it: the default branch of the repository.',
      'main',
    ),
    gitSecretRef: field(SecretRef.optional(), 'Secret with the credentials of the repository.'),
    schedule: field(
      Schedule.optional(),
      'Cron expression with five fields. Without it: runs start on request or by events.',
      '*/15 * * * *',
    ),
    timeZone: field(TimeZone.optional(), 'IANA time zone of the schedule. Without it: UTC.', 'Europe/Berlin'),
    suspend: field(z.boolean().default(false), 'While true, the monitor starts no runs.'),
    targets: field(MonitorTargets.prefault({}), 'What is monitored.'),
    agents: field(MonitorAgents.optional(), 'Agents that do the work.'),
    review: field(MonitorReview.prefault({}), 'How pull requests are reviewed.'),
    repair: field(MonitorRepair.optional(), 'How findings are repaired.'),
    automerge: field(MonitorAutomerge.optional(), 'Whether and how pull requests are merged.'),
    policy: field(MonitorPolicy.optional(), 'Labels and permissions that decide what the monitor may do.'),
    validation: field(MonitorValidation.prefault({}), 'Checks that are run before a review.'),
  })
  .meta({ id: 'RepositoryMonitorSpec' })
export type RepositoryMonitorSpec = z.infer<typeof RepositoryMonitorSpec>

/** Problems across fields; paths are relative to the spec. */
export function monitorProblems(spec: RepositoryMonitorSpec): Problem[] {
  const problems: Problem[] = []
  const only = 'is not supported; only pull requests are monitored'
  if (spec.targets.issues?.enabled) problems.push({ path: 'targets.issues.enabled', message: only })
  if (spec.targets.commits?.enabled) problems.push({ path: 'targets.commits.enabled', message: only })
  if (spec.targets.pullRequests.enabled === false) {
    problems.push({ path: 'targets.pullRequests.enabled', message: 'must be true; use suspend to pause the monitor' })
  }
  if (spec.review.requireGreenCI) {
    problems.push({ path: 'review.requireGreenCI', message: 'is not supported; remove it' })
  }
  const enabled = {
    repair: spec.repair,
    automerge: spec.automerge,
    'policy.advisoryLabels': spec.policy?.advisoryLabels,
  }
  for (const [path, part] of Object.entries(enabled)) {
    if (part?.enabled) problems.push({ path: `${path}.enabled`, message: 'is not supported; monitors only review' })
  }
  if (spec.agents?.reviewer === undefined) problems.push({ path: 'agents.reviewer.name', message: 'is required' })
  return problems
}

/** The status of a monitor, written by the service. */
export const RepositoryMonitorStatus = z
  .object({
    phase: field(z.enum(['Pending', 'Ready', 'Error', 'Suspended']).optional(), 'What the monitor does at present.'),
    branch: field(z.string().optional(), 'Branch that is monitored.', 'main'),
    heldUpUntil: field(
      Timestamp.optional(),
      'The code host takes no more requests until then; the run goes on by itself.',
    ),
    lastRunID: field(z.string().optional(), 'Id of the last run.', 'monrun-0192f0c1'),
    lastRunTime: field(Timestamp.optional(), 'When the last run started.'),
    lastSuccessfulRunTime: field(Timestamp.optional(), 'When a run last succeeded.'),
    nextRunTime: field(Timestamp.optional(), 'When the next run is due.'),
    observedGeneration: field(z.int().min(0).optional(), 'The `metadata.generation` that this status is about.', 1),
    openPullRequests: field(z.int().min(0).optional(), 'Number of open pull requests.', 4),
    pendingReviews: field(z.int().min(0).optional(), 'Number of reviews still to be made.', 1),
    activeRepairs: field(z.int().min(0).optional(), 'Number of repairs that run.', 0),
    blockedItems: field(z.int().min(0).optional(), 'Number of pull requests that wait for a person.', 0),
    skippedItems: field(z.int().min(0).optional(), 'Number of pull requests that were skipped.', 0),
    mergeReadyItems: field(z.int().min(0).optional(), 'Number of pull requests that are ready to merge.', 1),
    conditions: field(z.array(Condition).optional(), 'Conditions in the form that Kubernetes uses.'),
  })
  .meta({ id: 'RepositoryMonitorStatus' })
export type RepositoryMonitorStatus = z.infer<typeof RepositoryMonitorStatus>

/** A monitor as it is stored. */
export const RepositoryMonitor = defineResource('RepositoryMonitor', {
  spec: RepositoryMonitorSpec,
  status: RepositoryMonitorStatus,
})
export type RepositoryMonitor = z.infer<typeof RepositoryMonitor>
