import { expect, it } from 'vitest'
import type { TraceStep } from '../../contract/api/tasks/trace.ts'
import { formatTrace } from './trace-text.ts'

const at = (second: number) => `2030-01-01T00:00:0${second}.000Z`
const stepOf = (id: string, more: Partial<TraceStep>): TraceStep => ({
  id,
  seq: 1,
  attempt: 1,
  kind: 'tool',
  name: 'file_read',
  startedAt: at(0),
  ...more,
})

it('draws steps below the step that they belong to, with bars on one scale', () => {
  const counts = { provider: 'default/p', name: 'm', inputTokens: 9, outputTokens: 4, cachedTokens: 0 }
  const model = { ...counts, cost: 0.25, currency: 'USD' }
  const lines = formatTrace(
    [
      stepOf('2', { parent: '1', input: '{"path":"a"}', startedAt: at(2) }),
      stepOf('1', { parent: '0', kind: 'model', name: 'm', model, durationMs: 2000, outcome: 'ok' }),
      stepOf('0', { kind: 'attempt', name: 'attempt 1' }),
    ],
    new Date(at(4)),
  )
  expect(lines.map((line) => line.replace(/ {2,}/g, (gap, index) => (index === 0 ? gap : ' ')))).toEqual([
    `attempt 1, running ... ${'█'.repeat(24)}`,
    `  m, 9 in, 4 out, 0.2500 USD 2.0 s ${'█'.repeat(12)}`,
    `    file_read {"path":"a"}, running ... ${'█'.repeat(12)}`,
  ])
})

it('loses no step whose parent is missing or is the step itself', () => {
  const steps = [stepOf('1', { parent: '9' }), stepOf('2', { parent: '2' })]
  expect(formatTrace(steps, new Date(at(1)))).toHaveLength(2)
})
