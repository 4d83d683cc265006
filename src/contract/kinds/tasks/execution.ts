// Where and with what a workload runs: environment, compute resources, placement, workspace.
import { z } from 'zod'
import { normalizeInnerPath } from '../../../lib/inner-path.ts'
import { field, notBoth, publishedMark } from '../../schema/field.ts'
import { limitedText } from '../../schema/text.ts'
import { PositiveDuration } from '../../values/duration.ts'
import { Quantity } from '../../values/quantity.ts'
import { readGitAddress } from '../../values/repository-url.ts'
import { CurrencyCode } from '../providers/model-use.ts'
import { ForeignName, Labels, Name } from '../resources/metadata.ts'
import { EntryKey, FreeForm, refersTo, SecretRef } from '../resources/references.ts'

/** Text for a process, without NUL, which would end an argument or variable. */
export const ProcessText = z.string().refine((text) => !text.includes('\0'), 'must not contain a NUL character')

/** A command line for `sh -c`. */
export const ShellCommand = limitedText(4096)
  .min(1, 'must not be empty')
  .refine((text) => !text.includes('\0'), 'must not contain a NUL character')

/** Name of a container image. */
export const ContainerImage = limitedText(512)
  .min(1, 'must not be empty')
  .regex(/^[^\s\0-][^\s\0]*$/, 'must be a container image')

const EntrySource = z.strictObject({
  name: field(ForeignName, 'Name of the Secret or ConfigMap.', 'build-keys'),
  key: field(EntryKey, 'Name of the entry.', 'token'),
  optional: field(z.boolean().optional(), 'Start without the variable when the entry does not exist.'),
})

/** Where the value of a variable comes from; exactly one field is set. */
export const EnvVarSource = z.strictObject({
  secretKeyRef: field(refersTo('Secret', EntrySource).optional(), 'Entry of a Secret.'),
  configMapKeyRef: field(refersTo('ConfigMap', EntrySource).optional(), 'Entry of a ConfigMap.'),
  fieldRef: field(
    z
      .strictObject({
        fieldPath: field(z.string(), 'Path of the field.', 'metadata.name'),
        apiVersion: field(z.string().optional(), 'Version of the schema that the path belongs to.', 'v1'),
      })
      .optional(),
    'On a cluster: a field of the pod.',
  ),
  resourceFieldRef: field(
    z
      .strictObject({
        resource: field(z.string(), 'Name of the resource.', 'limits.memory'),
        containerName: field(z.string().optional(), 'Name of the container.', 'task'),
        divisor: field(Quantity.optional(), 'Unit in which the amount is given, as a quantity.', '1Mi'),
      })
      .optional(),
    "On a cluster: an amount of the container's resources.",
  ),
})

/** One environment variable: a value, or its source. */
export const EnvVar = z
  .strictObject({
    name: field(
      limitedText(256).regex(
        /^[A-Za-z_][A-Za-z0-9_.-]*$/,
        'must be letters, digits, "_", "." and "-", not starting with a digit',
      ),
      'Name of the variable.',
      'LOG_LEVEL',
    ),
    value: field(ProcessText.optional(), 'Value of the variable.', 'debug'),
    valueFrom: field(EnvVarSource.optional(), 'Where the value is read from, instead of `value`.'),
  })
  .refine(
    (env) => env.value === undefined || env.valueFrom === undefined,
    'must have either value or valueFrom, not both',
  )
  .meta({
    [publishedMark]: notBoth('value', 'valueFrom'),
    'x-kubernetes-validations': [
      { rule: '!(has(self.value) && has(self.valueFrom))', message: 'must have either value or valueFrom, not both' },
    ],
  })
export type EnvVar = z.infer<typeof EnvVar>

/** Requests and limits by resource name (`cpu`, `memory`, ...). */
export const ResourceRequirements = z.strictObject({
  requests: field(z.record(z.string(), Quantity).optional(), 'What is reserved: quantities by name of the resource.', {
    cpu: '250m',
    memory: '256Mi',
  }),
  limits: field(
    z.record(z.string(), Quantity).optional(),
    'What may be used at most: quantities by name of the resource; `ephemeral-storage` is the size of the workspace.',
    { cpu: '1', memory: '1Gi', 'ephemeral-storage': '2Gi' },
  ),
})
export type ResourceRequirements = z.infer<typeof ResourceRequirements>

/** Address of a git repository, without a password in it. */
export const GitAddress = limitedText(2048)
  .refine(
    (text) => readGitAddress(text) !== undefined,
    'must be the address of a git repository (https://host/owner/repo or git@host:owner/repo) without a password',
  )
  .meta({ example: 'https://github.com/owner/repo' })

/** Branch, tag or commit, safe as an argument of git (git-check-ref-format; no leading dash). */
export const GitRevision = limitedText(255)
  .min(1, 'must not be empty')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: git refuses control characters in names of references
  .regex(/^(?![-/.])(?!.*(\.\.|\/\/|@\{|\.lock$|[/.]$))[^\x00-\x20\x7f~^:?*[\\]+$/, 'must be a branch, tag or commit')

/** A folder inside a repository: relative, without `..`. */
export const RelativePath = limitedText(1024)
  .min(1, 'must not be empty')
  .refine(
    (path) => !path.startsWith('~') && normalizeInnerPath(path) !== undefined,
    'must be a relative path without ".." and "\\"',
  )

/** What is checked out for a task, and where its changes are pushed. */
export const Workspace = z.strictObject({
  gitRepo: field(GitAddress.optional(), 'Address of the Git repository.', 'https://github.com/owner/repo.git'),
  branch: field(GitRevision.optional(), 'Branch to check out. Without it: the default branch.', 'main'),
  ref: field(GitRevision.optional(), 'Tag, branch or commit; checked out directly when `branch` is not set.', 'v1.2.0'),
  gitSecretRef: field(SecretRef.optional(), 'Secret with the credentials of the repository.'),
  subPath: field(RelativePath.optional(), 'Folder of the repository to work in.', 'packages/api'),
  forkRepo: field(
    GitAddress.optional(),
    'Address of the fork that changes are pushed to.',
    'https://github.com/bot/repo.git',
  ),
  prBaseBranch: field(GitRevision.optional(), 'Branch that a pull request is made against.', 'main'),
  pushBranch: field(GitRevision.optional(), 'Branch that changes are pushed to.', 'svc/fix-tests'),
  lfs: field(
    z.boolean().optional(),
    'Whether files that the repository keeps with Git LFS are fetched. Without it: their pointers are there.',
    true,
  ),
})
export type Workspace = z.infer<typeof Workspace>

export const workspaceProviders = ['agent-sandbox', 'actor'] as const
/** Who provides execution workspaces. */
export type WorkspaceProvider = (typeof workspaceProviders)[number]

const OptionalName = limitedText(253).regex(
  /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$/,
  'must be the name of a Kubernetes object, or empty',
)

const TemplateRef = z.strictObject({
  name: field(OptionalName.optional(), 'Name of the template or pool.', 'node-20'),
  namespace: field(
    Name.optional(),
    'Namespace of the template or pool. Without it: the namespace of the task.',
    'team-a',
  ),
})

/** Durable execution workspace of an agent task (specification: Task execution workspace). */
export const ExecutionWorkspace = z.strictObject({
  enabled: field(z.boolean().default(false), 'Run in an execution workspace.'),
  provider: field(
    z.enum(workspaceProviders).optional(),
    'Provider of the workspace. Without it: the default of the service.',
  ),
  templateRef: field(TemplateRef.optional(), 'Template of the workspace.'),
  reusePolicy: field(
    z.enum(['none', 'session']).default('none'),
    'Whether later tasks of the same session use the workspace again; `session` needs `sessionRef`. Tasks of other people, or with other Secrets, never get it.',
  ),
  cleanupPolicy: field(
    z.enum(['delete', 'retain']).optional(),
    'Whether the workspace is deleted or kept at the end. Without it: the default of the service.',
  ),
  boot: field(
    z.boolean().default(false),
    'Of actors only: start it from scratch when it is resumed for the first time.',
  ),
  poolRef: field(
    TemplateRef.optional(),
    'Of actors only: pool that the workspace comes from. Its `cleanupPolicy` is then `delete`.',
  ),
  snapshot: field(FreeForm.optional(), 'Of actors only: reserved; must be empty.', {}),
  hibernation: field(FreeForm.optional(), 'Of actors only: reserved; `processMode: resident` is refused.', {}),
})
export type ExecutionWorkspace = z.infer<typeof ExecutionWorkspace>

export const isolationReasons = [
  'TaskType',
  'Checkout',
  'Placement',
  'Resources',
  'Suspect',
  'TaskIsolation',
  'AgentIsolation',
  'NamespaceIsolation',
  'ServiceIsolation',
] as const
/** Why an attempt has a process of its own. */
export type IsolationReason = (typeof isolationReasons)[number]

/** Whether an attempt shares a process with others. */
export const AttemptIsolation = z.object({
  mode: field(z.enum(['shared', 'own']), 'Whether it shares a process with other attempts, or has one of its own.'),
  reason: field(
    z.enum(isolationReasons).optional(),
    'Why it has one of its own: what the task is or asks for (`TaskType`, `Checkout`, `Placement`, `Resources`), an attempt before it that ended a shared process (`Suspect`), or who asks for `process`.',
  ),
})
export type AttemptIsolation = z.infer<typeof AttemptIsolation>

/** Isolation, and placement in a cluster; task fields override the agent's one by one. */
export const Execution = z.strictObject({
  isolation: field(
    z.enum(['process']).optional(),
    '`process`: each attempt has a process of its own. Without it: the service decides.',
  ),
  runtimeClassName: field(ForeignName.optional(), 'Runtime class of the pod.', 'gvisor'),
  nodeSelector: field(Labels.optional(), 'Labels that a node must have.', { disk: 'ssd' }),
  tolerations: field(z.array(FreeForm).optional(), 'Taints that the pod tolerates, as in a pod.', [
    { key: 'gpu', operator: 'Exists' },
  ]),
  affinity: field(FreeForm.optional(), 'Affinity of the pod, as in a pod.', { nodeAffinity: {} }),
  queue: field(
    ForeignName.max(63, 'must have at most 63 characters: Jobs name their queue in a label').optional(),
    'Queue of Kueue (LocalQueue of the namespace) whose quota the workload waits for; not in an execution workspace.',
    'team-a',
  ),
  workspace: field(ExecutionWorkspace.optional(), 'Execution workspace of the task.'),
})
export type Execution = z.infer<typeof Execution>

/** At least one limit; the first that is reached ends the task. */
export const TaskBudget = z.strictObject({
  maxTokens: field(
    z.int().min(1).max(1_000_000_000_000).optional(),
    'Most tokens in and out, counted and estimated, of the task and of all tasks that it creates.',
    500_000,
  ),
  maxCost: field(
    z.number().positive().max(1_000_000_000).optional(),
    'Most money in `currency`, of the task and of all tasks that it creates. Calls without a price in it do not count.',
    5,
  ),
  currency: field(CurrencyCode, 'Currency of `maxCost` (ISO 4217).', 'EUR'),
  maxDuration: field(
    PositiveDuration.optional(),
    'Longest time from the start of the first attempt, as a duration: retries, iterations and the time between them included.',
    '24h',
  ),
  maxIterations: field(
    z.int().min(1).optional(),
    'Most iterations of an autonomous agent. The task fails at this limit; with that of its agent (`coordination.maxIterations`) it succeeds.',
    10,
  ),
})
export type TaskBudget = z.infer<typeof TaskBudget>
