// Finds memories: by what they come from, and by the terms and the vector of a query, whose scores become one.
import type { MemoryQuery } from '../../ports/memory/memories.ts'
import { dropRepeated, rankMemories } from '../../rules/memory/ranking.ts'
import { addLikeness, addSurroundings, compared, type Placed, type Scored } from '../../rules/memory/relevance.ts'
import { queryTerms } from '../../rules/memory/search-terms.ts'
import type { Database, Reader } from '../database/database.ts'
import { type Fragment, joinSql, listSql, sql } from '../database/statement.ts'
import { encodeText } from '../database/stored-text.ts'
import type { createAlikeMemories } from './alike-memories.ts'
import { type MemoryRow, memoryTable } from './memory-rows.ts'

/** So many that were found by words count, however few are wanted: what is like them or stands around them may be better. */
const considered = 128

/**
 * How many of the best matches are looked at before filters: most searches need no more than the first number. A filter
 * that leaves few makes the search go on to the next.
 */
const widthsFor = (limit: number) => [Math.max(considered + 32, limit * 2), 8192, 1_000_000_000]

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

/** Those that are like the query and are compared exactly; with a filter, as most of them may not pass it. */
const comparedVectors = { usually: 256, beforeFilter: 2048 } as const
/** What a cosine of 1 adds to a score, of which 1 is the best by words. */
const vectorWeight = 0.5
/** Those whose memories before and after are looked for. */
const surrounded = 50

type FoundRow = { number: number; id: string; updated_at: string; recalled_count: number; origin: string | null }
type Found = Placed & { id: string; updatedAt: string; recalledCount: number }

/**
 * Those that the filter leaves, best first; only what the order depends on, because contents can be long. A cross join, because
 * SQLite keeps to its order; else it reads every memory of the namespace.
 */
async function readFound(
  { read, dialect }: MemoryStores['database'],
  query: MemoryQuery,
  candidates: readonly Scored[],
) {
  if (candidates.length === 0) return []
  const scores = new Map(candidates.map(({ number, score }) => [number, score]))
  const rows = await read.all(sql<FoundRow>`select number, id, updated_at, recalled_count,
    coalesce(session_name, task_name) as origin from ${dialect.listNumbers([...scores.keys()])} cross join memories
    where number = wanted and ${matchFilter(query)}`)
  const found = rows.map(
    ({ number, id, updated_at, recalled_count, origin }): Found => ({
      number: Number(number),
      id,
      score: scores.get(Number(number)) ?? 0,
      updatedAt: updated_at,
      recalledCount: Number(recalled_count),
      ...(origin !== null && { origin }),
    }),
  )
  return rankMemories(found)
}

async function findByWords(
  database: MemoryStores['database'],
  query: MemoryQuery,
  terms: readonly string[],
): Promise<Found[]> {
  const search = { namespace: encodeText(query.namespace), terms }
  for (const width of widthsFor(query.limit)) {
    const candidates = await database.dialect.terms.find(database.read, { ...search, limit: width })
    const found = await readFound(database, query, candidates)
    // One more than are shown may be equal to the last of them, and newer.
    if (found.length > query.limit || candidates.length < width)
      return found.slice(0, Math.max(considered, query.limit))
  }
  return []
}

function hasFilter({ namespace: _namespace, query: _query, vector: _vector, limit: _limit, ...filter }: MemoryQuery) {
  return Object.values(filter).some((value) => value !== undefined && value !== false)
}

/** What was found by words and what is like the vector, with both scores as one: `words / best + weight * cosine`. */
async function addVectors(stores: MemoryStores, query: MemoryQuery, byWords: readonly Found[]): Promise<Found[]> {
  if (query.vector === undefined) return [...byWords]
  const max = hasFilter(query) ? comparedVectors.beforeFilter : comparedVectors.usually
  const alike = await stores.alike(query.namespace, query.vector, max)
  const best = Math.max(Number.MIN_VALUE, ...byWords.map(({ score }) => score))
  const scores = new Map(byWords.map(({ number, score }) => [number, score / best]))
  for (const { number, score } of alike) scores.set(number, (scores.get(number) ?? 0) + vectorWeight * score)
  return readFound(
    stores.database,
    query,
    [...scores].map(([number, score]) => ({ number, score })),
  )
}

type HeadRow = { number: number; head: string }

/** The beginning of the content, from the beginning of a body as it is stored: JSON, which may end anywhere. */
function readHead(head: string): string {
  const [, content = ''] = /^\{"content":"((?:[^"\\]|\\.)*)/.exec(head) ?? []
  return content.replaceAll(/\\(?:u[0-9a-f]{4}|.)/g, ' ')
}

/** Compares the best with each other: of long texts only the beginning, so that a search stays quick. */
async function addLikenessOf(
  { read, dialect }: MemoryStores['database'],
  search: { namespace: string; terms: readonly string[] },
  found: readonly Found[],
): Promise<Found[]> {
  const numbers = found.slice(0, compared.memories).map(({ number }) => number)
  const rows = await read.all(sql<HeadRow>`select number, substr(body, 1, ${compared.characters}) as head
    from ${dialect.listNumbers(numbers)} cross join memories where number = wanted`)
  const texts = new Map(rows.map(({ number, head }) => [Number(number), readHead(head)]))
  return rankMemories(addLikeness(found, texts, await dialect.terms.weigh(read, search)))
}

type BesideRow = { number: number; before: number | null; after: number | null }

/** Pairs of memories that were written one after the other in a session or a task; one of each is among the best. */
async function readPairs({ read, dialect }: MemoryStores['database'], found: readonly Found[]) {
  const numbers = found.filter(({ origin }) => origin !== undefined).slice(0, surrounded)
  if (numbers.length === 0) return []
  const same = sql`other.namespace = one.namespace
    and coalesce(other.session_name, other.task_name) = coalesce(one.session_name, one.task_name)`
  const rows = await read.all(sql<BesideRow>`select one.number as number,
      (select max(number) from memories other where ${same} and other.number < one.number) as before,
      (select min(number) from memories other where ${same} and other.number > one.number) as after
    from ${dialect.listNumbers(numbers.map(({ number }) => number))} cross join memories one where one.number = wanted`)
  const pairs = rows.flatMap(({ number, before, after }) => [
    ...(before === null ? [] : [[Number(before), Number(number)] as const]),
    ...(after === null ? [] : [[Number(number), Number(after)] as const]),
  ])
  return [...new Map(pairs.map((pair) => [pair.join(), pair])).values()]
}

/** What stands around the best is found as well, even without a word of the query. */
async function addSurroundingsOf(
  database: MemoryStores['database'],
  query: MemoryQuery,
  found: readonly Found[],
): Promise<Found[]> {
  const pairs = await readPairs(database, found)
  const known = new Set(found.map(({ number }) => number))
  const beside = [...new Set(pairs.flat())].filter((number) => !known.has(number))
  const others = await readFound(
    database,
    query,
    beside.map((number) => ({ number, score: 0 })),
  )
  return rankMemories(addSurroundings([...found, ...others], pairs))
}

async function readRows(reader: Reader, numbers: readonly number[]): Promise<MemoryRow[]> {
  if (numbers.length === 0) return []
  const rows = await memoryTable.all(reader, sql`where number in (${listSql(numbers)})`)
  const byNumber = new Map(rows.map((row) => [row.number, row]))
  return numbers.flatMap((number) => byNumber.get(number) ?? [])
}

/** By words, by vectors where the query has one, and by what is around; nothing where the query holds no word. */
async function findBest(stores: MemoryStores, query: MemoryQuery): Promise<Found[]> {
  const terms = queryTerms(query.query ?? '')
  if (terms.length === 0) return []
  const { database } = stores
  const search = { namespace: encodeText(query.namespace), terms }
  const found = await addVectors(stores, query, await findByWords(database, query, terms))
  if (found.length === 0) return []
  return addSurroundingsOf(database, query, await addLikenessOf(database, search, found))
}

/** Twice as many as are wanted, for those that say the same. */
async function readBest(reader: Reader, found: readonly Found[], limit: number): Promise<MemoryRow[]> {
  const numbers = found.slice(0, limit * 2).map(({ number }) => number)
  return dropRepeated(await readRows(reader, numbers), ({ body }) => body.content).slice(0, limit)
}

/** In the order that the port promises. */
export async function searchMemories(stores: MemoryStores, query: MemoryQuery): Promise<MemoryRow[]> {
  const { read } = stores.database
  if ((query.query ?? '').trim() !== '') return readBest(read, await findBest(stores, query), query.limit)
  const page = sql`order by updated_at desc, id desc limit ${query.limit}`
  return memoryTable.all(read, sql`where ${matchFilter(query)} ${page}`)
}
