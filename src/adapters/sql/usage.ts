// Usage in SQL: one row per model call. Money is kept as whole billionths, so that sums do not depend on their order
// and a single token's price is not rounded away.
import type { CallerKind } from '../../contract/api/caller.ts'
import type { Usage, UsageGroup, UsageRecord, UsageSum } from '../../ports/usage.ts'
import type { Database, Tx } from './database.ts'
import { type Fragment, joinSql, sql } from './statement.ts'
import { decodeOptional, decodeText, encodeOptional, encodeText } from './stored-text.ts'

const NANOS = 1e9
const RECORDS_PER_WRITE = 500
const SWEEP_BATCH = 1000

type SumColumns = Pick<
  SumRow,
  'input_tokens' | 'output_tokens' | 'cached_tokens' | 'llm_calls' | 'cost_nanos' | 'currency'
>

type SumRow = {
  key: string
  namespace: string | null
  task_uid: string | null
  caller_kind: CallerKind | null
  caller_id: string | null
  caller_name: string | null
  input_tokens: number
  output_tokens: number
  cached_tokens: number
  llm_calls: number
  cost_nanos: number | null
  currency: string | null
}

const NOBODY = sql`null as caller_kind, null as caller_id`

// Names are unique in their namespace only; a caller acts in several.
const GROUPS: Record<UsageGroup, { key: Fragment; columns: Fragment }> = {
  task: { key: sql`coalesce(task_name, task_uid)`, columns: sql`namespace, task_uid, ${NOBODY}` },
  session: { key: sql`session`, columns: sql`namespace, null as task_uid, ${NOBODY}` },
  agent: { key: sql`agent`, columns: sql`namespace, null as task_uid, ${NOBODY}` },
  provider: { key: sql`provider`, columns: sql`namespace, null as task_uid, ${NOBODY}` },
  namespace: { key: sql`namespace`, columns: sql`namespace, null as task_uid, ${NOBODY}` },
  caller: {
    key: sql`coalesce(caller_id, caller)`,
    columns: sql`null as namespace, null as task_uid, caller_kind, caller_id`,
  },
}

// Times have 24 characters, so the greatest is the newest name.
const LAST_NAME = sql`substr(max(created_at || caller), 25)`

const SUMS = sql`sum(input_tokens) as input_tokens, sum(output_tokens) as output_tokens,
  sum(cached_tokens) as cached_tokens, sum(llm_calls) as llm_calls, sum(cost_nanos) as cost_nanos`

// PostgreSQL gives sums of big integers as text.
function toSums(row: SumColumns): Omit<UsageSum, 'key'> {
  const currency = decodeOptional(row.currency)
  return {
    inputTokens: Number(row.input_tokens),
    outputTokens: Number(row.output_tokens),
    cachedTokens: Number(row.cached_tokens),
    llmCalls: Number(row.llm_calls),
    cost: Number(row.cost_nanos ?? 0) / NANOS,
    ...(currency === undefined ? {} : { currency }),
  }
}

/** Adds tokens and calls; money of another currency than the first (the one with the most output) is left out. */
function addSums(total: Omit<UsageSum, 'key'>, sum: Omit<UsageSum, 'key'>): Omit<UsageSum, 'key'> {
  const currency = total.currency ?? sum.currency
  const sameMoney = sum.currency === undefined || sum.currency === currency
  return {
    inputTokens: total.inputTokens + sum.inputTokens,
    outputTokens: total.outputTokens + sum.outputTokens,
    cachedTokens: total.cachedTokens + sum.cachedTokens,
    llmCalls: total.llmCalls + sum.llmCalls,
    cost: total.cost + (sameMoney ? sum.cost : 0),
    ...(currency === undefined ? {} : { currency }),
  }
}

function toCaller({ caller_kind: kind, caller_id, caller_name: name }: SumRow): Pick<UsageSum, 'caller'> {
  if (name === null) return {}
  const id = decodeOptional(caller_id)
  return { caller: { ...(kind === null ? {} : { kind }), ...(id === undefined ? {} : { id }), name: decodeText(name) } }
}

function toUsageSum(row: SumRow, groupBy: UsageGroup): UsageSum {
  const namespace = decodeOptional(row.namespace)
  return {
    key: decodeText(row.key),
    ...(namespace === undefined ? {} : { namespace }),
    ...(row.task_uid === null ? {} : { taskUid: row.task_uid }),
    ...(groupBy === 'caller' ? toCaller(row) : {}),
    ...toSums(row),
  }
}

async function insertRecord(tx: Tx, record: UsageRecord): Promise<void> {
  const cost = record.cost === undefined ? null : Math.round(record.cost * NANOS)
  await tx.run(sql`insert into usage_records (id, namespace, provider, model, task_uid, task_name, session, agent, caller,
      caller_kind, caller_id, input_tokens, output_tokens, cached_tokens, llm_calls, cost_nanos, currency, demo, created_at)
    values (${encodeText(record.id)}, ${encodeText(record.namespace)}, ${encodeText(record.provider)},
      ${encodeText(record.model)}, ${record.taskUid ?? null}, ${encodeOptional(record.taskName)},
      ${encodeOptional(record.session)}, ${encodeOptional(record.agent)}, ${encodeOptional(record.caller?.name)},
      ${record.caller?.kind ?? null}, ${encodeOptional(record.caller?.id)}, ${record.inputTokens}, ${record.outputTokens}, ${record.cachedTokens}, ${record.llmCalls ?? 1}, ${cost},
      ${encodeOptional(record.currency)}, ${record.demo ? 1 : 0}, ${new Date(record.createdAt).toISOString()})
    on conflict (id) do nothing`)
}

function selectSums(query: { groupBy: UsageGroup; namespace?: string; since?: Date; until?: Date }) {
  const { key, columns } = GROUPS[query.groupBy]
  const conditions = [sql`${key} is not null`]
  if (query.namespace !== undefined) conditions.push(sql`namespace = ${encodeText(query.namespace)}`)
  if (query.since !== undefined) conditions.push(sql`created_at >= ${query.since.toISOString()}`)
  if (query.until !== undefined) conditions.push(sql`created_at < ${query.until.toISOString()}`)
  return sql<SumRow>`select ${key} as key, ${columns}, currency, ${LAST_NAME} as caller_name, ${SUMS}
    from usage_records where ${joinSql(conditions, ' and ')} group by 1, 2, 3, 4, 5, 6
    order by output_tokens desc, 1, 2, 3, 4, 5, 6`
}

export function createUsage(deps: { database: Database }): Usage {
  const { database } = deps
  return {
    async record(records) {
      for (let start = 0; start < records.length; start += RECORDS_PER_WRITE) {
        await database.write(async (tx) => {
          for (const record of records.slice(start, start + RECORDS_PER_WRITE)) await insertRecord(tx, record)
        })
      }
    },

    async sum(query) {
      return (await database.read.all(selectSums(query))).map((row) => toUsageSum(row, query.groupBy))
    },

    async ofTask(taskUid) {
      const rows = await database.read.all(sql<SumRow>`select currency, ${SUMS} from usage_records
        where task_uid = ${taskUid} group by currency order by output_tokens desc`)
      const [first, ...others] = rows.map(toSums)
      return first === undefined ? undefined : others.reduce(addSums, first)
    },

    async sweep(before) {
      let removed = 0
      for (let batch = SWEEP_BATCH; batch === SWEEP_BATCH; removed += batch) {
        const { changes } = await database.write((tx) =>
          tx.run(sql`delete from usage_records where id in
            (select id from usage_records where created_at < ${before.toISOString()} limit ${SWEEP_BATCH})`),
        )
        batch = changes
      }
      return removed
    },
  }
}
