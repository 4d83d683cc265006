// What every store of steps does.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type StepReport, stepLimits } from '../../src/contract/api/tasks/steps.ts'
import { stepsKeyOf } from '../../src/rules/chat/session-steps.ts'
import { type OpenBench, useBench } from './record-bench.ts'

const startedAt = '2030-01-01T00:00:00.000Z'
const stepOf = (id: string, more: Partial<StepReport> = {}): StepReport => ({
  id,
  kind: 'tool',
  name: 'x',
  startedAt,
  ...more,
})

export function describeSteps(name: string, open: OpenBench): void {
  describe(`steps on ${name}`, () => {
    const bench = useBench(open, { beforeEach, afterEach })
    const steps = () => bench().stores().steps
    const first = { taskUid: 'task-1', attempt: 1 }
    const list = (query = {}) => steps().list({ taskUid: 'task-1', limit: 5000, ...query })

    it('are read as they were written, and one that goes on is replaced and comes last', async () => {
      const odd = stepOf('a \u0000', { input: 'a lone \ud800', durationMs: 3, outcome: 'ok' })
      await steps().write(first, [odd, stepOf('2')])
      expect(await list()).toEqual([
        { ...odd, seq: 1, attempt: 1 },
        { ...stepOf('2'), seq: 2, attempt: 1 },
      ])
      await steps().write(first, [{ ...odd, outcome: 'failed' }])
      expect(await list({ afterSeq: 1 })).toMatchObject([
        { id: '2', seq: 2 },
        { id: 'a \u0000', outcome: 'failed', seq: 3 },
      ])
    })

    it('of attempts are apart, and are found by attempt and kind', async () => {
      await steps().write(first, [stepOf('1')])
      await steps().write({ ...first, attempt: 2 }, [stepOf('1', { kind: 'model' })])
      expect(await list({ attempt: 2 })).toMatchObject([{ attempt: 2, kind: 'model' }])
      expect(await list({ kinds: ['tool'] })).toMatchObject([{ attempt: 1 }])
      expect(await list({ limit: 1 })).toHaveLength(1)
    })

    it('of which there are many lose the details of the oldest, and none of the structure', async () => {
      const count = stepLimits.detailed + 2 * stepLimits.atOnce
      for (let at = 0; at < count; at += stepLimits.atOnce) {
        const batch = Array.from({ length: stepLimits.atOnce }, (_, more) => stepOf(String(at + more), { input: 'x' }))
        await steps().write(first, batch)
      }
      const all = await list()
      expect(all).toHaveLength(count)
      expect(all.findIndex(({ input }) => input === 'x')).toBe(count - stepLimits.detailed)
    })

    it('say which attempt was the last', async () => {
      expect(await steps().lastAttempt('task-1')).toBe(0)
      await steps().write({ ...first, attempt: 3 }, [stepOf('1')])
      await steps().write(first, [stepOf('1')])
      await steps().write({ taskUid: 'task-2', attempt: 9 }, [stepOf('1')])
      expect(await steps().lastAttempt('task-1')).toBe(3)
    })

    it("of a session are no task's, and go with it", async () => {
      const key = { namespace: 'default', name: 'talk' }
      const taskUid = stepsKeyOf(key)
      const { sessions, owners } = bench().stores()
      await sessions.ensure(key, { create: true, sessionType: 'chat' })
      await steps().write({ taskUid, attempt: 1 }, [stepOf('1')])
      await steps().write(first, [stepOf('1')])
      expect(await owners.taskUids(undefined, 10)).toEqual(['task-1'])
      await sessions.remove(key)
      expect(await list({ taskUid })).toEqual([])
      expect(await steps().lastAttempt(taskUid)).toBe(0)
    })

    it('are announced, and forgotten with their task', async () => {
      let calls = 0
      const end = steps().onAppend('task-1', () => {
        calls += 1
      })
      await steps().write(first, [stepOf('1')])
      await expect.poll(() => calls).toBeGreaterThan(0)
      end()
      await steps().removeTask('task-1')
      expect(await list()).toEqual([])
    })
  })
}
