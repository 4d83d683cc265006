// Memories written and searched beside bare FTS5, and how well they are found: on short facts of our own, on Cranfield (BENCH_CRANFIELD
// names its folder) and on LoCoMo (BENCH_LOCOMO names its file). BENCH_PARTS: speed, quality, prompts.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import MiniSearch from 'minisearch'
import { systemClock as clock, systemIds as ids } from '../src/lib/system-clock.ts'
import type { Memories } from '../src/ports/memory/memories.ts'
import { openPostgresRecords } from '../src/store/postgres/records.ts'
import { createRecords } from '../src/store/records.ts'
import { openSqlite } from '../src/store/sqlite/database.ts'
import { postgresMissing, startPostgres } from '../test/fixtures/postgres.ts'
import { readCranfield } from './cranfield.ts'
import { locomoKinds, readLocomo } from './locomo.ts'
import { percentile, type Row, report, round } from './measure.ts'
import { makeFacts, unrelatedPrompts, wrapPrompt } from './memory-facts.ts'
import {
  type Collection,
  fill,
  judgeAll,
  measureQuality,
  provideWith,
  type Search,
  searchWith,
} from './memory-quality.ts'
import { type MadeText, makeFrequentQuestions, makeQuestions, makeRandom, makeTexts } from './memory-texts.ts'

const sizes = (process.env.BENCH_MEMORIES ?? '10000,100000').split(',').map(Number)
const questions = Number(process.env.BENCH_QUESTIONS ?? 500)
const callers = 64
/** Questions of each collection that are asked as prompts: each one counts what it recalls. */
const maxPrompts = 20
const namespace = 'default'
const limit = 10

const parts = (process.env.BENCH_PARTS ?? 'speed,quality,prompts').split(',')

type Bare = { insert(texts: readonly MadeText[]): void; search(question: string): unknown[]; close(): void }

export async function run(): Promise<void> {
  const sets = parts.includes('quality') || parts.includes('prompts') ? readSets() : []
  if (parts.includes('quality')) {
    report('memory: SQLite', await withSqlite((memories) => measureSets(memories, sets)))
    await withPostgres((memories) => measureSets(memories, sets), 'memory: PostgreSQL')
  }
  if (parts.includes('prompts'))
    report('memory: SQLite', await withSqlite((memories) => measurePrompts(memories, sets)))
  if (!parts.includes('speed')) return
  report('memory: SQLite', await withSqlite(measureSpeed))
  await withPostgres((memories) => measureSpeed(memories, undefined), 'memory: PostgreSQL')
}

async function withSqlite<T>(work: (memories: Memories, folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-'))
  const database = openSqlite({ path: join(folder, 'svc.db') })
  const records = createRecords({ database, blobDir: folder, clock, ids })
  try {
    return await work(records.memories, folder)
  } finally {
    await records.close()
    await database.close()
    await rm(folder, { recursive: true })
  }
}

async function withPostgres(work: (memories: Memories) => Promise<Row[]>, title: string): Promise<void> {
  if (postgresMissing !== undefined) {
    console.log(`PostgreSQL is skipped: ${postgresMissing}`)
    return
  }
  const server = await startPostgres()
  try {
    server.execute('postgres', 'create database bench')
    const { records, close } = await openPostgresRecords({ url: server.urlOf('bench'), clock, ids })
    report(title, await work(records.memories))
    await close()
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
async function compareSearches(what: string, asked: string[], { memories, bare }: Measured): Promise<Row[]> {
  const search = searchWith(memories, namespace)
  const took: { floor: number[]; ours: number[] } = { floor: [], ours: [] }
  for (const query of asked) {
    if (bare !== undefined) took.floor.push(await time(() => bare.search(query)))
    took.ours.push(await time(() => search(query)))
  }
  const show = (who: string, samples: number[]): Row => ({
    what: `${what}, ${who}`,
    'p50 ms': round(percentile(samples, 0.5), 2),
    'p99 ms': round(percentile(samples, 0.99), 2),
  })
  if (bare === undefined) return [show('svc', took.ours)]
  const ratio = round(percentile(took.ours, 0.5) / percentile(took.floor, 0.5), 2)
  return [show('FTS5', took.floor), { ...show('svc', took.ours), 'x floor, p50': ratio }]
}

type Measured = { memories: Memories; bare: Bare | undefined; texts: readonly MadeText[] }

/** Writes the texts from `from` on into both. */
async function compareWrites({ memories, bare, texts }: Measured, from: number): Promise<Row[]> {
  const added = texts.slice(from)
  const rate = (ms: number) => round((added.length / ms) * 1000, 0)
  const floorMs = await time(() => bare?.insert(added))
  const oursMs = await time(() => insertOurs(memories, added, from))
  const size = texts.length
  const floor = { what: `${size}: written, FTS5`, 'per second': rate(floorMs) }
  return [...(bare === undefined ? [] : [floor]), { what: `${size}: written, svc`, 'per second': rate(oursMs) }]
}

async function compareSizes(measured: Measured, random: () => number): Promise<Row[]> {
  const { texts } = measured
  const kinds = [
    ['questions', makeQuestions(texts, questions, random)],
    ['three frequent words', makeFrequentQuestions(questions / 5, random)],
  ] as const
  const rows: Row[] = []
  for (const [what, asked] of kinds) rows.push(...(await compareSearches(`${texts.length}: ${what}`, asked, measured)))
  return rows
}

async function measureSpeed(memories: Memories, folder: string | undefined): Promise<Row[]> {
  const random = makeRandom(11)
  const bare = folder === undefined ? undefined : openBare(folder)
  const rows: Row[] = []
  const texts = makeTexts(Math.max(...sizes), random)
  let stored = 0
  for (const size of sizes) {
    const measured = { memories, bare, texts: texts.slice(0, size) }
    rows.push(...(await compareWrites(measured, stored)), ...(await compareSizes(measured, random)))
    stored = size
  }
  bare?.close()
  return rows
}

/** Collections of one kind, each for a namespace of its own. */
type Set = { name: string; collections: Collection[] }

function readSets(): Set[] {
  const { BENCH_CRANFIELD: folder, BENCH_LOCOMO: file } = process.env
  if (folder === undefined) console.log('Cranfield is skipped: BENCH_CRANFIELD names no folder with it')
  if (file === undefined) console.log('LoCoMo is skipped: BENCH_LOCOMO names no locomo10.json')
  return [
    { name: 'facts of our own', collections: [makeFacts()] },
    ...(folder === undefined ? [] : [{ name: 'Cranfield', collections: [readCranfield(folder)] }]),
    ...(file === undefined
      ? []
      : locomoKinds.map((kind) => ({ name: `LoCoMo, ${kind}`, collections: readLocomo(file, kind) }))),
  ]
}

function fillMiniSearch({ texts }: Collection): Search {
  const index = new MiniSearch({ fields: ['text'] })
  index.addAll(texts)
  return async (question) => index.search(question).map(({ id }) => String(id))
}

/** FTS5 with its own stemming and its own order, words joined by `or`. */
function fillBare({ texts }: Collection): Search {
  const database = new Sqlite(':memory:')
  database.exec(`create virtual table texts using fts5(id unindexed, text, tokenize = 'porter unicode61')`)
  const insert = database.prepare('insert into texts (id, text) values (?, ?)')
  for (const { id, text } of texts) insert.run(id, text)
  const search = database.prepare('select id from texts where texts match ? order by bm25(texts) limit ?')
  return async (question) => {
    const words = [...new Set(question.toLowerCase().match(/[\p{L}\p{N}]+/gu))].map((word) => `"${word}"`)
    return (search.all(words.join(' OR '), limit) as { id: string }[]).map(({ id }) => id)
  }
}

async function measureSets(memories: Memories, sets: readonly Set[]): Promise<Row[]> {
  const rows: Row[] = []
  for (const { name, collections } of sets) {
    const ask = (open: (collection: Collection, at: number) => Search) =>
      collections.flatMap((collection, at) => {
        const search = open(collection, at)
        return collection.judged.map((judged) => ({ search, judged }))
      })
    for (const [at, collection] of collections.entries()) await fill(memories, collection, `${name}-${at}`)
    rows.push(
      await measureQuality(`${name}: minisearch 7.2.0`, ask(fillMiniSearch)),
      await measureQuality(`${name}: FTS5, porter`, ask(fillBare)),
      await measureQuality(
        `${name}: svc`,
        ask((_collection, at) => searchWith(memories, `${name}-${at}`)),
      ),
    )
  }
  return rows
}

/** What tasks are given whose prompts the memories answer, and those that have nothing to do with them; short and long prompts. */
async function measurePrompts(memories: Memories, sets: readonly Set[]): Promise<Row[]> {
  const rows: Row[] = []
  for (const { name, collections } of sets) {
    for (const [at, collection] of collections.entries()) await fill(memories, collection, `${name}-${at}`)
    for (const [length, wrap] of [
      ['short', (prompt: string) => prompt],
      ['long', wrapPrompt],
    ] as const) {
      const measure = async (hasFloor: boolean) => {
        const about = collections.flatMap(({ judged }, at) =>
          judged.slice(0, maxPrompts).map(({ question, gains }) => ({
            search: provideWith(memories, `${name}-${at}`, hasFloor),
            judged: { question: wrap(question), gains },
          })),
        )
        const unrelated = collections.flatMap((_collection, at) =>
          unrelatedPrompts.map((prompt) => ({
            search: provideWith(memories, `${name}-${at}`, hasFloor),
            judged: { question: wrap(prompt), gains: new Map([['none', 1]]) },
          })),
        )
        return { about: await judgeAll(about), unrelated: await judgeAll(unrelated) }
      }
      const [bare, floor] = [await measure(false), await measure(true)]
      rows.push({
        what: `${name}, ${length} prompts`,
        'recall@5 of all': round(bare.about.recall),
        'recall@5 with the floor': round(floor.about.recall),
        'given to them': round(floor.about.count, 2),
        'given to others, of all': round(bare.unrelated.count, 2),
        'given to others, with the floor': round(floor.unrelated.count, 2),
      })
    }
  }
  return rows
}
