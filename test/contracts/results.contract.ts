// What every store of results does.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { waitFor } from '../fixtures/time.ts'
import {
  brokenBody,
  hardTexts,
  MEBIBYTE,
  makeBody,
  type OpenBench,
  readText,
  textBody,
  useBench,
} from './record-bench.ts'

export function describeResults(name: string, open: OpenBench): void {
  describe(`results on ${name}`, () => {
    const bench = useBench(open, { beforeEach, afterEach })
    const results = () => bench().stores().results
    const key = { taskUid: 'task-1', attempt: 1 }

    it('gives back the bytes, their type and size', async () => {
      const info = await results().put(key, textBody('{"answer":42}'), 'application/json')
      expect(info).toEqual({
        ...key,
        size: 13,
        contentType: 'application/json',
        createdAt: bench().now().toISOString(),
      })
      const found = await results().get('task-1')
      expect(found?.info).toEqual(info)
      expect(await readText(found)).toBe('{"answer":42}')
    })

    it('keeps any bytes as they are, small or large', async () => {
      for (const size of [1, 16 * 1024, 16 * 1024 + 1, 3 * MEBIBYTE]) {
        await results().put(key, makeBody(size, 0x00).body, 'application/octet-stream')
        const found = await results().get('task-1', 1)
        expect(found?.info.size).toBe(size)
        expect((await readText(found))?.length).toBe(size)
      }
    })

    it('keeps one result per attempt and returns the newest when no attempt is named [TASK-044]', async () => {
      await results().put({ taskUid: 'task-1', attempt: 2 }, textBody('second'), 'text/plain')
      await results().put(key, textBody('first'), 'text/plain')
      await results().put({ taskUid: 'task-2', attempt: 9 }, textBody('another task'), 'text/plain')
      expect(await readText(await results().get('task-1'))).toBe('second')
      expect(await readText(await results().get('task-1', 1))).toBe('first')
      expect(await results().get('task-1', 3)).toBeUndefined()
      expect(await results().get('task-3')).toBeUndefined()
    })

    it('replaces the result of an attempt and leaves nothing of the earlier one', async () => {
      await results().put(key, makeBody(MEBIBYTE).body, 'text/plain')
      await results().put(key, makeBody(2 * MEBIBYTE).body, 'text/html')
      expect((await results().get('task-1'))?.info).toMatchObject({ size: 2 * MEBIBYTE, contentType: 'text/html' })
      expect(await bench().countBodies()).toBeLessThanOrEqual(1)
    })

    it('accepts 10 MiB and refuses one byte more without reading the rest [TASK-058] [TASK-061]', async () => {
      expect((await results().put(key, makeBody(10 * MEBIBYTE).body, 'text/plain')).size).toBe(10 * MEBIBYTE)
      const large = makeBody(40 * MEBIBYTE)
      const refused = results().put({ taskUid: 'task-2', attempt: 1 }, large.body, 'text/plain')
      await expect(refused).rejects.toMatchObject({ reason: 'TooLarge', status: 413 })
      expect(large.taken()).toBeLessThan(11 * MEBIBYTE)
      expect(large.body.destroyed).toBe(false)
      expect(await results().get('task-2')).toBeUndefined()
      expect(await bench().countBodies()).toBeLessThanOrEqual(1)
    })

    it('refuses an empty body', async () => {
      await expect(results().put(key, textBody(''), 'text/plain')).rejects.toMatchObject({ reason: 'InvalidRequest' })
      expect(await results().get('task-1')).toBeUndefined()
    })

    it('keeps the earlier result when a new body breaks off', async () => {
      await results().put(key, textBody('whole'), 'text/plain')
      for (const size of [10, 2 * MEBIBYTE]) {
        const broken = results().put(key, brokenBody(size), 'text/plain')
        await expect(broken).rejects.toMatchObject({ reason: 'ClientClosed' })
      }
      expect(await readText(await results().get('task-1'))).toBe('whole')
      expect(await bench().countBodies()).toBe(0)
    })

    it('says that the disk is full, keeps the earlier result, and goes on once there is room', async () => {
      await results().put(key, makeBody(MEBIBYTE, 0x31).body, 'text/plain')
      const before = await bench().countBodies()
      bench().faults.diskBytes = 2 * MEBIBYTE
      const refused = results().put(key, makeBody(3 * MEBIBYTE, 0x32).body, 'text/plain')
      await expect(refused).rejects.toMatchObject({ reason: 'StorageFull' })
      expect(await readText(await results().get('task-1'))).toBe('1'.repeat(MEBIBYTE))
      expect(await bench().countBodies()).toBe(before)
      bench().faults.diskBytes = undefined
      await results().put(key, makeBody(3 * MEBIBYTE, 0x32).body, 'text/plain')
      expect((await results().get('task-1'))?.info.size).toBe(3 * MEBIBYTE)
    })

    it('leaves nothing when the row cannot be written', async () => {
      bench().faults.writes = 'fail'
      await expect(results().put(key, makeBody(MEBIBYTE).body, 'text/plain')).rejects.toThrow('the process died')
      expect(await bench().countBodies()).toBe(0)
    })

    it('sweeps a body whose row was never written because of a crash, and nothing else', async () => {
      await results().put(key, makeBody(MEBIBYTE, 0x31).body, 'text/plain')
      const before = await bench().countBodies()
      bench().faults.writes = 'hang'
      void results().put({ taskUid: 'task-2', attempt: 1 }, makeBody(MEBIBYTE, 0x32).body, 'text/plain')
      await waitFor(() => bench().faults.hanging === 1, 'the second body waits for its row')
      expect(await bench().countBodies()).toBe(before + 1)
      expect(await bench().stores().sweepOrphans()).toBe(0)
      await bench().reopen()
      expect(await bench().stores().sweepOrphans()).toBe(1)
      expect(await bench().countBodies()).toBe(before)
      expect(await results().get('task-2')).toBeUndefined()
      expect(await readText(await results().get('task-1'))).toBe('1'.repeat(MEBIBYTE))
    })

    it('keeps one whole result when two are stored at once', async () => {
      const put = (fill: number) => results().put(key, makeBody(MEBIBYTE, fill).body, 'text/plain')
      await Promise.all([put(0x31), put(0x32), put(0x33)])
      const text = (await readText(await results().get('task-1'))) ?? ''
      expect(text.length).toBe(MEBIBYTE)
      expect(new Set(text).size).toBe(1)
      expect(await bench().countBodies()).toBeLessThanOrEqual(1)
    })

    it('survives a restart', async () => {
      await results().put(key, makeBody(MEBIBYTE).body, 'text/plain')
      await results().put({ taskUid: 'task-1', attempt: 2 }, textBody('small'), 'text/plain')
      await bench().reopen()
      expect((await results().get('task-1', 1))?.info.size).toBe(MEBIBYTE)
      expect(await readText(await results().get('task-1', 2))).toBe('small')
    })

    it('removes all results of a task and none of another', async () => {
      await results().put(key, makeBody(MEBIBYTE).body, 'text/plain')
      await results().put({ taskUid: 'task-1', attempt: 2 }, textBody('two'), 'text/plain')
      await results().put({ taskUid: 'task-2', attempt: 1 }, textBody('other'), 'text/plain')
      await results().removeTask('task-1')
      await results().removeTask('task-1')
      expect(await results().get('task-1')).toBeUndefined()
      expect(await readText(await results().get('task-2'))).toBe('other')
      expect(await bench().countBodies()).toBe(0)
    })

    it('lets a reader finish when the result is replaced meanwhile', async () => {
      await results().put(key, makeBody(2 * MEBIBYTE, 0x31).body, 'text/plain')
      const opened = (await results().get('task-1'))?.open()
      await results().put(key, makeBody(2 * MEBIBYTE, 0x32).body, 'text/plain')
      expect(await readText(opened === undefined ? undefined : { open: () => opened })).toBe('1'.repeat(2 * MEBIBYTE))
    })

    it('keeps any content type', async () => {
      for (const contentType of hardTexts) {
        await results().put(key, textBody('x'), contentType)
        expect((await results().get('task-1'))?.info.contentType).toBe(contentType)
      }
    })
  })
}
