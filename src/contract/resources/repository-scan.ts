// RepositoryScan: a repository that is reviewed for security findings, by hand or on a schedule.
import { z } from 'zod'
import { Schedule, TimeZone } from '../schedule.ts'
import { GitAddress, GitRevision, RelativePath } from './execution.ts'
import { Condition, defineResource, Timestamp } from './metadata.ts'
import { AgentRef, PolicyRef, SecretRef } from './references.ts'

export const severities = ['critical', 'high', 'medium', 'low'] as const
export type Severity = (typeof severities)[number]
export const confidences = ['high', 'medium', 'low'] as const
export type Confidence = (typeof confidences)[number]

const segment = z
  .string()
  .max(256)
  .regex(/^[A-Za-z0-9._-]+$/, 'must be letters, digits, ".", "_" and "-"')

export const RepositoryScanSpec = z
  .strictObject({
    provider: z.enum(['codehost']).default('codehost'),
    repoURL: GitAddress,
    /** Absent: read from repoURL. */
    owner: segment.optional(),
    repository: segment.optional(),
    /** Absent: the default branch, asked of the code host. */
    branch: GitRevision.optional(),
    /** Tag, branch or commit; checked out directly when set without `branch`. */
    ref: GitRevision.optional(),
    subPath: RelativePath.optional(),
    gitSecretRef: SecretRef.optional(),
    forkRepo: GitAddress.optional(),
    prBaseBranch: GitRevision.optional(),
    schedule: Schedule.optional(),
    timeZone: TimeZone.optional(),
    historyDays: z.int().min(1).max(3650).default(30),
    validationMode: z.enum(['off', 'light', 'full']).default('light'),
    /** `light` only. */
    validationMaxFindingsPerRun: z.int().min(0).default(2),
    /** Absent: high (`full` mode: low). */
    validationMinSeverity: z.enum(severities).optional(),
    validationMinConfidence: z.enum(confidences).optional(),
    customScanInstructionsRef: PolicyRef.optional(),
    falsePositivePolicyRef: PolicyRef.optional(),
    analysisAgentRef: AgentRef,
    /** Absent: analysisAgentRef. */
    patchAgentRef: AgentRef.optional(),
    maxFindingsPerRun: z.int().min(1).default(10),
    suspend: z.boolean().default(false),
  })
  .meta({ id: 'RepositoryScanSpec' })
export type RepositoryScanSpec = z.infer<typeof RepositoryScanSpec>

export const FindingCounts = z.object({
  total: z.int().min(0),
  critical: z.int().min(0),
  high: z.int().min(0),
  medium: z.int().min(0),
  low: z.int().min(0),
})
export type FindingCounts = z.infer<typeof FindingCounts>

export const RepositoryScanStatus = z
  .object({
    phase: z.enum(['Pending', 'Scanning', 'Ready', 'Error', 'Suspended']).optional(),
    lastScanID: z.string().optional(),
    lastScanTaskName: z.string().optional(),
    /** Of any outcome. */
    lastScanAt: Timestamp.optional(),
    lastSuccessfulScanAt: Timestamp.optional(),
    nextScanAt: Timestamp.optional(),
    lastObservedHeadSHA: z.string().optional(),
    lastProcessedCommit: z.string().optional(),
    threatModelVersion: z.int().min(0).optional(),
    findingCounts: FindingCounts.optional(),
    observedGeneration: z.int().min(0).optional(),
    conditions: z.array(Condition).optional(),
  })
  .meta({ id: 'RepositoryScanStatus' })
export type RepositoryScanStatus = z.infer<typeof RepositoryScanStatus>

export const RepositoryScan = defineResource('RepositoryScan', {
  spec: RepositoryScanSpec,
  status: RepositoryScanStatus,
})
export type RepositoryScan = z.infer<typeof RepositoryScan>
