// update_plan: keeps the working plan of the task, which is all that a later iteration is told of this one.
import { z } from 'zod'
import type { AssignedCoordination } from '../../../contract/api/coordination/assigned-coordination.ts'
import type { PlanSave } from '../../../contract/api/tasks/internal.ts'
import { defineTool, type Tool } from '../../registry/tool.ts'

/** Characters that a model reads again in each iteration; a longer plan would fill its context. */
export const planLimits = { summary: 4096, document: 65_536 } as const

const text = (most: number, advice: string) =>
  z.string().min(1, 'must not be empty').max(most, `must be at most ${most} characters; ${advice}`)

const percent = 'must be a whole number from 0 to 100'

/** `save` throws SvcError: NotConfigured where the service keeps no plans. */
export function createUpdatePlan(
  { iteration }: Pick<AssignedCoordination, 'iteration'>,
  save: (plan: PlanSave) => Promise<void>,
): Tool {
  return defineTool({
    name: 'update_plan',
    description:
      'Saves the plan of this task in place of the one before. People follow it; a later iteration starts from it.',
    parameters: z.strictObject({
      summary: text(planLimits.summary, 'say it in a sentence').describe('What is done, in one sentence'),
      plan_document: text(planLimits.document, 'keep only what the work ahead needs').describe(
        'The whole plan in Markdown: what is done, what is left, what was learnt',
      ),
      progress_pct: z.number(percent).int(percent).min(0, percent).max(100, percent).default(0),
      goal_complete: z.boolean().default(false).describe('True once the whole goal is reached'),
    }),
    repeatable: true,
    async run(plan) {
      await save(plan)
      const goal = plan.goal_complete ? 'The goal is noted as complete.' : 'The goal is not complete yet.'
      return { success: true, message: `The plan of iteration ${iteration + 1} is saved. ${goal}` }
    },
  })
}
