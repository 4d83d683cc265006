import { expect, it } from 'vitest'
import { measureOf, ordersOf, sortMeasured } from './measured-order.ts'

type Row = { name: string; cost?: number }
const cost = { title: 'Cost', measure: (row: Row) => row.cost }
const rows: Row[] = [{ name: 'a', cost: 2 }, { name: 'none' }, { name: 'b', cost: 10 }, { name: 'c', cost: 2 }]
const names = (order: string) => sortMeasured(rows, cost.measure, order).map(({ name }) => name)

it('sorts by numbers, either way, and has what has none last', () => {
  expect(names('-cost')).toEqual(['b', 'a', 'c', 'none'])
  expect(names('cost')).toEqual(['a', 'c', 'b', 'none'])
})

it('knows which orders are those of the page', () => {
  expect(ordersOf(cost)).toEqual(['-cost', 'cost'])
  expect(measureOf([cost], 'cost')).toBe(cost.measure)
  expect(measureOf([cost, { title: 'Created', orders: ['-created', 'created'] }], '-created')).toBeUndefined()
})
