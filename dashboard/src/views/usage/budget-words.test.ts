import { describe, expect, it } from 'vitest'
import type { BudgetItem } from '../../../../src/contract/api/budgets/budgets.ts'
import { shareSpent } from '../../parts/budget-share.ts'
import { formOf, specOf, toneOf } from './budget-words.ts'

const budget = (limits: Partial<BudgetItem['spec']>, tokens: number, cost: number): BudgetItem => ({
  name: 'b',
  spec: { scope: { namespace: 'team' }, period: 'day', currency: 'USD', ...limits },
  spent: { tokens, cost, unpricedCalls: 0 },
  usedUp: false,
})

describe('a budget', () => {
  it.each([
    [{ maxTokens: 100 }, 79, 0, 'good'],
    [{ maxTokens: 100 }, 80, 0, 'warn'],
    [{ maxTokens: 100, maxCost: 10 }, 1, 8, 'warn'],
    [{ maxTokens: 100 }, 100, 0, 'bad'],
    [{ maxCost: 0 }, 0, 0, 'bad'],
    [{ maxTaskDuration: '1h' }, 9, 9, 'good'],
  ])('%j with %d tokens and %d of money is %s', (limits, tokens, cost, tone) => {
    expect(toneOf(shareSpent(budget(limits, tokens, cost)))).toBe(tone)
  })

  it('comes out of the form as it went in', () => {
    const one = budget({ maxTokens: 5, maxTaskIterations: 3 }, 0, 0)
    expect(specOf(formOf(one))).toEqual({ ...one.spec, scope: { namespace: 'team' } })
    expect(specOf({ ...formOf(undefined), maxCost: 'much' })).toMatchObject({ maxCost: 'much', period: 'month' })
  })
})
