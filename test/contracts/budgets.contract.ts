// What every store of budgets does.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { BudgetSpec } from '../../src/contract/api/budgets/budgets.ts'
import { type OpenBench, useBench } from './record-bench.ts'

export function describeBudgets(name: string, open: OpenBench): void {
  describe(`budgets on ${name}`, () => {
    const bench = useBench(open, { beforeEach, afterEach })
    const budgets = () => bench().stores().budgets

    it('keeps them by name, replaces and removes them', async () => {
      const spec = BudgetSpec.parse({ scope: { namespace: 'team', agent: 'poet' }, period: 'day', maxTokens: 10 })
      await budgets().put({ name: 'b', spec })
      await budgets().put({ name: 'a', spec: { ...spec, maxCost: 0.5 } })
      await bench().reopen()
      expect(await budgets().list()).toEqual([
        { name: 'a', spec: { ...spec, maxCost: 0.5 } },
        { name: 'b', spec },
      ])
      await budgets().put({ name: 'a', spec })
      expect((await budgets().list())[0]).toEqual({ name: 'a', spec })
      expect(await budgets().remove('a')).toBe(true)
      expect(await budgets().remove('a')).toBe(false)
      expect((await budgets().list()).map(({ name: left }) => left)).toEqual(['b'])
    })
  })
}
