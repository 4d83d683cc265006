// RepositoryMonitor: a repository whose pull requests are reviewed as they come.
import { z } from 'zod'
import type { Problem } from '../../errors.ts'
import { PositiveDuration } from '../duration.ts'
import { Schedule, TimeZone } from '../schedule.ts'
import { GitRevision } from './execution.ts'
import { Condition, defineResource, Timestamp } from './metadata.ts'
import { AgentRef, SecretRef } from './references.ts'

const address =
  /^(https:\/\/[A-Za-z0-9.-]+(:\d+)?\/|git@[A-Za-z0-9.-]+:)([A-Za-z0-9._-]+)\/([A-Za-z0-9._-]+?)(\.git)?\/?$/

/** Host, owner and repository of a credential-free root address, or undefined (Errors table: monitor create). */
export function parseRepositoryRoot(url: string): { host: string; owner: string; repository: string } | undefined {
  const match = address.exec(url)
  if (match === null) return undefined
  const [, prefix = '', , owner = '', repository = ''] = match
  if (/^\.{1,2}$/.test(owner) || /^(\.{0,2}|\.git)$/i.test(repository)) return undefined
  const host = prefix.replace(/^https:\/\/|^git@|[/:]$/g, '').toLowerCase()
  return { host, owner, repository }
}

export const RepositoryRoot = z
  .string()
  .max(2048)
  .refine(
    (url) => parseRepositoryRoot(url) !== undefined,
    'must be https://<host>/<owner>/<repo>, the same with .git, or git@<host>:<owner>/<repo>.git, without credentials, query and fragment',
  )
  .meta({ example: 'https://github.com/owner/repo' })

const UnusedTarget = z.strictObject({
  enabled: z.boolean().default(false),
  maxPerRun: z.int().min(1).max(100).optional(),
})

export const MonitorTargets = z.strictObject({
  pullRequests: z
    .strictObject({
      enabled: z.boolean().default(true),
      includeDrafts: z.boolean().default(false),
      maxPerRun: z.int().min(1).max(100).default(20),
    })
    .optional(),
  issues: UnusedTarget.optional(),
  commits: UnusedTarget.optional(),
})
export type MonitorTargets = z.infer<typeof MonitorTargets>

export const MonitorAgents = z.strictObject({
  /** Required while pull requests are monitored. */
  reviewer: AgentRef.optional(),
  repairer: AgentRef.optional(),
  implementer: AgentRef.optional(),
})
export type MonitorAgents = z.infer<typeof MonitorAgents>

const InlineComments = z.strictObject({
  enabled: z.boolean().default(false),
  minPriority: z.enum(['P0', 'P1', 'P2', 'P3']).default('P2'),
  maxComments: z.int().min(0).max(50).default(10),
  onlyChangedLines: z.literal(true).default(true),
})

export const MonitorPublish = z.strictObject({
  enabled: z.boolean().default(false),
  mode: z.enum(['summary_only', 'summary_with_inline_findings']).default('summary_only'),
  event: z.enum(['COMMENT']).default('COMMENT'),
  sameHeadPolicy: z.enum(['skip']).default('skip'),
  postPassed: z.boolean().default(false),
  postNeedsChanges: z.boolean().default(true),
  postNeedsHuman: z.boolean().default(true),
  postSecuritySensitive: z.boolean().default(false),
  inline: InlineComments.optional(),
})
export type MonitorPublish = z.infer<typeof MonitorPublish>

export const MonitorReview = z.strictObject({
  event: z.enum(['COMMENT', 'APPROVE', 'REQUEST_CHANGES']).default('COMMENT'),
  requireGreenCI: z.boolean().default(false),
  /** Absent: a review of the same head stays fresh. */
  staleReviewTTL: PositiveDuration.optional(),
  /** Webhook events queue runs for exactly their head. */
  exactEventEnabled: z.boolean().default(false),
  publish: MonitorPublish.optional(),
})
export type MonitorReview = z.infer<typeof MonitorReview>

const MonitorRepair = z.strictObject({
  enabled: z.boolean().default(false),
  requireMaintainerOptIn: z.boolean().default(true),
  maxRepairsPerPR: z.int().min(0).optional(),
  maxRepairsPerHead: z.int().min(0).optional(),
  maxValidationRetries: z.int().min(0).optional(),
  maxReviewFixRetries: z.int().min(0).optional(),
})

const MonitorAutomerge = z.strictObject({
  enabled: z.boolean().default(false),
  requireMaintainerOptIn: z.boolean().default(true),
  requireGlobalMergeGate: z.boolean().default(true),
  allowedMergeMethods: z.array(z.enum(['merge', 'squash', 'rebase'])).optional(),
})

const labelList = z.array(z.string().max(256)).optional()

export const MonitorPolicy = z.strictObject({
  /** Compared without case, like pauseLabels. */
  protectedLabels: labelList,
  pauseLabels: labelList,
  optInLabels: z.strictObject({ autofix: labelList, automerge: labelList }).optional(),
  advisoryLabels: z.strictObject({ enabled: z.boolean().default(false) }).optional(),
  allowedRepositoryPermissions: z.array(z.enum(['admin', 'maintain', 'write'])).optional(),
})
export type MonitorPolicy = z.infer<typeof MonitorPolicy>

export const MonitorValidation = z.strictObject({
  mode: z.enum(['off', 'changed', 'full']).default('changed'),
  /** Told to the reviewer; never run by the service. */
  commands: z.array(z.string()).optional(),
})
export type MonitorValidation = z.infer<typeof MonitorValidation>

const segment = z.string().max(256)

export const RepositoryMonitorSpec = z
  .strictObject({
    provider: z.enum(['codehost']).default('codehost'),
    repoURL: RepositoryRoot,
    /** Always set from repoURL. */
    owner: segment.optional(),
    repository: segment.optional(),
    /** Absent: the default branch, asked of the code host. */
    branch: GitRevision.optional(),
    gitSecretRef: SecretRef.optional(),
    schedule: Schedule.optional(),
    timeZone: TimeZone.optional(),
    suspend: z.boolean().default(false),
    targets: MonitorTargets.optional(),
    agents: MonitorAgents.optional(),
    review: MonitorReview.optional(),
    repair: MonitorRepair.optional(),
    automerge: MonitorAutomerge.optional(),
    policy: MonitorPolicy.optional(),
    validation: MonitorValidation.optional(),
  })
  .meta({ id: 'RepositoryMonitorSpec' })
export type RepositoryMonitorSpec = z.infer<typeof RepositoryMonitorSpec>

/** Problems across fields; paths are relative to the spec. */
export function monitorProblems(spec: RepositoryMonitorSpec): Problem[] {
  const problems: Problem[] = []
  const only = 'is not supported; only pull requests are monitored'
  if (spec.targets?.issues?.enabled) problems.push({ path: 'targets.issues.enabled', message: only })
  if (spec.targets?.commits?.enabled) problems.push({ path: 'targets.commits.enabled', message: only })
  if (spec.targets?.pullRequests?.enabled === false) {
    problems.push({ path: 'targets.pullRequests.enabled', message: 'must be true; use suspend to pause the monitor' })
  }
  if (spec.review?.requireGreenCI) {
    problems.push({ path: 'review.requireGreenCI', message: 'is not supported; remove it' })
  }
  if (spec.agents?.reviewer === undefined) problems.push({ path: 'agents.reviewer.name', message: 'is required' })
  return problems
}

export const RepositoryMonitorStatus = z
  .object({
    phase: z.enum(['Pending', 'Ready', 'Error', 'Suspended']).optional(),
    lastRunID: z.string().optional(),
    lastRunTime: Timestamp.optional(),
    lastSuccessfulRunTime: Timestamp.optional(),
    nextRunTime: Timestamp.optional(),
    observedGeneration: z.int().min(0).optional(),
    openPullRequests: z.int().min(0).optional(),
    pendingReviews: z.int().min(0).optional(),
    activeRepairs: z.int().min(0).optional(),
    blockedItems: z.int().min(0).optional(),
    skippedItems: z.int().min(0).optional(),
    mergeReadyItems: z.int().min(0).optional(),
    conditions: z.array(Condition).optional(),
  })
  .meta({ id: 'RepositoryMonitorStatus' })
export type RepositoryMonitorStatus = z.infer<typeof RepositoryMonitorStatus>

export const RepositoryMonitor = defineResource('RepositoryMonitor', {
  spec: RepositoryMonitorSpec,
  status: RepositoryMonitorStatus,
})
export type RepositoryMonitor = z.infer<typeof RepositoryMonitor>
