// What a running attempt reports about its model calls: usage and cost, rate-limit leases, cool-downs, failures.
import type {
  CallsReport,
  CooldownRequest,
  LeaseAnswer,
  LeaseRequest,
  UsageSubmit,
} from '../../../contract/api/tasks/internal.ts'
import type { Price, Provider } from '../../../contract/kinds/providers/provider.ts'
import type { Task } from '../../../contract/kinds/tasks/task.ts'
import { SvcError } from '../../../errors.ts'
import { computeCost } from '../../../llm/messages/token-usage.ts'
import { nameDefault } from '../../../lookup/models.ts'
import type { UsageRecord } from '../../../ports/budgets/usage.ts'
import type { WorkerIdentity } from '../../../ports/identity/identity.ts'
import type { BucketLimit, Lease, Limited } from '../../../ports/providers/provider-state.ts'
import type { ResourceKey, ResourceReader } from '../../../ports/resources/resources.ts'
import { budgetSubjectOf, findPrice, recordSubject } from '../../../rules/budgets/budget.ts'
import { expandWishes, listProviderWishes } from '../../../rules/providers/model-choice.ts'
import { agentKeyOf } from '../../../rules/tasks/acting.ts'
import type { CallUsage } from '../../budgets/ledger.ts'
import type { TaskBudgetChecks } from '../../budgets/task-budgets.ts'
import { nameProviderIn } from '../../providers/estimated-tokens.ts'
import { explainAbsent } from '../../resources/listing.ts'
import type { UsecaseDeps } from '../../service/deps.ts'
import { requireLiveAttempt, requireOwnTask } from './live-attempt.ts'

/** A call that counts already, and its record. */
export type ReportedCall = {
  record: UsageRecord
  /** The record is stored now. */
  settle(): void
}

export type WorkerModelCalls = {
  /** Counts a call of the live attempt of the task; whoever asks stores the record. Forbidden for a provider of others. */
  countCall(identity: WorkerIdentity, task: Task, usage: UsageSubmit): Promise<ReportedCall>
  /** Records one call; ignores a repeated id. BudgetExceeded: the call is recorded, and no further one may be made. */
  submitUsage(
    identity: WorkerIdentity,
    path: { namespace: string; taskName: string },
    usage: UsageSubmit,
  ): Promise<void>
  /** Takes, settles or only checks a lease. Forbidden for a provider that the task does not use; NotFound. */
  takeLease(identity: WorkerIdentity, provider: ResourceKey, want: LeaseRequest): Promise<LeaseAnswer>
  coolDown(identity: WorkerIdentity, provider: ResourceKey, request: CooldownRequest): Promise<void>
  /** Records how the provider answers (PROV-011). */
  reportCalls(identity: WorkerIdentity, provider: ResourceKey, report: CallsReport): Promise<void>
}

/** Cost of what the vendor counted, and of the estimate. */
function costOf(
  usage: UsageSubmit,
  price: Price | undefined,
): Pick<UsageRecord, 'cost' | 'currency' | 'estimatedCost'> {
  const { estimatedInputTokens: inputTokens, estimatedOutputTokens: outputTokens } = usage
  const estimated = computeCost({ inputTokens, outputTokens, cachedTokens: 0 }, price)
  return { ...computeCost(usage, price), estimatedCost: estimated?.cost }
}

function toUsed(usage: UsageSubmit, price: Price | undefined): CallUsage {
  const { estimatedInputTokens: inputTokens, estimatedOutputTokens: outputTokens } = usage
  return { usage, estimated: { inputTokens, outputTokens }, price }
}

/** A provider that the task may be given, including fallbacks that its provider names. */
async function usesProvider(resources: ResourceReader, task: Task, key: ResourceKey): Promise<boolean> {
  const agentKey = agentKeyOf(task)
  const agent = agentKey && (await resources.get('Agent', agentKey))
  const wishes = await nameDefault(resources, listProviderWishes(task, agent))
  const expanded = expandWishes(wishes, await resources.get('Provider', wishes[0]))
  return expanded.some((wish) => wish.name === key.name && wish.namespace === key.namespace)
}

function refuseProvider(task: Task, { name }: ResourceKey): SvcError {
  return new SvcError('Forbidden', `task "${task.metadata.name}" does not use provider "${name}"`)
}

function answerLease(lease: Lease): LeaseAnswer {
  const { granted } = lease
  return granted
    ? { granted, retryAfterMs: 0, tokens: lease.tokens }
    : { granted, retryAfterMs: lease.retryAfterMs, tokens: 0 }
}

function createLeases({ resources, records }: UsecaseDeps['ports']) {
  async function takeOrSettle(whose: Limited, want: LeaseRequest, limit: BucketLimit): Promise<Lease> {
    if (want.requests > 0) return records.rateLimits.take(whose, want, limit)
    await records.rateLimits.settle(whose, want.tokens, limit)
    return { granted: true, tokens: want.tokens }
  }

  /** The agent as it is now; a deleted agent sets no limit. */
  async function takeOfAgent(task: Task, key: ResourceKey, want: LeaseRequest): Promise<Lease> {
    const own = agentKeyOf(task)
    if (own?.name !== key.name || own.namespace !== key.namespace) {
      throw new SvcError('Forbidden', `task "${task.metadata.name}" does not use agent "${key.name}"`)
    }
    const agent = await resources.get('Agent', key)
    return takeOrSettle({ kind: 'Agent', ...key }, want, agent?.spec.rateLimit ?? {})
  }

  return { takeOrSettle, takeOfAgent }
}

export function createWorkerModelCalls({
  ports,
  health,
  ledger,
  taskBudgets,
}: UsecaseDeps & { taskBudgets: TaskBudgetChecks }): WorkerModelCalls {
  const { resources, records, clock } = ports
  const { takeOrSettle, takeOfAgent } = createLeases(ports)

  /** A task may not touch another task's provider: it could use up its limit or pause it for everyone. */
  async function requireProvider(task: Task, key: ResourceKey): Promise<Provider> {
    if (!(await usesProvider(resources, task, key))) throw refuseProvider(task, key)
    const provider = await resources.get('Provider', key)
    if (provider === undefined) throw await explainAbsent('provider', key)
    return provider
  }

  const countCall: WorkerModelCalls['countCall'] = async (identity, task, usage) => {
    const { provider: key, id, brokeOff, ...recorded } = usage
    const { namespace, taskUid } = identity
    const isOwn = await usesProvider(resources, task, key)
    // The agent may have been given another provider of the namespace since the attempt started.
    if (!isOwn && key.namespace !== namespace) throw refuseProvider(task, key)
    const provider = await resources.get('Provider', key)
    const price = provider && findPrice(provider.spec, usage.model)
    const billedTo = budgetSubjectOf(task)
    const spent = ledger.count(billedTo, toUsed(usage, price))
    const record = {
      ...recorded,
      ...recordSubject(billedTo),
      id: `${taskUid}:${id}`,
      provider: nameProviderIn(namespace, key),
      ...costOf(usage, price),
      createdAt: clock.now().toISOString(),
    }
    const settle = () => {
      ledger.settle(spent)
      // What a task reports about a provider that it does not use is ignored.
      if (isOwn && !brokeOff) health?.noteEnd({ provider: key })
    }
    return { record, settle }
  }

  return {
    countCall,
    async submitUsage(identity, path, usage) {
      requireOwnTask(identity, path)
      const task = await requireLiveAttempt(resources, identity)
      const { record, settle } = await countCall(identity, task, usage)
      await records.usage.record([record])
      settle()
      await ledger.require(budgetSubjectOf(task))
      await taskBudgets.require(task)
    },
    async takeLease(identity, key, want) {
      const task = await requireLiveAttempt(resources, identity)
      if (want.kind === 'Agent') return answerLease(await takeOfAgent(task, key, want))
      const provider = await requireProvider(task, key)
      const lease = await takeOrSettle(key, want, provider.spec.rateLimit ?? {})
      const cooling = await records.rateLimits.coolingDown(key, want.model)
      // A duration, because the clock of the worker's host may differ.
      const forMs = cooling && Math.max(0, cooling.until.getTime() - clock.now().getTime())
      return {
        ...answerLease(lease),
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
      for (const found of report.unknown ?? []) health?.noteUnknown({ provider: key, ...found })
    },
  }
}
