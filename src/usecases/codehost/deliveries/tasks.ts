// Creates the task that a label or a comment asks for, and cancels what an issue, a pull request or a label has started.
import type { DeliveryOutcome } from '../../../contract/api/codehost/deliveries.ts'
import type { CodeHostEvent } from '../../../contract/api/codehost/events.ts'
import { isTerminalPhase, TaskSpec } from '../../../contract/kinds/tasks/task.ts'
import { parse, problemsOf, refuse } from '../../../contract/schema/validation.ts'
import { readGitAddress, readRepositoryUrl } from '../../../contract/values/repository-url.ts'
import { isSvcError, SvcError } from '../../../errors.ts'
import { readGitLogin } from '../../../lookup/logins.ts'
import type { Delivery } from '../../../ports/codehost/deliveries.ts'
import type { Caller } from '../../../ports/identity/identity.ts'
import type { Ports } from '../../../ports/index.ts'
import { fileRepositoryName } from '../../../rules/codehost/event.ts'
import { type LabelTaskRequest, makeLabelTask } from '../../../rules/codehost/label-task.ts'
import { isEndedBy, subjectLabels } from '../../../rules/codehost/subject.ts'
import type { Withdrawn } from '../../monitors/withdrawal.ts'
import { cancelByService } from '../../tasks/cancel.ts'
import type { DeliveryContext, OutcomePart, TaskContext } from './context.ts'
import { agentOf, type WebhookSettings } from './settings.ts'

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
export async function findTriggerAgentProblem(
  { ports, settings }: TaskContext,
  action: string,
): Promise<SvcError | undefined> {
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

/** The errors of `findTriggerAgentProblem`; InvalidRequest for an agent that is no program. */
async function requireAgent(context: TaskContext, action: string): Promise<string> {
  const problem = await findTriggerAgentProblem(context, action)
  const name = agentOf(context.settings, action)
  if (problem !== undefined || name === undefined) throw problem
  const agent = await context.ports.resources.get('Agent', { namespace: context.settings.namespace, name })
  if (agent?.spec.runtime !== undefined) return name
  throw new SvcError('InvalidRequest', `agent "${name}" has no runtime; label triggers need one with spec.runtime`)
}

/** NotConfigured when the Secret of the repository is missing, has no token, or is not for this host. */
async function requireLogin({ ports, settings }: TaskContext, repository: string): Promise<void> {
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
function requireKnownHost({ hosts }: WebhookSettings, { event, target }: LabelTaskRequest): void {
  for (const repository of [event.repository, target.head?.repository]) {
    const read = repository && readRepositoryUrl(repository.cloneURL, hosts)
    if (read !== undefined && 'problem' in read)
      throw new SvcError('InvalidRequest', `clone_url of ${repository?.fullName} ${read.problem}`)
  }
}

/** Creates the task; the same delivery makes none a second time. The errors of admission, and those above. */
export async function createDeliveryTask(context: TaskContext, request: LabelTaskRequest): Promise<DeliveryOutcome> {
  const { resources, settings } = context
  const { namespace } = settings
  const { action, label, event, target } = request
  if (target.head !== undefined && target.head.repository === undefined)
    throw new SvcError('InvalidRequest', 'the fork of the pull request was deleted: there is nothing to work in')
  requireKnownHost(settings, request)
  const agent = { name: await requireAgent(context, action) }
  await requireLogin(context, event.repository.cloneURL)
  const { name, labels, annotations, spec: draft } = makeLabelTask(request, { ...settings, agent })
  const spec = parse(TaskSpec, draft)
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

/**
 * Those made before the event, in all namespaces; with a label only those that it made. `why` is shown on each. Repeating is
 * harmless.
 */
export async function cancelStarted(
  ports: Pick<Ports, 'resources'>,
  event: CodeHostEvent,
  { label, why }: { label?: string | undefined; why: string },
): Promise<string[]> {
  const { target, repository } = event
  if (target === undefined) return []
  const marks = Object.entries(subjectLabels(repository.fullName, target.number))
  const labelSelector = marks.map(([key, value]) => `${key}=${value}`).join(',')
  const { items } = await ports.resources.list('Task', { labelSelector })
  const wanted = items.filter(
    ({ metadata, status }) => !isTerminalPhase(status?.phase) && isEndedBy(metadata.annotations ?? {}, event, label),
  )
  const cancelled = await Promise.all(wanted.map((task) => cancelByService(ports, task, why)))
  return cancelled.filter((name) => name !== undefined)
}

export function describeEnding({ action, target, repository }: CodeHostEvent, label: string | undefined): string {
  const what = `${target?.kind === 'issue' ? 'issue' : 'pull request'} ${repository.fullName}#${target?.number}`
  return label === undefined ? `${what} was ${action}` : `label ${label} was taken off ${what}`
}

const maxDeliveries = 500

/** The deliveries of this issue or pull request. */
async function listOwn({ ports }: DeliveryContext, { repository, target, event }: CodeHostEvent): Promise<Delivery[]> {
  if (target === undefined) return []
  const about = { repository: fileRepositoryName(repository.fullName), number: target.number, event }
  return ports.records.deliveries.list({ ...about, limit: maxDeliveries })
}

/** Deliveries that have put the label on, up to the event. */
async function findLabelings(context: DeliveryContext, event: CodeHostEvent, label: string): Promise<string[]> {
  const isBefore = ({ happenedAt }: Delivery) =>
    happenedAt === undefined || event.happenedAt === undefined || happenedAt <= event.happenedAt
  const labeled = (await listOwn(context, event)).filter((one) => one.action === 'labeled' && isBefore(one))
  return labeled.filter((one) => one.label === label.toLowerCase()).map(({ id }) => id)
}

async function wasReopened(context: DeliveryContext, event: CodeHostEvent): Promise<boolean> {
  const own = await listOwn(context, event)
  return own.some(({ action, happenedAt = '' }) => action === 'reopened' && happenedAt > (event.happenedAt ?? ''))
}

const none: Withdrawn = { cancelledTasks: [], cancelledRuns: [] }

/** What was opened again in the meantime is reviewed on. */
async function withdraw(context: DeliveryContext, event: CodeHostEvent, { label, why }: CancelAsk): Promise<Withdrawn> {
  if (context.withdraw === undefined) return none
  if (label === undefined && (await wasReopened(context, event))) return none
  const deliveries = label === undefined ? undefined : await findLabelings(context, event, label)
  return context.withdraw(event, { deliveries, isClosed: label === undefined, why })
}

type CancelAsk = { label: string | undefined; why: string }

const count = (number: number, what: string) => (number === 1 ? `1 ${what} was` : `${number} ${what}s were`)

/** As a person reads it. */
export function describeCancelled({ cancelledTasks, cancelledRuns }: Withdrawn): string {
  const runs = cancelledRuns.length === 0 ? [] : [`${count(cancelledRuns.length, 'run')} withdrawn`]
  return [`${count(cancelledTasks.length, 'task')} cancelled`, ...runs].join(', ')
}

/** All that the issue or pull request has started, or what one of its labels has. */
export async function cancelAll(
  context: DeliveryContext,
  event: CodeHostEvent,
  label: string | undefined,
): Promise<OutcomePart> {
  const why = describeEnding(event, label)
  const started = await cancelStarted(context.ports, event, { label, why })
  const { cancelledTasks: reviews, cancelledRuns } = await withdraw(context, event, { label, why })
  const cancelled = { cancelledTasks: [...started, ...reviews], cancelledRuns }
  return { status: 'accepted', code: 202, message: `${why}: ${describeCancelled(cancelled)}`, ...cancelled }
}
