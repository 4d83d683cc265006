// What a context token allows: its scopes and every constraint of its `tctx`, each failing closed (CTX-019).
import type { Access, AccessKind, AccessVerb, Decision, TaskFacts } from '../../contract/api/identity/access.ts'

/** Action (the stem of its flag) to the scope that allows it by default. */
export const contextActions = {
  'task-create': 'svc:tasks:create',
  'task-read': 'svc:tasks:get',
  'task-list': 'svc:tasks:list',
  'task-delete': 'svc:tasks:delete',
  'task-update': 'svc:tasks:update',
  'tool-read': 'svc:tools:read',
  'tool-write': 'svc:tools:write',
  'tool-use': 'svc:tools:use',
  'provider-use': 'svc:providers:use',
  'provider-write': 'svc:providers:write',
  'secret-read': 'svc:secrets:read',
  'secret-write': 'svc:secrets:write',
  'secret-credential-read': 'svc:secrets:credentials:read',
  'configmap-read': 'svc:configmaps:read',
  'agent-read': 'svc:agents:read',
  'agent-write': 'svc:agents:write',
  'memory-read': 'svc:memory:read',
  'memory-write': 'svc:memory:write',
  'session-read': 'svc:sessions:read',
  'session-write': 'svc:sessions:write',
  'security-read': 'svc:security:read',
  'security-write': 'svc:security:write',
  'monitor-read': 'svc:monitors:read',
  'monitor-write': 'svc:monitors:write',
  'monitor-operate': 'svc:monitors:operate',
  'skill-read': 'svc:skills:read',
  'skill-write': 'svc:skills:write',
  'usage-read': 'svc:usage:read',
  'network-write': 'svc:network:write',
} as const

export type ContextAction = keyof typeof contextActions

type VerbActions = Partial<Record<AccessVerb, ContextAction>>

function splitActions(read: ContextAction, write: ContextAction): VerbActions {
  return { get: read, list: read, create: write, update: write, delete: write }
}

/** Covers every kind, so that a new one cannot be forgotten; no scope allows a verb that is missing. */
const actionsByKind: Record<AccessKind, VerbActions> = {
  Task: {
    get: 'task-read',
    list: 'task-list',
    create: 'task-create',
    update: 'task-update',
    delete: 'task-delete',
  },
  Agent: splitActions('agent-read', 'agent-write'),
  Provider: { ...splitActions('provider-use', 'provider-write'), use: 'provider-use' },
  Tool: { ...splitActions('tool-read', 'tool-write'), use: 'tool-use' },
  Skill: splitActions('skill-read', 'skill-write'),
  RepositoryScan: splitActions('security-read', 'security-write'),
  RepositoryMonitor: { ...splitActions('monitor-read', 'monitor-write'), operate: 'monitor-operate' },
  Secret: { ...splitActions('secret-read', 'secret-write'), use: 'secret-credential-read' },
  ConfigMap: { get: 'configmap-read', list: 'configmap-read' },
  Session: splitActions('session-read', 'session-write'),
  Memory: splitActions('memory-read', 'memory-write'),
  Usage: { get: 'usage-read', list: 'usage-read' },
  Network: { update: 'network-write' },
  // Tokens, the audit log and metrics belong to the owner: no scope of a context token reaches them.
  Token: {},
  Budget: {},
  Setting: {},
  Audit: {},
  Metrics: {},
}

/** The action that needs a scope; undefined when no scope allows the access. */
function actionOf({ kind, verb }: Pick<Access, 'kind' | 'verb'>): ContextAction | undefined {
  return actionsByKind[kind][verb]
}

/** The action as messages and metrics name it. */
function nameAction(access: Pick<Access, 'kind' | 'verb'>): string {
  return actionOf(access) ?? `${access.kind.toLowerCase()}-${access.verb}`
}

/** `off`: no checks. `audit`: what `enforce` would refuse is logged and allowed (CTX-020). */
export type ContextMode = 'off' | 'audit' | 'enforce'

export type ContextRules = {
  mode: ContextMode
  /** Any one of these scopes allows the action; an empty list allows nothing. */
  scopes: Readonly<Record<ContextAction, readonly string[]>>
}

type ContextGrant = {
  scopes: readonly string[]
  /** The claim `tctx` as signed. */
  context: Readonly<Record<string, unknown>>
}

export type ContextDecision = Decision & { action: string; cause: 'allowed' | 'scope' | 'constraint' | 'malformed' }

const singles = ['namespace', 'taskType', 'task', 'taskName', 'agent', 'repo', 'branch', 'ref'] as const
const moreSingles = ['provider', 'model', 'secret', 'configMap'] as const
const lists = ['allowedAgents', 'allowedProviders', 'allowedModels', 'allowedTools', 'allowedHosts'] as const

type Single = (typeof singles)[number] | (typeof moreSingles)[number]
type List = (typeof lists)[number]

/** Absent keys constrain nothing. */
type Constraints = { [K in Single]?: string } & { [K in List]?: string[] }

/** A string array, or one comma-separated string; undefined when the claim is neither. An empty list allows nothing. */
function readList(value: unknown): string[] | undefined {
  const items: unknown = typeof value === 'string' ? splitList(value) : value
  if (!Array.isArray(items)) return undefined
  return items.every((item) => typeof item === 'string' && item.trim() !== '') ? (items as string[]) : undefined
}

function splitList(text: string): string[] {
  return text.trim() === '' ? [] : text.split(',').map((item) => item.trim())
}

function readSingle(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

/** The constraints of a `tctx`; undefined when one of them is malformed, so that nothing is allowed. */
export function readConstraints(context: Readonly<Record<string, unknown>>): Constraints | undefined {
  const read = (keys: readonly string[], reader: (value: unknown) => unknown) =>
    keys.filter((key) => Object.hasOwn(context, key)).map((key): [string, unknown] => [key, reader(context[key])])
  const entries = [...read([...singles, ...moreSingles], readSingle), ...read(lists, readList)]
  return entries.some(([, value]) => value === undefined) ? undefined : (Object.fromEntries(entries) as Constraints)
}

type Named = { namespace?: string | undefined; name?: string | undefined }

/** `name`, or `namespace/name`. */
function isNamed(wanted: string, { namespace, name }: Named): boolean {
  return name !== undefined && (wanted === name || wanted === `${namespace ?? ''}/${name}`)
}

/** Every constraint that is present must include the object's name. */
function isWithin(object: Named, single: string | undefined, list?: string[] | undefined): boolean {
  if (single !== undefined && !isNamed(single, object)) return false
  return list === undefined || list.some((wanted) => isNamed(wanted, object))
}

function allowsWorkspaces({ repo, branch, ref }: Constraints, { workspaces }: TaskFacts): boolean {
  const isSame = (wanted: string | undefined, actual: string | undefined) => wanted === undefined || wanted === actual
  if (workspaces.length === 0) return repo === undefined && branch === undefined && ref === undefined
  return workspaces.every((one) => isSame(repo, one.repo) && isSame(branch, one.branch) && isSame(ref, one.ref))
}

function allowsModels(constraints: Constraints, facts: Pick<TaskFacts, 'models'>): boolean {
  const { namespace, provider, allowedProviders, model, allowedModels } = constraints
  return facts.models.every(
    (used) =>
      (namespace === undefined || used.namespace === undefined || used.namespace === namespace) &&
      isWithin({ namespace: used.namespace, name: used.provider }, provider, allowedProviders) &&
      isWithin({ name: used.model }, model, allowedModels),
  )
}

function allowsTools({ allowedTools }: Constraints, { tools }: TaskFacts): boolean {
  if (allowedTools === undefined) return true
  return tools !== 'any' && tools.every((tool) => isWithin(tool, undefined, allowedTools))
}

function allowsTask(constraints: Constraints, facts: TaskFacts): boolean {
  const { namespace, taskType, agent, allowedAgents } = constraints
  if (taskType !== undefined && taskType !== facts.type) return false
  if (namespace !== undefined && facts.agent !== undefined && facts.agent.namespace !== namespace) return false
  if (!isWithin(facts.agent ?? {}, agent, allowedAgents)) return false
  return allowsWorkspaces(constraints, facts) && allowsModels(constraints, facts) && allowsTools(constraints, facts)
}

/** Lists of these kinds show only what the constraints allow; each entry is checked by its name. */
const filteredKinds: readonly AccessKind[] = ['Agent', 'Provider', 'Tool']

/** Whether lists of the kind leave out objects that a context token does not allow, instead of being refused. */
export function isFiltered(kind: AccessKind): boolean {
  return filteredKinds.includes(kind)
}

/**
 * The constraints on the names of a kind; a list that is not filtered has no name to check, so a constraint refuses it.
 */
function allowsName(constraints: Constraints, access: Access): boolean {
  if (access.verb === 'list' && access.name === undefined && isFiltered(access.kind)) return true
  switch (access.kind) {
    case 'Task':
      return isWithin(access, constraints.task) && isWithin(access, constraints.taskName)
    case 'Agent':
      return isWithin(access, constraints.agent, constraints.allowedAgents)
    case 'Provider':
      if (!isWithin(access, constraints.provider, constraints.allowedProviders)) return false
      return (
        access.model === undefined || isWithin({ name: access.model }, constraints.model, constraints.allowedModels)
      )
    case 'Tool':
      return isWithin(access, undefined, constraints.allowedTools)
    case 'Secret':
      return isWithin(access, constraints.secret)
    case 'ConfigMap':
      return isWithin(access, constraints.configMap)
    default:
      return true
  }
}

function allowsAccess(constraints: Constraints, access: Access): boolean {
  const { namespace } = constraints
  if (namespace !== undefined && access.namespace !== namespace) return false
  if (!allowsName(constraints, access)) return false
  return access.task === undefined || allowsTask(constraints, access.task)
}

function hasScope(grant: ContextGrant, access: Access, rules: ContextRules): boolean {
  if (access.serviceTool === 'coordination') return true
  const action = actionOf(access)
  return action !== undefined && rules.scopes[action].some((scope) => grant.scopes.includes(scope))
}

function findCause(grant: ContextGrant, access: Access, rules: ContextRules): ContextDecision['cause'] {
  if (!hasScope(grant, access, rules)) return 'scope'
  const constraints = readConstraints(grant.context)
  if (constraints === undefined) return 'malformed'
  return allowsAccess(constraints, access) ? 'allowed' : 'constraint'
}

/** What `enforce` decides; applying the mode is up to the caller. */
export function decideContext(grant: ContextGrant, access: Access, rules: ContextRules): ContextDecision {
  const action = nameAction(access)
  const cause = findCause(grant, access, rules)
  if (cause === 'allowed') return { allowed: true, action, cause }
  return { allowed: false, reason: `context token is not authorized for ${action}`, action, cause }
}

/** What a task's context still allows while the task runs; undefined: everything. */
function readRunning(context: ContextGrant['context'], mode: ContextMode): Constraints | 'nothing' | undefined {
  return mode === 'enforce' ? (readConstraints(context) ?? 'nothing') : undefined
}

/**
 * Whether a task with this context may call the model. Checked when the task runs, because the provider can have
 * changed its fallback or its model since the task was allowed.
 */
export function allowsModel(
  used: TaskFacts['models'][number],
  context: ContextGrant['context'],
  mode: ContextMode,
): boolean {
  const constraints = readRunning(context, mode)
  return constraints === undefined || (constraints !== 'nothing' && allowsModels(constraints, { models: [used] }))
}

/** Whether the task may use the tool; its agent can have gained tools since the task was created. */
export function allowsTool(tool: Named, context: ContextGrant['context'], mode: ContextMode): boolean {
  const constraints = readRunning(context, mode)
  return constraints === undefined || (constraints !== 'nothing' && isWithin(tool, undefined, constraints.allowedTools))
}

/** The hosts and presets that the programs of a task may reach at most; undefined: all that its network allows. */
export function listAllowedHosts(context: ContextGrant['context'], mode: ContextMode): readonly string[] | undefined {
  const constraints = readRunning(context, mode)
  return constraints === 'nothing' ? [] : constraints?.allowedHosts
}

/** Whether a task with this context may make one that does this. Its models and tools are checked when it starts. */
export function allowsChildTask(
  facts: Pick<TaskFacts, 'type' | 'agent' | 'workspaces'>,
  context: ContextGrant['context'],
  mode: ContextMode,
): boolean {
  const constraints = readRunning(context, mode)
  if (constraints === undefined) return true
  return constraints !== 'nothing' && allowsTask(constraints, { ...facts, models: [], tools: [] })
}
