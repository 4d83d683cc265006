// Finds the memories whose vectors are like that of a query. The signs of all vectors are in memory, a bit for each number; those
// that agree in the most signs are compared exactly.
import { BoundedMap } from '../../lib/bounded-map.ts'
import type { QueryVector } from '../../ports/memory/vectors.ts'
import type { ScoredText } from '../../rules/memory/bm25.ts'
import { compareStored, countWords, findAlike, readSigns, readStoredSigns } from '../../rules/memory/vectors.ts'
import type { Database } from '../database/database.ts'
import { sql } from '../database/statement.ts'
import { encodeText } from '../database/stored-text.ts'

/** Vectors that are read at once. */
const readAtOnce = 2000
/** Namespaces whose signs stay in memory; the one that was asked for least recently goes first. */
const maxNamespaces = 64
/** Vectors of as many numbers, such as those of learnt spaces, stay in memory as a whole: reading them would take longest. */
const maxKeptNumbers = 128

type VectorRow = { memory: number; change: number; vector: Uint8Array }

/** Signs of the vectors that one model has made in one namespace. */
type Shelf = {
  model: string
  change: number
  memories: number[]
  places: Map<number, number>
  words: Uint32Array
  /** Whole vectors, one after the other; empty where they are too long. */
  bytes: Uint8Array
  isReading: boolean
}

function grow<T extends Uint32Array | Uint8Array>(array: T, length: number): T {
  if (length <= array.length) return array
  const larger = new (array.constructor as new (length: number) => T)(Math.max(length, array.length * 2))
  larger.set(array)
  return larger
}

function put(shelf: Shelf, { memory, vector }: Omit<VectorRow, 'change'>): void {
  const width = countWords(vector.length)
  const at = shelf.places.get(memory) ?? shelf.memories.length
  if (at === shelf.memories.length) shelf.memories.push(memory)
  shelf.places.set(memory, at)
  shelf.words = grow(shelf.words, (at + 1) * width)
  shelf.words.set(readStoredSigns(vector), at * width)
  if (vector.length > maxKeptNumbers) return
  shelf.bytes = grow(shelf.bytes, (at + 1) * vector.length)
  shelf.bytes.set(vector, at * vector.length)
}

function makeShelf(model: string): Shelf {
  const empty = { words: new Uint32Array(0), bytes: new Uint8Array(0) }
  return { model, change: 0, memories: [], places: new Map(), ...empty, isReading: false }
}

function compareKept({ bytes, memories }: Shelf, near: readonly number[], vector: Float32Array): ScoredText[] {
  const { length } = vector
  return near.map((at) => ({
    number: memories[at] ?? 0,
    score: compareStored(vector, bytes.subarray(at * length, (at + 1) * length)),
  }))
}

export function createAlikeMemories({ read, dialect }: Pick<Database, 'read' | 'dialect'>) {
  const shelves = new BoundedMap<string, Shelf>({ max: maxNamespaces })

  function shelfOf(namespace: string, model: string): Shelf {
    const found = shelves.get(namespace)
    const shelf = found?.model === model ? found : makeShelf(model)
    shelves.set(namespace, shelf)
    return shelf
  }

  /** Whether there may be more. */
  async function readPiece(namespace: string, shelf: Shelf): Promise<boolean> {
    const rows = await read.all(sql<VectorRow>`select memory, change, vector from memory_vectors
      where namespace = ${encodeText(namespace)} and change > ${shelf.change} and model = ${shelf.model}
      order by change limit ${readAtOnce}`)
    for (const row of rows) put(shelf, { memory: Number(row.memory), vector: row.vector })
    shelf.change = Number(rows.at(-1)?.change ?? shelf.change)
    return rows.length === readAtOnce
  }

  async function readRest(namespace: string, shelf: Shelf): Promise<void> {
    while (await readPiece(namespace, shelf)) await new Promise((resolve) => void setImmediate(resolve))
  }

  /** Reads what is new; of very many the first part now, and the rest while searches go on. */
  async function refresh(namespace: string, shelf: Shelf): Promise<void> {
    if (shelf.isReading) return
    shelf.isReading = true
    const done = () => {
      shelf.isReading = false
    }
    try {
      if (await readPiece(namespace, shelf)) void readRest(namespace, shelf).then(done, done)
      else done()
    } catch (error) {
      done()
      throw error
    }
  }

  async function compareRead(shelf: Shelf, near: readonly number[], vector: Float32Array): Promise<ScoredText[]> {
    const numbers = near.map((at) => shelf.memories[at] ?? 0)
    const rows = await read.all(sql<VectorRow>`select memory, vector from ${dialect.listNumbers(numbers)}
      cross join memory_vectors where memory = wanted and model = ${shelf.model}`)
    return rows.map((row) => ({ number: Number(row.memory), score: compareStored(vector, row.vector) }))
  }

  /** Those that are like the query, about `most` of them, in no order, with their cosines. */
  return async (
    namespace: string,
    { model, vector, minSimilarity }: QueryVector,
    most: number,
  ): Promise<ScoredText[]> => {
    const shelf = shelfOf(namespace, model)
    await refresh(namespace, shelf)
    if (shelf.memories.length === 0) return []
    const signs = { words: shelf.words, count: shelf.memories.length }
    const near = findAlike(signs, readSigns(vector), most)
    const scored = shelf.bytes.length > 0 ? compareKept(shelf, near, vector) : await compareRead(shelf, near, vector)
    return scored.filter(({ score }) => score >= minSimilarity)
  }
}
