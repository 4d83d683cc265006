// Usage in SQL: one row per model call. Money is stored in whole billionths, so that sums do not depend on their order
// and the price of a single token is not rounded to 0.

import type { UsageGroup, UsagePeriod } from '../../contract/api/budgets/usage.ts'
import type { CallerKind } from '../../contract/api/identity/caller.ts'
import { isSvcError, messageOf } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { dropUndefined } from '../../lib/json.ts'
import type { SpentSums, Usage, UsageQuery, UsageRecord, UsageSum } from '../../ports/budgets/usage.ts'
import type { Database, Tx } from '../database/database.ts'
import { type Fragment, joinSql, listSql, sql } from '../database/statement.ts'
import { decodeOptional, decodeText, encodeText } from '../database/stored-text.ts'
import { type ColumnKind, column, flag, number, optional, Table, text, time, word, wordOf } from '../database/table.ts'

const NANOS = 1e9
const MAX_TOKENS = 1e12
const MAX_CALLS = 1e9
const MAX_MONEY = 1e9
const RECORDS_PER_WRITE = 500
const SWEEP_BATCH = 1000

type SumColumns = Omit<SumRow, 'key' | 'at' | 'namespace' | 'task_uid' | 'caller_kind' | 'caller_id' | 'caller_name'>

type SumRow = {
  /** Empty: what has none; no null, which the dialects sort differently. */
  key: string
  at: string | null
  namespace: string | null
  task_uid: string | null
  caller_kind: CallerKind | null
  caller_id: string | null
  caller_name: string | null
  input_tokens: number
  output_tokens: number
  cached_tokens: number
  cache_write_tokens: number
  llm_calls: number
  cost_nanos: number | null
  estimated_input: number
  estimated_output: number
  estimated_cost_nanos: number | null
  unpriced_calls: number | null
  currency: string | null
}

const NOBODY = sql`null as caller_kind, null as caller_id`

type Group = { key: Fragment; columns: Fragment }

/** Names are unique within a namespace only; what has no name is one group of all namespaces. */
const named = (key: Fragment, taskUid = sql`null`): Group => ({
  key,
  columns: sql`case when ${key} is null then null else namespace end as namespace, ${taskUid} as task_uid, ${NOBODY}`,
})

const everywhere = (key: Fragment): Group => ({ key, columns: sql`null as namespace, null as task_uid, ${NOBODY}` })

// Stored times are in UTC and begin with the date.
const TIMES: Record<UsagePeriod, Fragment> = {
  month: sql`substr(created_at, 1, 7)`,
  day: sql`substr(created_at, 1, 10)`,
  hour: sql`substr(created_at, 1, 13)`,
}

const GROUPS: Record<UsageGroup, Group> = {
  task: named(sql`coalesce(task_name, task_uid)`, sql`task_uid`),
  session: named(sql`session`),
  agent: named(sql`agent`),
  monitor: named(sql`attributes.value`),
  scan: named(sql`attributes.value`),
  provider: named(sql`provider`),
  namespace: named(sql`namespace`),
  label: everywhere(sql`attributes.value`),
  model: everywhere(sql`model`),
  month: everywhere(TIMES.month),
  day: everywhere(TIMES.day),
  hour: everywhere(TIMES.hour),
  // A caller may act in several namespaces.
  caller: {
    key: sql`coalesce(caller_id, caller)`,
    columns: sql`null as namespace, null as task_uid, caller_kind, caller_id`,
  },
}

const labelName = (key: string) => encodeText(`label:${key}`)

/** The name of the attribute that is summed by; undefined when a column says it. */
function attributeOf({ groupBy, label }: UsageQuery): string | undefined {
  if (groupBy === 'label') return labelName(label ?? '')
  return groupBy === 'monitor' || groupBy === 'scan' ? groupBy : undefined
}

// Times have 24 characters, so the greatest is the newest name.
const LAST_NAME = sql`substr(max(created_at || caller), 25)`

// Summed as floating-point numbers, which are exact up to 2^53; sums of integers can overflow, in SQLite with an error.
const sumOf = (column: string): Fragment => ({
  text: `sum(cast(${column} as double precision)) as ${column}`,
  parameters: [],
})
const SUMS = joinSql(
  [
    ...['input_tokens', 'output_tokens', 'cached_tokens', 'cache_write_tokens', 'llm_calls', 'cost_nanos'],
    ...['estimated_input', 'estimated_output', 'estimated_cost_nanos'],
  ]
    .map(sumOf)
    .concat(sql`sum(case when cost_nanos is null then llm_calls else 0 end) as unpriced_calls`),
  ', ',
)

function toCount(sum: number | null): number {
  return Math.min(Math.round(Number(sum ?? 0)), Number.MAX_SAFE_INTEGER)
}

type RareSums = Pick<UsageSum, 'cacheWriteTokens' | 'estimatedInputTokens' | 'estimatedOutputTokens' | 'estimatedCost'>

/** Leaves out what is zero: most sums have none of these. */
function keepPresent(sums: Required<RareSums>): RareSums {
  return Object.fromEntries(Object.entries(sums).filter(([, sum]) => sum > 0))
}

function toRareSums(row: SumColumns): RareSums {
  return keepPresent({
    cacheWriteTokens: toCount(row.cache_write_tokens),
    estimatedInputTokens: toCount(row.estimated_input),
    estimatedOutputTokens: toCount(row.estimated_output),
    estimatedCost: Number(row.estimated_cost_nanos ?? 0) / NANOS,
  })
}

function toSums(row: SumColumns): Omit<UsageSum, 'key'> {
  const currency = decodeOptional(row.currency)
  return {
    inputTokens: toCount(row.input_tokens),
    outputTokens: toCount(row.output_tokens),
    cachedTokens: toCount(row.cached_tokens),
    llmCalls: toCount(row.llm_calls),
    cost: row.cost_nanos === null ? undefined : Number(row.cost_nanos) / NANOS,
    ...(Number(row.unpriced_calls) > 0 && { unpricedCalls: toCount(row.unpriced_calls) }),
    ...toRareSums(row),
    currency,
  }
}

function addRareSums(total: RareSums, sum: RareSums, sameMoney: boolean): RareSums {
  return keepPresent({
    cacheWriteTokens: (total.cacheWriteTokens ?? 0) + (sum.cacheWriteTokens ?? 0),
    estimatedInputTokens: (total.estimatedInputTokens ?? 0) + (sum.estimatedInputTokens ?? 0),
    estimatedOutputTokens: (total.estimatedOutputTokens ?? 0) + (sum.estimatedOutputTokens ?? 0),
    estimatedCost: (total.estimatedCost ?? 0) + (sameMoney ? (sum.estimatedCost ?? 0) : 0),
  })
}

type Money = Pick<UsageSum, 'cost' | 'unpricedCalls'>

function addMoney(total: Money, sum: Money): Money {
  const unpricedCalls = (total.unpricedCalls ?? 0) + (sum.unpricedCalls ?? 0)
  const isPriced = total.cost !== undefined || sum.cost !== undefined
  return {
    ...(isPriced && { cost: (total.cost ?? 0) + (sum.cost ?? 0) }),
    ...(unpricedCalls > 0 && { unpricedCalls }),
  }
}

/** Adds tokens and calls. Money counts only in the currency of the first sum, the one with the most output. */
function addSums(total: Omit<UsageSum, 'key'>, sum: Omit<UsageSum, 'key'>): Omit<UsageSum, 'key'> {
  const currency = total.currency ?? sum.currency
  const sameMoney = sum.currency === undefined || sum.currency === currency
  return {
    inputTokens: total.inputTokens + sum.inputTokens,
    outputTokens: total.outputTokens + sum.outputTokens,
    cachedTokens: total.cachedTokens + sum.cachedTokens,
    llmCalls: total.llmCalls + sum.llmCalls,
    ...addMoney(total, sameMoney ? sum : {}),
    ...addRareSums(total, sum, sameMoney),
    currency,
  }
}

function toCaller({ caller_kind: kind, caller_id, caller_name: name }: SumRow): Pick<UsageSum, 'caller'> {
  if (name === null) return {}
  const id = decodeOptional(caller_id)
  return { caller: { kind: kind ?? undefined, id, name: decodeText(name) } }
}

function toUsageSum(row: SumRow, groupBy: UsageGroup): UsageSum {
  const namespace = decodeOptional(row.namespace)
  return {
    key: decodeText(row.key),
    ...(row.at !== null && { at: row.at }),
    namespace,
    taskUid: row.task_uid ?? undefined,
    ...(groupBy === 'caller' ? toCaller(row) : {}),
    ...toSums(row),
  }
}

/** Within bounds; 0 for what is not a number. */
function limitNumber(value: number | undefined, max: number): number {
  return Math.min(Math.max(value || 0, 0), max)
}

const bounded = (max: number, unit = 1): ColumnKind<number> => ({
  ...number,
  encode: (value) => Math.round(limitNumber(value, max) * unit),
  decode: (stored) => Number(stored) / unit,
})
const tokens = bounded(MAX_TOKENS)
const calls = bounded(MAX_CALLS)
const money = bounded(MAX_MONEY, NANOS)

const usage = new Table('usage_records', {
  id: text,
  namespace: text,
  provider: text,
  model: text,
  taskUid: optional(word),
  taskName: optional(text),
  session: optional(text),
  agent: optional(text),
  callerName: column('caller', optional(text)),
  callerKind: optional(wordOf<CallerKind>()),
  callerId: optional(text),
  inputTokens: tokens,
  outputTokens: tokens,
  cachedTokens: tokens,
  cacheWriteTokens: tokens,
  llmCalls: calls,
  cost: column('cost_nanos', optional(money)),
  estimatedInputTokens: column('estimated_input', tokens),
  estimatedOutputTokens: column('estimated_output', tokens),
  estimatedCost: column('estimated_cost_nanos', optional(money)),
  currency: optional(text),
  demo: flag,
  createdAt: time,
})

const noTokens = {
  inputTokens: 0,
  outputTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  estimatedInputTokens: 0,
  estimatedOutputTokens: 0,
}

function attributesOf({ monitor, scan, labels = {} }: UsageRecord): [string, string][] {
  const own = Object.entries(dropUndefined({ monitor, scan }))
  return [...own, ...Object.entries(labels).map(([key, value]): [string, string] => [labelName(key), value])]
}

export async function insertUsage(tx: Tx, entry: UsageRecord): Promise<void> {
  const { caller, monitor: _monitor, scan: _scan, labels: _labels, ...record } = entry
  const stored = {
    ...noTokens,
    llmCalls: 1,
    ...dropUndefined(record),
    callerName: caller?.name,
    callerKind: caller?.kind,
    callerId: caller?.id,
    createdAt: new Date(record.createdAt),
  }
  const { changes } = await tx.run(sql`${usage.insert(stored)} on conflict (id) do nothing`)
  const attributes = attributesOf(entry)
  if (changes === 0 || attributes.length === 0) return
  const rows = attributes.map(([name, value]) => sql`(${encodeText(entry.id)}, ${name}, ${encodeText(value)})`)
  await tx.run(sql`insert into usage_attributes (usage_id, name, value) values ${joinSql(rows, ', ')}`)
}

function selectSums(query: UsageQuery) {
  const { key, columns } = GROUPS[query.groupBy]
  const attribute = attributeOf(query)
  const joined =
    attribute === undefined
      ? sql``
      : sql`left join usage_attributes attributes on attributes.usage_id = usage_records.id and attributes.name = ${attribute}`
  const at = query.per === undefined ? sql`null` : TIMES[query.per]
  const conditions: Fragment[] = []
  if (query.namespace !== undefined) conditions.push(sql`namespace = ${encodeText(query.namespace)}`)
  if (query.namespaces !== undefined) conditions.push(sql`namespace in (${listSql(query.namespaces.map(encodeText))})`)
  if (query.name !== undefined) conditions.push(sql`${key} = ${encodeText(query.name)}`)
  if (query.since !== undefined) conditions.push(sql`created_at >= ${query.since.toISOString()}`)
  if (query.until !== undefined) conditions.push(sql`created_at < ${query.until.toISOString()}`)
  const where = conditions.length === 0 ? sql`` : sql`where ${joinSql(conditions, ' and ')}`
  const name = query.groupBy === 'caller' ? LAST_NAME : sql`null`
  return sql<SumRow>`select coalesce(${key}, '') as key, ${columns}, currency, ${at} as at, ${name} as caller_name, ${SUMS}
    from usage_records ${joined} ${where} group by 1, 2, 3, 4, 5, 6, 7
    order by ${query.groupBy in TIMES ? sql`1 desc` : sql`7 desc, output_tokens desc, 1`}, 2, 3, 4, 5, 6`
}

type SpentRow = Pick<
  SumRow,
  'input_tokens' | 'output_tokens' | 'estimated_input' | 'estimated_output' | 'cost_nanos' | 'currency'
> &
  Pick<SumRow, 'estimated_cost_nanos' | 'unpriced_calls'>

function selectSpent(
  { namespace, agent, token, caller, taskUid, taskUids }: Parameters<Usage['spent']>[0],
  { since, until }: Parameters<Usage['spent']>[1],
) {
  const conditions = [
    namespace !== undefined && sql`namespace = ${encodeText(namespace)}`,
    agent !== undefined && sql`agent = ${encodeText(agent)}`,
    token !== undefined && sql`caller_kind = 'token' and caller_id = ${encodeText(token)}`,
    caller !== undefined && sql`coalesce(caller_id, caller) = ${encodeText(caller)}`,
    taskUid !== undefined && sql`task_uid = ${taskUid}`,
    taskUids !== undefined &&
      sql`task_uid in (${joinSql(
        taskUids.map((uid) => sql`${uid}`),
        ', ',
      )})`,
    since !== undefined && sql`created_at >= ${since.toISOString()}`,
    until !== undefined && sql`created_at < ${until.toISOString()}`,
  ].filter((condition) => condition !== false)
  const where = conditions.length === 0 ? sql`` : sql`where ${joinSql(conditions, ' and ')}`
  return sql<SpentRow>`select currency, ${SUMS} from usage_records ${where} group by currency`
}

function toSpent(rows: SpentRow[]): SpentSums {
  const spent: SpentSums = { tokens: 0, costs: {}, unpricedCalls: 0 }
  for (const row of rows) {
    spent.tokens += toCount(row.input_tokens) + toCount(row.output_tokens)
    spent.tokens += toCount(row.estimated_input) + toCount(row.estimated_output)
    spent.unpricedCalls += toCount(row.unpriced_calls)
    const currency = decodeOptional(row.currency)
    const nanos = Number(row.cost_nanos ?? 0) + Number(row.estimated_cost_nanos ?? 0)
    if (currency !== undefined) spent.costs[currency] = nanos / NANOS
  }
  return spent
}

/** The database is unavailable or full; the records may be accepted later. */
function isPassing(error: unknown): boolean {
  return isSvcError(error, 'Unavailable') || isSvcError(error, 'StorageFull')
}

async function putAside(tx: Tx, record: UsageRecord, { reason, at }: { reason: string; at: Date }): Promise<void> {
  await tx.run(sql`insert into usage_refused (id, record, reason, created_at)
    values (${encodeText(record.id)}, ${encodeText(JSON.stringify(record))}, ${encodeText(reason)}, ${at.toISOString()})
    on conflict (id) do nothing`)
}

export function createUsage({ database, clock }: { database: Database; clock: Pick<Clock, 'now'> }): Usage {
  function write(records: UsageRecord[]): Promise<void> {
    return database.write(async (tx) => {
      for (const record of records) await insertUsage(tx, record)
    })
  }

  async function writeOne(record: UsageRecord): Promise<void> {
    try {
      await write([record])
    } catch (error) {
      if (isPassing(error)) throw error
      await database.write((tx) => putAside(tx, record, { reason: messageOf(error), at: clock.now() }))
    }
  }

  async function writeBatch(records: UsageRecord[]): Promise<void> {
    try {
      await write(records)
    } catch (error) {
      if (isPassing(error)) throw error
      for (const record of records) await writeOne(record)
    }
  }

  async function sweepTable(table: 'usage_records' | 'usage_refused', before: Date): Promise<number> {
    const name = { text: table, parameters: [] }
    let removed = 0
    for (let batch = SWEEP_BATCH; batch === SWEEP_BATCH; removed += batch) {
      const { changes } = await database.write((tx) =>
        tx.run(sql`delete from ${name} where id in
          (select id from ${name} where created_at < ${before.toISOString()} limit ${SWEEP_BATCH})`),
      )
      batch = changes
    }
    return removed
  }

  return {
    async record(records) {
      for (let start = 0; start < records.length; start += RECORDS_PER_WRITE) {
        await writeBatch(records.slice(start, start + RECORDS_PER_WRITE))
      }
    },

    async sum(query) {
      if (query.namespaces?.length === 0) return []
      return (await database.read.all(selectSums(query))).map((row) => toUsageSum(row, query.groupBy))
    },

    async ofTask(taskUid) {
      const rows = await database.read.all(sql<SumRow>`select currency, ${SUMS} from usage_records
        where task_uid = ${taskUid} group by currency order by output_tokens desc`)
      const [first, ...others] = rows.map(toSums)
      return first === undefined ? undefined : others.reduce(addSums, first)
    },

    async spent(scope, time) {
      return toSpent(await database.read.all(selectSpent(scope, time)))
    },

    async sweep(before) {
      await sweepTable('usage_refused', before)
      return sweepTable('usage_records', before)
    },
  }
}
