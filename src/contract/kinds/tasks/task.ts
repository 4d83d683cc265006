// Task: one piece of work, run once, on retry, on a schedule, or by an agent in iterations.
import { z } from 'zod'
import { field } from '../../schema/field.ts'
import { limitedText } from '../../schema/text.ts'
import { Duration, PositiveDuration } from '../../values/duration.ts'
import { Schedule, TimeZone } from '../../values/schedule.ts'
import { countedFields, samplingFields } from '../providers/model-use.ts'
import { VendorType } from '../providers/provider.ts'
import { Condition, defineResource, ForeignName, Name, RecordName, Timestamp } from '../resources/metadata.ts'
import {
  AgentRef,
  FreeForm,
  ProviderRef,
  refersTo,
  SkillRef,
  TaskRef,
  ToolName,
  WebAddress,
} from '../resources/references.ts'
import { ChildTask } from './child-task.ts'
import {
  AttemptIsolation,
  ContainerImage,
  EnvVar,
  Execution,
  ProcessText,
  ResourceRequirements,
  TaskBudget,
  Workspace,
} from './execution.ts'
import { Network } from './network.ts'
import { RequestedBy, Transaction } from './requester.ts'

/** What a task runs: a model, a command or an agent program. */
export const taskTypes = ['ai', 'container', 'agent'] as const

export const taskPhases = ['Pending', 'Running', 'Succeeded', 'Failed', 'Scheduled', 'Cancelled'] as const
/** The phase of a task. */
export type TaskPhase = (typeof taskPhases)[number]

/** Final phases. */
export const terminalPhases = ['Succeeded', 'Failed', 'Cancelled'] as const satisfies readonly TaskPhase[]

/** Whether a task of this phase has ended for good. */
export function isTerminalPhase(phase: string | undefined): phase is (typeof terminalPhases)[number] {
  return terminalPhases.some((each) => each === phase)
}

/** Whether an attempt of the task has begun or it has ended without one; from then on its spec is fixed. A schedule never starts. */
export function hasStarted(
  status: { phase?: TaskPhase | undefined; attempts?: number | undefined } | undefined,
): boolean {
  return status?.phase === 'Running' || isTerminalPhase(status?.phase) || (status?.attempts ?? 0) > 0
}

/** Type of the condition that is True while an attempt that was started waits for a node, its image or quota. */
export const waitingCondition = 'WaitingToRun'

/** Why an attempt that was started cannot begin yet; the task is Pending for this reason meanwhile. */
export const blockedReasons = ['Unschedulable', 'WaitingForQuota', 'NoPod', 'ImageUnavailable', 'StartFailed'] as const

type Attempted = { phase?: TaskPhase | undefined; queuedReason?: string | undefined }

/** Whether an attempt was started and has not ended: the task is Running, or Pending since the attempt cannot begin. */
export function hasAttempt(status: Attempted | undefined): boolean {
  const reasons: readonly (string | undefined)[] = blockedReasons
  return status?.phase === 'Running' || (status?.phase === 'Pending' && reasons.includes(status.queuedReason))
}

/** When a failed task runs again. */
export const RetryPolicy = z.strictObject({
  maxRetries: field(z.int().min(0).max(100).default(0), 'How often a failed task runs again; 0 means it runs once.', 3),
  backoffMultiplier: field(
    z.number().min(1).max(100).default(2),
    'Each delay between two attempts is this many times the one before.',
    2,
  ),
  initialDelay: field(Duration.default('10s'), 'Wait before the first retry, as a duration.', '10s'),
})
export type RetryPolicy = z.infer<typeof RetryPolicy>

/** The session that a task continues. */
export const SessionRef = z.strictObject({
  name: field(RecordName, 'Name of the session whose transcript the task continues.', 'support-42'),
  create: field(
    z.boolean().default(false),
    'Create the session if it does not exist; otherwise the task waits for it.',
  ),
  append: field(z.boolean().default(true), 'Add the prompt and the result to the session when the task ends.'),
  maxMessages: field(
    z.int().min(1).default(50),
    'How many messages of the session the model sees, counted from the newest.',
    50,
  ),
})
export type SessionRef = z.infer<typeof SessionRef>

/** Settings of an `ai` task; they override the agent's, which override the provider's. */
export const AiSettings = z.strictObject({
  providerRef: field(
    ProviderRef.optional(),
    "Provider that answers the model calls. Without it: the agent's, then the Provider named `default`.",
  ),
  provider: field(VendorType.optional(), 'Vendor type to use when no Provider is named.'),
  model: field(
    limitedText(256).min(1, 'must not be empty').optional(),
    "Name of the model, as the provider knows it. Without it: the agent's, then the provider's `defaultModel`.",
    'large-model',
  ),
  prompt: field(
    z.string().optional(),
    'What the model is asked to do.',
    'Summarize https://example.com in three sentences',
  ),
  systemPrompt: field(z.string().optional(), "System prompt; added to the agent's.", 'Answer in plain text.'),
  ...samplingFields,
  skills: field(
    z.array(SkillRef).max(100).optional(),
    'Skills, at most 100. The model is told of them by name and description and reads them with `skill_read`; a text of a ConfigMap is added to the system prompt.',
  ),
  tools: field(z.array(ToolName).optional(), "Names of tools that the model may call, added to the agent's.", [
    'web_fetch',
    'code_exec',
  ]),
  maxIterations: field(
    z.int().min(1).max(10_000).optional(),
    'Model calls of one attempt at most. The setting `--max-iterations` is the upper limit, and the default.',
    20,
  ),
  outputSchema: field(
    FreeForm.optional(),
    'JSON Schema that the answer must match, at most 65,536 characters. The result is then JSON. A model whose answer does not match is told why, twice at most; then the attempt fails.',
    {
      type: 'object',
      properties: { title: { type: 'string' }, score: { type: 'integer' } },
      required: ['title', 'score'],
      additionalProperties: false,
    },
  ),
})
export type AiSettings = z.infer<typeof AiSettings>

/** Settings of an `agent` task. */
export const AgentRuntimeSettings = z.strictObject({
  maxTurns: field(
    z.int().min(1).max(1000).optional(),
    "Turns of the agent program at most. Without it: the agent's `defaultMaxTurns`.",
    50,
  ),
  allowedTools: field(
    z.array(z.string()).optional(),
    "Tools that the agent program may use. Without it: the agent's `defaultAllowedTools`.",
    ['Read', 'Edit'],
  ),
  disallowedTools: field(z.array(z.string()).optional(), 'Tools that the agent program must not use.', ['WebSearch']),
  allowBash: field(
    z.boolean().optional(),
    "Whether the agent program may run shell commands. Without it: the agent's `defaultAllowBash`.",
  ),
  workspace: field(Workspace.optional(), 'Git repository that the agent program works in.'),
})
export type AgentRuntimeSettings = z.infer<typeof AgentRuntimeSettings>

const systemFolders = ['bin', 'boot', 'dev', 'etc', 'lib', 'lib64', 'proc', 'root', 'run', 'sbin', 'sys', 'usr']

/** An absolute path without `.` and `..` that is not a system folder. */
export const ArtifactsDir = limitedText(255)
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

/** The spec of a task. */
export const TaskSpec = z
  .strictObject({
    type: field(
      z.enum(taskTypes),
      'What runs: `ai` (a model with tools), `container` (a command) or `agent` (an agent program).',
    ),
    image: field(
      ContainerImage.optional(),
      'Container image. A `container` task without one runs its command in a local sandbox.',
      'python:3.12-slim',
    ),
    command: field(
      z.array(ProcessText).optional(),
      'Program and its first arguments; in a container they replace the entry point of the image.',
      ['python', '-c', 'print(42)'],
    ),
    args: field(z.array(ProcessText).optional(), 'Further arguments of the command.', ['--verbose']),
    env: field(z.array(EnvVar).max(1000).optional(), 'Environment variables, at most 1000.'),
    artifactsDir: field(
      ArtifactsDir.optional(),
      'Folder whose files are kept as artifacts when the task ends, whatever the outcome. It is empty at first; files in subfolders are not kept. The variable `SVC_ARTIFACTS_DIR` names it. Without an image it must be inside /workspace.',
      '/workspace/out',
    ),
    timeout: field(
      PositiveDuration.optional(),
      'Time limit of one attempt, as a duration. Without it: no limit.',
      '15m',
    ),
    budget: field(
      TaskBudget.optional(),
      'What all attempts and iterations of the task may use together. Reached, the task fails with `BudgetExceeded`. Of a schedule: for each run.',
    ),
    priority: field(
      z.int().min(0).max(1000).default(500),
      'Order among waiting tasks: from 0 to 1000, the highest starts first.',
      800,
    ),
    retryPolicy: field(RetryPolicy.optional(), 'When and how often the task runs again after it failed.'),
    webhookURL: field(
      WebAddress.optional(),
      'Address that gets a signed POST when the task has ended.',
      'https://example.com/hooks/svc',
    ),
    secretRef: field(
      refersTo(
        'Secret',
        z.strictObject({
          name: field(ForeignName, 'Name of the Secret.', 'build-keys'),
          namespace: field(Name.optional(), "Namespace of the Secret. Without it: the task's own.", 'team-a'),
        }),
      ).optional(),
      'Secret whose entries the task gets as environment variables or files.',
    ),
    sessionRef: field(
      SessionRef.optional(),
      'Session that the task continues. Tasks of one session run one after another.',
    ),
    resources: field(ResourceRequirements.optional(), 'CPU, memory and disk that an attempt gets.'),
    execution: field(Execution.optional(), 'Isolation of an attempt, and where it runs on a cluster.'),
    network: field(
      Network.optional(),
      "What the task's programs may reach; not for tasks of type `ai`. Without it: the agent's, then that of the namespace, then the settings `--agent-network` and `--command-network`.",
    ),
    schedule: field(
      Schedule.optional(),
      'Cron expression with five fields. With it the task is a schedule: each run is a task of its own.',
      '0 7 * * 1-5',
    ),
    timeZone: field(TimeZone.optional(), 'IANA time zone of the schedule. Without it: UTC.', 'Europe/Berlin'),
    concurrencyPolicy: field(
      z.enum(['Allow', 'Forbid']).default('Forbid'),
      'Whether a run of the schedule may start while the one before still runs.',
    ),
    startingDeadlineSeconds: field(
      z.int().min(0).default(100),
      'Seconds; a run that could not start within this time after it was due is skipped.',
      100,
    ),
    successfulRunsHistoryLimit: field(
      z.int().min(0).default(3),
      'How many successful runs of the schedule are kept.',
      3,
    ),
    failedRunsHistoryLimit: field(z.int().min(0).default(1), 'How many failed runs of the schedule are kept.', 1),
    suspend: field(
      z.boolean().default(false),
      'While true, no attempt of the task starts, an autonomous agent begins no further iteration, and a schedule makes no runs. An attempt that runs is finished.',
    ),
    ttlSecondsAfterFinished: field(
      z.int().min(0).max(3_155_760_000).optional(),
      'Seconds after its end at which the task is deleted with all its records; 0 deletes it at once. Without it: the setting `--task-ttl`.',
      86400,
    ),
    ai: field(AiSettings.optional(), 'Settings of a task of type `ai`.'),
    agentRef: field(AgentRef.optional(), 'Agent that supplies model, system prompt, tools and skills.'),
    prompt: field(
      z.string().optional(),
      'What the task is asked to do; for `ai` tasks the same as `ai.prompt`.',
      'Fix the failing test',
    ),
    agentRuntime: field(AgentRuntimeSettings.optional(), 'Settings of a task of type `agent`.'),
    workspace: field(Workspace.optional(), 'Git repository that is checked out into the workspace.'),
    priorTaskRef: field(TaskRef.optional(), 'Finished task whose changes are applied to the workspace first.'),
    requestedBy: field(RequestedBy.optional(), 'Who asked for the task. Set by the service; refused in a request.'),
    transaction: field(
      Transaction.optional(),
      'Transaction that the task belongs to. Set by the service from the context token; refused in a request.',
    ),
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
      { rule: "self.type != 'ai' || !has(self.network)", message: 'network is not for tasks of type ai' },
      {
        rule: "self.type == 'agent' || !has(self.execution) || !has(self.execution.workspace)",
        message: 'execution.workspace is only for tasks of type agent',
      },
    ],
  })
export type TaskSpec = z.infer<typeof TaskSpec>

/** Fields that can be changed at any time, because they do not affect what has run. */
export const changeableFields: readonly (keyof TaskSpec)[] = ['ttlSecondsAfterFinished']

/** Fields that can be changed until the task has ended: they are read anew before each step. */
export const lastingFields: readonly (keyof TaskSpec)[] = ['suspend', 'budget']

/** Fields that are fixed once the task has started. */
export const fixedFields: readonly (keyof TaskSpec)[] = TaskSpec.keyof().options.filter(
  (field) => !changeableFields.includes(field) && !lastingFields.includes(field),
)

/** The prompt of the task: `ai.prompt`, else `prompt`; a blank one counts as absent. */
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

/** State of an execution workspace. */
export const ExecutionWorkspaceStatus = z.object({
  provider: field(z.string().optional(), 'Provider of the workspace.', 'agent-sandbox'),
  templateRef: field(
    z
      .object({
        name: field(z.string().optional(), 'Name of the template.', 'node-20'),
        namespace: field(z.string().optional(), 'Namespace of the template.', 'team-a'),
      })
      .optional(),
    'Template that the workspace was made from.',
  ),
  phase: field(z.enum(workspacePhases).optional(), 'How far the workspace is.'),
  reason: field(z.enum(workspaceReasons).optional(), 'Why it is in this phase.'),
  reusePolicy: field(z.string().optional(), 'Who may use the workspace again.', 'session'),
  cleanupPolicy: field(z.string().optional(), 'What happens to the workspace at the end.', 'delete'),
  reused: field(z.boolean().optional(), 'Whether the workspace existed before this task.'),
  placement: field(z.string().optional(), 'Where the workspace runs.', 'node-a'),
  density: field(z.string().optional(), 'How many workspaces share the machine.', '4'),
  resumeLatency: field(z.string().optional(), 'Time it took to resume the workspace.', '1.2s'),
  message: field(z.string().optional(), 'What happened, in one sentence.', 'the workspace is ready'),
  lastUpdateTime: field(Timestamp.optional(), 'When this was last written.'),
})
export type ExecutionWorkspaceStatus = z.infer<typeof ExecutionWorkspaceStatus>

/** State of the completion callback (TASK-057). */
export const WebhookStatus = z.object({
  state: field(
    z.enum(['Pending', 'Delivered', 'Failed']),
    'Whether the callback is still to come, was delivered or was given up.',
  ),
  attempts: field(z.int().min(0), 'How often it was sent.', 1),
  lastAttemptTime: field(Timestamp.optional(), 'When it was last sent.'),
  nextAttemptTime: field(Timestamp.optional(), 'When it is sent again.'),
  lastError: field(z.string().optional(), 'Why the last attempt failed.', 'the receiver answered 503'),
})
export type WebhookStatus = z.infer<typeof WebhookStatus>

/** Tokens and cost of all attempts so far. */
export const TaskUsage = z.object({
  ...countedFields,
  cost: field(
    z.number().nonnegative().optional(),
    'Cost in `currency`, at the prices that the providers had at the time. Without it: no price was set.',
    0.0123,
  ),
  currency: field(z.string().optional(), 'Currency of the costs (ISO 4217).', 'USD'),
  estimatedInputTokens: field(
    z.int().min(0).optional(),
    'Input tokens that the vendors did not count, estimated from the length of what was sent; not part of `inputTokens`.',
    80,
  ),
  estimatedOutputTokens: field(
    z.int().min(0).optional(),
    'Output tokens that the vendors did not count, estimated from the length of what came; not part of `outputTokens`.',
    20,
  ),
  estimatedCost: field(
    z.number().nonnegative().optional(),
    'Cost of the estimated tokens in `currency`; not part of `cost`.',
    0.0004,
  ),
})
export type TaskUsage = z.infer<typeof TaskUsage>

/** The status of a task, written by the service. */
export const TaskStatus = z
  .object({
    phase: field(z.enum(taskPhases).optional(), 'How far the task is.'),
    startTime: field(Timestamp.optional(), 'When the last attempt started.'),
    firstStartTime: field(Timestamp.optional(), 'When the first attempt started; `budget.maxDuration` counts from it.'),
    completionTime: field(Timestamp.optional(), 'When the last attempt ended.'),
    attempts: field(z.int().min(0).optional(), 'How many attempts were started, interrupted ones included.', 1),
    interruptions: field(
      z.int().min(0).optional(),
      'How many attempts ended because the service stopped; they do not count as retries.',
      0,
    ),
    parkings: field(
      z.int().min(0).optional(),
      'How many attempts ended because the task was parked to wait for something; they do not count as retries.',
      0,
    ),
    sharedLosses: field(
      z.int().min(0).optional(),
      'How many attempts ended because a process that they shared with others did; they count neither as retries nor as interruptions.',
      0,
    ),
    iteration: field(
      z.int().min(0).optional(),
      'Current iteration of an autonomous agent, from 0. Not set for containers.',
      0,
    ),
    earlierIterations: field(
      z
        .object({
          attempts: field(z.int().min(0), 'Attempts that were started in them.', 1),
          interruptions: field(z.int().min(0), 'Those among them that were interrupted.', 0),
          parkings: field(z.int().min(0).default(0), 'Those among them that ended because the task was parked.', 0),
          sharedLosses: field(
            z.int().min(0).default(0),
            'Those among them that ended with a process that they shared.',
            0,
          ),
        })
        .optional(),
      'What the iterations before the current one took; the retry policy counts attempts of the current one alone. Absent: it is the first.',
    ),
    jobName: field(z.string().optional(), 'On a cluster: Job of the last attempt.', 'report-1'),
    resultRef: field(
      z.object({ available: field(z.boolean(), 'Whether there is a result to fetch.') }).optional(),
      'Where the result is.',
    ),
    isolation: field(AttemptIsolation.optional(), 'Where processes are shared: whether the last attempt shares one.'),
    executionWorkspace: field(ExecutionWorkspaceStatus.optional(), 'State of the execution workspace.'),
    webhookDelivered: field(z.boolean().optional(), 'Whether the callback was delivered.'),
    webhook: field(WebhookStatus.optional(), 'State of the callback.'),
    message: field(
      z.string().optional(),
      'Why the task is in this phase, in one sentence.',
      'the command ended with exit code 1',
    ),
    failureReason: field(z.string().optional(), 'Why a failed task failed, as one word for programs.', 'TimedOut'),
    queuedReason: field(z.string().optional(), 'Why a pending task does not start yet.', 'SessionLocked'),
    nextRetryTime: field(Timestamp.optional(), 'No new attempt starts before this time.'),
    childTasks: field(z.array(ChildTask).optional(), 'Tasks that this one has created.'),
    memories: field(
      z
        .array(
          z.object({
            id: field(z.string(), 'Id of the memory.', 'mem-0192f0c1'),
            why: field(z.string(), 'Why it was given to the task.', 'shares with the prompt: staging, reset'),
          }),
        )
        .optional(),
      'Durable memories that the last attempt was given with its prompt.',
    ),
    conditions: field(z.array(Condition).optional(), 'Conditions in the form that Kubernetes uses.'),
    lastScheduleTime: field(Timestamp.optional(), 'When the schedule last made a run.'),
    nextScheduleTime: field(Timestamp.optional(), 'When the schedule makes its next run.'),
    usage: field(TaskUsage.optional(), 'Tokens and cost of all attempts together.'),
    observedGeneration: field(z.int().min(0).optional(), 'The `metadata.generation` that this status is about.', 1),
  })
  .meta({ id: 'TaskStatus' })
export type TaskStatus = z.infer<typeof TaskStatus>

/** A task as it is stored. */
export const Task = defineResource('Task', { spec: TaskSpec, status: TaskStatus })
export type Task = z.infer<typeof Task>
