// The sums of tasks: read from the index when they are first asked for, and kept up to date by what is written since.
import type { TaskTallies } from '../../ports/resources/resources.ts'
import { tallyNames } from '../../rules/resources/fields.ts'
import type { Reader } from '../database/database.ts'
import { listSql, sql } from '../database/statement.ts'
import { decodeText } from '../database/stored-text.ts'
import { listTallies, type StoredObject } from '../watching/stored-object.ts'
import { createTallies } from '../watching/tallies.ts'

/** An object before and after a write; one of them is absent when it was created or removed. */
export type States = { before?: StoredObject; after?: StoredObject }

type Row = { field: string; value: string; namespace: string; count: number }

export function createTaskTallies(reader: Reader): TaskTallies & { apply(states: States): void } {
  const tallies = createTallies()
  let missed: States[] = []
  let state: 'unread' | 'reading' | 'read' = 'unread'
  let reading: Promise<void> | undefined

  function apply({ before, after }: States): void {
    if (before !== undefined) tallies.add(before.metadata.namespace, listTallies(before), -1)
    if (after !== undefined) tallies.add(after.metadata.namespace, listTallies(after), 1)
  }

  /** The statement runs at once, and a write is reported in the step that commits it: what comes later is not in the rows. */
  async function readAll(): Promise<void> {
    state = 'reading'
    try {
      const rows = await reader.all(sql<Row>`select field, value, namespace, count(*) as count from resource_index
        where kind = 'Task' and field in (${listSql(tallyNames)}) group by field, value, namespace`)
      for (const { field, value, namespace, count } of rows) {
        tallies.add(namespace, [{ field, value: decodeText(value) }], Number(count))
      }
      for (const states of missed) apply(states)
      state = 'read'
    } catch (error) {
      state = 'unread'
      reading = undefined
      throw error
    } finally {
      missed = []
    }
  }

  return {
    apply(states) {
      if ((states.after ?? states.before)?.kind !== 'Task') return
      if (state === 'reading') missed.push(states)
      if (state === 'read') apply(states)
    },
    async tallyTasks(name, query) {
      reading ??= readAll()
      await reading
      return tallies.list(name, query)
    },
  }
}
