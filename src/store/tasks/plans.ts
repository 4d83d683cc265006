// Plans in SQL: one row per task, and one for each plan that it saved.
import { planLimits } from '../../contract/api/tasks/task-records.ts'
import { type Problem, SvcError } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Plans } from '../../ports/tasks/outputs.ts'
import type { Database, Tx } from '../database/database.ts'
import { sql } from '../database/statement.ts'
import { flag, number, Table, text, word } from '../database/table.ts'

const columns = { iteration: number, summary: text, progressPct: number, goalComplete: flag, planDocument: text }
const plans = new Table('plans', {
  taskUid: word,
  namespace: text,
  taskName: text,
  ...columns,
  createdAt: word,
  updatedAt: word,
})
const versions = new Table('plan_versions', { number, ...columns, savedAt: word })

function checkPlan(plan: { progressPct: number; iteration: number }): void {
  const details: Problem[] = []
  if (!Number.isInteger(plan.progressPct) || plan.progressPct < 0 || plan.progressPct > 100) {
    details.push({ path: 'progressPct', message: 'must be a whole number from 0 to 100' })
  }
  if (!Number.isSafeInteger(plan.iteration) || plan.iteration < 0) {
    details.push({ path: 'iteration', message: 'must be a whole number, 0 or more' })
  }
  if (details.length === 0) return
  const sentence = details.map((problem) => `${problem.path} ${problem.message}`).join('; ')
  throw new SvcError('InvalidRequest', `the plan cannot be saved: ${sentence}`, { details })
}

/** Adds the plan as the newest version. */
async function insertVersion(tx: Tx, taskUid: string): Promise<number> {
  const row = await tx.first(sql<{ number: number }>`insert into plan_versions
      (task_uid, number, iteration, summary, progress_pct, goal_complete, plan_document, saved_at)
    select task_uid, (select coalesce(max(number), 0) + 1 from plan_versions where task_uid = ${taskUid}),
      iteration, summary, progress_pct, goal_complete, plan_document, updated_at
    from plans where task_uid = ${taskUid} returning number`)
  return row?.number ?? 0
}

/** Drops the versions that the task may not keep, except the newest. */
async function dropOldest(tx: Tx, taskUid: string, newest: number): Promise<void> {
  await tx.run(sql`delete from plan_versions where task_uid = ${taskUid} and number < ${newest} and (
    number <= ${newest - planLimits.versions} or number <= coalesce((select max(number) from (
      select number, sum(octet_length(plan_document) + octet_length(summary)) over (order by number desc) as total
      from plan_versions where task_uid = ${taskUid}
    ) as sizes where total > ${planLimits.bytes}), 0))`)
}

export function createPlans(deps: { database: Database; clock: Clock }): Plans {
  const { database, clock } = deps
  return {
    async save(plan) {
      checkPlan(plan)
      const now = clock.now().toISOString()
      return database.write(async (tx) => {
        // Also locks the plan of the task, so that its versions are numbered one after the other.
        const insert = plans.insert({ ...plan, createdAt: now, updatedAt: now })
        const stored = await plans.returning(tx, sql`${insert}${plans.replace(['taskUid'], ['createdAt'])}`)
        if (stored === undefined) throw new SvcError('Internal', 'the plan was not stored')
        await dropOldest(tx, plan.taskUid, await insertVersion(tx, plan.taskUid))
        return stored
      })
    },

    get: (taskUid) => plans.first(database.read, sql`where task_uid = ${taskUid}`),

    history(taskUid, { limit, before }) {
      const older = before === undefined ? sql`` : sql` and number < ${before}`
      return versions.all(database.read, sql`where task_uid = ${taskUid}${older} order by number desc limit ${limit}`)
    },

    async removeTask(taskUid) {
      await database.write(async (tx) => {
        await tx.run(sql`delete from plan_versions where task_uid = ${taskUid}`)
        await tx.run(sql`delete from plans where task_uid = ${taskUid}`)
      })
    },
  }
}
