// What a running attempt says of its model calls: usage with its cost, leases of a rate limit, cool-downs, failures.
import type {
  CallsReport,
  CooldownRequest,
  LeaseAnswer,
  LeaseRequest,
  UsageSubmit,
} from '../../contract/api/internal.ts'
import type { Price, Provider } from '../../contract/resources/provider.ts'
import type { Task } from '../../contract/resources/task.ts'
import { SvcError } from '../../errors.ts'
import { computeCost } from '../../llm/pricing.ts'
import type { WorkerIdentity } from '../../ports/identity.ts'
import type { Lease, RateLimit } from '../../ports/rate-limits.ts'
import type { ResourceKey, ResourceReader } from '../../ports/resources.ts'
import type { UsageRecord } from '../../ports/usage.ts'
import { readCaller } from '../../rules/caller-identity.ts'
import { expandWishes, listProviderWishes } from '../../rules/model-choice.ts'
import type { UsecaseDeps } from '../deps.ts'
import { nameProviderIn } from '../provider-name.ts'
import { notFound } from '../resources.ts'
import { requireLiveAttempt, requireOwnTask } from './live-attempt.ts'

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
  /** Notes how the provider answers (PROV-011). */
  reportCalls(identity: WorkerIdentity, provider: ResourceKey, report: CallsReport): Promise<void>
}

function describeTask(task: Task): Pick<UsageRecord, 'session' | 'agent' | 'caller'> {
  const session = task.spec.sessionRef?.name
  const agent = task.spec.agentRef?.name
  const caller = readCaller(task)
  return {
    ...(session === undefined ? {} : { session }),
    ...(agent === undefined ? {} : { agent }),
    ...(caller === undefined ? {} : { caller }),
  }
}

/** Of what the vendor counted, and of what it did not. */
function costOf(
  usage: UsageSubmit,
  price: Price | undefined,
): Pick<UsageRecord, 'cost' | 'currency' | 'estimatedCost'> {
  const { estimatedInputTokens: inputTokens, estimatedOutputTokens: outputTokens } = usage
  const estimated = computeCost({ inputTokens, outputTokens, cachedTokens: 0 }, price)
  return { ...computeCost(usage, price), ...(estimated?.cost ? { estimatedCost: estimated.cost } : {}) }
}

/** One of those that the task may be given, the fallbacks that its provider names too. */
async function usesProvider(resources: ResourceReader, task: Task, key: ResourceKey): Promise<boolean> {
  const ref = task.spec.agentRef
  const agentKey = ref && { namespace: ref.namespace ?? task.metadata.namespace, name: ref.name }
  const agent = agentKey && (await resources.get('Agent', agentKey))
  const wishes = listProviderWishes(task, agent)
  const expanded = expandWishes(wishes, await resources.get('Provider', wishes[0]))
  return expanded.some((wish) => wish.name === key.name && wish.namespace === key.namespace)
}

function refuseProvider(task: Task, { name }: ResourceKey): SvcError {
  return new SvcError('Forbidden', `task "${task.metadata.name}" does not use provider "${name}"`)
}

export function createWorkerModelCalls({ ports, health }: UsecaseDeps): WorkerModelCalls {
  const { resources, records, clock } = ports

  /** Another task's provider is none of its business: it could use up the limit or stop it for all. */
  async function requireProvider(task: Task, key: ResourceKey): Promise<Provider> {
    if (!(await usesProvider(resources, task, key))) throw refuseProvider(task, key)
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
      const { provider: key, id, brokeOff, ...counted } = usage
      const isOwn = await usesProvider(resources, task, key)
      // An agent may have been given another provider of the namespace since the attempt began.
      if (!isOwn && key.namespace !== identity.namespace) throw refuseProvider(task, key)
      const price = (await resources.get('Provider', key))?.spec.price
      await records.usage.record([
        {
          ...counted,
          ...describeTask(task),
          id: `${identity.taskUid}:${id}`,
          namespace: identity.namespace,
          provider: nameProviderIn(identity.namespace, key),
          taskUid: identity.taskUid,
          taskName: identity.taskName,
          ...costOf(usage, price),
          createdAt: clock.now().toISOString(),
        },
      ])
      if (health === undefined || brokeOff) return
      // What a task says of a provider that is not its own is worth nothing.
      if (isOwn) health.noteEnd({ provider: key })
    },
    async takeLease(identity, key, want) {
      const provider = await requireProvider(await requireLiveAttempt(resources, identity), key)
      const lease = await takeOrSettle(key, want, provider.spec.rateLimit ?? {})
      const cooling = await records.rateLimits.coolingDown(key, want.model)
      // A span of time: the clock of the worker's host may be another.
      const forMs = cooling && Math.max(0, cooling.until.getTime() - clock.now().getTime())
      return {
        granted: lease.granted,
        ...(lease.granted
          ? { retryAfterMs: 0, tokens: lease.tokens }
          : { retryAfterMs: lease.retryAfterMs, tokens: 0 }),
        ...(cooling && forMs
          ? { coolingDown: { forMs, reason: cooling.reason, failure: cooling.failure, asked: cooling.asked } }
          : {}),
      }
    },
    async coolDown(identity, key, { seconds, ...pause }) {
      await requireProvider(await requireLiveAttempt(resources, identity), key)
      const until = new Date(clock.now().getTime() + seconds * 1000)
      await records.rateLimits.coolDown(key, { ...pause, until })
    },
    async reportCalls(identity, key, report) {
      await requireProvider(await requireLiveAttempt(resources, identity), key)
      health?.noteCalls(key, report)
    },
  }
}
