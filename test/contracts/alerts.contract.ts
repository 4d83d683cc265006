// What every store of alerts does.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { AlertFacts } from '../../src/contract/api/budgets/alerts.ts'
import { type OpenBench, useBench } from './record-bench.ts'

export function describeAlerts(name: string, open: OpenBench): void {
  describe(`alerts on ${name}`, () => {
    const bench = useBench(open, { beforeEach, afterEach })
    const alerts = () => bench().stores().alerts
    const makeAlert = (id: string): AlertFacts => ({
      id,
      kind: 'budget',
      name: 'team',
      threshold: 80,
      message: 'a message',
      createdAt: bench().now().toISOString(),
    })
    const lease = { worker: 'w1', leaseMs: 1000 }

    it('are raised once, also after a restart', async () => {
      const one = makeAlert('budget/team/80')
      expect(await alerts().raise([one, one], true)).toEqual([one])
      await bench().reopen()
      expect(await alerts().raise([one, makeAlert('other')], true)).toMatchObject([{ id: 'other' }])
      const listed = await alerts().list({ limit: 10 })
      expect(listed.map(({ id, delivery, attempts }) => [id, delivery, attempts])).toEqual([
        ['other', 'pending', 0],
        ['budget/team/80', 'pending', 0],
      ])
    })

    it('are delivered by whoever claims them, again after a failure, and not at all without a webhook', async () => {
      await alerts().raise([makeAlert('a')], true)
      await alerts().raise([makeAlert('b')], false)
      expect(await alerts().due(10)).toEqual(['a'])
      expect(await alerts().claim('a', lease)).toMatchObject({ id: 'a', attempts: 1 })
      expect(await alerts().claim('a', { ...lease, worker: 'w2' })).toBeUndefined()
      expect(await alerts().postpone('a', 'w2', { afterMs: 5, lastError: 'no' })).toBe(false)
      expect(await alerts().postpone('a', 'w1', { afterMs: 5000, lastError: 'the receiver answered 500' })).toBe(true)
      expect(await alerts().due(10)).toEqual([])
      bench().advance(6000)
      expect(await alerts().claim('a', lease)).toMatchObject({ attempts: 2, lastError: 'the receiver answered 500' })
      expect(await alerts().extend('a', lease)).toBe(true)
      expect(await alerts().settle('a', 'w1', { delivery: 'delivered' })).toBe(true)
      expect(await alerts().due(10)).toEqual([])
      const states = (await alerts().list({ limit: 10 })).map(({ id, delivery }) => [id, delivery])
      expect(states.sort()).toEqual([
        ['a', 'delivered'],
        ['b', 'none'],
      ])
      bench().advance(1000)
      expect(await alerts().sweep(bench().now())).toBe(2)
    })
  })
}
