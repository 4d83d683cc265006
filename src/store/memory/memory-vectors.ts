// Vectors of memories in SQL: each has the number of a change, so that whoever keeps them in memory reads only what is new.
import type { EmbeddedMemory, MemoryToEmbed, MemoryVectors } from '../../ports/memory/vectors.ts'
import { encodeVector } from '../../rules/memory/vectors.ts'
import type { Database, Tx } from '../database/database.ts'
import { type Fragment, sql } from '../database/statement.ts'
import { decodeText, encodeText } from '../database/stored-text.ts'
import { textOfMemory } from './memory-rows.ts'

/** Memories that are put on the list in one write. */
const listedAtOnce = 2000

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
  async function listAfter(tx: Tx, namespace: string, after: number): Promise<number | undefined> {
    const rows = await tx.all(sql<{ number: number }>`select number from memories
      where ${ofNamespace(namespace)} and number > ${after} order by number limit ${listedAtOnce}`)
    const numbers = rows.map(({ number }) => Number(number))
    await tx.run(sql`insert into memory_unplaced (memory) select number from memories
      where number in (select wanted from ${dialect.listNumbers(numbers)})`)
    return numbers.length < listedAtOnce ? undefined : numbers.at(-1)
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

    async modelOf(namespace) {
      const row = await read.first(sql<{ model: string }>`select model from memory_models
        where namespace = ${encodeText(namespace)}`)
      return row?.model
    },

    setModel: (namespace, model) =>
      write(async (tx) => {
        await tx.run(sql`insert into memory_models (namespace, model, change) values (${encodeText(namespace)}, ${model}, 0)
          on conflict (namespace) do update set model = excluded.model`)
      }),

    async listNamespaces() {
      const rows = await read.all(sql<{ namespace: string }>`select distinct namespace from memories`)
      return rows.map(({ namespace }) => decodeText(namespace))
    },
  }
}
