// The rules across fields that `problems` of each kind checks, written in CEL, so that `kubectl apply` is refused like a
// REST call. Rules of a single part are beside its schema; these need the whole spec. `self` is the spec.
import { type UnusedField, unaskedApproval, unusedWithRuntime } from '../kinds/agents/agent-problems.ts'
import type { Kind } from '../kinds/index.ts'
import { Workspace } from '../kinds/tasks/execution.ts'
import { fixedFields, lastingFields, type TaskSpec, terminalPhases } from '../kinds/tasks/task.ts'

/** A CEL rule of a definition (`x-kubernetes-validations`). */
export type ValidationRule = { rule: string; message: string; messageExpression?: string; fieldPath?: string }

/** `path` is dotted; each part is tested first, because CEL fails on absent fields. */
function has(path: string): string {
  const parts = path.split('.')
  return parts.map((_part, index) => `has(self.${parts.slice(0, index + 1).join('.')})`).join(' && ')
}

/** Whether a field is present and has the value. */
function equals(path: string, value: string): string {
  return `${has(path)} && self.${path} == ${value}`
}

function hasText(path: string): string {
  return `${has(path)} && self.${path}.trim() != ''`
}

const ended = terminalPhases.map((phase) => `'${phase}'`).join(', ')

/** `hasStarted` for the object before the change. */
const hadStarted = [
  `has(oldSelf.status.phase) && oldSelf.status.phase in ['Running', ${ended}]`,
  'has(oldSelf.status.attempts) && oldSelf.status.attempts > 0',
]
  .map((part) => `(has(oldSelf.status) && ${part})`)
  .join(' || ')

const hadEnded = `has(oldSelf.status) && has(oldSelf.status.phase) && oldSelf.status.phase in [${ended}]`

/** The rules of `task-changes.ts`: nearly all fields of a started task are fixed. `self` is the whole object. */
const taskTransitions: ValidationRule[] = [
  ...fixedFields.map((field) => writeFixed(field, hadStarted)),
  ...lastingFields.map((field) => writeFixed(field, hadEnded)),
]

function writeFixed(field: keyof TaskSpec, since: string): ValidationRule {
  return {
    rule: `!(${since}) || (has(self.spec.${field}) == has(oldSelf.spec.${field}) && (!has(self.spec.${field}) || self.spec.${field} == oldSelf.spec.${field}))`,
    messageExpression: `'is fixed: the task has started and is ' + (has(oldSelf.status.phase) ? oldSelf.status.phase : 'Pending')`,
    message: 'is fixed: the task has started',
    fieldPath: `.spec.${field}`,
  }
}

function workspaceRules(path: string): ValidationRule[] {
  const others = Workspace.keyof().options.filter((field) => field !== 'gitRepo')
  const hasOther = others.map((field) => `has(self.${path}.${field})`).join(' || ')
  return [
    {
      rule: `!(${has(path)}) || has(self.${path}.gitRepo) || !(${hasOther})`,
      message: `${path}.gitRepo is required: without a repository the other fields have no effect`,
    },
    {
      rule: `!(${has(`${path}.forkRepo`)}) || has(self.${path}.pushBranch)`,
      message: `${path}.pushBranch is required: without it nothing is pushed to forkRepo`,
    },
  ]
}

const inWorkspace = 'execution.workspace'
const isPooled = hasText(`${inWorkspace}.poolRef.name`)
const ofSandboxes = equals(`${inWorkspace}.provider`, "'agent-sandbox'")

/** A policy of admission checks what depends on the settings of the service, and fields without a schema. */
const executionWorkspaceRules: ValidationRule[] = [
  {
    rule: `!(${isPooled}) || !has(self.${inWorkspace}.cleanupPolicy) || self.${inWorkspace}.cleanupPolicy == 'delete'`,
    message: `${inWorkspace}.cleanupPolicy must be delete for a pooled workspace`,
  },
  ...[['boot', equals(`${inWorkspace}.boot`, 'true')] as const, ['poolRef', isPooled] as const].map(
    ([field, isSet]) => ({
      rule: `!(${ofSandboxes} && ${isSet})`,
      message: `${inWorkspace}.${field} is only for workspace provider actor`,
    }),
  ),
]

const taskRules: ValidationRule[] = [
  {
    rule: `self.type != 'agent' || (${hasText('prompt')})`,
    message: 'prompt is required for a task of type agent',
  },
  {
    rule: `self.type != 'ai' || (${hasText('prompt')}) || (${hasText('ai.prompt')})`,
    message: 'prompt is required for a task of type ai (here or as ai.prompt)',
  },
  {
    rule: `self.type != 'container' || has(self.image) || (has(self.command) && size(self.command) > 0)`,
    message: 'command is required for a task of type container without an image',
  },
  {
    rule: `self.type == 'container' || !has(self.artifactsDir)`,
    message: 'artifactsDir is only for tasks of type container',
  },
  {
    rule: `has(self.image) || !has(self.artifactsDir) || self.artifactsDir.startsWith('/workspace/')`,
    message: 'artifactsDir must lie in /workspace for a task without an image',
  },
  {
    rule: `self.type != 'container' || !has(self.agentRef)`,
    message: 'agentRef is only for tasks of type ai and agent',
  },
  {
    rule: `self.type == 'agent' || !has(self.agentRuntime)`,
    message: 'agentRuntime is only for tasks of type agent',
  },
  {
    rule: `!has(self.budget) || has(self.budget.maxTokens) || has(self.budget.maxCost) || has(self.budget.maxDuration) || has(self.budget.maxIterations)`,
    message: 'budget must have maxTokens, maxCost, maxDuration or maxIterations',
  },
  {
    rule: `self.type != 'container' || !has(self.budget) || !(has(self.budget.maxTokens) || has(self.budget.maxCost))`,
    message: 'budget.maxTokens and budget.maxCost have no effect on a task of type container; use budget.maxDuration',
  },
  {
    rule: `self.type == 'ai' || !(${has('budget.maxIterations')})`,
    message: 'budget.maxIterations is only for tasks of type ai',
  },
  {
    rule: `!has(self.timeZone) || has(self.schedule)`,
    message: 'timeZone has no meaning without a schedule',
  },
  {
    rule: `!has(self.workspace) || !(${has('agentRuntime.workspace')})`,
    message: 'workspace and agentRuntime.workspace exclude each other',
  },
  ...workspaceRules('workspace'),
  ...workspaceRules('agentRuntime.workspace'),
  {
    rule: `!has(self.priorTaskRef) || (${has('workspace.gitRepo')}) || (${has('agentRuntime.workspace.gitRepo')})`,
    message: 'priorTaskRef needs the repository that the changes are applied to; set workspace.gitRepo',
  },
  {
    rule: `self.type != 'agent' || !has(self.secretRef)`,
    message: 'secretRef is only for tasks of type ai and container; use env with valueFrom.secretKeyRef',
  },
  {
    rule: `!(${equals('execution.workspace.reusePolicy', "'session'")}) || has(self.sessionRef)`,
    message: 'sessionRef.name is required for execution.workspace.reusePolicy session',
  },
  ...executionWorkspaceRules,
]

function writeUnused({ path, of, value, isList, advice }: UnusedField): ValidationRule {
  const runtime =
    of === undefined || of === 'runtimeRef' ? has(`runtime${of ? `.${of}` : ''}`) : equals('runtime.type', `'${of}'`)
  const isSet = value === undefined ? has(path) : equals(path, String(value))
  return {
    rule: `!(${runtime} && ${isSet}${isList ? ` && size(self.${path}) > 0` : ''})`,
    message: `${path} ${advice}`,
  }
}

const agentRules: ValidationRule[] = [
  {
    rule: `!has(self.runtime) || has(self.runtime.type) != has(self.runtime.runtimeRef)`,
    message: 'runtime needs either type or runtimeRef',
  },
  {
    rule: `!(${equals('runtime.type', "'opencode'")}) || (${has('model.name')})`,
    message: 'model.name is required for runtime opencode',
  },
  {
    rule: `!(${has('execution.workspace')})`,
    message: 'execution.workspace has no effect on an agent; set it on the task',
  },
  {
    rule: `!(${has('coordination.approvalRequiredTools')}) || size(self.coordination.approvalRequiredTools) == 0 || (${equals('coordination.enabled', 'true')}) || (${has('runtime.runtimeRef')})`,
    message: `coordination.approvalRequiredTools ${unaskedApproval}`,
  },
  {
    rule: `!(${equals('coordination.autonomous', 'true')}) || (${equals('coordination.enabled', 'true')})`,
    message: 'coordination.autonomous has no effect without coordination.enabled; set both',
  },
  ...unusedWithRuntime.map(writeUnused),
]

const providerRules: ValidationRule[] = [
  { rule: `self.type == 'azure-llmo' || !has(self.azure)`, message: 'azure is only for type azure-llmo' },
]

const toolRules: ValidationRule[] = [
  {
    rule: `has(self.mcp) || !(${equals('http.authInject', "'body'")}) || (${hasText('http.authBodyKey')})`,
    message: 'http.authBodyKey is required when http.authInject is body',
  },
  {
    rule: `!(${equals('http.authInject', "'body'")} && ${equals('http.method', "'GET'")})`,
    message: 'http.authInject must be header for method GET, which sends no body',
  },
  {
    rule: `!has(self.mcp) || !(${equals('http.authInject', "'body'")})`,
    message: 'http.authInject must be header for an MCP tool',
  },
  {
    rule: `!has(self.mcp) || !(${has('http.method')}) || self.http.method == 'POST'`,
    message: 'http.method must be POST for an MCP tool',
  },
  {
    rule: `!has(self.mcp) || has(self.mcp.url) || has(self.mcp.actor)`,
    message: 'mcp.actor.templateRef.name is required unless mcp.url is set',
  },
  {
    rule: `!(${has('mcp.url')}) || !has(self.mcp.actor)`,
    message: 'mcp.actor must be left out with mcp.url',
  },
  {
    rule: `!(${has('mcp.url')}) || !(${has('http.url')})`,
    message: 'http.url must be left out with mcp.url',
  },
  {
    rule: `!has(self.mcp) || has(self.mcp.url) || !has(self.mcp.tools) && !has(self.mcp.oauth)`,
    message: 'mcp.tools and mcp.oauth are only for a tool with mcp.url',
  },
  {
    rule: `!(${has('mcp.oauth')}) || !(${has('http.authSecretRef')})`,
    message: 'http.authSecretRef must be left out with mcp.oauth',
  },
]

const skillRules: ValidationRule[] = [
  {
    rule: `has(self.description) && has(self.content) || (${has('source.codehost')})`,
    message: 'description and content are required, unless source.codehost names where they are read from',
  },
]

const monitorRules: ValidationRule[] = [
  {
    // Which hosts there are is a setting: the monitor says so once it is stored.
    rule: "self.repoURL.matches('^(https://[A-Za-z0-9.:-]+/|git@[A-Za-z0-9.:-]+:)[A-Za-z0-9._-]+/[A-Za-z0-9._-]+/?$')",
    message: 'repoURL must be the root of a repository: https://<host>/<owner>/<repo> or git@<host>:<owner>/<repo>.git',
  },
  {
    rule: `!(${equals('targets.issues.enabled', 'true')}) && !(${equals('targets.commits.enabled', 'true')})`,
    message: 'only pull requests are monitored',
  },
  {
    rule: `!(${equals('targets.pullRequests.enabled', 'false')})`,
    message: 'targets.pullRequests.enabled must be true; use suspend to pause the monitor',
  },
  { rule: `!(${equals('review.requireGreenCI', 'true')})`, message: 'review.requireGreenCI is not supported' },
  {
    rule: ['repair', 'automerge', 'policy.advisoryLabels']
      .map((path) => `!(${equals(`${path}.enabled`, 'true')})`)
      .join(' && '),
    message: 'repair, automerge and policy.advisoryLabels are not supported; monitors only review',
  },
  { rule: has('agents.reviewer'), message: 'agents.reviewer.name is required' },
]

const scanRules: ValidationRule[] = [
  { rule: `!has(self.timeZone) || has(self.schedule)`, message: 'timeZone has no meaning without a schedule' },
  {
    rule: `!has(self.budget) || has(self.budget.maxTokens) || has(self.budget.maxCost)`,
    message: 'budget must have maxTokens or maxCost',
  },
]

/** Rules about the whole object, which may also use its state before the change (`oldSelf`). */
export const objectRules: Partial<Record<Kind, readonly ValidationRule[]>> = { Task: taskTransitions }

/** Rules across the fields of a kind's spec; empty when no rule concerns more than one field. */
export const specRules: Partial<Record<Kind, readonly ValidationRule[]>> = {
  Task: taskRules,
  Agent: agentRules,
  Provider: providerRules,
  Tool: toolRules,
  Skill: skillRules,
  RepositoryScan: scanRules,
  RepositoryMonitor: monitorRules,
}
