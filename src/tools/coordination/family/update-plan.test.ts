import { describe, expect, it } from 'vitest'
import type { PlanSave } from '../../../contract/api/tasks/internal.ts'
import { SvcError } from '../../../errors.ts'
import { showTool } from '../../registry/tool.ts'
import { createUpdatePlan, planToolLimits } from './family-tools.ts'

const saved: PlanSave[] = []
const tool = createUpdatePlan({ iteration: 2 }, async (plan) => void saved.push(plan))
const { signal } = new AbortController()
const call = (args: object, called = tool) => called.invoke(args as never, undefined as never, signal)
const plan = { summary: 'two of three read', plan_document: '- [x] one' }

describe('update_plan', () => {
  it('needs summary and plan_document, and takes progress_pct and goal_complete [COORD-018]', async () => {
    expect(showTool(tool).parameters).toMatchObject({ required: ['summary', 'plan_document'] })
    expect(Object.keys(showTool(tool).parameters.properties as object)).toEqual([
      'summary',
      'plan_document',
      'progress_pct',
      'goal_complete',
    ])
    expect(await call(plan)).toEqual({
      success: true,
      message: 'The plan of iteration 3 is saved. The goal is not complete yet.',
    })
    expect(saved.pop()).toEqual({ ...plan, progress_pct: 0, goal_complete: false })
    expect(await call({ ...plan, progress_pct: 100, goal_complete: true })).toMatchObject({ success: true })
    expect(saved.pop()).toMatchObject({ progress_pct: 100, goal_complete: true })
  })

  it.each([
    [{ summary: 's' }, 'plan_document'],
    [{ plan_document: 'd' }, 'summary'],
    [{ ...plan, summary: '' }, 'summary: must not be empty'],
    [{ ...plan, progress_pct: 140 }, 'progress_pct: must be a whole number from 0 to 100'],
    [{ ...plan, progress_pct: 1.5 }, 'progress_pct: must be a whole number from 0 to 100'],
    [{ ...plan, progress_pct: 'half' }, 'progress_pct: must be a whole number from 0 to 100'],
    [{ ...plan, plan_document: 'x'.repeat(1_048_576) }, `plan_document: must be at most ${planToolLimits.document} `],
  ])('tells the model what is wrong with %#', async (args, words) => {
    saved.length = 0
    const outcome = await call(args)
    expect(outcome).toMatchObject({ success: false, errorType: 'invalid_arguments' })
    expect(JSON.stringify(outcome)).toContain(words)
    expect(saved).toEqual([])
  })

  it('is described once for all runs', () => {
    expect(createUpdatePlan({ iteration: 0 }, async () => {}).parameters).toBe(tool.parameters)
  })

  it('says so where no plans are kept', async () => {
    const without = createUpdatePlan({ iteration: 0 }, async () => {
      throw new SvcError('NotConfigured', 'plan store not configured')
    })
    expect(await call(plan, without)).toMatchObject({ success: false, errorType: 'not_configured' })
  })
})
