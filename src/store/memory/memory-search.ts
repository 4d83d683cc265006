// Finds memories: by what they come from, and by the terms and the vector of a query, whose orders become one.
import type { MemoryQuery } from '../../ports/memory/memories.ts'
import type { ScoredText } from '../../rules/memory/bm25.ts'
import { fuseRanks, rankMemories } from '../../rules/memory/ranking.ts'
import { queryTerms } from '../../rules/memory/search-terms.ts'
import type { Database, Reader } from '../database/database.ts'
import { type Fragment, joinSql, listSql, sql } from '../database/statement.ts'
import { encodeText } from '../database/stored-text.ts'
import type { createAlikeMemories } from './alike-memories.ts'
import { type MemoryRow, memoryTable } from './memory-rows.ts'

/**
 * How many of the best matches are looked at before filters: most searches need no more than the first number. A filter
 * that leaves few makes the search go on to the next.
 */
const widthsFor = (limit: number) => [Math.max(128, limit * 2), 8192, 1_000_000_000]

/** Where a search looks: the database, and the vectors of its memories. */
export type MemoryStores = {
  database: Pick<Database, 'read' | 'dialect'>
  alike: ReturnType<typeof createAlikeMemories>
}

function matchFilter(query: MemoryQuery): Fragment {
  const { namespace, sessionName, agentName, taskName, parentTask, source } = query
  const { tags = [], ids, includeDisabled = false, includeDeleted = false } = query
  const conditions = [memoryTable.match({ namespace, sessionName, agentName, taskName, parentTask, source })]
  for (const tag of tags)
    conditions.push(sql`memories.number in (select memory from memory_tags where tag = ${encodeText(tag)})`)
  if (ids !== undefined) conditions.push(memoryTable.oneOf('id', ids))
  if (!includeDeleted) conditions.push(sql`deleted = 0`)
  // A deleted memory is disabled as well; whoever asks for deleted ones wants to see it.
  if (!includeDisabled) conditions.push(sql`(deleted = 1 or disabled = 0 and superseded_by is null)`)
  return joinSql(conditions, ' and ')
}

/** So many of each order are fused, and as many more memories that are like the query are compared exactly. */
const fusedRanks = 100
const comparedVectors = 256
/** With a filter most of those that are like the query may not pass it. */
const comparedBeforeFilter = 2048
/** How much the order by vectors counts beside that by words: the decision on vectors in docs/adr has the figures. */
const vectorWeight = 1.5

type Found = { number: number; id: string; updated_at: string; recalled_count: number }

/**
 * Those that the filter leaves, in the order of the ranking rule; only what the order depends on, because contents can be long.
 * A cross join, because SQLite keeps to its order; else it reads every memory of the namespace.
 */
async function rankFound(
  { read, dialect }: MemoryStores['database'],
  query: MemoryQuery,
  candidates: readonly ScoredText[],
) {
  const scores = new Map(candidates.map(({ number, score }) => [number, score]))
  const rows = await read.all(sql<Found>`select number, id, updated_at, recalled_count
    from ${dialect.listNumbers([...scores.keys()])} cross join memories
    where number = wanted and ${matchFilter(query)}`)
  return rankMemories(
    rows.map(({ number, id, updated_at, recalled_count }) => ({
      number: Number(number),
      id,
      score: scores.get(Number(number)) ?? 0,
      updatedAt: updated_at,
      recalledCount: Number(recalled_count),
    })),
  )
}

async function findByWords(
  database: MemoryStores['database'],
  query: MemoryQuery,
  terms: readonly string[],
): Promise<number[]> {
  const search = { namespace: encodeText(query.namespace), terms }
  for (const width of widthsFor(query.limit)) {
    const candidates = await database.dialect.terms.find(database.read, { ...search, limit: width })
    const ranked = await rankFound(database, query, candidates)
    // One more than are shown may be equal to the last of them, and newer.
    if (ranked.length > query.limit || candidates.length < width) {
      return ranked.slice(0, query.limit).map(({ number }) => number)
    }
  }
  return []
}

async function readRows(reader: Reader, numbers: readonly number[]): Promise<MemoryRow[]> {
  if (numbers.length === 0) return []
  const rows = await memoryTable.all(reader, sql`where number in (${listSql(numbers)})`)
  const byNumber = new Map(rows.map((row) => [row.number, row]))
  return numbers.flatMap((number) => byNumber.get(number) ?? [])
}

function hasFilter({ namespace: _namespace, query: _query, vector: _vector, limit: _limit, ...filter }: MemoryQuery) {
  return Object.values(filter).some((value) => value !== undefined && value !== false)
}

async function findByVector(stores: MemoryStores, query: MemoryQuery): Promise<number[]> {
  if (query.vector === undefined) return []
  const max = hasFilter(query) ? comparedBeforeFilter : comparedVectors
  const alike = await stores.alike(query.namespace, query.vector, max)
  const ranked = await rankFound(stores.database, query, alike)
  return ranked.map(({ number }) => number)
}

/** By words, and by vectors where the query has one; of neither where the query holds no word. */
async function findBest(stores: MemoryStores, query: MemoryQuery): Promise<number[]> {
  const terms = queryTerms(query.query ?? '')
  if (terms.length === 0) return []
  const { limit, vector } = query
  const depth = vector === undefined ? limit : Math.max(limit, fusedRanks)
  const byWords = await findByWords(stores.database, { ...query, limit: depth }, terms)
  const byVector = (await findByVector(stores, query)).slice(0, depth)
  if (byVector.length === 0) return byWords.slice(0, limit)
  return fuseRanks([{ keys: byWords }, { keys: byVector, weight: vectorWeight }]).slice(0, limit)
}

/** In the order that the port promises. */
export async function searchMemories(stores: MemoryStores, query: MemoryQuery): Promise<MemoryRow[]> {
  const { read } = stores.database
  if ((query.query ?? '').trim() !== '') return readRows(read, await findBest(stores, query))
  const page = sql`order by updated_at desc, id desc limit ${query.limit}`
  return memoryTable.all(read, sql`where ${matchFilter(query)} ${page}`)
}
