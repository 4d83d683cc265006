// What every store of parkings does.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ParkWait } from '../../src/contract/api/tasks/parking.ts'
import { type OpenBench, useBench } from './record-bench.ts'

const until = '2030-01-01T00:00:00.000Z'
const forTasks: ParkWait = { kind: 'tasks', call: '1-a', tasks: [{ name: 'child', uid: 'child-uid' }], until }
const forTime: ParkWait = { kind: 'time', call: '2-b', what: 'a \u0000 and a lone \ud800', until }

export function describeParkings(name: string, open: OpenBench): void {
  describe(`parkings on ${name}`, () => {
    const bench = useBench(open, { beforeEach, afterEach })
    const parkings = () => bench().stores().parkings
    const first = { taskUid: 'task-1', attempt: 1 }

    it('gives back what exactly this attempt waits for', async () => {
      await parkings().park(first, [forTasks, forTime])
      expect(await parkings().get(first)).toEqual([forTasks, forTime])
      expect(await parkings().get({ ...first, attempt: 2 })).toBeUndefined()
      expect(await parkings().get({ taskUid: 'task-2', attempt: 1 })).toBeUndefined()
    })

    it('may be repeated, and a later attempt takes over', async () => {
      await parkings().park(first, [forTasks])
      await parkings().park(first, [forTime])
      expect(await parkings().get(first)).toEqual([forTime])
      await parkings().park({ ...first, attempt: 3 }, [forTasks])
      expect(await parkings().get(first)).toBeUndefined()
      expect(await parkings().get({ ...first, attempt: 3 })).toEqual([forTasks])
    })

    it('refuses an attempt that is over', async () => {
      await parkings().park({ ...first, attempt: 3 }, [forTasks])
      await expect(parkings().park({ ...first, attempt: 2 }, [forTime])).rejects.toMatchObject({ reason: 'Conflict' })
      expect(await parkings().get({ ...first, attempt: 3 })).toEqual([forTasks])
    })

    it('forgets a removed task', async () => {
      await parkings().park(first, [forTasks])
      await parkings().removeTask('task-1')
      expect(await parkings().get(first)).toBeUndefined()
    })
  })
}
