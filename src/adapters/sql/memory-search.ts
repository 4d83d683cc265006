// Finds memories: by what they come from, and by the terms of a query in the order of the ranking rule.
import type { MemoryFilter, MemoryQuery } from '../../ports/memories.ts'
import { rankMemories } from '../../rules/memory-ranking.ts'
import { queryTerms } from '../../rules/search-terms.ts'
import type { Dialect, Reader } from './database.ts'
import type { MemoryRow } from './memory-rows.ts'
import { type Fragment, joinSql, listSql, sql } from './statement.ts'
import { encodeText } from './stored-text.ts'

/**
 * How many of the best matches are looked at before filters: most searches need no more than the first number. A filter
 * that leaves few makes the search go on to the next.
 */
const widths = [256, 8192, 1_000_000_000]

const columns = {
  sessionName: 'session_name',
  agentName: 'agent_name',
  taskName: 'task_name',
  parentTask: 'parent_task',
}

function matchOrigin(filter: MemoryFilter): Fragment[] {
  const origins: [string, string | undefined][] = [
    ...Object.entries(columns).map(([field, column]): [string, string | undefined] => [
      column,
      filter[field as keyof typeof columns],
    ]),
    ['source', filter.source],
  ]
  return origins.flatMap(([column, value]) =>
    value === undefined ? [] : [{ text: `${column} = ?`, parameters: [encodeText(value)] }],
  )
}

function matchFilter(query: MemoryQuery): Fragment {
  const { tags = [], ids, includeDisabled = false, includeDeleted = false } = query
  const conditions = [sql`namespace = ${encodeText(query.namespace)}`, ...matchOrigin(query)]
  for (const tag of tags)
    conditions.push(sql`memories.number in (select memory from memory_tags where tag = ${encodeText(tag)})`)
  if (ids !== undefined) conditions.push(ids.length === 0 ? sql`1 = 0` : sql`id in (${listSql(ids.map(encodeText))})`)
  if (!includeDeleted) conditions.push(sql`deleted = 0`)
  // A deleted memory is disabled as well; whoever asks for deleted ones wants to see it.
  if (!includeDisabled) conditions.push(sql`(deleted = 1 or disabled = 0 and superseded_by is null)`)
  return joinSql(conditions, ' and ')
}

type Found = Pick<MemoryRow, 'id' | 'updated_at' | 'recalled_count' | 'number'> & { score: number }

/**
 * Only what the order depends on, because contents can be long. A cross join, because SQLite then keeps to this order; else it
 * reads every memory of the namespace.
 */
function selectFound(query: MemoryQuery, candidates: Fragment, limit: number) {
  return sql<Found>`select memories.number, id, updated_at, recalled_count, score
    from (${candidates}) as candidates cross join memories
    where memories.number = candidates.number and ${matchFilter(query)} order by score desc limit ${limit}`
}

async function findBest(reader: Reader, query: MemoryQuery, { terms: index }: Dialect): Promise<number[]> {
  const terms = queryTerms(query.query ?? '')
  if (terms.length === 0) return []
  // More than are shown, because age and use decide among equals.
  const wanted = query.limit * 2
  let found: Found[] = []
  const namespace = encodeText(query.namespace)
  for (const limit of widths) {
    const candidates = await index.find(reader, { namespace, terms, limit, isThorough: limit !== widths[0] })
    found = await reader.all(selectFound(query, candidates, wanted))
    if (found.length >= query.limit) break
  }
  const ranked = rankMemories(
    found.map(({ id, number, score, updated_at, recalled_count }) => ({
      id,
      number: Number(number),
      score: Number(score),
      updatedAt: updated_at,
      recalledCount: Number(recalled_count),
    })),
  )
  return ranked.slice(0, query.limit).map(({ number }) => number)
}

async function readRows(reader: Reader, numbers: readonly number[]): Promise<MemoryRow[]> {
  if (numbers.length === 0) return []
  const rows = await reader.all(sql<MemoryRow>`select * from memories where number in (${listSql(numbers)})`)
  const byNumber = new Map(rows.map((row) => [Number(row.number), row]))
  return numbers.flatMap((number) => byNumber.get(number) ?? [])
}

/** In the order that the port promises. */
export async function searchMemories(reader: Reader, query: MemoryQuery, dialect: Dialect): Promise<MemoryRow[]> {
  if ((query.query ?? '').trim() !== '') return readRows(reader, await findBest(reader, query, dialect))
  return reader.all(sql<MemoryRow>`select * from memories where ${matchFilter(query)}
    order by updated_at desc, id desc limit ${query.limit}`)
}
