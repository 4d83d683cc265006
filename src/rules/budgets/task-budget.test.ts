import { describe, expect, it } from 'vitest'
import { type Task, TaskSpec, type TaskStatus } from '../../contract/kinds/tasks/task.ts'
import {
  countsSpending,
  explainIterationsUsedUp,
  explainSpent,
  explainTimeUsedUp,
  leftOf,
  timeLeftMs,
} from './task-budget.ts'

const now = new Date('2026-03-01T12:00:00Z')
const started: TaskStatus = { phase: 'Running', firstStartTime: '2026-03-01T11:30:00Z', iteration: 2 }
const makeTask = (budget: object | undefined, status: TaskStatus = started, more: object = {}) =>
  ({ metadata: { name: 'goal' }, status, spec: TaskSpec.parse({ type: 'ai', prompt: 'p', budget, ...more }) }) as Task

describe('a budget of tokens and money', () => {
  it.each<[object, number, number, RegExp | undefined]>([
    [{ maxTokens: 100 }, 99, 5, undefined],
    [
      { maxTokens: 100 },
      120,
      0,
      /^the budget of 100 tokens for task "goal".*: 120 were used; raise its spec\.budget\.maxTokens/,
    ],
    [{ maxCost: 2, currency: 'EUR' }, 9, 1.99, undefined],
    [
      { maxCost: 2, currency: 'EUR' },
      9,
      2.00001,
      /^the budget of 2 EUR .*: 2 EUR were used; raise its spec\.budget\.maxCost/,
    ],
    [{ maxDuration: '1h' }, 1e9, 1e9, undefined],
  ])('%j after %i tokens and %f', (budget, tokens, cost, message) => {
    const said = explainSpent(makeTask(budget), { tokens, cost })
    if (message === undefined) expect(said).toBeUndefined()
    else expect(said).toMatch(message)
  })

  it('is counted for tasks that have one, and not for a schedule', () => {
    expect(countsSpending(makeTask({ maxTokens: 1 }))).toBe(true)
    expect(countsSpending(makeTask({ maxCost: 1 }))).toBe(true)
    expect(countsSpending(makeTask({ maxDuration: '1h' }))).toBe(false)
    expect(countsSpending(makeTask(undefined))).toBe(false)
    expect(countsSpending(makeTask({ maxTokens: 1 }, started, { schedule: '@hourly' }))).toBe(false)
  })
})

describe('a budget of time', () => {
  it('counts from the first start', () => {
    expect(timeLeftMs(makeTask({ maxDuration: '45m' }), now)).toBe(900_000)
    expect(timeLeftMs(makeTask({ maxDuration: '45m' }, { phase: 'Pending' }), now)).toBeUndefined()
    expect(timeLeftMs(makeTask({ maxTokens: 1 }), now)).toBeUndefined()
  })

  it('says when it began and what to raise', () => {
    expect(explainTimeUsedUp(makeTask({ maxDuration: '31m' }), now)).toBeUndefined()
    expect(explainTimeUsedUp(makeTask({ maxDuration: '30m' }), now)).toBe(
      'the budget of 30m for task "goal" is used up: it began 30m ago; raise its spec.budget.maxDuration and start it again',
    )
  })
})

describe('what a budget of the service allows each task', () => {
  const bounds = [{ name: 'team', maxDuration: '20m', maxIterations: 2 }]

  it('holds beside its own budget: the nearer one counts', () => {
    expect(timeLeftMs(makeTask(undefined), now, bounds)).toBe(-600_000)
    expect(timeLeftMs(makeTask({ maxDuration: '31m' }), now, [{ name: 'far', maxDuration: '2h' }])).toBe(60_000)
    expect(explainTimeUsedUp(makeTask({ maxDuration: '1h' }), now, bounds)).toBe(
      'the budget "team" of 20m for task "goal" is used up: it began 30m ago; raise its maxTaskDuration and start it again',
    )
    expect(explainIterationsUsedUp(makeTask({ maxIterations: 9 }), 2, bounds)).toMatch(
      /^the budget "team" of 2 iterations .* raise its maxTaskIterations/,
    )
    expect(explainIterationsUsedUp(makeTask(undefined), 1, bounds)).toBeUndefined()
  })
})

it('a budget of iterations is used up with the last of them', () => {
  expect(explainIterationsUsedUp(makeTask({ maxIterations: 4 }), 3)).toBeUndefined()
  expect(explainIterationsUsedUp(makeTask({ maxIterations: 3 }), 3)).toMatch(
    /3 iterations.*spec\.budget\.maxIterations/,
  )
  expect(explainIterationsUsedUp(makeTask(undefined), 3)).toBeUndefined()
})

it('what is left is never less than nothing, and only of what has a limit', () => {
  const budget = { maxTokens: 100, maxCost: 2, maxDuration: '1h', maxIterations: 3 }
  expect(leftOf(makeTask(budget), { tokens: 30, cost: 3 }, now)).toEqual({
    tokens: 70,
    cost: 0,
    durationMs: 1_800_000,
    iterations: 1,
  })
  expect(leftOf(makeTask({ maxDuration: '1h' }, {}), { tokens: 1, cost: 1 }, now)).toEqual({ durationMs: 3_600_000 })
  expect(leftOf(makeTask(undefined), { tokens: 1, cost: 1 }, now)).toBeUndefined()
})
