// The tools of a run whose agent coordinates, over the worker API.
import type { WorkAssignment } from '../contract/api/assignment.ts'
import type { Redactor } from '../observability/redaction.ts'
import type { Tool } from '../tools/tool.ts'
import { createUpdatePlan } from '../tools/worker-coordination/update-plan.ts'
import type { WorkerApi } from './api.ts'

export function openCoordination(
  { coordination }: WorkAssignment,
  { api, redact }: { api: Pick<WorkerApi, 'savePlan'>; redact: Redactor },
): Tool[] {
  if (coordination === undefined) return []
  const updatePlan = createUpdatePlan(coordination, (plan) =>
    api.savePlan({ ...plan, summary: redact(plan.summary), plan_document: redact(plan.plan_document) }),
  )
  return [updatePlan]
}
