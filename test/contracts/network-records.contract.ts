// What every store of the hosts that programs reached does.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { HostRecord } from '../../src/ports/tasks/network-records.ts'
import { hardTexts, type OpenBench, useBench } from './record-bench.ts'

const host = (change: Partial<HostRecord> = {}): HostRecord => ({
  host: 'pypi.org',
  port: 443,
  connections: 1,
  refused: 0,
  unlisted: 0,
  sent: 10,
  received: 100,
  firstAt: '2030-01-01T00:00:01.000Z',
  lastAt: '2030-01-01T00:00:02.000Z',
  ...change,
})

export function describeNetworkRecords(name: string, open: OpenBench): void {
  describe(`hosts that programs reached on ${name}`, () => {
    const bench = useBench(open, { beforeEach, afterEach })
    const records = () => bench().stores().network
    const key = { taskUid: 'task-1', attempt: 1 }

    it('adds up what all writers add, and has the first and the last time of all', async () => {
      await records().add(key, [host(), host({ port: 80, connections: 3 })])
      await Promise.all([
        records().add(key, [host({ sent: 3e9, received: 5e12, lastAt: '2030-01-01T00:00:09.000Z' })]),
        records().add(key, [host({ firstAt: '2029-01-01T00:00:00.000Z', refused: 2, unlisted: 1, reason: 'no' })]),
      ])
      await bench().reopen()
      expect(await records().list({ taskUid: 'task-1' })).toEqual([
        { ...host({ port: 80, connections: 3 }), attempt: 1 },
        {
          ...host({ connections: 3, refused: 2, unlisted: 1, sent: 3e9 + 20, received: 5e12 + 200, reason: 'no' }),
          firstAt: '2029-01-01T00:00:00.000Z',
          lastAt: '2030-01-01T00:00:09.000Z',
          attempt: 1,
        },
      ])
    })

    it('lists attempts apart, and the last reason of a refusal, whatever text it is', async () => {
      for (const reason of hardTexts) await records().add(key, [host({ refused: 1, reason })])
      await records().add(key, [host()])
      await records().add({ ...key, attempt: 2 }, [host()])
      await records().add({ taskUid: 'task-2', attempt: 1 }, [host()])
      await records().add({ taskUid: 'task-2', attempt: 1 }, [])
      const attempts = (await records().list({ taskUid: 'task-1' })).map(({ attempt, reason }) => [attempt, reason])
      expect(attempts).toEqual([
        [1, hardTexts.at(-1)],
        [2, undefined],
      ])
      expect(await records().list({ taskUid: 'task-1', attempt: 2 })).toHaveLength(1)
      await records().removeTask('task-1')
      expect(await records().list({ taskUid: 'task-1' })).toEqual([])
      expect(await records().list({ taskUid: 'task-2' })).toHaveLength(1)
    })
  })
}
