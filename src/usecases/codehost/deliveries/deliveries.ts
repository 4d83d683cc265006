// Deliveries of the webhook: received, processed, listed for people, and processed again when they ask for it.
import type { CodeHostEvent, CodeHostRepository } from '../../../contract/api/codehost/events.ts'
import type { Task } from '../../../contract/kinds/tasks/task.ts'
import { SvcError } from '../../../errors.ts'
import { openCodeHost } from '../../../lookup/logins.ts'
import type { Delivery, DeliveryQuery } from '../../../ports/codehost/deliveries.ts'
import type { Caller } from '../../../ports/identity/identity.ts'
import type { Ports } from '../../../ports/index.ts'
import type { ResourceKey } from '../../../ports/resources/resources.ts'
import { requireAccess, requireListing } from '../../identity/access.ts'
import type { MonitorRunUsecases } from '../../monitors/runs.ts'
import { createWithdrawal, type Withdraw, type Withdrawal, type Withdrawn } from '../../monitors/withdrawal.ts'
import type { ResourceUsecases } from '../../resources/resources.ts'
import type { UsecaseDeps } from '../../service/deps.ts'
import { answerCommand, type CommandContext, createStatusComments, isAnswerDue, runCommand } from './commands.ts'
import type { DeliveryContext, QueuedRuns } from './context.ts'
import { createDeliveryProcessor, type DeliveryProcessor } from './process.ts'
import { openReception, type Received, type Reception, type WebhookRequest } from './receive.ts'
import { defaultWebhookSettings } from './settings.ts'

type DeliveryKey = { namespace: string; id: string }

export type DeliveryUsecases = DeliveryProcessor & {
  /** Unavailable without a secret, Unauthenticated without a signature: before the body is read. */
  open(signature: string | undefined): Promise<Reception>
  /** Resolves once the delivery is stored. The errors of `open`, and of what it returns. */
  receive(request: WebhookRequest): Promise<Received>
  /** Ids of those that nobody processes although they are due. */
  due(limit: number): Promise<string[]>
  /** Whether somebody who wrote a command waits for the answer of the task. */
  isAnswerDue(task: Task): boolean
  /** Writes what the task of a command has found where it was asked for. The errors of the code host. */
  answerCommand(key: ResourceKey): Promise<void>
  /** Newest first. */
  list(
    caller: Caller,
    query: Omit<DeliveryQuery, 'namespaces'> & { namespace: string | undefined },
  ): Promise<Delivery[]>
  /** NotFound. */
  get(caller: Caller, key: DeliveryKey): Promise<Delivery>
  /** NotFound; Conflict when it has not ended, or there is nothing to do for it. */
  redeliver(caller: Caller, key: DeliveryKey): Promise<Delivery>
}

type DeliveryParts = Omit<DeliveryContext, 'runCommand'> & {
  ports: Pick<Ports, 'authorizer'>
  /** Absent: commands in comments are ignored. */
  openHost?: CommandContext['openHost'] | undefined
}

function createCommandContext(parts: DeliveryParts): CommandContext | undefined {
  const { openHost, queueRuns = async () => undefined, settings } = parts
  if (openHost === undefined || settings.gitSecret === undefined) return undefined
  return { ...parts, openHost, queueRuns, statusComments: createStatusComments() }
}

export function createDeliveryUsecases(parts: DeliveryParts): DeliveryUsecases {
  const { ports, settings } = parts
  const commands = createCommandContext(parts)
  const context: DeliveryContext = {
    ...parts,
    ...(commands && { runCommand: (delivery, verb) => runCommand(commands, delivery, verb) }),
  }
  const { deliveries } = ports.records
  const processor = createDeliveryProcessor(context)
  const receiving = { ports, settings, processor }

  async function find(caller: Caller, { namespace, id }: DeliveryKey, verb: 'get' | 'operate'): Promise<Delivery> {
    await requireAccess(ports, caller, { verb, kind: 'RepositoryMonitor', namespace })
    const found = await deliveries.get(id)
    if (found?.namespace === namespace) return found
    throw new SvcError('NotFound', `there is no delivery "${id}" in namespace "${namespace}"`)
  }

  return {
    ...processor,
    open: (signature) => openReception(receiving, signature),
    receive: async (request) => (await openReception(receiving, request.signature)).receive(request),
    due: (limit) => deliveries.due(limit),
    isAnswerDue: (task) => commands !== undefined && isAnswerDue(task),
    answerCommand: async (key) => commands && answerCommand(commands, key),
    async list(caller, { namespace, ...query }) {
      const storedIn = async () => [settings.namespace]
      const scope = await requireListing(ports, caller, 'RepositoryMonitor', { namespace, storedIn })
      const namespaces = scope.namespace === undefined ? scope.namespaces : [scope.namespace]
      return deliveries.list({ ...query, namespaces })
    },
    get: (caller, key) => find(caller, key, 'get'),
    async redeliver(caller, key) {
      const found = await find(caller, key, 'operate')
      const opened = await deliveries.reopen(found.id)
      return (await processor.process(opened.id)) ?? opened
    },
  }
}

function nameRepository({ fullName, url, defaultBranch = '' }: CodeHostRepository) {
  const [owner = '', name = ''] = fullName.split('/')
  return { host: new URL(url).host, owner, name, defaultBranch }
}

/** Ends what the pull request of the event has started. */
async function withdrawEvent(
  withdraw: Withdraw,
  { repository, target }: CodeHostEvent,
  what: Omit<Withdrawal, 'repository' | 'number'>,
): Promise<Withdrawn> {
  if (target?.kind !== 'pull_request') return { cancelledTasks: [], cancelledRuns: [] }
  return withdraw({ ...what, repository: nameRepository(repository), number: target.number })
}

/** Undefined for an event that does not say at which commit the pull request is. */
async function queueEventRuns(
  monitors: Pick<MonitorRunUsecases, 'queueEvent'>,
  { repository, target, action, sender }: CodeHostEvent,
  delivery: string,
): Promise<QueuedRuns | undefined> {
  if (target?.head === undefined || target.base === undefined) return undefined
  const { matchedMonitors, queued, cached, skipped, runIDs } = await monitors.queueEvent({
    repository: nameRepository(repository),
    number: target.number,
    headSHA: target.head.sha,
    baseBranch: target.base.branch,
    delivery,
    action,
    sender,
  })
  return {
    matchedMonitors,
    monitorRunsQueued: queued,
    monitorRunsCached: cached,
    monitorRunsSkipped: skipped,
    runIDs,
  }
}

type DeliveryNeeds = { resources: ResourceUsecases; monitorRuns: MonitorRunUsecases }

/** The use cases of a service: with its monitors, and with the login that is set for label triggers. */
export function composeDeliveries(deps: UsecaseDeps, { resources, monitorRuns }: DeliveryNeeds): DeliveryUsecases {
  const { ports } = deps
  const settings = { ...defaultWebhookSettings, ...deps.settings.webhook, hosts: ports.codeHosts.hosts }
  const { namespace, gitSecret: name } = settings
  const secret = name === undefined ? undefined : { namespace, name }
  const withdraw = createWithdrawal(deps)
  return createDeliveryUsecases({
    ports,
    resources,
    settings,
    queueRuns: (event, delivery) => queueEventRuns(monitorRuns, event, delivery),
    withdraw: (event, what) => withdrawEvent(withdraw, event, what),
    openHost: (repository) => openCodeHost(ports, { secret, repository, owner: '--codehost-label-trigger-git-secret' }),
  })
}
