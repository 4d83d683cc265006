// Makes the task that a label or a comment asks for.

import type { DeliveryOutcome } from '../../../contract/api/codehost/deliveries.ts'
import { TaskSpec } from '../../../contract/kinds/tasks/task.ts'
import { parse, problemsOf, refuse } from '../../../contract/schema/validation.ts'
import { readGitAddress } from '../../../contract/values/git-address.ts'
import { readRepositoryUrl } from '../../../contract/values/repository-url.ts'
import { isSvcError, SvcError } from '../../../errors.ts'
import { readGitLogin } from '../../../lookup/git-login.ts'
import type { Caller } from '../../../ports/identity/identity.ts'
import type { Ports } from '../../../ports/index.ts'
import { makeTask } from '../../../rules/codehost/label-task.ts'
import type { TaskRequest } from '../../../rules/codehost/task-request.ts'
import type { ResourceUsecases } from '../../resources/resources.ts'
import { agentOf, type WebhookSettings } from './settings.ts'

export type TaskMaking = {
  ports: Ports
  resources: Pick<ResourceUsecases, 'create'>
  settings: WebhookSettings
}

/** For whom the webhook acts: it may work in the namespace of its tasks, and nowhere else. */
export function webhookCaller({ namespace }: WebhookSettings): Caller {
  return {
    authType: 'token',
    username: 'webhook',
    uid: 'webhook',
    groups: [],
    role: 'editor',
    namespace,
    boundNamespace: namespace,
    serverTools: false,
  }
}

/** Why there is no agent for the action: NotConfigured when none is set, InvalidRequest when it does not exist. */
export async function findAgentProblem({ ports, settings }: TaskMaking, action: string): Promise<SvcError | undefined> {
  const name = agentOf(settings, action)
  if (name === undefined) {
    const message = `no agent is set for label triggers: set --codehost-label-trigger-agent, or one for action ${action}`
    return new SvcError('NotConfigured', message)
  }
  const { namespace } = settings
  const agent = await ports.resources.get('Agent', { namespace, name })
  if (agent !== undefined) return undefined
  return new SvcError('InvalidRequest', `agent "${name}" does not exist in namespace "${namespace}"; create it`)
}

/** The errors of `findAgentProblem`; InvalidRequest for an agent that is no program. */
async function requireAgent(making: TaskMaking, action: string): Promise<string> {
  const problem = await findAgentProblem(making, action)
  const name = agentOf(making.settings, action)
  if (problem !== undefined || name === undefined) throw problem
  const agent = await making.ports.resources.get('Agent', { namespace: making.settings.namespace, name })
  if (agent?.spec.runtime !== undefined) return name
  throw new SvcError('InvalidRequest', `agent "${name}" has no runtime; label triggers need one with spec.runtime`)
}

/** NotConfigured when the Secret of the repository is missing, has no token, or is not for this host. */
async function requireLogin({ ports, settings }: TaskMaking, repository: string): Promise<void> {
  const { namespace, gitSecret: name } = settings
  if (name === undefined) return
  const url = readGitAddress(repository)
  try {
    const receiver = { owner: '--codehost-label-trigger-git-secret', url, codeHosts: ports.codeHosts }
    await readGitLogin(ports.secrets, { namespace, name }, receiver)
  } catch (error) {
    if (!isSvcError(error, 'NotFound') && !isSvcError(error, 'InvalidRequest')) throw error
    throw new SvcError('NotConfigured', error.message)
  }
}

/** A signed delivery is trusted to tell what happened, not to choose where the login is sent. */
function requireKnownHost({ hosts }: WebhookSettings, { event, target }: TaskRequest): void {
  for (const repository of [event.repository, target.head?.repository]) {
    const read = repository && readRepositoryUrl(repository.cloneURL, hosts)
    if (read !== undefined && 'problem' in read)
      throw new SvcError('InvalidRequest', `clone_url of ${repository?.fullName} ${read.problem}`)
  }
}

/** Creates the task; the same delivery makes none a second time. The errors of admission, and those above. */
export async function createTask(making: TaskMaking, request: TaskRequest): Promise<DeliveryOutcome> {
  const { resources, settings } = making
  const { namespace } = settings
  const { action, label, event, target } = request
  if (target.head !== undefined && target.head.repository === undefined)
    throw new SvcError('InvalidRequest', 'the fork of the pull request was deleted: there is nothing to work in')
  requireKnownHost(settings, request)
  const agent = { name: await requireAgent(making, action) }
  await requireLogin(making, event.repository.cloneURL)
  const { name, labels, annotations, spec: given } = makeTask(request, { ...settings, agent })
  const spec = parse(TaskSpec, given)
  if (!spec.success) refuse('task', problemsOf(spec.error, ['spec']))
  const facts = { taskName: name, namespace, action, ...(label !== undefined && { label }) }
  try {
    const body = { metadata: { name }, namespace, spec: spec.data as TaskSpec, marks: labels, notes: annotations }
    await resources.create(webhookCaller(settings), 'Task', body)
    return { status: 'created', code: 201, message: `task ${name} was created for #${target.number}`, ...facts }
  } catch (error) {
    if (!isSvcError(error, 'AlreadyExists')) throw error
    return { status: 'duplicate', code: 202, message: `task ${name} exists already`, ...facts }
  }
}
