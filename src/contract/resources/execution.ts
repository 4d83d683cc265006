// Where and with what a workload runs: environment, compute resources, placement, workspace.
import { z } from 'zod'
import { Quantity } from '../quantity.ts'
import { ForeignName, Labels, Name } from './metadata.ts'
import { EntryKey, FreeForm, refersTo, SecretRef } from './references.ts'

/** Text for a process: the operating system ends arguments and variables at a NUL. */
export const ProcessText = z.string().refine((text) => !text.includes('\0'), 'must not contain a NUL character')

const EntrySource = z.strictObject({ name: ForeignName, key: EntryKey, optional: z.boolean().optional() })

export const EnvVarSource = z.strictObject({
  secretKeyRef: refersTo('Secret', EntrySource).optional(),
  configMapKeyRef: refersTo('ConfigMap', EntrySource).optional(),
  fieldRef: z.strictObject({ fieldPath: z.string(), apiVersion: z.string().optional() }).optional(),
  resourceFieldRef: z
    .strictObject({ resource: z.string(), containerName: z.string().optional(), divisor: Quantity.optional() })
    .optional(),
})

/** One environment variable: a value, or where it comes from. */
export const EnvVar = z
  .strictObject({
    name: z
      .string()
      .max(256)
      .regex(/^[A-Za-z_][A-Za-z0-9_.-]*$/, 'must be letters, digits, "_", "." and "-", not starting with a digit'),
    value: ProcessText.optional(),
    valueFrom: EnvVarSource.optional(),
  })
  .refine(
    (env) => env.value === undefined || env.valueFrom === undefined,
    'must have either value or valueFrom, not both',
  )
  .meta({
    'x-kubernetes-validations': [
      { rule: '!(has(self.value) && has(self.valueFrom))', message: 'must have either value or valueFrom, not both' },
    ],
  })
export type EnvVar = z.infer<typeof EnvVar>

/** Requests and limits by resource name (`cpu`, `memory`, ...). */
export const ResourceRequirements = z.strictObject({
  requests: z.record(z.string(), Quantity).optional(),
  limits: z.record(z.string(), Quantity).optional(),
})
export type ResourceRequirements = z.infer<typeof ResourceRequirements>

function isGitAddress(text: string): boolean {
  if (/^[A-Za-z0-9_][A-Za-z0-9._-]*@[A-Za-z0-9.-]+:[^\s\0:][^\s\0]*$/.test(text)) return true
  const url = URL.parse(text)
  if (url === null || url.password !== '' || /[\s\0]/.test(text)) return false
  return /^https?:$/.test(url.protocol) ? url.username === '' : /^(ssh|git):$/.test(url.protocol)
}

/** Address of a git repository, without a password in it. */
export const GitAddress = z
  .string()
  .max(2048)
  .refine(
    isGitAddress,
    'must be the address of a git repository (https://host/owner/repo or git@host:owner/repo) without a password',
  )
  .meta({ example: 'https://github.com/owner/repo' })

/** Branch, tag or commit, safe as an argument of git (git-check-ref-format; no leading dash). */
export const GitRevision = z
  .string()
  .min(1, 'must not be empty')
  .max(255)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: git refuses control characters in names of references
  .regex(/^(?![-/.])(?!.*(\.\.|\/\/|@\{|\.lock$|[/.]$))[^\x00-\x20\x7f~^:?*[\\]+$/, 'must be a branch, tag or commit')

/** A folder inside a repository: relative, without `..`. */
export const RelativePath = z
  .string()
  .min(1, 'must not be empty')
  .max(1024)
  .refine(
    (path) => !/^[/\\~]|[\0\\]/.test(path) && !path.split('/').includes('..'),
    'must be a relative path without ".." and "\\"',
  )

/** What is checked out for a task, and where its changes go. */
export const Workspace = z.strictObject({
  gitRepo: GitAddress.optional(),
  branch: GitRevision.optional(),
  /** Tag, branch or commit; checked out directly when set without `branch`. */
  ref: GitRevision.optional(),
  gitSecretRef: SecretRef.optional(),
  subPath: RelativePath.optional(),
  forkRepo: GitAddress.optional(),
  prBaseBranch: GitRevision.optional(),
  pushBranch: GitRevision.optional(),
})
export type Workspace = z.infer<typeof Workspace>

export const workspaceProviders = ['agent-sandbox', 'actor'] as const

const OptionalName = z
  .string()
  .max(253)
  .regex(/^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$/, 'must be the name of a Kubernetes object, or empty')

const TemplateRef = z.strictObject({ name: OptionalName.optional(), namespace: Name.optional() })

/** Durable execution workspace of an agent task (specification: Task execution workspace). */
export const ExecutionWorkspace = z.strictObject({
  enabled: z.boolean().default(false),
  /** Absent: the controller's default. */
  provider: z.enum(workspaceProviders).optional(),
  templateRef: TemplateRef.optional(),
  reusePolicy: z.enum(['none', 'session']).default('none'),
  /** Absent: the controller's default. */
  cleanupPolicy: z.enum(['delete', 'retain']).optional(),
  boot: z.boolean().default(false),
  poolRef: TemplateRef.optional(),
  /** Reserved; must be empty. */
  snapshot: FreeForm.optional(),
  /** Reserved; `processMode: resident` is refused. */
  hibernation: FreeForm.optional(),
})
export type ExecutionWorkspace = z.infer<typeof ExecutionWorkspace>

/** Placement in a cluster; task fields override the agent's one by one. */
export const Execution = z.strictObject({
  runtimeClassName: ForeignName.optional(),
  nodeSelector: Labels.optional(),
  tolerations: z.array(FreeForm).optional(),
  affinity: FreeForm.optional(),
  workspace: ExecutionWorkspace.optional(),
})
export type Execution = z.infer<typeof Execution>
