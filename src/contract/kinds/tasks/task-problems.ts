// Problems of a task that show without running it (TASK-034): rules across the fields of its spec.
import type { Problem } from '../../../errors.ts'
import { outputSchemaProblems } from '../../schema/output-schema.ts'
import { tryParseQuantity } from '../../values/quantity.ts'
import type { ObjectMeta } from '../resources/metadata.ts'
import type { EnvVar, ExecutionWorkspace, Workspace, WorkspaceProvider } from './execution.ts'
import { promptOf, type TaskSpec } from './task.ts'

type Named = { metadata: ObjectMeta }

const fields: Record<string, (task: Named) => string> = {
  'metadata.name': (task) => task.metadata.name,
  'metadata.namespace': (task) => task.metadata.namespace,
  'metadata.uid': (task) => task.metadata.uid,
}
const maps = { labels: 'labels', annotations: 'annotations' } as const
const mapPattern = /^metadata\.(labels|annotations)\['([^']+)'\]$/

/** The field of the task that `valueFrom.fieldRef` names; empty when it is absent. */
export function readTaskField(task: Named, path: string): string {
  const [, map, key = ''] = mapPattern.exec(path) ?? []
  if (map === undefined) return fields[path]?.(task) ?? ''
  return task.metadata[maps[map as keyof typeof maps]]?.[key] ?? ''
}

type Amounts = { cpu?: number; memoryBytes?: number }
type Limits = Amounts & { requests?: Amounts }

const amounts: Record<string, (limits: Limits) => number | undefined> = {
  'limits.cpu': ({ cpu }) => cpu,
  'limits.memory': ({ memoryBytes }) => memoryBytes,
  'requests.cpu': ({ cpu, requests }) => requests?.cpu ?? cpu,
  'requests.memory': ({ memoryBytes, requests }) => requests?.memoryBytes ?? memoryBytes,
}

/** The limit that `valueFrom.resourceFieldRef` names, in units of its divisor, rounded up; 0 without a limit. */
export function readAmount(
  limits: Limits,
  { resource, divisor }: { resource: string; divisor?: string | number | undefined },
): string {
  const unit = tryParseQuantity(String(divisor ?? '1')) || 1
  // 1.1 / 0.1 is a little more than 11.
  return String(Math.ceil((amounts[resource]?.(limits) ?? 0) / unit - 1e-9))
}

function findSourceProblems({ valueFrom = {} }: EnvVar): Problem[] {
  const { fieldRef, resourceFieldRef } = valueFrom
  const problems: Problem[] = []
  const add = (path: string, message: string) => problems.push({ path: `valueFrom.${path}`, message })
  if (fieldRef !== undefined && !Object.hasOwn(fields, fieldRef.fieldPath) && !mapPattern.test(fieldRef.fieldPath)) {
    const known = `${Object.keys(fields).join(', ')}, metadata.labels['key'] or metadata.annotations['key']`
    add('fieldRef.fieldPath', `is not a field of a task; use ${known}`)
  }
  if ((fieldRef?.apiVersion ?? 'v1') !== 'v1') add('fieldRef.apiVersion', 'must be v1')
  if (resourceFieldRef !== undefined && !Object.hasOwn(amounts, resourceFieldRef.resource)) {
    add('resourceFieldRef.resource', `must be one of ${Object.keys(amounts).join(', ')}`)
  }
  if (resourceFieldRef?.containerName !== undefined) {
    add('resourceFieldRef.containerName', 'has no meaning: a task has one container; remove it')
  }
  const sources = Object.keys(valueFrom).length
  if (sources > 1) problems.push({ path: 'valueFrom', message: 'must have one source, not several' })
  return problems
}

/** Problems of variables whose source does not exist; paths are relative to the spec. */
export function variableProblems(env: readonly EnvVar[] = []): Problem[] {
  return env.flatMap((variable, index) =>
    findSourceProblems(variable).map(({ path, message }) => ({ path: `env[${index}].${path}`, message })),
  )
}

/** What one provider of execution workspaces gives to tasks that do not say it. */
export type ProviderDefaults = {
  template?: string
  /** Namespace of templates whose namespace a task does not name; absent: that of the task. */
  templateNamespace?: string
  cleanupPolicy: 'delete' | 'retain'
}

/** The service's settings; absent: only rules that do not depend on settings are checked. */
export type WorkspaceDefaults = {
  defaultProvider: WorkspaceProvider
  /** Those that are enabled. */
  providers: Partial<Record<WorkspaceProvider, ProviderDefaults>>
}

/** The defaults of a service that has none: every enabled workspace is refused. */
export const noWorkspaces: WorkspaceDefaults = { providers: {}, defaultProvider: 'agent-sandbox' }

type Rule = [broken: boolean, path: string, message: string]

function collect(rules: Rule[]): Problem[] {
  return rules.filter(([broken]) => broken).map(([, path, message]) => ({ path, message }))
}

function isBlank(text: string | undefined): boolean {
  return text === undefined || text.trim() === ''
}

function isEmpty(list: readonly unknown[] | undefined): boolean {
  return list === undefined || list.length === 0
}

function promptRules(spec: TaskSpec): Rule[] {
  const isAi = spec.type === 'ai'
  return [
    [
      isAi && spec.network !== undefined,
      'network',
      'is not for tasks of type ai, whose code has no network; remove it',
    ],
    [spec.type === 'agent' && spec.agentRef === undefined, 'agentRef', 'is required for a task of type agent'],
    [spec.type === 'agent' && isBlank(spec.prompt), 'prompt', 'is required for a task of type agent'],
    [isAi && promptOf(spec) === '', 'prompt', 'is required for a task of type ai (here or as ai.prompt)'],
  ]
}

const misplacedAi = {
  ai: '',
  agent: 'is only for tasks of type ai, not agent: an agent program has the model and instructions of its Agent',
  container: 'is only for tasks of type ai, not container',
}

function typeRules(spec: TaskSpec): Rule[] {
  const isContainer = spec.type === 'container'
  const misplaced = `is only for tasks of type container, not ${spec.type}`
  return [
    [isContainer && spec.image === undefined && isEmpty(spec.command), 'command', 'is required without an image'],
    [!isContainer && spec.image !== undefined, 'image', misplaced],
    [!isContainer && spec.command !== undefined, 'command', misplaced],
    [!isContainer && spec.args !== undefined, 'args', misplaced],
    [!isContainer && spec.artifactsDir !== undefined, 'artifactsDir', misplaced],
    [
      isContainer && spec.image === undefined && spec.artifactsDir?.startsWith('/workspace/') === false,
      'artifactsDir',
      'must lie in /workspace for a task without an image',
    ],
    [isContainer && spec.agentRef !== undefined, 'agentRef', 'is only for tasks of type ai and agent, not container'],
    [spec.type !== 'ai' && spec.ai !== undefined, 'ai', misplacedAi[spec.type]],
    [
      spec.type !== 'agent' && spec.agentRuntime !== undefined,
      'agentRuntime',
      `is only for tasks of type agent, not ${spec.type}`,
    ],
    [
      spec.workspace !== undefined && spec.agentRuntime?.workspace !== undefined,
      'agentRuntime.workspace',
      'is already given as workspace; remove one of the two',
    ],
  ]
}

function workspaceRules(path: string, { gitRepo, ...others }: Workspace): Rule[] {
  const names = Object.keys(others).join(', ')
  const pushes = others.pushBranch !== undefined
  return [
    [
      gitRepo === undefined && names !== '',
      `${path}.gitRepo`,
      `is required: without a repository ${names} has no effect`,
    ],
    [
      others.forkRepo !== undefined && !pushes,
      `${path}.pushBranch`,
      'is required: without it nothing is pushed to forkRepo',
    ],
  ]
}

/** Fields that would have no effect. */
function repositoryRules({ type, workspace, agentRuntime, priorTaskRef, secretRef }: TaskSpec): Rule[] {
  const hasRepository = (workspace ?? agentRuntime?.workspace)?.gitRepo !== undefined
  return [
    ...workspaceRules('workspace', workspace ?? {}),
    ...workspaceRules('agentRuntime.workspace', agentRuntime?.workspace ?? {}),
    [
      priorTaskRef !== undefined && !hasRepository,
      'priorTaskRef',
      'needs the repository that the changes are applied to; set workspace.gitRepo',
    ],
    [
      type === 'agent' && secretRef !== undefined,
      'secretRef',
      'is only for tasks of type ai and container, not agent; name its entries as variables (env with valueFrom.secretKeyRef)',
    ],
  ]
}

function budgetRules({ type, budget }: TaskSpec): Rule[] {
  if (budget === undefined) return []
  const { maxTokens, maxCost, maxDuration, maxIterations } = budget
  const isCommand = type === 'container'
  const advice = 'has no effect on a task of type container, which calls no model; use budget.maxDuration'
  return [
    [
      [maxTokens, maxCost, maxDuration, maxIterations].every((limit) => limit === undefined),
      'budget',
      'must have maxTokens, maxCost, maxDuration or maxIterations',
    ],
    [isCommand && maxTokens !== undefined, 'budget.maxTokens', advice],
    [isCommand && maxCost !== undefined, 'budget.maxCost', advice],
    [
      type !== 'ai' && maxIterations !== undefined,
      'budget.maxIterations',
      `is only for tasks of type ai, not ${type}: no others work in iterations`,
    ],
  ]
}

function scheduleRules(spec: TaskSpec): Rule[] {
  return [[spec.timeZone !== undefined && spec.schedule === undefined, 'timeZone', 'has no meaning without a schedule']]
}

const workspacePath = 'execution.workspace'

function reuseRules(workspace: ExecutionWorkspace, spec: TaskSpec, usual?: ProviderDefaults): Rule[] {
  const isPooled = !isBlank(workspace.poolRef?.name)
  const cleanup = workspace.cleanupPolicy ?? usual?.cleanupPolicy
  const hasSnapshot = Object.keys(workspace.snapshot ?? {}).length > 0
  return [
    [
      workspace.reusePolicy === 'session' && spec.sessionRef === undefined,
      'sessionRef.name',
      `is required for ${workspacePath}.reusePolicy session`,
    ],
    [isPooled && cleanup !== 'delete', `${workspacePath}.cleanupPolicy`, 'must be delete for a pooled workspace'],
    [hasSnapshot, `${workspacePath}.snapshot`, 'is reserved and must be empty'],
    [
      workspace.hibernation?.processMode === 'resident',
      `${workspacePath}.hibernation.processMode`,
      'must not be resident',
    ],
  ]
}

function providerRules(workspace: ExecutionWorkspace, provider: WorkspaceProvider | undefined): Rule[] {
  const isSandbox = provider === 'agent-sandbox'
  const message = 'is only for workspace provider actor'
  const hasHibernation = Object.keys(workspace.hibernation ?? {}).length > 0
  return [
    [isSandbox && workspace.boot, `${workspacePath}.boot`, message],
    [isSandbox && !isBlank(workspace.poolRef?.name), `${workspacePath}.poolRef`, message],
    [isSandbox && hasHibernation, `${workspacePath}.hibernation`, message],
  ]
}

function availabilityRules(
  workspace: ExecutionWorkspace,
  provider: WorkspaceProvider,
  usual: ProviderDefaults | undefined,
): Rule[] {
  const name = isBlank(workspace.templateRef?.name) ? usual?.template : workspace.templateRef?.name
  return [
    [usual === undefined, `${workspacePath}.provider`, `${provider} is not enabled on this service`],
    [isBlank(name), `${workspacePath}.templateRef.name`, 'is required; this service has no default template'],
  ]
}

function executionRules(spec: TaskSpec, defaults?: WorkspaceDefaults): Rule[] {
  const workspace = spec.execution?.workspace
  if (workspace === undefined) return []
  const provider = workspace.provider ?? defaults?.defaultProvider
  const usual = provider && defaults?.providers[provider]
  const isAsked = defaults !== undefined && provider !== undefined && workspace.enabled
  return [
    [spec.type !== 'agent', workspacePath, `is only for tasks of type agent, not ${spec.type}`],
    [
      spec.execution?.queue !== undefined && workspace.enabled,
      'execution.queue',
      'has no effect in an execution workspace, which is no Job; remove one of the two',
    ],
    ...reuseRules(workspace, spec, usual),
    ...providerRules(workspace, provider),
    ...(isAsked ? availabilityRules(workspace, provider, usual) : []),
  ]
}

function schemaProblems({ ai }: TaskSpec): Problem[] {
  return ai?.outputSchema === undefined ? [] : outputSchemaProblems(ai.outputSchema, ['ai', 'outputSchema'])
}

/**
 * Problems of a task's spec across its fields; paths are relative to the spec. `defaults` are the service's defaults for
 * execution workspaces; without them, the checks that need them are left to the controller.
 */
export function taskProblems(spec: TaskSpec, defaults?: WorkspaceDefaults): Problem[] {
  const own = [
    ...promptRules(spec),
    ...typeRules(spec),
    ...repositoryRules(spec),
    ...scheduleRules(spec),
    ...budgetRules(spec),
  ]
  return [
    ...collect([...own, ...executionRules(spec, defaults)]),
    ...schemaProblems(spec),
    ...variableProblems(spec.env),
  ]
}
