// What every store of the ends of attempts does.
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ParkWait } from '../../src/contract/api/tasks/parking.ts'
import { type OpenBench, useBench } from './record-bench.ts'

const wait: ParkWait = { kind: 'time', call: '1-a', what: 'tea', until: '2030-01-01T00:00:00.000Z' }
const attempt = { taskUid: 'task-1', attempt: 2, namespace: 'default' }
const call = {
  id: 'task-1:2-1',
  namespace: 'default',
  provider: 'main',
  model: 'm',
  taskUid: 'task-1',
  taskName: 'a-task',
  inputTokens: 5,
  outputTokens: 1,
  cachedTokens: 0,
  demo: false,
  createdAt: '2026-01-01T00:00:00.000Z',
}

export function describeAttemptEnds(name: string, open: OpenBench): void {
  describe(`ends of attempts on ${name}`, () => {
    const bench = useBench(open, { beforeEach, afterEach })
    const stores = () => bench().stores()
    const readResult = async () => {
      const found = await stores().results.get('task-1')
      return found && { text: await text(found.open()), attempt: found.info.attempt }
    }

    it('keep all that comes with them, however often they are said', async () => {
      for (const result of ['All is well.', 'All is well.', 'x'.repeat(60_000)]) {
        await stores().ends.store({ ...attempt, result, usage: [call] })
        expect(await readResult()).toEqual({ text: result, attempt: 2 })
      }
      expect(await stores().usage.ofTask('task-1')).toMatchObject({ inputTokens: 5, llmCalls: 1 })
      await stores().ends.store({ ...attempt, usage: [{ ...call, id: 'task-1:2-2' }], waits: [wait] })
      expect(await stores().parkings.get(attempt)).toEqual([wait])
      expect(await stores().usage.ofTask('task-1')).toMatchObject({ inputTokens: 10, llmCalls: 2 })
      expect((await readResult())?.text).toHaveLength(60_000)
    })

    it('keep nothing where one part cannot be kept', async () => {
      await stores().parkings.park({ ...attempt, attempt: 3 }, [wait])
      const whole = { ...attempt, result: 'lost', usage: [call], waits: [wait] }
      await expect(stores().ends.store(whole)).rejects.toMatchObject({ reason: 'Conflict' })
      expect([await readResult(), (await stores().usage.ofTask('task-1'))?.llmCalls ?? 0]).toEqual([undefined, 0])
    })
  })
}
