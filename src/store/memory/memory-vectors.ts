// Vectors of memories in SQL: each has the number of a change, so that whoever keeps them in memory reads only what is new.
import { BoundedMap } from '../../lib/bounded-map.ts'
import type { EmbeddedMemory, MemoryToEmbed, MemoryVectors } from '../../ports/memory/vectors.ts'
import { decodeSpace, encodeSpace, type TextSpace } from '../../rules/memory/text-space.ts'
import { encodeVector } from '../../rules/memory/vectors.ts'
import type { Database, Tx } from '../database/database.ts'
import { type Fragment, sql } from '../database/statement.ts'
import { decodeText, encodeText } from '../database/stored-text.ts'
import { textOfMemory } from './memory-rows.ts'

/** Memories that are put on the list in one write. */
const listedAtOnce = 2000
/** Spaces that stay in memory; the one that was asked for least recently goes first. */
const maxSpaces = 8

type ModelRow = { model: string; memories: number }
type TextRow = { namespace: string; body: string }

/** For pages by number: an index of namespaces would be read and sorted as a whole for each. */
function ofNamespace(namespace: string): Fragment {
  return sql`namespace || '' = ${encodeText(namespace)}`
}

/** The first of `count` numbers of changes; locks the namespace's model, so that changes become visible in their order. */
async function takeChanges(tx: Tx, namespace: string, count: number): Promise<number> {
  const row = await tx.first(sql<{ change: number }>`update memory_models set change = change + ${count}
    where namespace = ${encodeText(namespace)} returning change`)
  return row === undefined ? 0 : Number(row.change) - count + 1
}

async function keepVectors(tx: Tx, namespace: string, embedded: readonly EmbeddedMemory[]): Promise<void> {
  let change = await takeChanges(tx, namespace, embedded.length)
  for (const { memory, model, vector } of embedded) {
    if (vector === undefined) continue
    await tx.run(sql`insert into memory_vectors (memory, namespace, model, change, vector)
      values (${memory}, ${encodeText(namespace)}, ${model}, ${change}, ${encodeVector(vector)})
      on conflict (memory) do update set model = excluded.model, change = excluded.change, vector = excluded.vector`)
    change += 1
  }
}

export function createMemoryVectors({ database }: { database: Database }): MemoryVectors {
  const { read, write, dialect } = database
  /** The spaces that were read; each counts as long as its model is that of the namespace. */
  const spaces = new BoundedMap<string, { model: string; space: TextSpace }>({ max: maxSpaces })

  async function listAfter(tx: Tx, namespace: string, after: number): Promise<number | undefined> {
    const rows = await tx.all(sql<{ number: number }>`select number from memories
      where ${ofNamespace(namespace)} and number > ${after} order by number limit ${listedAtOnce}`)
    const numbers = rows.map(({ number }) => Number(number))
    await tx.run(sql`insert into memory_unplaced (memory) select number from memories
      where number in (select wanted from ${dialect.listNumbers(numbers)})`)
    return numbers.length < listedAtOnce ? undefined : numbers.at(-1)
  }

  async function modelOf(namespace: string) {
    const row = await read.first(sql<ModelRow>`select model, memories from memory_models
      where namespace = ${encodeText(namespace)}`)
    return row === undefined ? undefined : { model: row.model, memories: Number(row.memories) }
  }

  return {
    async listPending(limit) {
      const rows = await read.all(sql<TextRow & { ticket: number; memory: number }>`
        select memory_unplaced.number as ticket, memory, namespace, body from memory_unplaced
        join memories on memories.number = memory order by memory_unplaced.number limit ${limit}`)
      return rows.map(
        (row): MemoryToEmbed => ({
          ticket: Number(row.ticket),
          memory: Number(row.memory),
          namespace: decodeText(row.namespace),
          text: textOfMemory(JSON.parse(row.body)),
        }),
      )
    },

    async save(embedded) {
      await write(async (tx) => {
        for (const namespace of new Set(embedded.map((one) => one.namespace))) {
          const those = embedded.filter((one) => one.namespace === namespace)
          await keepVectors(tx, namespace, those)
        }
        const tickets = dialect.listNumbers(embedded.map(({ ticket }) => ticket))
        await tx.run(sql`delete from memory_unplaced where number in (select wanted from ${tickets})`)
      })
    },

    async requeueAll(namespace) {
      let after: number | undefined = 0
      while (after !== undefined) {
        const from: number = after
        after = await write((tx) => listAfter(tx, namespace, from))
      }
    },

    modelOf,

    setModel: (namespace, { model, memories, space }) =>
      write(async (tx) => {
        await tx.run(sql`insert into memory_models (namespace, model, memories, change)
          values (${encodeText(namespace)}, ${model}, ${memories}, 0)
          on conflict (namespace) do update set model = excluded.model, memories = excluded.memories`)
        await tx.run(sql`delete from memory_spaces where namespace = ${encodeText(namespace)}`)
        if (space === undefined) return
        await tx.run(sql`insert into memory_spaces (namespace, model, space)
          values (${encodeText(namespace)}, ${model}, ${encodeSpace(space)})`)
      }),

    async spaceOf(namespace) {
      const model = (await modelOf(namespace))?.model
      if (model === undefined) return undefined
      const known = spaces.touch(namespace)
      if (known?.model === model) return known
      const row = await read.first(sql<{ space: Uint8Array }>`select space from memory_spaces
        where namespace = ${encodeText(namespace)} and model = ${model}`)
      if (row === undefined) return undefined
      const found = { model, space: decodeSpace(row.space) }
      spaces.set(namespace, found)
      return found
    },

    async countMemories() {
      const rows = await read.all(sql<{ namespace: string; memories: number }>`
        select namespace, count(*) as memories from memories group by namespace`)
      return rows.map(({ namespace, memories }) => ({ namespace: decodeText(namespace), memories: Number(memories) }))
    },

    async listTexts(namespace, { before = Number.MAX_SAFE_INTEGER, limit }) {
      const rows = await read.all(sql<{ number: number; body: string }>`select number, body from memories
        where ${ofNamespace(namespace)} and number < ${before} order by number desc limit ${limit}`)
      return rows.map((row) => ({ memory: Number(row.number), text: textOfMemory(JSON.parse(row.body)) }))
    },
  }
}
