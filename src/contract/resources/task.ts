// Task: one piece of work, run once, on retry, on a schedule, or by an agent in iterations.
import { z } from 'zod'
import { Duration, PositiveDuration } from '../duration.ts'
import { Schedule, TimeZone } from '../schedule.ts'
import { EnvVar, Execution, ProcessText, ResourceRequirements, Workspace } from './execution.ts'
import { Condition, defineResource, ForeignName, Name, RecordName, Timestamp } from './metadata.ts'
import { AgentRef, ProviderRef, refersTo, SkillRef, TaskRef, ToolName, WebAddress } from './references.ts'
import { VendorType } from './vendor.ts'

export const taskTypes = ['ai', 'container', 'agent'] as const
export type TaskType = (typeof taskTypes)[number]

export const taskPhases = ['Pending', 'Running', 'Succeeded', 'Failed', 'Scheduled', 'Cancelled'] as const
export type TaskPhase = (typeof taskPhases)[number]

/** Phases that nothing leaves. */
export const terminalPhases: readonly TaskPhase[] = ['Succeeded', 'Failed', 'Cancelled']

/** Whether a task of this phase has ended for good. */
export function isTerminalPhase(phase: TaskPhase | undefined): boolean {
  return phase !== undefined && terminalPhases.includes(phase)
}

/** Whether an attempt of the task was begun, or it has ended without one: from then on its spec is fixed. A schedule never starts. */
export function hasStarted(
  status: { phase?: TaskPhase | undefined; attempts?: number | undefined } | undefined,
): boolean {
  return status?.phase === 'Running' || isTerminalPhase(status?.phase) || (status?.attempts ?? 0) > 0
}

export const RetryPolicy = z.strictObject({
  /** Runs beyond the first. */
  maxRetries: z.int().min(0).max(100).default(0),
  backoffMultiplier: z.number().min(1).max(100).default(2),
  initialDelay: Duration.default('10s'),
})
export type RetryPolicy = z.infer<typeof RetryPolicy>

export const SessionRef = z.strictObject({
  name: RecordName,
  /** Make the session when it does not exist. */
  create: z.boolean().default(false),
  /** Add prompt and result to the session at the end. */
  append: z.boolean().default(true),
  /** How many of the newest messages the task sees. */
  maxMessages: z.int().min(1).default(50),
})
export type SessionRef = z.infer<typeof SessionRef>

/** Settings of an `ai` task; they win over the agent's, which win over the provider's. */
export const AiSettings = z.strictObject({
  providerRef: ProviderRef.optional(),
  provider: VendorType.optional(),
  model: z.string().min(1, 'must not be empty').max(256).optional(),
  prompt: z.string().optional(),
  systemPrompt: z.string().optional(),
  temperature: z.number().min(0).max(2).optional(),
  maxTokens: z.int().min(1).optional(),
  skills: z.array(SkillRef).max(100).optional(),
  /** Names of tools, added to the agent's. */
  tools: z.array(ToolName).optional(),
  /** Model calls of one attempt at most, within `--max-iterations`. */
  maxIterations: z.int().min(1).max(10_000).optional(),
})
export type AiSettings = z.infer<typeof AiSettings>

export const AgentRuntimeSettings = z.strictObject({
  maxTurns: z.int().min(1).max(1000).optional(),
  allowedTools: z.array(z.string()).optional(),
  disallowedTools: z.array(z.string()).optional(),
  allowBash: z.boolean().optional(),
  workspace: Workspace.optional(),
})
export type AgentRuntimeSettings = z.infer<typeof AgentRuntimeSettings>

const systemFolders = ['bin', 'boot', 'dev', 'etc', 'lib', 'lib64', 'proc', 'root', 'run', 'sbin', 'sys', 'usr']

const boundedText = z.string().max(1024)
/** Longer than any token is. */
const contextText = z.string().max(16_384).optional()

/** The verified caller; stamped by the server, never by clients (TASK-014). */
export const RequestedBy = z
  .strictObject({
    subject: boundedText.optional(),
    issuer: boundedText.optional(),
    username: boundedText.optional(),
    email: boundedText.optional(),
    groups: z.array(boundedText).max(512).optional(),
    roles: z.array(boundedText).max(512).optional(),
  })
  .meta({ id: 'RequestedBy', 'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'is immutable' }] })
export type RequestedBy = z.infer<typeof RequestedBy>

/** What is shown of the context of a transaction; every field is named, so that rules of the cluster see them. */
export const TransactionContext = z.strictObject({
  purpose: contextText,
  namespace: contextText,
  taskType: contextText,
  agent: contextText,
  allowedAgents: contextText,
  repo: contextText,
  branch: contextText,
  ref: contextText,
  maxDepth: contextText,
  allowedTools: contextText,
  provider: contextText,
  allowedProviders: contextText,
  model: contextText,
  allowedModels: contextText,
  e2e: contextText,
  trace_id: contextText,
})

/** The signed transaction of a context token; stamped by the server, never by clients (TASK-015). */
export const Transaction = z
  .strictObject({
    profile: boundedText.optional(),
    id: boundedText.optional(),
    issuer: boundedText.optional(),
    audience: z.array(boundedText).max(64).optional(),
    subject: boundedText.optional(),
    requestingWorkload: boundedText.optional(),
    scope: z.string().max(8192).optional(),
    scopes: z.array(boundedText).max(256).optional(),
    contextDigest: boundedText.optional(),
    requesterContextDigest: boundedText.optional(),
    context: TransactionContext.optional(),
  })
  .meta({ id: 'Transaction', 'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'is immutable' }] })
export type Transaction = z.infer<typeof Transaction>

/** An absolute path, without `.` and `..`, that is no folder of the system's. */
export const ArtifactsDir = z
  .string()
  .max(255)
  .regex(/^(\/[A-Za-z0-9_-][A-Za-z0-9._-]*)+$/, 'must be an absolute path of letters, digits, "_", "-" and "."')
  .refine((path) => !systemFolders.includes(path.split('/')[1] ?? ''), 'must not be in a folder of the system')
  .meta({
    'x-kubernetes-validations': [
      {
        rule: `!(self.split('/')[1] in [${systemFolders.map((name) => `'${name}'`).join(', ')}])`,
        message: 'must not be in a folder of the system',
      },
    ],
  })

const immutable = (field: string) => ({
  rule: `has(self.${field}) == has(oldSelf.${field})`,
  message: `${field} cannot be added or removed`,
})

export const TaskSpec = z
  .strictObject({
    type: z.enum(taskTypes),
    image: z
      .string()
      .min(1, 'must not be empty')
      .max(512)
      .regex(/^[^\s\0-][^\s\0]*$/, 'must be a container image')
      .optional(),
    command: z.array(ProcessText).optional(),
    args: z.array(ProcessText).optional(),
    env: z.array(EnvVar).max(1000).optional(),
    /**
     * Folder inside the container that is empty at first; the files that lie directly in it at the end are kept as artifacts,
     * whatever the end. `SVC_ARTIFACTS_DIR` names it. Without an image it lies in /workspace.
     */
    artifactsDir: ArtifactsDir.optional(),
    /** Limit of one attempt. Absent: none. */
    timeout: PositiveDuration.optional(),
    /** Higher starts first. */
    priority: z.int().min(0).max(1000).default(500),
    retryPolicy: RetryPolicy.optional(),
    /** Gets a signed POST when the task has ended. */
    webhookURL: WebAddress.optional(),
    secretRef: refersTo('Secret', z.strictObject({ name: ForeignName, namespace: Name.optional() })).optional(),
    sessionRef: SessionRef.optional(),
    resources: ResourceRequirements.optional(),
    execution: Execution.optional(),
    schedule: Schedule.optional(),
    /** Absent: UTC. */
    timeZone: TimeZone.optional(),
    concurrencyPolicy: z.enum(['Allow', 'Forbid']).default('Forbid'),
    /** A run that is later than this is left out. */
    startingDeadlineSeconds: z.int().min(0).default(100),
    successfulRunsHistoryLimit: z.int().min(0).default(3),
    failedRunsHistoryLimit: z.int().min(0).default(1),
    /** Neither starts nor makes runs while it is true. */
    suspend: z.boolean().default(false),
    /** Seconds after its end at which the task is deleted, with all that it left. Absent: as the service is set; 0: at once. */
    ttlSecondsAfterFinished: z.int().min(0).max(3_155_760_000).optional(),
    ai: AiSettings.optional(),
    agentRef: AgentRef.optional(),
    prompt: z.string().optional(),
    agentRuntime: AgentRuntimeSettings.optional(),
    workspace: Workspace.optional(),
    /** A finished task whose diff is applied first. */
    priorTaskRef: TaskRef.optional(),
    requestedBy: RequestedBy.optional(),
    transaction: Transaction.optional(),
  })
  .meta({
    id: 'TaskSpec',
    'x-kubernetes-validations': [
      immutable('requestedBy'),
      immutable('transaction'),
      {
        rule: "self.type != 'agent' || (has(self.agentRef) && has(self.prompt) && self.prompt != '')",
        message: 'agentRef and prompt are required for a task of type agent',
      },
      {
        rule: "self.type == 'container' || !(has(self.image) || has(self.command) || has(self.args))",
        message: 'image, command and args are only for tasks of type container',
      },
      { rule: "self.type == 'ai' || !has(self.ai)", message: 'ai is only for tasks of type ai' },
      {
        rule: "self.type == 'agent' || !has(self.execution) || !has(self.execution.workspace)",
        message: 'execution.workspace is only for tasks of type agent',
      },
    ],
  })
export type TaskSpec = z.infer<typeof TaskSpec>

/** Fields that can be changed at any time, as they do not touch what has run. */
export const changeableFields: readonly (keyof TaskSpec)[] = ['ttlSecondsAfterFinished']

/** Fields that are fixed once the task has started. */
export const fixedFields: readonly (keyof TaskSpec)[] = TaskSpec.keyof().options.filter(
  (field) => !changeableFields.includes(field),
)

/** What the task is asked to do: `ai.prompt` before `prompt`; a blank one counts as absent. */
export function promptOf({ ai, prompt }: Pick<TaskSpec, 'ai' | 'prompt'>): string {
  return [ai?.prompt, prompt].find((text) => text !== undefined && text.trim() !== '') ?? ''
}

export const workspacePhases = ['Pending', 'Ready', 'Released', 'Retained', 'Deleted', 'Failed'] as const
export const workspaceReasons = [
  'WorkspacePending',
  'WorkspaceClaimed',
  'WorkspaceReady',
  'WorkspaceReleased',
  'WorkspaceRetained',
  'WorkspaceDeleted',
  'WorkspaceValidationFailed',
  'WorkspaceAttachmentLocked',
  'WorkspaceClaimFailed',
  'WorkspaceReadinessFailed',
  'WorkspaceHandoffFailed',
  'WorkspaceCommandFailed',
  'WorkspaceSecretScrubFailed',
  'WorkspaceCleanupFailed',
  'WorkspaceStatusUpdateFailed',
] as const

export const ExecutionWorkspaceStatus = z.object({
  provider: z.string().optional(),
  templateRef: z.object({ name: z.string().optional(), namespace: z.string().optional() }).optional(),
  phase: z.enum(workspacePhases).optional(),
  reason: z.enum(workspaceReasons).optional(),
  reusePolicy: z.string().optional(),
  cleanupPolicy: z.string().optional(),
  reused: z.boolean().optional(),
  placement: z.string().optional(),
  density: z.string().optional(),
  resumeLatency: z.string().optional(),
  message: z.string().optional(),
  lastUpdateTime: Timestamp.optional(),
})
export type ExecutionWorkspaceStatus = z.infer<typeof ExecutionWorkspaceStatus>

/** State of the completion callback (TASK-057). */
export const WebhookStatus = z.object({
  state: z.enum(['Pending', 'Delivered', 'Failed']),
  attempts: z.int().min(0),
  lastAttemptTime: Timestamp.optional(),
  nextAttemptTime: Timestamp.optional(),
  lastError: z.string().optional(),
})
export type WebhookStatus = z.infer<typeof WebhookStatus>

/** Tokens and cost of all attempts so far. */
export const TaskUsage = z.object({
  inputTokens: z.int().min(0),
  outputTokens: z.int().min(0),
  cachedTokens: z.int().min(0),
  llmCalls: z.int().min(0),
  /** In `currency`, by the prices that the providers had; absent when none had one. */
  cost: z.number().nonnegative().optional(),
  currency: z.string().optional(),
  /** What vendors did not count, by the length of what was sent and streamed; beside the exact counts. */
  estimatedInputTokens: z.int().min(0).optional(),
  estimatedOutputTokens: z.int().min(0).optional(),
  estimatedCost: z.number().nonnegative().optional(),
})
export type TaskUsage = z.infer<typeof TaskUsage>

export const ChildTask = z.object({
  name: z.string(),
  agent: z.string().optional(),
  phase: z.string().optional(),
  /** At most 4096 characters, then `[truncated]`. */
  result: z.string().optional(),
})
export type ChildTask = z.infer<typeof ChildTask>

export const TaskStatus = z
  .object({
    phase: z.enum(taskPhases).optional(),
    /** Start and end of the last attempt. */
    startTime: Timestamp.optional(),
    completionTime: Timestamp.optional(),
    /** How many runs were started; interrupted ones count here and in `interruptions`, not as retries. */
    attempts: z.int().min(0).optional(),
    interruptions: z.int().min(0).optional(),
    /** Which iteration it works in, from 0, once it has started; only autonomous agents get beyond the first. Not of containers. */
    iteration: z.int().min(0).optional(),
    jobName: z.string().optional(),
    resultRef: z.object({ available: z.boolean() }).optional(),
    executionWorkspace: ExecutionWorkspaceStatus.optional(),
    webhookDelivered: z.boolean().optional(),
    webhook: WebhookStatus.optional(),
    /** The cause of the phase in one sentence a user can act on (TASK-046). */
    message: z.string().optional(),
    /** Why a Pending task does not start yet, CamelCase (`SessionLocked`, `NamespaceLimit`, ...). */
    queuedReason: z.string().optional(),
    /** No new attempt before this time (TASK-042). */
    nextRetryTime: Timestamp.optional(),
    childTasks: z.array(ChildTask).optional(),
    conditions: z.array(Condition).optional(),
    lastScheduleTime: Timestamp.optional(),
    nextScheduleTime: Timestamp.optional(),
    usage: TaskUsage.optional(),
    observedGeneration: z.int().min(0).optional(),
  })
  .meta({ id: 'TaskStatus' })
export type TaskStatus = z.infer<typeof TaskStatus>

export const Task = defineResource('Task', { spec: TaskSpec, status: TaskStatus })
export type Task = z.infer<typeof Task>
