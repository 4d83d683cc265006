// What every store of artifacts does.

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { innerPaths, unplainPaths } from '../fixtures/inner-paths.ts'
import { MEBIBYTE, makeBody, type OpenBench, readText, textBody, useBench } from './record-bench.ts'

export function describeArtifacts(name: string, open: OpenBench): void {
  describe(`artifacts on ${name}`, () => {
    const bench = useBench(open, { beforeEach, afterEach })
    const artifacts = () => bench().stores().artifacts
    const key = { taskUid: 'task-1', attempt: 1 }
    const putText = (filename: string, text = 'x', attempt = 1) =>
      artifacts().put({ taskUid: 'task-1', attempt }, { filename, contentType: 'text/plain', body: textBody(text) })
    const putBytes = (filename: string, size: number, taskUid = 'task-1') =>
      artifacts().put(
        { taskUid, attempt: 1 },
        { filename, contentType: 'application/octet-stream', body: makeBody(size).body },
      )

    it('gives back the file with its type and size', async () => {
      const info = await putText('report.txt', 'all is well')
      expect(info).toEqual({
        ...key,
        filename: 'report.txt',
        contentType: 'text/plain',
        size: 11,
        createdAt: bench().now().toISOString(),
      })
      const found = await artifacts().open('task-1', 'report.txt')
      expect(found?.info).toEqual(info)
      expect(await readText(found)).toBe('all is well')
      expect(await artifacts().open('task-1', 'other.txt')).toBeUndefined()
      expect(await artifacts().open('task-2', 'report.txt')).toBeUndefined()
    })

    it('lists by name in bytewise order, where case counts', async () => {
      for (const filename of ['b', 'a', 'B', 'é', 'a b', 'Z.txt', '1', '\u{1f600}', '\uffee']) await putText(filename)
      const names = (await artifacts().list('task-1')).map((info) => info.filename)
      expect(names).toEqual(['1', 'B', 'Z.txt', 'a', 'a b', 'b', 'é', '\uffee', '\u{1f600}'])
      expect(await artifacts().list('task-2')).toEqual([])
    })

    it('lets a file be replaced under its name', async () => {
      await putBytes('data', MEBIBYTE)
      await putText('data', 'new')
      expect(await artifacts().list('task-1')).toHaveLength(1)
      expect(await readText(await artifacts().open('task-1', 'data'))).toBe('new')
      expect(await bench().countBodies()).toBe(0)
    })

    it('lists the newest attempt’s file of each name, and ignores writes of an attempt that is over [TASK-044]', async () => {
      await putText('both', 'one', 1)
      await putText('first only', 'one', 1)
      await putText('both', 'two', 2)
      await expect(putText('both', 'late', 1)).rejects.toMatchObject({ reason: 'Conflict' })
      const list = await artifacts().list('task-1')
      expect(list.map(({ filename, attempt }) => [filename, attempt])).toEqual([
        ['both', 2],
        ['first only', 1],
      ])
      expect(await readText(await artifacts().open('task-1', 'both'))).toBe('two')
    })

    it('refuses names that are not plain file names', async () => {
      const bad = [...unplainPaths, '\x7f', '\x85', '\ud800', 'é'.repeat(128)]
      for (const filename of bad) {
        await expect(putText(filename)).rejects.toMatchObject({ reason: 'InvalidRequest' })
      }
      expect(await artifacts().list('task-1')).toEqual([])
    })

    it('takes names of up to 255 bytes with any other character', async () => {
      const good = [
        'é'.repeat(127),
        'x'.repeat(255),
        ...innerPaths,
        '~',
        'a b%2F',
        'src/main.py',
        '-rf',
        'CON',
        "it's",
        '世界.md',
      ]
      for (const filename of good) {
        await putText(filename, filename)
        expect(await readText(await artifacts().open('task-1', filename))).toBe(filename)
      }
    })

    it('keeps an empty file', async () => {
      await putText('empty', '')
      expect(await readText(await artifacts().open('task-1', 'empty'))).toBe('')
      expect(await artifacts().list('task-1')).toMatchObject([{ filename: 'empty', size: 0 }])
    })

    it('refuses a file over 10 MiB without reading the rest [TASK-059] [TASK-061]', async () => {
      expect((await putBytes('whole', 10 * MEBIBYTE)).size).toBe(10 * MEBIBYTE)
      const large = makeBody(30 * MEBIBYTE)
      const refused = artifacts().put(key, { filename: 'large', contentType: 'x/y', body: large.body })
      await expect(refused).rejects.toMatchObject({ reason: 'TooLarge', status: 413 })
      expect(large.taken()).toBeLessThan(11 * MEBIBYTE)
      expect((await artifacts().list('task-1')).map((info) => info.filename)).toEqual(['whole'])
    })

    it('refuses more than 50 MiB per task, counting a replaced file once and each task apart [TASK-060]', async () => {
      for (const filename of ['a', 'b', 'c', 'd', 'e']) await putBytes(filename, 10 * MEBIBYTE)
      await expect(putBytes('f', 1)).rejects.toMatchObject({ reason: 'TooLarge', status: 413 })
      await putBytes('a', 10 * MEBIBYTE - 1)
      await putBytes('f', 1)
      await expect(putBytes('g', 1)).rejects.toMatchObject({ reason: 'TooLarge', status: 413 })
      await putBytes('g', 1, 'task-2')
      expect(await artifacts().list('task-1')).toHaveLength(6)
    })

    it('does not let uploads at the same time pass 50 MiB together [TASK-060]', async () => {
      const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
      const outcomes = await Promise.allSettled(names.map((filename) => putBytes(filename, 9 * MEBIBYTE)))
      const refused = outcomes.filter((outcome) => outcome.status === 'rejected')
      expect(refused).toHaveLength(2)
      for (const outcome of refused) expect(outcome.reason).toMatchObject({ reason: 'TooLarge', status: 413 })
      const sizes = (await artifacts().list('task-1')).map((info) => info.size)
      expect(sizes).toEqual(Array(5).fill(9 * MEBIBYTE))
    })

    it('says that the disk is full, keeps the earlier file, and goes on once there is room', async () => {
      await putText('data', 'earlier')
      bench().faults.diskBytes = MEBIBYTE
      await expect(putBytes('data', 2 * MEBIBYTE)).rejects.toMatchObject({ reason: 'StorageFull' })
      expect(await readText(await artifacts().open('task-1', 'data'))).toBe('earlier')
      expect(await bench().countBodies()).toBe(0)
      bench().faults.diskBytes = undefined
      expect((await putBytes('data', 2 * MEBIBYTE)).size).toBe(2 * MEBIBYTE)
    })

    it('survives a restart, and a sweep keeps every file that has a row', async () => {
      await putBytes('large', MEBIBYTE)
      await putText('small', 'text')
      await bench().reopen()
      expect(await bench().stores().sweepOrphans()).toBe(0)
      expect((await readText(await artifacts().open('task-1', 'large')))?.length).toBe(MEBIBYTE)
      expect(await readText(await artifacts().open('task-1', 'small'))).toBe('text')
    })

    it('removes all files of a task and none of another, and frees its 50 MiB', async () => {
      for (const filename of ['a', 'b', 'c', 'd', 'e']) await putBytes(filename, 10 * MEBIBYTE)
      await putBytes('mine', 1, 'task-2')
      await artifacts().removeTask('task-1')
      await artifacts().removeTask('task-1')
      expect(await artifacts().list('task-1')).toEqual([])
      expect(await artifacts().list('task-2')).toHaveLength(1)
      expect(await bench().countBodies()).toBe(0)
      await putBytes('f', 10 * MEBIBYTE)
    })
  })
}
