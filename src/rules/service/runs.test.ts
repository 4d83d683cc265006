import { expect, it } from 'vitest'
import { describeRuns, listDays } from './runs.ts'

const now = new Date('2026-02-01T10:00:00Z')
const sum = (value: string, count: number, namespace = 'default') => ({ namespace, value, count })

it('lists days in UTC, the current one last', () => {
  expect(listDays(now, 3)).toEqual(['2026-01-30', '2026-01-31', '2026-02-01'])
})

it('counts each day by how tasks ended, and failures by cause and agent', () => {
  const sums = [
    sum('2026-01-29 Failed TimedOut coder', 9),
    sum('2026-01-31 Succeeded  coder', 4),
    sum('2026-02-01 Failed TimedOut coder', 2),
    sum('2026-02-01 Failed TimedOut coder', 1, 'other'),
    sum('2026-01-31 Failed TimedOut coder', 1),
    sum('2026-02-01 Failed  ', 5),
  ]
  const { days, causes } = describeRuns(sums, listDays(now, 2))
  expect(days).toEqual([
    { start: '2026-01-31T00:00:00.000Z', succeeded: 4, failed: 1, cancelled: 0 },
    { start: '2026-02-01T00:00:00.000Z', succeeded: 0, failed: 8, cancelled: 0 },
  ])
  expect(causes).toEqual([
    { reason: 'Unknown', namespace: 'default', count: 5 },
    { reason: 'TimedOut', agent: 'coder', namespace: 'default', count: 3 },
    { reason: 'TimedOut', agent: 'coder', namespace: 'other', count: 1 },
  ])
  expect(describeRuns(sums, listDays(now, 2), 'coder').days.map(({ failed }) => failed)).toEqual([1, 3])
})
