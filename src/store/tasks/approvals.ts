// Approvals in SQL. That one has expired is read from its time: nothing has to be written for it.
import { randomUUID } from 'node:crypto'
import type { CallerIdentity } from '../../contract/api/identity/caller.ts'
import type { ApprovalState } from '../../contract/api/tasks/approvals.ts'
import { SvcError } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Approval, ApprovalQuery, Approvals } from '../../ports/tasks/approvals.ts'
import type { Database } from '../database/database.ts'
import { type Fragment, joinSql, listSql, sql } from '../database/statement.ts'
import { decodeText, encodeText } from '../database/stored-text.ts'

type ApprovalRow = {
  id: string
  namespace: string
  task_uid: string
  task_name: string
  agent_name: string | null
  tool: string
  arguments: string
  message: string
  status: ApprovalState
  created_at: string
  expires_at: string
  answered_at: string | null
  answered_by: string | null
  reason: string | null
}

const columns = sql`id, namespace, task_uid, task_name, agent_name, tool, arguments, message, status, created_at,
  expires_at, answered_at, answered_by, reason`

function toApproval(row: ApprovalRow, now: string): Approval {
  const hasExpired = row.status === 'pending' && row.expires_at <= now
  return {
    id: row.id,
    namespace: decodeText(row.namespace),
    taskUid: row.task_uid,
    taskName: decodeText(row.task_name),
    ...(row.agent_name !== null && { agentName: decodeText(row.agent_name) }),
    tool: decodeText(row.tool),
    arguments: JSON.parse(decodeText(row.arguments)) as Record<string, unknown>,
    message: decodeText(row.message),
    status: hasExpired ? 'expired' : row.status,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    ...(row.answered_at !== null && { answeredAt: row.answered_at }),
    ...(row.answered_by !== null && { answeredBy: JSON.parse(decodeText(row.answered_by)) as CallerIdentity }),
    ...(row.reason !== null && { reason: decodeText(row.reason) }),
  }
}

function whereStatus(status: ApprovalState, now: string): Fragment {
  if (status === 'pending') return sql`status = 'pending' and expires_at > ${now}`
  if (status === 'expired') return sql`status = 'pending' and expires_at <= ${now}`
  return sql`status = ${status}`
}

function whereQuery({ namespaces, taskName, status }: ApprovalQuery, now: string): Fragment {
  const parts = [
    sql`1 = 1`,
    ...(namespaces === undefined ? [] : [sql`namespace in (${listSql(namespaces.map(encodeText))})`]),
    ...(taskName === undefined ? [] : [sql`task_name = ${encodeText(taskName)}`]),
    ...(status === undefined ? [] : [whereStatus(status, now)]),
  ]
  return joinSql(parts, ' and ')
}

export function createApprovals({ database, clock }: { database: Database; clock: Clock }): Approvals {
  const nowText = () => clock.now().toISOString()

  async function find(id: string): Promise<Approval | undefined> {
    const row = await database.read.first(sql<ApprovalRow>`select ${columns} from approvals where id = ${id}`)
    return row && toApproval(row, nowText())
  }

  return {
    async ask({ namespace, task, agentName, call, tool, message, expiresAt, ...draft }) {
      const now = nowText()
      const agent = agentName === undefined ? null : encodeText(agentName)
      const row = await database.write((tx) =>
        tx.first(sql<ApprovalRow>`insert into approvals (id, namespace, task_uid, task_name, agent_name, call, tool,
            arguments, message, status, created_at, expires_at)
          values (${`appr-${randomUUID()}`}, ${encodeText(namespace)}, ${task.uid}, ${encodeText(task.name)}, ${agent},
            ${encodeText(call)}, ${encodeText(tool)}, ${encodeText(JSON.stringify(draft.arguments))},
            ${encodeText(message)}, 'pending', ${now}, ${expiresAt.toISOString()})
          on conflict (task_uid, call) do update set call = excluded.call
          returning ${columns}`),
      )
      if (row === undefined) throw new SvcError('Internal', 'the approval was not stored')
      return toApproval(row, now)
    },

    get: find,

    async list(query) {
      const now = nowText()
      if (query.namespaces?.length === 0) return []
      const rows = await database.read.all(sql<ApprovalRow>`select ${columns} from approvals
        where ${whereQuery(query, now)} order by created_at desc, id desc limit ${query.limit}`)
      return rows.map((row) => toApproval(row, now))
    },

    async countPending() {
      const rows = await database.read.all(sql<{ namespace: string; count: number }>`select namespace, count(*) as count
        from approvals where ${whereStatus('pending', nowText())} group by namespace`)
      return Object.fromEntries(rows.map(({ namespace, count }) => [decodeText(namespace), Number(count)]))
    },

    async answer(id, { status, by, reason }) {
      const now = nowText()
      const row = await database.write((tx) =>
        tx.first(sql<ApprovalRow>`update approvals set status = ${status}, answered_at = ${now},
            answered_by = ${encodeText(JSON.stringify(by))}, reason = ${reason === undefined ? null : encodeText(reason)}
          where id = ${id} and status = 'pending' and expires_at > ${now} returning ${columns}`),
      )
      if (row !== undefined) return toApproval(row, now)
      const found = await find(id)
      if (found === undefined) throw new SvcError('NotFound', `there is no approval "${id}"`)
      throw new SvcError('Conflict', `approval "${id}" cannot be answered: it is ${found.status}`)
    },

    async removeTask(taskUid) {
      await database.write((tx) => tx.run(sql`delete from approvals where task_uid = ${taskUid}`))
    },
  }
}
