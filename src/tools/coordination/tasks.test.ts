import { describe, expect, it } from 'vitest'
import type { Task } from '../../contract/resources/task.ts'
import type { Orchestration } from '../../ports/orchestration.ts'
import { waitForTask } from './tasks.ts'

/** How long the tool would wait for a task that runs on, and what it answers then. */
async function ask(args: Record<string, unknown>, toolTimeoutMs: number) {
  let now = Date.parse('2030-01-01T00:00:00Z')
  const waits: number[] = []
  const task = { metadata: { name: 'slow', namespace: 'default' }, status: { phase: 'Running' } } as Task
  const orchestration = {
    async waitForTask(_named: unknown, timeoutMs: number) {
      waits.push(timeoutMs)
      now += timeoutMs
      return task
    },
  } as unknown as Orchestration
  const context = { orchestration, toolTimeoutMs, clock: { now: () => new Date(now) } }
  const outcome = await waitForTask.invoke({ name: 'slow', ...args }, context, new AbortController().signal)
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
    expect((await ask({ timeout: 60 }, 1500)).waits).toEqual([500])
    expect((await ask({ timeout: 60 }, 200)).waits).toEqual([0])
  })
})
