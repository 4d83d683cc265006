import { expect, it } from 'vitest'
import { orderFindings } from './finding-order.ts'

it('has what is open before what is decided, the worst first', () => {
  const finding = (state: string, severity: string) =>
    ({ state, severity }) as Parameters<typeof orderFindings>[0][number]
  const found = [
    finding('dismissed', 'critical'),
    finding('open', 'low'),
    finding('pr_open', 'high'),
    finding('open', 'critical'),
  ]
  expect(orderFindings(found).map(({ severity }) => severity)).toEqual(['critical', 'high', 'low', 'critical'])
})
