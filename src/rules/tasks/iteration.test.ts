import { describe, expect, it } from 'vitest'
import { type Agent, AgentSpec } from '../../contract/kinds/agents/agent.ts'
import { type Task, TaskSpec, type TaskStatus } from '../../contract/kinds/tasks/task.ts'
import {
  autonomyOf,
  countsOfIteration,
  decideIteration,
  isOfEarlierIteration,
  maxModelCalls,
  restsBetweenIterations,
} from './iteration.ts'

const makeTask = (status: TaskStatus, spec: object = {}) =>
  ({ metadata: { name: 'goal' }, status, spec: TaskSpec.parse({ type: 'ai', prompt: 'p', ...spec }) }) as Task
const makeAgent = (coordination: object) => ({ spec: AgentSpec.parse({ coordination }) }) as Agent
const now = new Date('2026-03-01T12:00:00Z')
const third: TaskStatus = { phase: 'Running', iteration: 2, attempts: 4 }
const plan = { summary: 'all is read', goalComplete: false }

describe('after an iteration that succeeded', () => {
  it('the task has succeeded when the plan says so, whatever else is asked', () => {
    const task = makeTask(third, { suspend: true })
    expect(
      decideIteration({ now, task, maxIterations: 3, plan: { ...plan, goalComplete: true }, cancel: 'no' }),
    ).toEqual({
      action: 'succeed',
      message: 'goal complete after 3 iterations: all is read',
    })
  })

  it.each([
    [3, 'succeed'],
    [2, 'succeed'],
    [4, 'next'],
    [0, 'next'],
  ])('the most iterations is %i: %s', (maxIterations, action) => {
    const step = decideIteration({ now, task: makeTask(third), maxIterations, plan })
    expect(step.action).toBe(action)
    if (action === 'succeed') expect(step.message).toMatch(/after 3 iterations.*coordination\.maxIterations/)
    else expect(step).toMatchObject({ iteration: 3 })
  })

  it('a missing plan ends nothing', () => {
    expect(decideIteration({ now, task: makeTask(third), maxIterations: 0 })).toMatchObject({ action: 'next' })
  })

  it('the task fails when a budget of iterations or of time is used up, but not when the goal is complete', () => {
    const firstStartTime = '2026-03-01T10:00:00Z'
    const step = (budget: object, more: Partial<Parameters<typeof decideIteration>[0]> = {}) =>
      decideIteration({ now, task: makeTask({ ...third, firstStartTime }, { budget }), maxIterations: 0, ...more })
    expect(step({ maxIterations: 3 })).toMatchObject({
      action: 'fail',
      message: expect.stringContaining('3 iterations'),
    })
    expect(step({ maxDuration: '2h' })).toMatchObject({ action: 'fail', message: expect.stringContaining('2h') })
    expect(step({ maxIterations: 4, maxDuration: '3h' }).action).toBe('next')
    const done = { plan: { ...plan, goalComplete: true } }
    expect(step({ maxIterations: 1, maxDuration: '1s' }, done).action).toBe('succeed')
  })

  it('a task that is to be cancelled is, and a suspended one rests', () => {
    const task = makeTask(third, { suspend: true })
    expect(decideIteration({ now, task, maxIterations: 0, plan, cancel: 'cancelled: no' })).toEqual({
      action: 'cancel',
      message: 'cancelled: no',
    })
    expect(decideIteration({ now, task, maxIterations: 0, plan })).toEqual({
      action: 'suspend',
      message: 'suspended after 3 iterations; set spec.suspend to false to go on',
    })
  })
})

describe('an agent', () => {
  it('is autonomous when it coordinates as well, and then has twice the model calls', () => {
    const both = makeAgent({ enabled: true, autonomous: true, maxIterations: 7 })
    expect(autonomyOf(both)?.maxIterations).toBe(7)
    expect(autonomyOf(makeAgent({ autonomous: true }))).toBeUndefined()
    expect(autonomyOf(makeAgent({ enabled: true }))).toBeUndefined()
    expect([maxModelCalls(50, both), maxModelCalls(50, makeAgent({})), maxModelCalls(50, undefined)]).toEqual([
      100, 50, 50,
    ])
  })
})

describe('the attempts of an iteration', () => {
  const task = makeTask({
    ...third,
    attempts: 8,
    interruptions: 2,
    parkings: 3,
    sharedLosses: 2,
    earlierIterations: { attempts: 5, interruptions: 2, parkings: 2, sharedLosses: 1 },
  })

  it('are counted from its beginning', () => {
    expect(countsOfIteration(task)).toEqual({ attempts: 3, interruptions: 0, parkings: 1, sharedLosses: 1 })
    expect(countsOfIteration(makeTask({ attempts: 3, interruptions: 1 }))).toEqual({
      attempts: 3,
      interruptions: 1,
      parkings: 0,
      sharedLosses: 0,
    })
    expect([5, 6].map((attempt) => isOfEarlierIteration(task, attempt))).toEqual([true, false])
  })

  it('end with a rest while it is suspended', () => {
    const at = { lastTransitionTime: '2026-03-01T12:00:00Z', reason: 'Suspended', message: 'm' }
    const conditions = [{ type: 'Suspended', status: 'True' as const, ...at }]
    expect(restsBetweenIterations(makeTask({ phase: 'Running', conditions }))).toBe(true)
    expect(restsBetweenIterations(makeTask({ phase: 'Pending', conditions }))).toBe(false)
    expect(restsBetweenIterations(makeTask({ phase: 'Running' }))).toBe(false)
  })
})
