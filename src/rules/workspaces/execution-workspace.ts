// The execution workspace of an attempt: its effective settings, and the name under which it is claimed.
import { createHash } from 'node:crypto'
import type { ResolvedWorkspace } from '../../contract/api/workspaces/execution-workspaces.ts'
import type { Agent } from '../../contract/kinds/agents/agent.ts'
import type { WorkspaceProvider } from '../../contract/kinds/tasks/execution.ts'
import type { ExecutionWorkspaceStatus, Task } from '../../contract/kinds/tasks/task.ts'
import type { ProviderDefaults, WorkspaceDefaults } from '../../contract/kinds/tasks/task-problems.ts'
import { dropUndefined } from '../../lib/json.ts'
import { nameOfProgram } from '../agents/programs.ts'
import { readCaller } from '../identity/caller-identity.ts'
import { keyOfRequester, listSecretsInside } from '../tasks/acting.ts'

type Named = { namespace: string; name: string }

export type ProviderSettings = ProviderDefaults & {
  claimTimeoutSeconds: number
  commandTimeoutSeconds: number
  /** Where claims are made; absent: in the namespace of the task. */
  claimNamespace?: string
}

export type WorkspaceSettings = WorkspaceDefaults & { providers: Partial<Record<WorkspaceProvider, ProviderSettings>> }

type Attempt = { task: Task; attempt: number; agent: Agent | undefined }

/** Whether the attempts of the task run in an execution workspace. */
export function wantsWorkspace({ spec }: Pick<Task, 'spec'>): boolean {
  return spec.type === 'agent' && spec.execution?.workspace?.enabled === true
}

type Wishes = Pick<Task, 'spec'> & { metadata: Pick<Task['metadata'], 'namespace'> }

/**
 * What the workspace of a task comes from. Undefined for a task without one, and for one that this service cannot have
 * (`taskProblems` says why).
 */
export function chooseOrigin(defaults: WorkspaceDefaults, task: Wishes, agent: Agent | undefined) {
  const { spec, metadata } = task
  const requested = spec.execution?.workspace
  if (requested === undefined || !wantsWorkspace(task)) return undefined
  const provider = requested.provider ?? defaults.defaultProvider
  const usual = defaults.providers[provider]
  const template = requested.templateRef?.name || usual?.template
  if (template === undefined || usual === undefined) return undefined
  const { namespace } = metadata
  return {
    provider,
    template: { name: template, namespace: requested.templateRef?.namespace ?? usual.templateNamespace ?? namespace },
    pool: readPool(requested.poolRef, namespace),
    program: agent?.spec.runtime && nameOfProgram(agent.spec.runtime),
  }
}

/** Undefined for a task without one. The task has no problems with these settings (`taskProblems`). */
export function resolveWorkspace(settings: WorkspaceSettings, attempt: Attempt): ResolvedWorkspace | undefined {
  const { spec, metadata } = attempt.task
  const origin = chooseOrigin(settings, attempt.task, attempt.agent)
  const requested = spec.execution?.workspace
  const usual = origin && settings.providers[origin.provider]
  if (origin === undefined || requested === undefined || usual === undefined) return undefined
  const { namespace } = metadata
  const resolved = {
    ...origin,
    reusePolicy: requested.reusePolicy,
    reuseKey: requested.reusePolicy === 'session' ? spec.sessionRef?.name : undefined,
    cleanupPolicy: requested.cleanupPolicy ?? usual.cleanupPolicy,
    boot: requested.boot,
    processMode: readWord(requested.hibernation?.processMode),
    claimTimeoutSeconds: usual.claimTimeoutSeconds,
    commandTimeoutSeconds: usual.commandTimeoutSeconds,
  }
  const secrets = listSecretsInside(attempt.task, attempt.agent)
  const claim = { name: nameWorkspace(resolved, attempt, secrets), namespace: usual.claimNamespace ?? namespace }
  return dropUndefined({ ...resolved, claim, requester: keyOfRequester(attempt.task), secrets })
}

function readPool(requested: { name?: string; namespace?: string } | undefined, namespace: string): Named | undefined {
  return requested?.name ? { name: requested.name, namespace: requested.namespace ?? namespace } : undefined
}

function readWord(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/**
 * A workspace of a session has the same name for all tasks that may share it: of one namespace, session and requester,
 * with the same Secrets, from the same template. Any other has a name of its own for each attempt.
 */
function nameWorkspace(
  { provider, template, pool, reuseKey }: NameParts,
  { task, attempt }: Attempt,
  secrets: readonly Named[],
): string {
  const { namespace, uid } = task.metadata
  const paths = secrets.map(({ namespace: of, name }) => `${of}/${name}`)
  const whose =
    reuseKey === undefined
      ? ['attempt', uid, attempt]
      : ['session', namespace, reuseKey, describeRequester(task), paths]
  const text = JSON.stringify([provider, template.namespace, template.name, pool ?? null, ...whose])
  return `svc-ws-${createHash('sha256').update(text, 'utf8').digest('hex').slice(0, 32)}`
}

type NameParts = { provider: WorkspaceProvider; template: Named; pool: Named | undefined; reuseKey: string | undefined }

/** Tasks that nobody is known to have asked for share workspaces with each other only. */
function describeRequester(task: Task): string[] {
  const caller = readCaller(task)
  if (caller === undefined) return []
  const key = keyOfRequester(task)
  return key === undefined ? ['name', caller.name] : ['id', key]
}

/** What the status of a task shows of it before it is claimed. */
export function showWorkspace({
  provider,
  template,
  reusePolicy,
  cleanupPolicy,
}: ResolvedWorkspace): ExecutionWorkspaceStatus {
  return { provider, templateRef: template, reusePolicy, cleanupPolicy, phase: 'Pending', reason: 'WorkspacePending' }
}
