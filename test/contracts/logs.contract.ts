// What every store of logs does.
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { LogLine, LogQuery } from '../../src/ports/tasks/outputs.ts'
import { collect, hardTexts, MEBIBYTE, type OpenBench, useBench } from './record-bench.ts'

export function describeLogs(name: string, open: OpenBench): void {
  describe(`logs on ${name}`, () => {
    const bench = useBench(open, { beforeEach, afterEach })
    const logs = () => bench().stores().logs
    const key = { taskUid: 'task-1', attempt: 1 }
    const number = (from: number, count: number) => Array.from({ length: count }, (_, index) => `line ${from + index}`)
    const readMarked = (query: LogQuery = {}, taskUid = 'task-1'): Promise<LogLine[]> =>
      collect(logs().read(taskUid, query))
    async function read(query?: LogQuery, taskUid?: string): Promise<LogLine[]> {
      return (await readMarked(query, taskUid)).map(({ seq, attempt, text }) => ({ seq, attempt, text }))
    }
    const readTexts = async (query?: LogQuery) => (await read(query)).map((line) => line.text)

    it('numbers lines from 1, over all attempts, each task apart', async () => {
      await logs().append(key, ['a', 'b'])
      await logs().append({ taskUid: 'task-2', attempt: 1 }, ['other'])
      await logs().append({ taskUid: 'task-1', attempt: 2 }, ['c'])
      expect(await read()).toEqual([
        { seq: 1, attempt: 1, text: 'a' },
        { seq: 2, attempt: 1, text: 'b' },
        { seq: 3, attempt: 2, text: 'c' },
      ])
      expect(await read({}, 'task-2')).toEqual([{ seq: 1, attempt: 1, text: 'other' }])
      expect(await read({}, 'task-3')).toEqual([])
    })

    it('reads after a number, or only the last lines', async () => {
      await logs().append(key, number(1, 50))
      await logs().append(key, [])
      expect(await readTexts({ afterSeq: 48 })).toEqual(['line 49', 'line 50'])
      expect(await readTexts({ afterSeq: 50 })).toEqual([])
      expect(await readTexts({ afterSeq: 500 })).toEqual([])
      expect(await readTexts({ tailLines: 3 })).toEqual(['line 48', 'line 49', 'line 50'])
      expect(await readTexts({ tailLines: 0 })).toEqual([])
      expect(await readTexts({ tailLines: 500 })).toHaveLength(50)
      expect(await readTexts({ afterSeq: 48, tailLines: 1 })).toEqual(['line 50'])
    })

    it('keeps time, stream and level of each line, and takes a line without them for output of now', async () => {
      await logs().append(key, ['plain', { text: 'noted', time: 1000, stream: 'stderr', level: 'warn' }], 'half')
      await logs().finishLine(key)
      await bench().reopen()
      const [plain, noted, half] = await readMarked()
      expect(noted).toEqual({ seq: 2, attempt: 1, text: 'noted', time: 1000, stream: 'stderr', level: 'warn' })
      const output = { attempt: 1, time: expect.any(Number), stream: 'stdout' }
      expect([plain, half]).toEqual([
        { seq: 1, text: 'plain', ...output },
        { seq: 3, text: 'half', ...output },
      ])
    })

    it('finds the lines of an attempt, a stream, a time and a level, and the last of these', async () => {
      const markOf = (at: number) => {
        if (at % 10 !== 0) return {}
        return { stream: 'stderr' as const, level: at % 20 === 0 ? ('warn' as const) : ('debug' as const) }
      }
      const write = (attempt: number, count: number) =>
        logs().append(
          { taskUid: 'task-1', attempt },
          Array.from({ length: count }, (_, at) => ({
            text: `${attempt}.${at} ${'x'.repeat(1000)}`,
            time: attempt * 1_000_000 + at,
            ...markOf(at),
          })),
        )
      for (const attempt of [1, 2, 3]) await write(attempt, 300)
      await bench().reopen()
      await write(2, 1)
      const find = async (query: LogQuery) => (await readTexts(query)).map((text) => text.split(' ')[0])
      expect((await find({ attempt: 2 })).length).toBe(301)
      expect(await find({ attempt: 2, tailLines: 2 })).toEqual(['2.299', '2.0'])
      expect(await find({ attempt: 1, tailLines: 2 })).toEqual(['1.298', '1.299'])
      expect(await find({ attempt: 1, tailLines: 0 })).toEqual([])
      expect(await find({ attempt: 4 })).toEqual([])
      expect((await find({ stream: 'stderr' })).length).toBe(91)
      expect(await find({ stream: 'stderr', attempt: 3, tailLines: 2 })).toEqual(['3.280', '3.290'])
      expect(await find({ stream: 'stderr', attempt: 3, level: 'warn', tailLines: 2 })).toEqual(['3.260', '3.280'])
      expect((await find({ attempt: 1, level: 'info' })).length).toBe(285)
      expect(await find({ since: new Date(3_000_298) })).toEqual(['3.298', '3.299'])
      expect(await find({ since: new Date(2_000_299), attempt: 2 })).toEqual(['2.299'])
      expect(await find({ afterSeq: 899, attempt: 3 })).toEqual(['3.299'])
      expect(await find({ afterSeq: 899, attempt: 3, tailLines: 5 })).toEqual(['3.299'])
    })

    it('keeps an unfinished line apart from the lines until it is complete', async () => {
      const unfinished = () => logs().unfinished('task-1')
      expect(await unfinished()).toBeUndefined()
      await logs().append(key, ['a'], 'b and\u0000\ud800')
      await logs().append({ taskUid: 'task-2', attempt: 1 }, [], 'other')
      expect(await unfinished()).toEqual({ attempt: 1, text: 'b and\u0000\ud800' })
      await logs().append(key, [], 'b and c')
      await logs().append(key, ['from elsewhere'])
      expect(await unfinished()).toEqual({ attempt: 1, text: 'b and c' })
      await logs().append(key, ['b and c, whole'], '')
      expect(await unfinished()).toBeUndefined()
      expect(await readTexts()).toEqual(['a', 'from elsewhere', 'b and c, whole'])
    })

    it('turns the unfinished line of an attempt into a line, once', async () => {
      const other = { taskUid: 'task-1', attempt: 2 }
      await logs().finishLine(key)
      await logs().append(key, ['a'], 'left in the mid')
      await logs().finishLine(key)
      await logs().finishLine(key)
      await logs().append(other, [], 'anew')
      await logs().finishLine(other)
      expect(await read()).toEqual([
        { seq: 1, attempt: 1, text: 'a' },
        { seq: 2, attempt: 1, text: 'left in the mid' },
        { seq: 3, attempt: 2, text: 'anew' },
      ])
      await logs().append(key, [], 'gone with the task')
      await logs().removeTask('task-1')
      expect(await logs().unfinished('task-1')).toBeUndefined()
    })

    it('leaves the unfinished line of a later attempt alone when an earlier attempt ends', async () => {
      const later = { taskUid: 'task-1', attempt: 2 }
      await logs().append(key, ['a'], 'left in the mid')
      await logs().append(later, [], 'still being writ')
      await logs().finishLine(key)
      expect(await logs().unfinished('task-1')).toEqual({ attempt: 2, text: 'still being writ' })
      await logs().finishLine(later)
      expect(await read()).toEqual([
        { seq: 1, attempt: 1, text: 'a' },
        { seq: 2, attempt: 2, text: 'still being writ' },
      ])
    })

    it('notifies followers of the unfinished line', async () => {
      let told = 0
      const stop = logs().onAppend('task-1', () => {
        told += 1
      })
      await logs().append(key, [], 'a')
      await expect.poll(() => told).toBe(1)
      await logs().append(key, [], 'a b')
      await expect.poll(() => told).toBe(2)
      stop()
    })

    it('goes on with its numbers after a restart', async () => {
      await logs().append(key, number(1, 3))
      await bench().reopen()
      await logs().append({ taskUid: 'task-1', attempt: 2 }, ['after'])
      expect((await read()).map((line) => [line.seq, line.attempt])).toEqual([
        [1, 1],
        [2, 1],
        [3, 1],
        [4, 2],
      ])
    })

    it('keeps every text as it is', async () => {
      await logs().append(key, [...hardTexts, '', ' ', '\r'])
      await bench().reopen()
      expect(await readTexts()).toEqual([...hardTexts, '', ' ', '\r'])
    })

    it('keeps any text as it is', async () => {
      const anyText = fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)) })
      let written: string[] = []
      await fc.assert(
        fc.asyncProperty(fc.array(anyText), async (lines) => {
          await logs().append(key, lines)
          written = [...written, ...lines]
          expect(await readTexts()).toEqual(written)
        }),
        { numRuns: 30 },
      )
    })

    it('cuts a line over 64 KiB and marks the cut, and leaves shorter lines whole', async () => {
      await logs().append(key, ['x'.repeat(65_536), 'y'.repeat(65_537), '😀'.repeat(100_000)])
      const [whole = '', cut = '', cutPairs = ''] = await readTexts()
      expect(whole).toBe('x'.repeat(65_536))
      expect(cut).toMatch(/^y+ \[cut: the line had 65537 bytes\]$/)
      expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(65_536)
      expect(cutPairs).toMatch(/^(😀)+ \[cut: the line had 400000 bytes\]$/u)
      expect(Buffer.byteLength(cutPairs)).toBeGreaterThan(65_000)
    })

    it('keeps about the last 10 MiB, with continuous numbers [TASK-050]', async () => {
      const line = 'z'.repeat(1023)
      for (let batch = 0; batch < 26; batch += 1) {
        await logs().append(
          key,
          Array.from({ length: 512 }, () => line),
        )
      }
      const kept = await read()
      expect(kept.length * 1024).toBeGreaterThanOrEqual(10 * MEBIBYTE)
      expect(kept.length * 1024).toBeLessThan(12 * MEBIBYTE)
      expect(kept.at(-1)?.seq).toBe(26 * 512)
      expect(kept[0]?.seq).toBe(26 * 512 - kept.length + 1)
      expect((await read({ tailLines: 1100 }))[0]?.seq).toBe(26 * 512 - 1099)
      expect((await read({ afterSeq: 26 * 512 - 1100 })).map((entry) => entry.seq)).toEqual(
        Array.from({ length: 1100 }, (_, index) => 26 * 512 - 1099 + index),
      )
      await bench().reopen()
      await logs().append(key, ['last'])
      expect((await read({ tailLines: 1 }))[0]).toEqual({ seq: 26 * 512 + 1, attempt: 1, text: 'last' })
    })

    it('accepts one huge append as a whole', async () => {
      const lines = Array.from({ length: 6000 }, (_, index) => `${index} ${'h'.repeat(1000)}`)
      await logs().append(key, lines)
      expect((await read()).map((line) => line.text)).toEqual(lines)
    })

    it('keeps the order of writers, numbers each line once, and loses none', async () => {
      const writers = Array.from({ length: 8 }, (_, writer) =>
        Array.from({ length: 20 }, (_, turn) => logs().append(key, [`${writer}:${turn}:a`, `${writer}:${turn}:b`])),
      )
      await Promise.all(writers.flat())
      const lines = await read()
      expect(lines.map((line) => line.seq)).toEqual(Array.from({ length: 320 }, (_, index) => index + 1))
      for (let writer = 0; writer < 8; writer += 1) {
        const own = lines.filter((line) => line.text.startsWith(`${writer}:`)).map((line) => line.text)
        expect(own).toEqual(
          Array.from({ length: 20 }, (_, turn) => [`${writer}:${turn}:a`, `${writer}:${turn}:b`]).flat(),
        )
      }
    })

    it('serves many tasks at once', async () => {
      const uids = Array.from({ length: 300 }, (_, index) => `many-${index}`)
      for (const text of ['one', 'two']) {
        await Promise.all(uids.map((taskUid) => logs().append({ taskUid, attempt: 1 }, [`${taskUid} ${text}`])))
      }
      for (const uid of uids) {
        expect((await read({}, uid)).map((line) => [line.seq, line.text])).toEqual([
          [1, `${uid} one`],
          [2, `${uid} two`],
        ])
      }
    })

    it('notifies followers of the task until they leave', async () => {
      let [mine, other] = [0, 0]
      const stop = logs().onAppend('task-1', () => {
        mine += 1
      })
      logs().onAppend('task-2', () => {
        other += 1
      })
      await logs().append(key, ['a'])
      expect([mine, other]).toEqual([1, 0])
      stop()
      stop()
      await logs().append(key, ['b'])
      expect([mine, other]).toEqual([1, 0])
    })

    it('lets a follower see every line once, in order, while others write', async () => {
      const seen: number[] = []
      let wake = () => {}
      logs().onAppend('task-1', () => wake())
      const writing = Promise.all(Array.from({ length: 50 }, (_, turn) => logs().append(key, number(turn, 7))))
      while (seen.length < 350) {
        const appended = new Promise<void>((resolve) => {
          wake = resolve
        })
        const lines = await read({ afterSeq: seen.at(-1) ?? 0 })
        seen.push(...lines.map((line) => line.seq))
        if (lines.length === 0) await appended
      }
      await writing
      expect(seen).toEqual(Array.from({ length: 350 }, (_, index) => index + 1))
    })

    it('says that the disk is full, keeps what was there, and goes on once there is room', async () => {
      await logs().append(key, ['before'])
      bench().faults.diskBytes = 3 * MEBIBYTE
      const large = Array.from({ length: 4096 }, () => 'f'.repeat(1023))
      await expect(logs().append(key, large)).rejects.toMatchObject({ reason: 'StorageFull' })
      expect(await readTexts()).toEqual(['before'])
      await bench().reopen()
      expect(await readTexts()).toEqual(['before'])
      bench().faults.diskBytes = undefined
      await logs().append(key, ['after'])
      expect((await read()).map((line) => [line.seq, line.text])).toEqual([
        [1, 'before'],
        [2, 'after'],
      ])
    })

    it('refuses a uid that contains a path', async () => {
      for (const taskUid of ['', '.', '..', '../x', 'a/b', 'a\0', 'a\\b']) {
        await expect(logs().append({ taskUid, attempt: 1 }, ['x'])).rejects.toMatchObject({ reason: 'InvalidRequest' })
        await expect(read({}, taskUid)).rejects.toMatchObject({ reason: 'InvalidRequest' })
      }
    })

    it('removes all of a task and nothing of another', async () => {
      await logs().append(key, number(1, 10))
      await logs().append({ taskUid: 'task-2', attempt: 1 }, ['other'])
      await logs().removeTask('task-1')
      await logs().removeTask('task-1')
      expect(await read()).toEqual([])
      expect(await read({}, 'task-2')).toHaveLength(1)
      await logs().append(key, ['again'])
      expect(await read()).toEqual([{ seq: 1, attempt: 1, text: 'again' }])
    })
  })
}
