// Durable memories in SQL. Their rows are in memory-rows.ts, how they are found in memory-search.ts.
import type { Clock } from '../../lib/clock.ts'
import { dropUndefined } from '../../lib/json.ts'
import type { Memories, Memory, MemoryChange } from '../../ports/memory/memories.ts'
import type { Database, Tx } from '../database/database.ts'
import { sql } from '../database/statement.ts'
import { encodeText } from '../database/stored-text.ts'
import { createAlikeMemories } from './alike-memories.ts'
import {
  findMemory,
  insertMemory,
  lockMemory,
  type MemoryRow,
  matchMemory,
  toMemory,
  updateMemoryRow,
} from './memory-rows.ts'
import { searchMemories } from './memory-search.ts'

function applyChange(memory: Memory, change: MemoryChange, updatedAt: string): Memory {
  const changed: Memory = { ...memory, ...dropUndefined(change), updatedAt }
  return changed.deleted ? { ...changed, disabled: true } : changed
}

/** Whether this reader had not recalled it before. */
async function markRecalled(tx: Tx, row: MemoryRow, mark: { reader: string; now: string }): Promise<boolean> {
  const { changes } = await tx.run(sql`insert into memory_recalls (reader, memory)
    values (${encodeText(mark.reader)}, ${row.number}) on conflict (reader, memory) do nothing`)
  if (changes === 0) return false
  await tx.run(sql`update memories set recalled_count = recalled_count + 1, last_recalled_at = ${mark.now}
    where number = ${row.number}`)
  return true
}

/** In order of number, so that two that recall the same memories do not wait for each other. */
async function countRecalls(tx: Tx, rows: readonly MemoryRow[], mark: { reader: string; now: string }) {
  const counted = new Set<number>()
  for (const row of rows.toSorted((one, other) => one.number - other.number)) {
    if (await markRecalled(tx, row, mark)) counted.add(row.number)
  }
  return counted
}

/** So many times as many as are wanted are looked at where not all are accepted. */
const lookedAt = 4

export function createMemories({ database, clock }: { database: Database; clock: Clock }): Memories {
  const { dialect } = database
  const stores = { database, alike: createAlikeMemories(database) }
  const readNow = () => clock.now().toISOString()
  return {
    create: (draft) => database.write((tx) => insertMemory(tx, draft, { dialect, now: readNow() })),

    async get(key) {
      const row = await findMemory(database.read, key)
      return row === undefined ? undefined : toMemory(row)
    },

    change: (key, change) =>
      database.write(async (tx) => {
        const row = await lockMemory(tx, key)
        if (row === undefined) return undefined
        const memory = applyChange(toMemory(row), change, readNow())
        await updateMemoryRow(tx, memory, { row, dialect })
        return memory
      }),

    async setDisabled(key, disabled) {
      const { changes } = await database.write((tx) =>
        tx.run(sql`update memories set disabled = ${disabled ? 1 : 0}, updated_at = ${readNow()}
          where ${matchMemory(key)} and deleted = 0`),
      )
      return changes === 1
    },

    async list(query) {
      return (await searchMemories(stores, query)).map(toMemory)
    },

    async recall({ reader, accept, ...query }) {
      const now = readNow()
      const limit = accept === undefined ? query.limit : query.limit * lookedAt
      const found = await searchMemories(stores, { ...query, limit })
      const rows = found.filter((row) => accept?.(toMemory(row)) ?? true).slice(0, query.limit)
      if (rows.length === 0) return []
      const counted = await database.write((tx) => countRecalls(tx, rows, { reader, now }))
      return rows.map((row) => {
        const memory = toMemory(row)
        if (!counted.has(row.number)) return memory
        return { ...memory, recalledCount: memory.recalledCount + 1, lastRecalledAt: now }
      })
    },

    async weigh(namespace, terms) {
      if (terms.length === 0) return new Map()
      return dialect.terms.weigh(database.read, { namespace: encodeText(namespace), terms: [...new Set(terms)] })
    },

    async removeTask(taskUid) {
      await database.write((tx) => tx.run(sql`delete from memory_recalls where reader = ${encodeText(taskUid)}`))
    },
  }
}
