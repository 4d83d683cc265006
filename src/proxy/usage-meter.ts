// Tokens and cost of the proxies, summed per caller and model for one second and then written (USAGE-004).
import type { Price } from '../contract/kinds/providers/provider.ts'
import { createBatches } from '../lib/batching.ts'
import type { Clock, Ids } from '../lib/clock.ts'
import { addUsage, noUsage, type TokenUsage } from '../llm/messages/messages.ts'
import { computeCost, type EstimatedUsage } from '../llm/messages/token-usage.ts'
import type { Usage, UsageRecord } from '../ports/budgets/usage.ts'
import { type BudgetSubject, recordSubject } from '../rules/budgets/budget.ts'
import type { BudgetLedger, Counted } from '../usecases/budgets/ledger.ts'
import { tokensOf } from '../usecases/providers/estimated-tokens.ts'

export type MeteredCall = {
  billedTo: BudgetSubject
  provider: string
  model: string
  usage: TokenUsage
  /** What the vendor did not count. */
  estimated?: EstimatedUsage
  price?: Price
  demo?: boolean
}

export interface ProxyUsageMeter {
  count(call: MeteredCall): void
  /** Writes what is pending now. */
  settle(): Promise<void>
  /** Writes what is pending. */
  close(): Promise<void>
}

export type MeterDeps = {
  usage: Pick<Usage, 'record'>
  clock: Clock
  ids: Ids
  ledger: Pick<BudgetLedger, 'count' | 'settle'>
  /** Called when a batch could not be written; it is retried with the next one. */
  onFailure?: (error: unknown) => void
}

type Sum = { call: MeteredCall; usage: TokenUsage; estimated: TokenUsage; calls: number; counted: Counted[] }

/** Pending records, with what the ledger counted of them. */
type Waiting = { record: Omit<UsageRecord, 'createdAt'>; counted: Counted[] }

const flushMs = 1000

function addEstimate(usage: TokenUsage, estimated: EstimatedUsage | undefined): TokenUsage {
  return estimated === undefined ? usage : addUsage(usage, { ...noUsage, ...estimated })
}

function toWaiting(sum: Sum, { ids }: MeterDeps): Waiting {
  const { call, usage, estimated, calls, counted } = sum
  const cost = computeCost(usage, call.price)
  const estimatedCost = estimated === noUsage ? undefined : computeCost(estimated, call.price)
  const record = {
    id: ids.next('use'),
    provider: call.provider,
    model: call.model,
    ...recordSubject(call.billedTo),
    ...(estimated === noUsage ? usage : tokensOf({ ...sum, ...(estimatedCost && { estimatedCost }) })),
    llmCalls: calls,
    ...(cost ?? {}),
    demo: call.demo ?? false,
  }
  return { record, counted }
}

function keyOf({ provider, model, billedTo: { namespace, caller, agent, task } }: MeteredCall): string {
  const who = `${caller?.kind ?? ''}\n${caller?.id ?? caller?.name ?? ''}\n${agent ?? ''}\n${task?.uid ?? ''}`
  return `${namespace}\n${provider}\n${model}\n${who}`
}

export function createProxyUsageMeter(deps: MeterDeps): ProxyUsageMeter {
  const { usage, clock, ledger, onFailure } = deps
  const sums = new Map<string, Sum>()
  /** Written again with the same ids after the store was unavailable. */
  let waiting: Waiting[] = []

  async function write(): Promise<void> {
    const batch = [...waiting, ...[...sums.values()].map((sum) => toWaiting(sum, deps))]
    sums.clear()
    waiting = []
    if (batch.length === 0) return
    // The time of writing, because budgets search for new records by time.
    const createdAt = clock.now().toISOString()
    try {
      await usage.record(batch.map(({ record }) => ({ ...record, createdAt })))
      for (const { counted } of batch) for (const part of counted) ledger.settle(part)
    } catch (error) {
      waiting = [...batch, ...waiting]
      onFailure?.(error)
    }
  }

  let writing: Promise<void> = Promise.resolve()
  const flush = () => {
    writing = writing.then(write)
    return writing
  }

  const isEmpty = () => sums.size === 0 && waiting.length === 0
  const batches = createBatches({ clock, everyMs: flushMs, isEmpty, flush })

  return {
    count(call) {
      const key = keyOf(call)
      const sum = sums.get(key)
      const estimated = addEstimate(sum?.estimated ?? noUsage, call.estimated)
      const counted = ledger.count(call.billedTo, call)
      if (sum === undefined) {
        sums.set(key, { call, usage: call.usage, estimated, calls: 1, counted: counted.length === 0 ? [] : [counted] })
      } else {
        sum.usage = addUsage(sum.usage, call.usage)
        sum.estimated = estimated
        sum.calls += 1
        if (counted.length > 0) sum.counted.push(counted)
      }
      batches.wake()
    },
    settle: flush,
    close: batches.close,
  }
}
