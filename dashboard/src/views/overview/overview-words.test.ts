import { expect, it } from 'vitest'
import { describeChange } from '../../parts/change.ts'
import { describeCostChange, describeCosts, listWeeks, startOfWeek, successOf } from './overview-words.ts'

const days = Array.from({ length: 14 }, (_, at) => ({
  start: `2026-01-${String(at + 10)}T00:00:00.000Z`,
  succeeded: at < 7 ? 1 : 3,
  failed: at === 13 ? 1 : 0,
  cancelled: 0,
}))
const used = [
  { key: '2026-01-10', cost: 1, currency: 'USD' },
  { key: '2026-01-17', cost: 2, currency: 'USD' },
  { key: '2026-01-23', cost: 1, currency: 'USD' },
].map((item) => ({ ...item, inputTokens: 0, outputTokens: 0, cachedTokens: 0, llmCalls: 1 }))

it('puts a week beside the one before', () => {
  const { now, before } = listWeeks({ days, causes: [] }, used)
  expect(now).toEqual({ succeeded: 21, failed: 1, runs: 22, costs: { USD: 3 } })
  expect(before).toEqual({ succeeded: 7, failed: 0, runs: 7, costs: { USD: 1 } })
  expect(startOfWeek({ days, causes: [] })).toBe('2026-01-17T00:00:00.000Z')
  expect(describeCostChange(now.costs, before.costs)).toBe('+200%')
  expect(successOf(before)).toBe(1)
})

it('compares with nothing where there was nothing, and not across currencies', () => {
  expect(describeChange(3, 0)).toBeUndefined()
  expect(describeChange(9, 10)).toBe('-10%')
  expect(describeCostChange({ USD: 1 }, { EUR: 1 })).toBeUndefined()
  expect(successOf({ succeeded: 0, failed: 0 })).toBeUndefined()
  expect(describeCosts({ USD: 1, EUR: 2 })).toBe('1 USD + 2 EUR')
})
