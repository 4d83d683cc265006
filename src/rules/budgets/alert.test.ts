import { describe, expect, it } from 'vitest'
import { findBudgetAlert } from './alert.ts'
import type { Limit } from './budget.ts'

const now = new Date('2026-04-16T12:00:00Z')
const limit: Limit = { name: 'team', scope: {}, period: 'month', maxTokens: 100, maxCost: 10, currency: 'USD' }

describe('the alert of a budget', () => {
  it.each([
    [49, 0, undefined],
    [50, 0, 50],
    [0, 8, 80],
    [99, 9.9, 80],
    [100, 0, 100],
    [900, 900, 100],
  ])('with %d tokens and %d USD is that of the threshold that was reached', (tokens, cost, threshold) => {
    expect(findBudgetAlert(limit, { tokens, cost }, now)?.threshold).toBe(threshold)
  })

  it('has one id in a period, and another one in the next', () => {
    const idAt = (time: string) => findBudgetAlert(limit, { tokens: 80, cost: 0 }, new Date(time))?.id
    expect(idAt('2026-04-30T23:59:59Z')).toBe('budget/team/month/2026-04-01/80')
    expect(idAt('2026-05-01T00:00:00Z')).toBe('budget/team/month/2026-05-01/80')
    const total: Limit = { ...limit, period: 'total', maxTokens: 0 }
    expect(findBudgetAlert(total, { tokens: 0, cost: 0 }, now)).toMatchObject({ id: 'budget/team/total/total/100' })
  })
})
