import { expect, it } from 'vitest'
import { count } from './count.ts'

it('counts in words that fit', () => {
  expect([count(0, 'task'), count(1, 'task'), count(1200, 'task')]).toEqual(['0 tasks', '1 task', '1,200 tasks'])
  expect([count(1, 'memory', 'memories'), count(2, 'memory', 'memories')]).toEqual(['1 memory', '2 memories'])
})
