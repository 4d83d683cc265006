import { expect, it } from 'vitest'
import type { TaskDetail } from '../../../../../src/contract/api/tasks/tasks.ts'
import type { TraceStep } from '../../../../../src/contract/api/tasks/trace.ts'
import { compareFacts, pairSteps } from './comparison.ts'

const start = '2026-01-01T00:00:00.000Z'
const step = (id: number, more: Partial<TraceStep>): TraceStep => ({
  id: String(id),
  seq: id,
  attempt: 1,
  kind: 'tool',
  name: 'read',
  startedAt: new Date(Date.parse(start) + id).toISOString(),
  durationMs: 1,
  outcome: 'ok',
  ...more,
})
const task = (status: object, spec: object = {}) =>
  ({ metadata: { name: 'one', namespace: 'default' }, spec: { type: 'ai', ...spec }, status }) as unknown as TaskDetail

it('compares what both have or only one, and says how much numbers changed', () => {
  const a = task({
    phase: 'Failed',
    failureReason: 'ExitCode',
    startTime: start,
    completionTime: '2026-01-01T00:00:10.000Z',
    usage: { inputTokens: 100, outputTokens: 10, cost: 0.2, currency: 'USD' },
  })
  const b = task(
    {
      phase: 'Succeeded',
      startTime: start,
      completionTime: '2026-01-01T00:00:15.000Z',
      usage: { inputTokens: 50, outputTokens: 10, cost: 0.2, currency: 'USD' },
    },
    { agentRef: { name: 'coder' } },
  )
  const model = (name: string) =>
    step(1, { kind: 'model', name, model: { name, inputTokens: 1, outputTokens: 1 } as never })
  const facts = compareFacts({ task: a, steps: [model('small')] }, { task: b, steps: [model('large')] }, 0)
  const of = (name: string) => {
    const fact = facts.find((one) => one.name === name)
    return fact && [fact.a?.text, fact.b?.text, fact.differs, fact.change]
  }
  expect(of('State')).toEqual(['Failed', 'Succeeded', true, undefined])
  expect(of('Cause')).toEqual(['The command failed', undefined, true, undefined])
  expect(of('Agent')).toEqual([undefined, 'coder', true, undefined])
  expect(of('Model')).toEqual(['small', 'large', true, undefined])
  expect(of('Duration')).toEqual(['10 s', '15 s', true, '+50%'])
  expect(of('Cost')).toEqual(['0.2 USD', '0.2 USD', false, undefined])
  expect(of('Tokens in')).toEqual(['100', '50', true, '-50%'])
  expect(of('Message')).toBeUndefined()
})

it('pairs the steps that both have, and leaves alone what only one did', () => {
  const a = [
    step(1, { input: '{"path":"a"}' }),
    step(2, { name: 'write' }),
    step(3, { name: 'test', outcome: 'failed' }),
  ]
  const b = [step(1, { input: '{"path":"b"}' }), step(2, { name: 'test' })]
  const names = pairSteps(a, b).map((pair) => [pair.a?.step?.name, pair.b?.step?.name, pair.differs])
  expect(names).toEqual([
    ['read', 'read', true],
    ['write', undefined, true],
    ['test', 'test', true],
  ])
  expect(pairSteps(a, a).every(({ differs }) => !differs)).toBe(true)
  expect(pairSteps([], [])).toEqual([])
})

it('puts what has nothing in common beside each other by its number', () => {
  const many = (name: string) => Array.from({ length: 1500 }, (_, at) => step(at, { name: `${name}-${at}` }))
  expect(pairSteps(many('one'), many('two'))).toHaveLength(1500)
})
