// Token buckets in SQL: one row per provider or agent, locked while it is updated. Cool-downs have their own table.
import { SvcError } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import type { BucketLimit, Lease, Limited, RateLimits } from '../../ports/providers/provider-state.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'
import type { Database, Tx } from '../database/database.ts'
import { sql } from '../database/statement.ts'
import { encodeText } from '../database/stored-text.ts'
import { createCoolDowns } from './cool-downs.ts'
import { matchProvider } from './provider-rows.ts'

const MINUTE_MS = 60_000

type LimitRow = {
  /** Null: never used, so the bucket is full. */
  requests_level: number | null
  tokens_level: number | null
  refilled_at: number
}

/** A bucket at one moment: `capacity` is the refill of one minute; undefined means unlimited. */
type Bucket = { level: number; capacity: number } | undefined

async function lockRow(tx: Tx, provider: ResourceKey, now: number): Promise<LimitRow> {
  const row = await tx.first(sql<LimitRow>`insert into rate_limits (namespace, name, refilled_at)
    values (${encodeText(provider.namespace)}, ${encodeText(provider.name)}, ${now})
    on conflict (namespace, name) do update set namespace = excluded.namespace returning *`)
  if (row === undefined) throw new SvcError('Internal', 'the rate limit was not stored')
  return row
}

async function writeLevels(tx: Tx, provider: ResourceKey, levels: { requests: Bucket; tokens: Bucket; now: number }) {
  await tx.run(sql`update rate_limits set requests_level = ${levels.requests?.level ?? null},
      tokens_level = ${levels.tokens?.level ?? null}, refilled_at = ${levels.now}
    where ${matchProvider(provider)}`)
}

function refillBucket(level: number | null, capacity: number | undefined, elapsedMs: number): Bucket {
  if (capacity === undefined) return undefined
  if (level === null) return { level: capacity, capacity }
  return { level: Math.min(capacity, level + (capacity * elapsedMs) / MINUTE_MS), capacity }
}

function refill(row: LimitRow, limit: BucketLimit, now: number) {
  const refilledAt = Number(row.refilled_at)
  // Clocks of replicas differ a little, which must not empty the buckets. One that was set back by more says nothing of what has
  // passed, and nobody waits until it comes round again.
  const isSet = refilledAt - now > MINUTE_MS
  const elapsed = isSet ? MINUTE_MS : Math.max(0, now - refilledAt)
  return {
    requests: refillBucket(row.requests_level, limit.requestsPerMinute, elapsed),
    tokens: refillBucket(row.tokens_level, limit.tokensPerMinute, elapsed),
    now: isSet ? now : Math.max(now, refilledAt),
  }
}

/** How long until the bucket holds that much. */
function findDelay(bucket: Bucket, want: number): number {
  if (bucket === undefined || want === 0) return 0
  const missing = want - bucket.level
  return missing <= 0 ? 0 : Math.ceil((missing * MINUTE_MS) / bucket.capacity)
}

function drain(bucket: Bucket, want: number): Bucket {
  return bucket === undefined ? undefined : { ...bucket, level: bucket.level - want }
}

type TakeRequest = { want: { requests: number; tokens: number }; limit: BucketLimit; now: number }

async function takeFrom(tx: Tx, provider: ResourceKey, { want, limit, now }: TakeRequest): Promise<Lease> {
  const row = await lockRow(tx, provider, now)
  const buckets = refill(row, limit, now)
  // A larger call could wait forever, and its debt would block all others.
  const requests = Math.min(want.requests, limit.requestsPerMinute ?? want.requests)
  const tokens = Math.min(want.tokens, limit.tokensPerMinute ?? want.tokens)
  const delays = [findDelay(buckets.requests, requests), findDelay(buckets.tokens, tokens)]
  const retryAfterMs = Math.max(...delays)
  if (retryAfterMs > 0) return { granted: false, retryAfterMs }
  await writeLevels(tx, provider, {
    requests: drain(buckets.requests, requests),
    tokens: drain(buckets.tokens, tokens),
    now: buckets.now,
  })
  return { granted: true, tokens }
}

/** The name of an agent's row, which no provider can have. */
function rowOf({ kind, namespace, name }: Limited): ResourceKey {
  return { namespace, name: kind === 'Agent' ? `agent/${name}` : name }
}

export function createRateLimits(deps: { database: Database; clock: Clock }): RateLimits {
  const { database, clock } = deps

  return {
    async take(whose, want, limit) {
      const now = clock.now().getTime()
      if (limit.requestsPerMinute === undefined && limit.tokensPerMinute === undefined) {
        return { granted: true, tokens: want.tokens }
      }
      return database.write((tx) => takeFrom(tx, rowOf(whose), { want, limit, now }))
    },

    async settle(whose, tokens, limit) {
      if (limit.tokensPerMinute === undefined || tokens === 0) return
      const now = clock.now().getTime()
      await database.write(async (tx) => {
        const row = rowOf(whose)
        const buckets = refill(await lockRow(tx, row, now), limit, now)
        await writeLevels(tx, row, { ...buckets, tokens: drain(buckets.tokens, tokens) })
      })
    },

    ...createCoolDowns(deps),

    async sweep(before) {
      const { changes } = await database.write(async (tx) => {
        await tx.run(sql`delete from cool_downs where until < ${before.getTime()}`)
        return tx.run(sql`delete from rate_limits where refilled_at < ${before.getTime()}`)
      })
      return changes
    },
  }
}
