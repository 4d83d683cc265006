// Approvals in SQL. That one has expired is read from its time: nothing has to be written for it.
import { randomUUID } from 'node:crypto'
import type { CallerIdentity } from '../../contract/api/identity/caller.ts'
import type { ApprovalScope, ApprovalState } from '../../contract/api/tasks/approvals.ts'
import { SvcError } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Approval, ApprovalQuery, Approvals } from '../../ports/tasks/parking.ts'
import type { Database } from '../database/database.ts'
import { type Fragment, joinSql, sql } from '../database/statement.ts'
import { decodeText } from '../database/stored-text.ts'
import { escapedJson, optional, type RecordOf, Table, text, word, wordOf } from '../database/table.ts'

const approvals = new Table('approvals', {
  id: word,
  namespace: text,
  taskUid: word,
  taskName: text,
  agentName: optional(text),
  call: text,
  tool: text,
  arguments: escapedJson<Record<string, unknown>>(),
  message: text,
  status: wordOf<ApprovalState>(),
  createdAt: word,
  expiresAt: word,
  answeredAt: optional(word),
  answeredBy: optional(escapedJson<CallerIdentity>()),
  reason: optional(text),
  scope: optional(wordOf<ApprovalScope>()),
})

function toApproval({ call: _, ...stored }: RecordOf<typeof approvals>, now: string): Approval {
  const hasExpired = stored.status === 'pending' && stored.expiresAt <= now
  return hasExpired ? { ...stored, status: 'expired' } : stored
}

function whereStatus(status: ApprovalState, now: string): Fragment {
  if (status === 'pending') return sql`status = 'pending' and expires_at > ${now}`
  if (status === 'expired') return sql`status = 'pending' and expires_at <= ${now}`
  return sql`status = ${status}`
}

function whereQuery({ namespaces, taskName, status }: ApprovalQuery, now: string): Fragment {
  const parts = [
    approvals.match({ taskName }),
    ...(namespaces === undefined ? [] : [approvals.oneOf('namespace', namespaces)]),
    ...(status === undefined ? [] : [whereStatus(status, now)]),
  ]
  return joinSql(parts, ' and ')
}

export function createApprovals({ database, clock }: { database: Database; clock: Clock }): Approvals {
  const nowText = () => clock.now().toISOString()

  async function find(id: string): Promise<Approval | undefined> {
    const stored = await approvals.first(database.read, sql`where id = ${id}`)
    return stored && toApproval(stored, nowText())
  }

  return {
    async ask({ task, expiresAt, ...draft }) {
      const now = nowText()
      const times = { createdAt: now, expiresAt: expiresAt.toISOString() }
      const whose = { id: `appr-${randomUUID()}`, taskUid: task.uid, taskName: task.name }
      const insert = approvals.insert({ ...draft, ...whose, ...times, status: 'pending' })
      const stored = await database.write((tx) =>
        approvals.returning(tx, sql`${insert} on conflict (task_uid, call) do update set call = excluded.call`),
      )
      if (stored === undefined) throw new SvcError('Internal', 'the approval was not stored')
      return toApproval(stored, now)
    },

    get: find,

    async list(query) {
      const now = nowText()
      const found = await approvals.all(
        database.read,
        sql`where ${whereQuery(query, now)} order by created_at desc, id desc limit ${query.limit}`,
      )
      return found.map((stored) => toApproval(stored, now))
    },

    async countPending() {
      const rows = await database.read.all(sql<{ namespace: string; count: number }>`select namespace, count(*) as count
        from approvals where ${whereStatus('pending', nowText())} group by namespace`)
      return Object.fromEntries(rows.map(({ namespace, count }) => [decodeText(namespace), Number(count)]))
    },

    async answer(id, { status, by, reason, scope }) {
      const now = nowText()
      const change = approvals.set({ status, answeredAt: now, answeredBy: by, reason, scope })
      const row = await database.write((tx) =>
        approvals.returning(
          tx,
          sql`update approvals set ${change} where id = ${id} and status = 'pending' and expires_at > ${now}`,
        ),
      )
      if (row !== undefined) return toApproval(row, now)
      const found = await find(id)
      if (found === undefined) throw new SvcError('NotFound', `there is no approval "${id}"`)
      throw new SvcError('Conflict', `approval "${id}" cannot be answered: it is ${found.status}`)
    },

    async use(id) {
      // A call with a name of its own is one that was used.
      const { changes } = await database.write((tx) =>
        tx.run(sql`update approvals set call = id
          where id = ${id} and status = 'approved' and scope = 'once' and call <> id`),
      )
      return changes > 0
    },

    async removeTask(taskUid) {
      await database.write((tx) => tx.run(sql`delete from approvals where task_uid = ${taskUid}`))
    },
  }
}
