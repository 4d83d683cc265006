// Deliveries of the webhook: taken in, worked off, shown to people, and worked off again when they ask for it.

import type { Task } from '../../../contract/kinds/tasks/task.ts'
import { SvcError } from '../../../errors.ts'
import type { Delivery, DeliveryQuery } from '../../../ports/codehost/deliveries.ts'
import type { Caller } from '../../../ports/identity/identity.ts'
import type { ResourceKey } from '../../../ports/resources/resources.ts'
import { requireAccess, requireListing } from '../../identity/access.ts'
import type { CarryingOut } from './carrying.ts'
import { answerCommand, owesAnswer } from './command-answers.ts'
import { type Commanding, obey } from './commands.ts'
import { openReception, type Received, type Reception, type WebhookRequest } from './receive.ts'
import { createStatusComments } from './status-comments.ts'
import { createDeliveryWork, type DeliveryWork } from './work.ts'

type DeliveryKey = { namespace: string; id: string }

export type DeliveryUsecases = DeliveryWork & {
  /** Unavailable without a secret, Unauthenticated without a signature: before the body is read. */
  open(signature: string | undefined): Promise<Reception>
  /** Resolves once the delivery is stored. The errors of `open`, and of what it returns. */
  receive(request: WebhookRequest): Promise<Received>
  /** Ids of those that nobody works off although they are due. */
  due(limit: number): Promise<string[]>
  /** Whether somebody who wrote a command waits for the answer of the task. */
  owesAnswer(task: Task): boolean
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

export type DeliveryParts = Omit<CarryingOut, 'obey'> & {
  /** Absent: commands in comments are not obeyed. */
  openHost?: Commanding['openHost'] | undefined
}

function createCommanding(parts: DeliveryParts): Commanding | undefined {
  const { openHost, queueRuns = async () => undefined, settings } = parts
  if (openHost === undefined || settings.gitSecret === undefined) return undefined
  return { ...parts, openHost, queueRuns, statusComments: createStatusComments() }
}

export function createDeliveryUsecases(parts: DeliveryParts): DeliveryUsecases {
  const { ports, settings } = parts
  const commanding = createCommanding(parts)
  const carrying: CarryingOut = {
    ...parts,
    ...(commanding && { obey: (delivery, verb) => obey(commanding, delivery, verb) }),
  }
  const { deliveries } = ports.records
  const work = createDeliveryWork(carrying)
  const receiving = { ports, settings, work }

  async function find(caller: Caller, { namespace, id }: DeliveryKey, verb: 'get' | 'operate'): Promise<Delivery> {
    await requireAccess(ports, caller, { verb, kind: 'RepositoryMonitor', namespace })
    const found = await deliveries.get(id)
    if (found?.namespace === namespace) return found
    throw new SvcError('NotFound', `there is no delivery "${id}" in namespace "${namespace}"`)
  }

  return {
    ...work,
    open: (signature) => openReception(receiving, signature),
    receive: async (request) => (await openReception(receiving, request.signature)).receive(request),
    due: (limit) => deliveries.due(limit),
    owesAnswer: (task) => commanding !== undefined && owesAnswer(task),
    answerCommand: async (key) => commanding && answerCommand(commanding, key),
    async list(caller, { namespace, ...query }) {
      const heldIn = async () => [settings.namespace]
      const place = await requireListing(ports, caller, 'RepositoryMonitor', { namespace, heldIn })
      const namespaces = place.namespace === undefined ? place.namespaces : [place.namespace]
      return deliveries.list({ ...query, namespaces })
    },
    get: (caller, key) => find(caller, key, 'get'),
    async redeliver(caller, key) {
      const found = await find(caller, key, 'operate')
      const opened = await deliveries.reopen(found.id)
      return (await work.work(opened.id)) ?? opened
    },
  }
}
