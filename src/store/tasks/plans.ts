// Plans in SQL: one row per task, and one for each plan that it saved.
import { planLimits } from '../../contract/api/tasks/task-records.ts'
import { type Problem, SvcError } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Plan, Plans, PlanVersion } from '../../ports/tasks/plans.ts'
import type { Database, Tx } from '../database/database.ts'
import { sql } from '../database/statement.ts'
import { decodeText, encodeText } from '../database/stored-text.ts'

type PlanRow = {
  task_uid: string
  namespace: string
  task_name: string
  iteration: number
  summary: string
  progress_pct: number
  goal_complete: number
  plan_document: string
  created_at: string
  updated_at: string
}

function toPlan(row: PlanRow): Plan {
  return {
    taskUid: row.task_uid,
    namespace: decodeText(row.namespace),
    taskName: decodeText(row.task_name),
    iteration: row.iteration,
    summary: decodeText(row.summary),
    progressPct: row.progress_pct,
    goalComplete: row.goal_complete === 1,
    planDocument: decodeText(row.plan_document),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

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

type VersionRow = Omit<PlanRow, 'task_uid' | 'namespace' | 'task_name' | 'created_at' | 'updated_at'> & {
  number: number
  saved_at: string
}

function toVersion(row: VersionRow): PlanVersion {
  return {
    number: row.number,
    iteration: row.iteration,
    summary: decodeText(row.summary),
    progressPct: row.progress_pct,
    goalComplete: row.goal_complete === 1,
    planDocument: decodeText(row.plan_document),
    savedAt: row.saved_at,
  }
}

type Draft = Parameters<Plans['save']>[0]

/** Also locks the plan of the task, so that its versions are numbered one after the other. */
async function replacePlan(tx: Tx, plan: Draft, now: string): Promise<PlanRow | undefined> {
  return tx.first(sql<PlanRow>`insert into plans (task_uid, namespace, task_name, iteration, summary, progress_pct,
      goal_complete, plan_document, created_at, updated_at)
    values (${plan.taskUid}, ${encodeText(plan.namespace)}, ${encodeText(plan.taskName)}, ${plan.iteration},
      ${encodeText(plan.summary)}, ${plan.progressPct}, ${plan.goalComplete ? 1 : 0},
      ${encodeText(plan.planDocument)}, ${now}, ${now})
    on conflict (task_uid) do update set namespace = excluded.namespace, task_name = excluded.task_name,
      iteration = excluded.iteration, summary = excluded.summary, progress_pct = excluded.progress_pct,
      goal_complete = excluded.goal_complete, plan_document = excluded.plan_document,
      updated_at = excluded.updated_at
    returning *`)
}

/** Adds the plan as the newest version. */
async function insertVersion(tx: Tx, { task_uid }: PlanRow): Promise<number> {
  const row = await tx.first(sql<{ number: number }>`insert into plan_versions
      (task_uid, number, iteration, summary, progress_pct, goal_complete, plan_document, saved_at)
    select task_uid, (select coalesce(max(number), 0) + 1 from plan_versions where task_uid = ${task_uid}),
      iteration, summary, progress_pct, goal_complete, plan_document, updated_at
    from plans where task_uid = ${task_uid} returning number`)
  return row?.number ?? 0
}

/** Drops the versions that the task may not keep, except the newest. */
async function dropOldest(tx: Tx, { task_uid }: PlanRow, newest: number): Promise<void> {
  await tx.run(sql`delete from plan_versions where task_uid = ${task_uid} and number < ${newest} and (
    number <= ${newest - planLimits.versions} or number <= coalesce((select max(number) from (
      select number, sum(octet_length(plan_document) + octet_length(summary)) over (order by number desc) as total
      from plan_versions where task_uid = ${task_uid}
    ) as sizes where total > ${planLimits.bytes}), 0))`)
}

export function createPlans(deps: { database: Database; clock: Clock }): Plans {
  const { database, clock } = deps
  return {
    async save(plan) {
      checkPlan(plan)
      const now = clock.now().toISOString()
      return database.write(async (tx) => {
        const row = await replacePlan(tx, plan, now)
        if (row === undefined) throw new SvcError('Internal', 'the plan was not stored')
        await dropOldest(tx, row, await insertVersion(tx, row))
        return toPlan(row)
      })
    },

    async get(taskUid) {
      const row = await database.read.first(sql<PlanRow>`select * from plans where task_uid = ${taskUid}`)
      return row === undefined ? undefined : toPlan(row)
    },

    async history(taskUid, { limit, before }) {
      const older = before === undefined ? sql`` : sql` and number < ${before}`
      const rows = await database.read.all(sql<VersionRow>`select * from plan_versions
        where task_uid = ${taskUid}${older} order by number desc limit ${limit}`)
      return rows.map(toVersion)
    },

    async removeTask(taskUid) {
      await database.write(async (tx) => {
        await tx.run(sql`delete from plan_versions where task_uid = ${taskUid}`)
        await tx.run(sql`delete from plans where task_uid = ${taskUid}`)
      })
    },
  }
}
