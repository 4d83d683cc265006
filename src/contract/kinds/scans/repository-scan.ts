// RepositoryScan: a repository that is reviewed for security findings, by hand or on a schedule.
import { z } from 'zod'
import type { Problem } from '../../../errors.ts'
import { field } from '../../schema/field.ts'
import { limitedText } from '../../schema/text.ts'
import { PositiveDuration } from '../../values/duration.ts'
import { Schedule, TimeZone } from '../../values/schedule.ts'
import { Condition, defineResource, Timestamp } from '../resources/metadata.ts'
import { AgentRef, PolicyRef, SecretRef } from '../resources/references.ts'
import { ContainerImage, GitAddress, GitRevision, RelativePath, ShellCommand } from '../tasks/execution.ts'

export const severities = ['critical', 'high', 'medium', 'low'] as const
/** Severities, the highest first. */
export type Severity = (typeof severities)[number]
export const confidences = ['high', 'medium', 'low'] as const
/** Confidences, the highest first. */
export type Confidence = (typeof confidences)[number]

const segment = limitedText(256).regex(/^[A-Za-z0-9._-]+$/, 'must be letters, digits, ".", "_" and "-"')

/** What all tasks of one run may use together. */
export const ScanBudget = z.strictObject({
  maxTokens: field(z.int().min(1).max(1_000_000_000_000).optional(), 'Most tokens in and out of one run.', 2_000_000),
  maxCost: field(z.number().positive().max(1_000_000_000).optional(), 'Most cost of one run, in US dollars.', 20),
})
export type ScanBudget = z.infer<typeof ScanBudget>

/** How the service itself tries a patch. */
export const ScanTests = z.strictObject({
  commands: field(
    z.array(ShellCommand).min(1, 'must name a command').max(20, 'must be at most 20'),
    'Shell commands, run one after another in fresh workspaces without secrets: at the commit that the patch is made against, with the patch, and with the tests of the patch alone. With the patch each of them must end with 0.',
    ['npm test'],
  ),
  image: field(
    ContainerImage.optional(),
    'Container image that they run in. Without it: a local sandbox.',
    'node:24-slim',
  ),
  timeout: field(
    PositiveDuration.default('15m'),
    'Time limit of all commands together, each time, as a duration.',
    '15m',
  ),
  network: field(
    z.enum(['none', 'open']).default('none'),
    'Whether the commands, and the code of the repository that they run, may open connections.',
  ),
})
export type ScanTests = z.infer<typeof ScanTests>

/** The spec of a scan. */
export const RepositoryScanSpec = z
  .strictObject({
    provider: field(z.enum(['codehost']).default('codehost'), 'Kind of code host.'),
    repoURL: field(GitAddress, 'Address of the repository.', 'https://github.com/owner/repo'),
    owner: field(segment.optional(), 'Owner of the repository. Without it: read from `repoURL`.', 'owner'),
    repository: field(segment.optional(), 'Name of the repository. Without it: read from `repoURL`.', 'repo'),
    branch: field(GitRevision.optional(), 'Branch to scan. Without it: the default branch of the repository.', 'main'),
    ref: field(
      GitRevision.optional(),
      'Tag, branch or commit; checked out directly when `branch` is not set.',
      'v1.2.0',
    ),
    subPath: field(RelativePath.optional(), 'Folder of the repository to scan.', 'packages/api'),
    gitSecretRef: field(SecretRef.optional(), 'Secret with the credentials of the repository.'),
    forkRepo: field(
      GitAddress.optional(),
      'Address of the fork that patches are pushed to.',
      'https://github.com/bot/repo.git',
    ),
    prBaseBranch: field(GitRevision.optional(), 'Branch that a pull request is made against.', 'main'),
    schedule: field(
      Schedule.optional(),
      'Cron expression with five fields. Without it: scans start on request only.',
      '0 3 * * *',
    ),
    timeZone: field(TimeZone.optional(), 'IANA time zone of the schedule. Without it: UTC.', 'Europe/Berlin'),
    historyDays: field(
      z.int().min(1).max(3650).default(30),
      'Age in days of the last successful run up to which a scheduled run reviews only what changed since; later it reviews everything.',
      30,
    ),
    validationMode: field(z.enum(['off', 'light', 'full']).default('light'), 'How thoroughly findings are confirmed.'),
    validationMaxFindingsPerRun: field(
      z.int().min(0).default(2),
      'Findings that one run confirms at most, in mode `light`.',
      2,
    ),
    validationMinSeverity: field(
      z.enum(severities).optional(),
      'Least severity of findings that are confirmed. Without it: high; in mode `full` low.',
    ),
    validationMinConfidence: field(z.enum(confidences).optional(), 'Least confidence of findings that are confirmed.'),
    customScanInstructionsRef: field(
      PolicyRef.optional(),
      'Entry of a ConfigMap with further instructions for the scan.',
    ),
    falsePositivePolicyRef: field(PolicyRef.optional(), 'Entry of a ConfigMap that says what is not a finding.'),
    analysisAgentRef: field(AgentRef, 'Agent that looks for findings.'),
    patchAgentRef: field(AgentRef.optional(), 'Agent that writes patches. Without it: the one in `analysisAgentRef`.'),
    tests: field(
      ScanTests.optional(),
      'How patches are tried. Without it: no tests run, and the pull request says so.',
    ),
    maxFindingsPerRun: field(z.int().min(1).default(10), 'Findings that one run reports at most.', 10),
    maxParallelReviews: field(z.int().min(1).max(64).default(4), 'Slices of one run reviewed at a time, at most.', 4),
    budget: field(
      ScanBudget.optional(),
      'What one run may use. Reached, the run fails with `BudgetExceeded`, and keeps what it has found.',
    ),
    uploadToCodeScanning: field(
      z.boolean().default(false),
      'Give the findings of each commit that was scanned to the code scanning of the code host.',
    ),
    suspend: field(z.boolean().default(false), 'While true, runs start on request only.'),
  })
  .meta({ id: 'RepositoryScanSpec' })
export type RepositoryScanSpec = z.infer<typeof RepositoryScanSpec>

/** Problems that concern several fields; paths are relative to the spec. */
export function scanProblems({ schedule, timeZone, budget }: RepositoryScanSpec): Problem[] {
  const problems: Problem[] = []
  if (timeZone !== undefined && schedule === undefined)
    problems.push({ path: 'timeZone', message: 'has no meaning without a schedule' })
  if (budget !== undefined && budget.maxTokens === undefined && budget.maxCost === undefined)
    problems.push({ path: 'budget', message: 'must have maxTokens or maxCost' })
  return problems
}

/** Findings by severity. */
export const FindingCounts = z.object({
  total: field(z.int().min(0), 'Number of findings.', 5),
  critical: field(z.int().min(0), 'Number of critical findings.', 0),
  high: field(z.int().min(0), 'Number of findings of high severity.', 1),
  medium: field(z.int().min(0), 'Number of findings of medium severity.', 2),
  low: field(z.int().min(0), 'Number of findings of low severity.', 2),
})
export type FindingCounts = z.infer<typeof FindingCounts>

/** What became of the findings of a commit in the code scanning of the code host. */
export const CodeScanningStatus = z.object({
  commit: field(z.string(), 'Commit whose findings were given.', '4b825dc642cb6eb9a060e54bf8d69288fbee4904'),
  uploadID: field(z.string().optional(), 'Id of the upload on the code host.', '47177e22-5596-11eb-80a1-c1e54ef945c6'),
  state: field(z.enum(['pending', 'complete', 'failed']), 'How far it is.'),
  message: field(z.string().optional(), 'Why it failed or waits.', 'the login needs security_events=write'),
  at: field(Timestamp, 'When this was found out.'),
})
export type CodeScanningStatus = z.infer<typeof CodeScanningStatus>

/** The status of a scan, written by the service. */
export const RepositoryScanStatus = z
  .object({
    phase: field(
      z.enum(['Pending', 'Scanning', 'Ready', 'Error', 'Suspended']).optional(),
      'What the scan does at present.',
    ),
    lastScanID: field(z.string().optional(), 'Id of the last run.', 'scan-20300101-0300'),
    lastScanTaskName: field(z.string().optional(), 'Task of the last run.', 'scan-repo-1'),
    lastScanAt: field(Timestamp.optional(), 'When a run last ended, whatever its outcome.'),
    lastSuccessfulScanAt: field(Timestamp.optional(), 'When a run last succeeded.'),
    nextScanAt: field(Timestamp.optional(), 'When the next run is due.'),
    failedRuns: field(
      z.int().min(0).optional(),
      'Runs that failed since one succeeded; scheduled ones wait longer.',
      0,
    ),
    branch: field(z.string().optional(), 'Branch that was last scanned.', 'main'),
    lastObservedHeadSHA: field(
      z.string().optional(),
      'Newest commit that was seen.',
      '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
    ),
    lastProcessedCommit: field(
      z.string().optional(),
      'Newest commit that was scanned.',
      '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
    ),
    threatModelVersion: field(z.int().min(0).optional(), 'Version of the threat model.', 1),
    message: field(z.string().optional(), 'Why the scan is in this phase, in one sentence.', '9 slices reviewed'),
    findingCounts: field(FindingCounts.optional(), 'Open findings by severity.'),
    codeScanning: field(CodeScanningStatus.optional(), 'The last upload to the code scanning of the code host.'),
    observedGeneration: field(z.int().min(0).optional(), 'The `metadata.generation` that this status is about.', 1),
    conditions: field(z.array(Condition).optional(), 'Conditions in the form that Kubernetes uses.'),
  })
  .meta({ id: 'RepositoryScanStatus' })
export type RepositoryScanStatus = z.infer<typeof RepositoryScanStatus>

/** A scan as it is stored. */
export const RepositoryScan = defineResource('RepositoryScan', {
  spec: RepositoryScanSpec,
  status: RepositoryScanStatus,
})
export type RepositoryScan = z.infer<typeof RepositoryScan>
