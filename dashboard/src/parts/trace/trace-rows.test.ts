import { expect, it } from 'vitest'
import type { TimelineEvent } from '../../../../src/contract/api/tasks/task-records.ts'
import type { TraceStep } from '../../../../src/contract/api/tasks/trace.ts'
import { noteOf, titleOf } from './step-words.ts'
import { listOpenRows, listTraceRows, rangeOf } from './trace-rows.ts'

const at = (second: number) => new Date(Date.parse('2030-01-01T00:00:00Z') + second * 1000).toISOString()
const stepOf = (id: string, second: number, more: Partial<TraceStep> = {}): TraceStep => ({
  id,
  seq: 1,
  attempt: 1,
  kind: 'tool',
  name: 'file_read',
  startedAt: at(second),
  durationMs: 1000,
  outcome: 'ok',
  ...more,
})
const eventOf = (id: number, second: number, phase: string): TimelineEvent => ({
  id,
  taskUid: 'u',
  attempt: 0,
  type: 'PhaseChanged',
  phase,
  message: 'so it is',
  createdAt: at(second),
})
const model = {
  provider: 'default/p',
  name: 'm',
  inputTokens: 9,
  outputTokens: 4,
  cachedTokens: 0,
  cost: 0.5,
  currency: 'USD',
}
const steps = [
  stepOf('0', 2, { kind: 'attempt', name: 'attempt 1', durationMs: 4000 }),
  stepOf('1', 3, { parent: '0', kind: 'model', name: 'm', model }),
  stepOf('2', 4, { parent: '1', input: '{"path":"a.txt"}', outputBytes: 2000 }),
]
const events = [eventOf(1, 0, 'Pending'), eventOf(2, 2, 'Running'), eventOf(3, 6, 'Succeeded')]

it('has the phases at the first level, and an attempt in the place of what it is', () => {
  const rows = listTraceRows(steps, events, true)
  expect(rows.map((row) => `${row.depth} ${titleOf(row)}`)).toEqual([
    ...['0 Pending', '0 Attempt 1', '1 m', '2 file_read', '0 Succeeded'],
  ])
  expect(rows.map(({ from, to }) => (to === undefined ? undefined : (to - from) / 1000))).toEqual([2, 4, 1, 1, 0])
  expect(listTraceRows([], events, true).map(titleOf)).toEqual(['Pending', 'Running', 'Succeeded'])
})

it('has a refused host once, in the place of its event, and the phases of a command', () => {
  const refused = stepOf('network-1', 3, {
    kind: 'network',
    name: 'a.example:443',
    outcome: 'refused',
    error: 'not listed',
  })
  const told = { ...eventOf(4, 3, ''), type: 'NetworkRefused', phase: undefined, message: 'a.example:443 was refused' }
  const titles = (of: TraceStep[]) => listTraceRows(of, [...events, told], true).map(titleOf)
  expect(titles([refused])).toEqual(['Pending', 'Running', 'a.example:443', 'Succeeded'])
  expect(titles([...steps, { ...refused, parent: '0' }])).toEqual([
    ...['Pending', 'Attempt 1', 'm', 'file_read', 'a.example:443', 'Succeeded'],
  ])
  expect(noteOf(listTraceRows([refused], [], true)[0] as never)).toBe('network · refused · not listed')
})

it('sums tokens and cost of an attempt, and says what a tool was called with', () => {
  const rows = listTraceRows(steps, [], true)
  expect(rows.map(({ sums }) => [sums.tokens, ...sums.costs.values()])).toEqual([[13, 0.5], [13, 0.5], [0]])
  expect(rows.map(noteOf)).toEqual(['', 'model call · default/p', 'a.txt · 2 KiB'])
})

it('hides what is below a folded row, and draws all bars over one time', () => {
  const rows = listTraceRows(steps, [], true)
  expect(listOpenRows(rows, new Set(['1/1'])).map(({ key }) => key)).toEqual(['1/0', '1/1'])
  expect(rangeOf(rows, 0)).toEqual({ from: Date.parse(at(2)), to: Date.parse(at(6)) })
  const running = listTraceRows([stepOf('0', 0, { durationMs: undefined })], [], false)
  expect(rangeOf(running, Date.parse(at(9))).to).toBe(Date.parse(at(9)))
})
