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

type VectorRow = { memory: number; change: number; vector: Uint8Array }

/** Signs of the vectors that one model has made in one namespace. */
type NamespaceIndex = {
  model: string
  change: number
  memories: number[]
  positions: Map<number, number>
  words: Uint32Array
  isReading: boolean
}

function grow(array: Uint32Array, length: number): Uint32Array {
  if (length <= array.length) return array
  const larger = new Uint32Array(Math.max(length, array.length * 2))
  larger.set(array)
  return larger
}

function put(index: NamespaceIndex, { memory, vector }: Omit<VectorRow, 'change'>): void {
  const width = countWords(vector.length)
  const at = index.positions.get(memory) ?? index.memories.length
  if (at === index.memories.length) index.memories.push(memory)
  index.positions.set(memory, at)
  index.words = grow(index.words, (at + 1) * width)
  index.words.set(readStoredSigns(vector), at * width)
}

function makeIndex(model: string): NamespaceIndex {
  return { model, change: 0, memories: [], positions: new Map(), words: new Uint32Array(0), isReading: false }
}

export function createAlikeMemories({ read, dialect }: Pick<Database, 'read' | 'dialect'>) {
  const indexes = new BoundedMap<string, NamespaceIndex>({ max: maxNamespaces })

  function openIndex(namespace: string, model: string): NamespaceIndex {
    const found = indexes.get(namespace)
    const index = found?.model === model ? found : makeIndex(model)
    indexes.set(namespace, index)
    return index
  }

  /** Whether there may be more. */
  async function readPiece(namespace: string, index: NamespaceIndex): Promise<boolean> {
    const rows = await read.all(sql<VectorRow>`select memory, change, vector from memory_vectors
      where namespace = ${encodeText(namespace)} and change > ${index.change} and model = ${index.model}
      order by change limit ${readAtOnce}`)
    for (const row of rows) put(index, { memory: Number(row.memory), vector: row.vector })
    index.change = Number(rows.at(-1)?.change ?? index.change)
    return rows.length === readAtOnce
  }

  async function readRest(namespace: string, index: NamespaceIndex): Promise<void> {
    while (await readPiece(namespace, index)) await new Promise((resolve) => void setImmediate(resolve))
  }

  /** Reads what is new; of very many the first part now, and the rest while searches go on. */
  async function refresh(namespace: string, index: NamespaceIndex): Promise<void> {
    if (index.isReading) return
    index.isReading = true
    const done = () => {
      index.isReading = false
    }
    try {
      if (await readPiece(namespace, index)) void readRest(namespace, index).then(done, done)
      else done()
    } catch (error) {
      done()
      throw error
    }
  }

  async function compareRead(
    index: NamespaceIndex,
    near: readonly number[],
    vector: Float32Array,
  ): Promise<ScoredText[]> {
    const numbers = near.map((at) => index.memories[at] ?? 0)
    const rows = await read.all(sql<VectorRow>`select memory, vector from ${dialect.listNumbers(numbers)}
      cross join memory_vectors where memory = wanted and model = ${index.model}`)
    return rows.map((row) => ({ number: Number(row.memory), score: compareStored(vector, row.vector) }))
  }

  /** Those that are like the query, about `max` of them, in no order, with their cosines. */
  return async (namespace: string, { model, vector }: QueryVector, max: number): Promise<ScoredText[]> => {
    const index = openIndex(namespace, model)
    await refresh(namespace, index)
    if (index.memories.length === 0) return []
    const signs = { words: index.words, count: index.memories.length }
    const near = findAlike(signs, readSigns(vector), max)
    const scored = await compareRead(index, near, vector)
    return scored.filter(({ score }) => score > 0)
  }
}
