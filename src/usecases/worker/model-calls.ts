// What a running attempt says of its model calls: usage with its cost, leases of a rate limit, cool-downs.
import type { CooldownRequest, LeaseAnswer, LeaseRequest, UsageSubmit } from '../../contract/api/internal.ts'
import type { Price, Provider } from '../../contract/resources/provider.ts'
import type { Task } from '../../contract/resources/task.ts'
import { SvcError } from '../../errors.ts'
import type { WorkerIdentity } from '../../ports/identity.ts'
import type { Lease, RateLimit } from '../../ports/rate-limits.ts'
import type { ResourceKey } from '../../ports/resources.ts'
import { listProviderWishes } from '../../rules/model-choice.ts'
import { callerAnnotation } from '../../rules/scheduled-run.ts'
import type { UsecaseDeps } from '../deps.ts'
import { notFound } from '../resources.ts'
import { requireLiveAttempt, requireOwnTask } from './live-attempt.ts'

const million = 1_000_000

export type WorkerModelCalls = {
  /** Records one call; the same id again is ignored. */
  submitUsage(
    identity: WorkerIdentity,
    path: { namespace: string; taskName: string },
    usage: UsageSubmit,
  ): Promise<void>
  /** Takes, corrects or only asks. Forbidden for a provider that the task does not use; NotFound. */
  takeLease(identity: WorkerIdentity, provider: ResourceKey, want: LeaseRequest): Promise<LeaseAnswer>
  coolDown(identity: WorkerIdentity, provider: ResourceKey, request: CooldownRequest): Promise<void>
}

/** In the price's currency; input tokens include the cached ones. Undefined without a price. */
function priceTokens(
  tokens: { inputTokens: number; outputTokens: number; cachedTokens: number },
  price: Price | undefined,
): number | undefined {
  if (price === undefined) return undefined
  const input = price.inputPerMillion ?? 0
  const fresh = Math.max(0, tokens.inputTokens - tokens.cachedTokens)
  const cached = tokens.cachedTokens * (price.cachedInputPerMillion ?? input)
  return (fresh * input + cached + tokens.outputTokens * (price.outputPerMillion ?? 0)) / million
}

function describeTask(task: Task): { session?: string; agent?: string; caller?: string } {
  const session = task.spec.sessionRef?.name
  const agent = task.spec.agentRef?.name
  const caller = task.spec.requestedBy?.username ?? task.metadata.annotations?.[callerAnnotation]
  return {
    ...(session === undefined ? {} : { session }),
    ...(agent === undefined ? {} : { agent }),
    ...(caller === undefined ? {} : { caller }),
  }
}

export function createWorkerModelCalls({ ports }: UsecaseDeps): WorkerModelCalls {
  const { resources, records, clock } = ports

  /** Another task's provider is none of its business: it could use up the limit or stop it for all. */
  async function requireProvider(task: Task, key: ResourceKey): Promise<Provider> {
    const ref = task.spec.agentRef
    const agentKey = ref && { namespace: ref.namespace ?? task.metadata.namespace, name: ref.name }
    const agent = agentKey && (await resources.get('Agent', agentKey))
    const isUsed = listProviderWishes(task, agent).some(
      (wish) => wish.name === key.name && wish.namespace === key.namespace,
    )
    if (!isUsed) throw new SvcError('Forbidden', `task "${task.metadata.name}" does not use provider "${key.name}"`)
    const provider = await resources.get('Provider', key)
    if (provider === undefined) throw notFound('Provider', key)
    return provider
  }

  async function takeOrSettle(key: ResourceKey, want: LeaseRequest, limit: RateLimit): Promise<Lease> {
    if (want.requests > 0) return records.rateLimits.take(key, want, limit)
    await records.rateLimits.settle(key, want.tokens, limit)
    return { granted: true, tokens: want.tokens }
  }

  return {
    async submitUsage(identity, path, usage) {
      requireOwnTask(identity, path)
      const task = await requireLiveAttempt(resources, identity)
      const { provider: key, id, ...counted } = usage
      const price = (await resources.get('Provider', key))?.spec.price
      const cost = priceTokens(usage, price)
      await records.usage.record([
        {
          ...counted,
          ...describeTask(task),
          id: `${identity.taskUid}:${id}`,
          namespace: identity.namespace,
          provider: key.namespace === identity.namespace ? key.name : `${key.namespace}/${key.name}`,
          taskUid: identity.taskUid,
          taskName: identity.taskName,
          ...(cost === undefined || price === undefined ? {} : { cost, currency: price.currency }),
          createdAt: clock.now().toISOString(),
        },
      ])
    },
    async takeLease(identity, key, want) {
      const provider = await requireProvider(await requireLiveAttempt(resources, identity), key)
      const lease = await takeOrSettle(key, want, provider.spec.rateLimit ?? {})
      const cooling = await records.rateLimits.coolingDown(key)
      // A span of time: the clock of the worker's host may be another.
      const forMs = cooling && Math.max(0, cooling.until.getTime() - clock.now().getTime())
      return {
        granted: lease.granted,
        ...(lease.granted
          ? { retryAfterMs: 0, tokens: lease.tokens }
          : { retryAfterMs: lease.retryAfterMs, tokens: 0 }),
        ...(cooling && forMs ? { coolingDown: { forMs, reason: cooling.reason } } : {}),
      }
    },
    async coolDown(identity, key, { seconds, reason }) {
      await requireProvider(await requireLiveAttempt(resources, identity), key)
      await records.rateLimits.coolDown(key, new Date(clock.now().getTime() + seconds * 1000), reason)
    },
  }
}
