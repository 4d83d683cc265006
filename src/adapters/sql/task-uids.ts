// Whose records there are, over all record tables and logs, so that what has no task any more can be removed (TASK-063).
import type { Records } from '../../ports/index.ts'
import type { RecordOwners } from '../../ports/retention.ts'
import type { Database } from './database.ts'
import type { LogStore } from './logs.ts'
import { joinSql, sql } from './statement.ts'

// Usage is not among them: what a task cost is kept after it, until its own retention ends.
const TABLES = ['results', 'artifacts', 'checkpoints', 'plans', 'event_counters']

type TaskRecords = Pick<Records, 'results' | 'artifacts' | 'checkpoints' | 'events'> & {
  plans: NonNullable<Records['plans']>
  logs: LogStore
}

function selectUids(after: string, limit: number) {
  const parts = TABLES.map(
    (table) =>
      sql`select task_uid from (${{
        text: `select distinct task_uid from ${table} where task_uid > ? order by task_uid limit ?`,
        parameters: [after, limit],
      }}) as ${{ text: table, parameters: [] }}_uids`,
  )
  return sql<{ task_uid: string }>`${joinSql(parts, ' union ')} order by task_uid limit ${limit}`
}

export function createRecordOwners(deps: { database: Database; records: TaskRecords }): RecordOwners {
  const { database, records } = deps
  return {
    async taskUids(after, limit) {
      const rows = await database.read.all(selectUids(after ?? '', limit))
      const logged = await records.logs.taskUids(after, limit)
      // Uids are ASCII, where the order of JavaScript's strings is bytewise.
      return [...new Set([...rows.map((row) => row.task_uid), ...logged])].sort().slice(0, limit)
    },

    async removeTask(uid) {
      await records.logs.removeTask(uid)
      await records.results.removeTask(uid)
      await records.artifacts.removeTask(uid)
      await records.checkpoints.removeTask(uid)
      await records.plans.removeTask(uid)
      await records.events.removeTask(uid)
    },
  }
}
