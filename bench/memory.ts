// Memories written and searched beside bare FTS5, and how well they are found on Cranfield (BENCH_CRANFIELD names its folder).
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { systemClock as clock, systemIds as ids } from '../src/lib/system-clock.ts'
import type { Memories } from '../src/ports/memory/memories.ts'
import { openPostgresRecords } from '../src/store/postgres/records.ts'
import { createRecords } from '../src/store/records.ts'
import { openSqlite } from '../src/store/sqlite/database.ts'
import { postgresMissing, startPostgres } from '../test/fixtures/postgres.ts'
import { type Collection, readCranfield } from './cranfield.ts'
import { percentile, type Row, report, round } from './measure.ts'
import { fill, fillMiniSearch, learnVectors, measureQuality, type Stores, searchWith } from './memory-quality.ts'
import { type MadeText, makeFrequentQuestions, makeQuestions, makeRandom, makeTexts } from './memory-texts.ts'

const sizes = (process.env.BENCH_MEMORIES ?? '10000,100000').split(',').map(Number)
const questions = Number(process.env.BENCH_QUESTIONS ?? 500)
const callers = 64
const namespace = 'default'
const limit = 10

type Bare = { insert(texts: readonly MadeText[]): void; search(question: string): unknown[]; close(): void }

export async function run(): Promise<void> {
  report('memory', await withSqlite(measureSpeed))
  const folder = process.env.BENCH_CRANFIELD
  if (folder === undefined) console.log('Cranfield is skipped: BENCH_CRANFIELD names no folder with it')
  else report('memory: Cranfield', await measureCranfield(readCranfield(folder)))
}

async function withSqlite<T>(work: (stores: Stores, folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-'))
  const database = openSqlite({ path: join(folder, 'svc.db') })
  const records = createRecords({ database, blobDir: folder, clock, ids })
  try {
    return await work(records, folder)
  } finally {
    await records.close()
    await database.close()
    await rm(folder, { recursive: true })
  }
}

async function withPostgres<T>(work: (stores: Stores) => Promise<T>): Promise<T> {
  const server = await startPostgres()
  try {
    server.execute('postgres', 'create database bench')
    const { records, close } = await openPostgresRecords({ url: server.urlOf('bench'), clock, ids })
    const value = await work(records)
    await close()
    return value
  } finally {
    await server.remove()
  }
}

/** The texts in FTS5 and nothing else, with the same durability. */
function openBare(folder: string): Bare {
  const database = new Sqlite(join(folder, 'bare.db'))
  database.pragma('journal_mode = wal')
  database.pragma('synchronous = full')
  database.exec(`create virtual table texts using fts5(text, tokenize = 'porter unicode61')`)
  const insert = database.prepare('insert into texts (text) values (?)')
  const search = database.prepare('select rowid, text from texts where texts match ? order by bm25(texts) limit ?')
  const insertAll = database.transaction((texts: readonly MadeText[]) => {
    for (const { text } of texts) insert.run(text)
  })
  return {
    insert(texts) {
      for (let at = 0; at < texts.length; at += callers) insertAll(texts.slice(at, at + callers))
    },
    search: (question) => search.all(question.split(' ').join(' OR '), limit),
    close: () => void database.close(),
  }
}

async function insertOurs(memories: Memories, texts: readonly MadeText[], from: number): Promise<void> {
  let next = 0
  const write = async () => {
    for (let at = next++; at < texts.length; at = next++) {
      const content = texts[at]?.text ?? ''
      await memories.create({ namespace, id: `memory-${from + at}`, content, source: 'manual', disabled: false })
    }
  }
  await Promise.all(Array.from({ length: callers }, write))
}

async function time(work: () => unknown): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

/** In turns, so that whatever else the machine does meets both. */
async function compareSearches(what: string, asked: string[], stores: Stores, bare: Bare): Promise<Row[]> {
  const search = searchWith(stores, namespace)
  const took: { floor: number[]; ours: number[] } = { floor: [], ours: [] }
  for (const query of asked) {
    took.floor.push(await time(() => bare.search(query)))
    took.ours.push(await time(() => search(query)))
  }
  const show = (who: string, samples: number[]): Row => ({
    what: `${what}, ${who}`,
    'p50 ms': round(percentile(samples, 0.5), 2),
    'p99 ms': round(percentile(samples, 0.99), 2),
  })
  const ratio = round(percentile(took.ours, 0.5) / percentile(took.floor, 0.5), 2)
  return [show('FTS5', took.floor), { ...show('svc', took.ours), 'x floor, p50': ratio }]
}

type Measured = { stores: Stores; bare: Bare; texts: readonly MadeText[] }

/** Writes the texts from `from` on into both. */
async function compareWrites({ stores, bare, texts }: Measured, from: number): Promise<Row[]> {
  const added = texts.slice(from)
  const rate = (ms: number) => round((added.length / ms) * 1000, 0)
  const floorMs = await time(() => bare.insert(added))
  const oursMs = await time(() => insertOurs(stores.memories, added, from))
  const size = texts.length
  return [
    { what: `${size}: written, FTS5`, 'per second': rate(floorMs) },
    { what: `${size}: written, svc`, 'per second': rate(oursMs) },
  ]
}

/** By words alone, and once there are vectors of the memories as well. */
async function compareSizes({ stores, bare, texts }: Measured, random: () => number): Promise<Row[]> {
  const size = texts.length
  const kinds = [
    ['questions', makeQuestions(texts, questions, random)],
    ['three frequent words', makeFrequentQuestions(questions / 5, random)],
  ] as const
  const rows: Row[] = []
  const compareAll = async (how: string) => {
    for (const [what, asked] of kinds)
      rows.push(...(await compareSearches(`${size}: ${what}, ${how}`, asked, stores, bare)))
  }
  if ((await stores.memoryVectors.modelOf(namespace)) === undefined) await compareAll('by words')
  const learntMs = await time(() => learnVectors(stores))
  rows.push({ what: `${size}: learnt and placed in the background`, 'per second': round((size / learntMs) * 1000, 0) })
  await readSigns(stores, texts)
  await compareAll('with vectors')
  return rows
}

/** Vectors of many memories come into memory while searches go on. */
async function readSigns(stores: Stores, texts: readonly MadeText[]): Promise<void> {
  const search = searchWith(stores, namespace)
  for (let at = 0; at < texts.length; at += 1000) {
    await search(texts[at]?.telling[0] ?? '')
    await new Promise((resolve) => void setImmediate(resolve))
  }
}

async function measureSpeed(stores: Stores, folder: string): Promise<Row[]> {
  const random = makeRandom(11)
  const bare = openBare(folder)
  const rows: Row[] = []
  const texts = makeTexts(Math.max(...sizes), random)
  let stored = 0
  for (const size of sizes) {
    const measured = { stores, bare, texts: texts.slice(0, size) }
    rows.push(...(await compareWrites(measured, stored)), ...(await compareSizes(measured, random)))
    stored = size
  }
  bare.close()
  return rows
}

async function measureCranfield(collection: Collection): Promise<Row[]> {
  const namespace = 'cranfield'
  const measureStore = (name: string) => async (stores: Stores) => {
    await fill(stores, collection, namespace)
    const search = searchWith(stores, namespace)
    const byWords = await measureQuality(`${name}, by words`, search, collection)
    await learnVectors(stores)
    return [byWords, await measureQuality(`${name}, with vectors`, search, collection)]
  }
  const rows = [
    await measureQuality('minisearch 7.2.0', fillMiniSearch(collection), collection),
    ...(await withSqlite(measureStore('SQLite'))),
  ]
  if (postgresMissing === undefined) rows.push(...(await withPostgres(measureStore('PostgreSQL'))))
  else console.log(`PostgreSQL is skipped: ${postgresMissing}`)
  return rows
}
