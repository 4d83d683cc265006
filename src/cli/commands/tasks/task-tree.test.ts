import { describe, expect, it } from 'vitest'
import type { PlanRecord } from '../../../contract/api/tasks/task-records.ts'
import { formatPlan, formatPlanChange } from './task-tree.ts'

const plan: PlanRecord = {
  TaskName: 'research',
  Namespace: 'default',
  Iteration: 0,
  Summary: 'one of\n two read',
  ProgressPct: 50,
  GoalComplete: false,
  PlanDocument: '# Plan\n\n- [x] first\n- [ ] second\n',
  CreatedAt: '2026-01-02T03:04:05.000Z',
  UpdatedAt: '2026-01-02T03:04:05.000Z',
}

describe('a plan as text', () => {
  it('has its progress above the document', () => {
    expect(formatPlan(plan)).toBe('50 %: one of two read\n\n# Plan\n\n- [x] first\n- [ ] second')
    expect(formatPlan({ ...plan, Iteration: 2, GoalComplete: true, ProgressPct: 100, PlanDocument: '' })).toBe(
      '100 %, iteration 2, goal complete: one of two read',
    )
  })

  it('prints what is new in a change', () => {
    const next = { ...plan, ProgressPct: 90, PlanDocument: '# Plan\n\n- [x] first\n- [x] second\n\n- [x] first\n' }
    expect(formatPlanChange(plan, next)).toBe('90 %: one of two read\n- [x] second\n- [x] first')
    expect(formatPlanChange(plan, { ...plan, UpdatedAt: '2027-01-01T00:00:00.000Z' })).toBeUndefined()
    expect(formatPlanChange(plan, { ...plan, Summary: 'two' })).toBe('50 %: two')
    expect(formatPlanChange(plan, { ...plan, PlanDocument: '# Plan' })).toBe(
      '50 %: one of two read\n(lines were removed)',
    )
  })
})
