// Finds the tasks that have records or logs, so that those of deleted tasks can be removed (TASK-063).
import type { Records } from '../../ports/index.ts'
import type { RecordOwners, TaskNoun } from '../../ports/resources/retention.ts'
import { sessionStepsPrefix } from '../../rules/chat/session-steps.ts'
import type { Database } from '../database/database.ts'
import { joinSql, sql } from '../database/statement.ts'
import type { LogStore } from './logs.ts'

/** The tables and columns with uids of tasks, for all records that are removed with their task; logs list their own. */
const columns: Record<Exclude<TaskNoun, 'logs'>, [table: string, ...columns: string[]]> = {
  results: ['results', 'task_uid'],
  artifacts: ['artifacts', 'task_uid'],
  inputs: ['inputs', 'task_uid'],
  checkpoints: ['checkpoints', 'task_uid'],
  parkings: ['parkings', 'task_uid'],
  approvals: ['approvals', 'task_uid'],
  plans: ['plans', 'task_uid'],
  messages: ['messages', 'parent_uid', 'from_uid', 'to_uid'],
  events: ['event_counters', 'task_uid'],
  steps: ['step_counters', 'task_uid'],
  network: ['network_hosts', 'task_uid'],
  memories: ['memory_recalls', 'reader'],
}

/** Steps of sessions go with their session. */
const isOfTask = (column: string) => `${column} not like '${sessionStepsPrefix}%'`

const columnRefs = Object.values(columns).flatMap(([table, ...names]) => names.map((column) => ({ table, column })))
const nouns: TaskNoun[] = ['logs', ...(Object.keys(columns) as Exclude<TaskNoun, 'logs'>[])]

type TaskRecords = Pick<Required<Records>, TaskNoun> & { logs: LogStore }

function selectUids(after: string, limit: number) {
  const parts = columnRefs.map(
    ({ table, column }) =>
      sql`select task_uid from (${{
        text: `select distinct ${column} as task_uid from ${table} where ${column} > ? and ${isOfTask(column)} order by ${column} limit ?`,
        parameters: [after, limit],
      }}) as ${{ text: `${table}_${column}s`, parameters: [] }}`,
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
      for (const noun of nouns) await records[noun].removeTask(uid)
    },
  }
}
