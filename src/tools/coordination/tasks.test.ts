import { describe, expect, it } from 'vitest'
import { createManualClock } from '../../../test/fixtures/time.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import type { Orchestration } from '../../ports/coordination/coordination.ts'
import { checkTaskProgressTool, waitForTaskTool } from './tasks.ts'

/** How long the tool would wait for a task that runs on while somebody sets the clock, and what it answers then. */
async function ask(args: Record<string, unknown>, toolTimeoutMs: number, setBy = 0) {
  const clock = createManualClock()
  const waits: number[] = []
  const task = { metadata: { name: 'slow', namespace: 'default' }, status: { phase: 'Running' } } as Task
  const orchestration = {
    async waitForTask(_named: unknown, timeoutMs: number) {
      waits.push(timeoutMs)
      clock.jump(timeoutMs)
      clock.set(setBy)
      return task
    },
    listQuestions: async () => [],
  } as unknown as Orchestration
  const context = { orchestration, toolTimeoutMs, clock }
  const outcome = await waitForTaskTool.invoke({ name: 'slow', ...args }, context, new AbortController().signal)
  return { waits, outcome }
}

describe('wait_for_task', () => {
  it('waits 60 seconds at most in one call, and 30 unless told [CTOOL-006]', async () => {
    expect((await ask({ timeout: 500 }, 600_000)).waits).toEqual([60_000])
    expect((await ask({}, 600_000)).waits).toEqual([30_000])
    expect((await ask({ timeout: 12 }, 600_000)).waits).toEqual([12_000])
  })

  it('answers a second before the tool timeout, with the phase [CTOOL-020]', async () => {
    const { waits, outcome } = await ask({ timeout: 60 }, 60_000)
    expect(waits).toEqual([59_000])
    expect(outcome).toMatchObject({ success: true, data: { phase: 'Running', elapsed: '59s' } })
    expect((await ask({ timeout: 60 }, 60_000, -3_600_000)).outcome).toMatchObject({ data: { elapsed: '59s' } })
    expect((await ask({ timeout: 60 }, 1500)).waits).toEqual([500])
    expect((await ask({ timeout: 60 }, 200)).waits).toEqual([0])
  })
})

describe('check_task_progress', () => {
  const parked = {
    metadata: { name: 'asks', namespace: 'default' },
    status: { phase: 'Running', conditions: [{ type: 'Parked', status: 'True', reason: 'WaitingForApproval' }] },
  } as Task
  const question = {
    id: 'appr-1',
    agentName: 'cleaner',
    tool: 'delete_agent',
    arguments: { name: 'helper' },
    message: 'May I?',
    expiresAt: '2030-01-02T00:00:00Z',
  }

  it.each([
    [parked, [question], true],
    [parked, [], false],
    [{ ...parked, status: { phase: 'Running' } } as Task, [question], true],
    [{ ...parked, status: { phase: 'Succeeded' } } as Task, [question], false],
  ])(
    'shows what an unfinished task asks people for, and that no tool can answer: %#',
    async (task, questions, isShown) => {
      const orchestration = {
        getTask: async () => task,
        listQuestions: async () => questions,
      } as unknown as Orchestration
      const context = { orchestration, toolTimeoutMs: 1000, clock: { now: () => new Date() } }
      const outcome = await checkTaskProgressTool.invoke({ name: 'asks' }, context, new AbortController().signal)
      const { agentName: agent, ...rest } = question
      const shown = { waitsForApproval: [{ ...rest, agent }], howToAnswer: expect.stringContaining('A person answers') }
      if (isShown) expect(outcome).toMatchObject({ data: shown })
      else expect(outcome).not.toHaveProperty('data.waitsForApproval')
    },
  )
})
