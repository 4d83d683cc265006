// Plans in SQL: one row per task.
import { type Problem, SvcError } from '../../errors.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Plan, Plans } from '../../ports/plans.ts'
import type { Database } from './database.ts'
import { sql } from './statement.ts'
import { decodeText, encodeText } from './stored-text.ts'

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

export function createPlans(deps: { database: Database; clock: Clock }): Plans {
  const { database, clock } = deps
  return {
    async save(plan) {
      checkPlan(plan)
      const now = clock.now().toISOString()
      const row = await database.write((tx) =>
        tx.first(sql<PlanRow>`insert into plans (task_uid, namespace, task_name, iteration, summary, progress_pct,
            goal_complete, plan_document, created_at, updated_at)
          values (${plan.taskUid}, ${encodeText(plan.namespace)}, ${encodeText(plan.taskName)}, ${plan.iteration},
            ${encodeText(plan.summary)}, ${plan.progressPct}, ${plan.goalComplete ? 1 : 0},
            ${encodeText(plan.planDocument)}, ${now}, ${now})
          on conflict (task_uid) do update set namespace = excluded.namespace, task_name = excluded.task_name,
            iteration = excluded.iteration, summary = excluded.summary, progress_pct = excluded.progress_pct,
            goal_complete = excluded.goal_complete, plan_document = excluded.plan_document,
            updated_at = excluded.updated_at
          returning *`),
      )
      if (row === undefined) throw new SvcError('Internal', 'the plan was not stored')
      return toPlan(row)
    },

    async get(taskUid) {
      const row = await database.read.first(sql<PlanRow>`select * from plans where task_uid = ${taskUid}`)
      return row === undefined ? undefined : toPlan(row)
    },

    async removeTask(taskUid) {
      await database.write((tx) => tx.run(sql`delete from plans where task_uid = ${taskUid}`))
    },
  }
}
