// Tokens and cost of the proxies, summed per caller and model for a second and then written at once (USAGE-004).

import type { CallerIdentity } from '../contract/api/caller.ts'
import type { Price } from '../contract/resources/provider.ts'
import type { EstimatedUsage } from '../llm/estimate.ts'
import { addUsage, noUsage, type TokenUsage } from '../llm/messages.ts'
import { computeCost } from '../llm/pricing.ts'
import type { Clock, Ids } from '../ports/clock.ts'
import type { Usage, UsageRecord } from '../ports/usage.ts'
import { callerKey } from '../rules/caller-identity.ts'
import { createBatches } from '../usecases/batching.ts'
import { countAll, tokensOf } from '../usecases/providers/estimated-tokens.ts'

export type MeteredCall = {
  namespace: string
  provider: string
  model: string
  caller: CallerIdentity
  /** Of a task's own agent. */
  task?: { uid: string; name: string }
  usage: TokenUsage
  /** What the vendor did not count. */
  estimated?: EstimatedUsage
  price?: Price
  demo?: boolean
}

export interface UsageMeter {
  count(call: MeteredCall): void
  /** Tokens of a task that are counted and not written yet. */
  unwrittenOf(taskUid: string): number
  /** Writes what is not written yet. */
  close(): Promise<void>
}

export type MeterDeps = {
  usage: Pick<Usage, 'record'>
  clock: Clock
  ids: Ids
  /** Told when a batch could not be written; it is tried again with the next one. */
  onFailure?: (error: unknown) => void
}

type Sum = { call: MeteredCall; usage: TokenUsage; estimated: TokenUsage; calls: number }

const flushMs = 1000

function sumTokens(sums: Iterable<Sum>, unwritten: readonly UsageRecord[], taskUid: string): number {
  const counted = [...sums].filter(({ call }) => call.task?.uid === taskUid).map(tokensOf)
  const waiting = unwritten.filter((record) => record.taskUid === taskUid)
  return [...counted, ...waiting].reduce((sum, used) => sum + countAll(used), 0)
}

function addEstimate(usage: TokenUsage, estimated: EstimatedUsage | undefined): TokenUsage {
  return estimated === undefined ? usage : addUsage(usage, { ...noUsage, ...estimated })
}

function namesOf({ caller, task }: MeteredCall): Pick<UsageRecord, 'caller' | 'taskUid' | 'taskName'> {
  return task === undefined ? { caller } : { caller, taskUid: task.uid, taskName: task.name }
}

function toRecord(sum: Sum, { ids, clock }: MeterDeps): UsageRecord {
  const { call, usage, estimated, calls } = sum
  const cost = computeCost(usage, call.price)
  const estimatedCost = estimated === noUsage ? undefined : computeCost(estimated, call.price)
  return {
    id: ids.next('use'),
    namespace: call.namespace,
    provider: call.provider,
    model: call.model,
    ...namesOf(call),
    ...(estimated === noUsage ? usage : tokensOf({ ...sum, ...(estimatedCost && { estimatedCost }) })),
    llmCalls: calls,
    ...(cost ?? {}),
    demo: call.demo ?? false,
    createdAt: clock.now().toISOString(),
  }
}

export function createUsageMeter(deps: MeterDeps): UsageMeter {
  const { usage, clock, onFailure } = deps
  const sums = new Map<string, Sum>()
  /** Written with the same ids again when the store was away. */
  let unwritten: UsageRecord[] = []
  let writing: UsageRecord[] = []

  async function flush(): Promise<void> {
    unwritten.push(...[...sums.values()].map((sum) => toRecord(sum, deps)))
    sums.clear()
    const batch = unwritten
    unwritten = []
    writing = batch
    try {
      if (batch.length > 0) await usage.record(batch)
    } catch (error) {
      unwritten = [...batch, ...unwritten]
      onFailure?.(error)
    } finally {
      writing = []
    }
  }

  const isEmpty = () => sums.size === 0 && unwritten.length === 0
  const batches = createBatches({ clock, everyMs: flushMs, isEmpty, flush })

  return {
    count(call) {
      const key = `${call.namespace}\n${call.provider}\n${call.model}\n${callerKey(call.caller)}\n${call.task?.uid ?? ''}`
      const sum = sums.get(key)
      const estimated = addEstimate(sum?.estimated ?? noUsage, call.estimated)
      if (sum === undefined) sums.set(key, { call, usage: call.usage, estimated, calls: 1 })
      else {
        sum.usage = addUsage(sum.usage, call.usage)
        sum.estimated = estimated
        sum.calls += 1
      }
      batches.wake()
    },
    unwrittenOf(taskUid) {
      return sumTokens(sums.values(), [...unwritten, ...writing], taskUid)
    },
    close: batches.close,
  }
}
