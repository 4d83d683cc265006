// What every store of checkpoints does.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { waitFor } from '../fixtures/time.ts'
import { hardTexts, MEBIBYTE, type OpenBench, useBench } from './record-bench.ts'

export function describeCheckpoints(name: string, open: OpenBench): void {
  describe(`checkpoints on ${name}`, () => {
    const bench = useBench(open, { beforeEach, afterEach })
    const checkpoints = () => bench().stores().checkpoints
    const append = (attempt: number, number: number, change: string) =>
      checkpoints().append({ taskUid: 'task-1', attempt }, number, change)
    const save = (attempt: number, state: string) => checkpoints().save({ taskUid: 'task-1', attempt }, state)

    it('returns the state that was saved last', async () => {
      expect(await checkpoints().load('task-1')).toBeUndefined()
      await save(1, '{"turn":1}')
      await save(1, '{"turn":2}')
      expect(await checkpoints().load('task-1')).toEqual({ attempt: 1, state: '{"turn":2}', changes: [] })
      expect(await checkpoints().load('task-2')).toBeUndefined()
    })

    it('keeps the newest attempt’s state, and answers Conflict to an attempt that is over [TASK-044]', async () => {
      await save(1, '"one"')
      await save(2, '"two"')
      await expect(save(1, '"late"')).rejects.toMatchObject({ reason: 'Conflict' })
      expect(await checkpoints().load('task-1')).toEqual({ attempt: 2, state: '"two"', changes: [] })
      await Promise.allSettled([3, 5, 4].map((attempt) => save(attempt, `"${attempt}"`)))
      expect(await checkpoints().load('task-1')).toEqual({ attempt: 5, state: '"5"', changes: [] })
    })

    it('appends changes in order, each number once, until the whole state is saved again', async () => {
      await save(1, '"one"')
      await append(1, 1, '{"a":1}')
      await append(1, 2, '{"b":2}')
      await append(1, 1, 'again')
      await append(1, 2, 'again')
      expect(await checkpoints().load('task-1')).toEqual({
        attempt: 1,
        state: '"one"',
        changes: ['{"a":1}', '{"b":2}'],
      })
      await bench().reopen()
      await append(1, 3, '{"c":3}')
      expect((await checkpoints().load('task-1'))?.changes).toHaveLength(3)
      await save(1, '"two"')
      expect(await checkpoints().load('task-1')).toEqual({ attempt: 1, state: '"two"', changes: [] })
      for (const text of hardTexts.filter((hard) => hard !== '')) {
        await save(1, '"three"')
        await append(1, 1, text)
        expect((await checkpoints().load('task-1'))?.changes).toEqual([text])
      }
    })

    it('refuses a change whose predecessor is missing, or that belongs to another attempt', async () => {
      await expect(append(1, 1, '{}')).rejects.toMatchObject({ reason: 'Conflict' })
      await save(1, '"one"')
      await expect(append(1, 2, '{}')).rejects.toMatchObject({ reason: 'Conflict' })
      await expect(append(2, 1, '{}')).rejects.toMatchObject({ reason: 'Conflict' })
      await save(2, '"two"')
      await expect(append(1, 1, '{}')).rejects.toMatchObject({ reason: 'Conflict' })
      await expect(append(2, 1, '')).rejects.toMatchObject({ reason: 'InvalidRequest' })
      await expect(append(2, 1, 'é'.repeat(MEBIBYTE))).rejects.toMatchObject({ reason: 'TooLarge' })
      expect(await checkpoints().load('task-1')).toEqual({ attempt: 2, state: '"two"', changes: [] })
    })

    it('appends each change once when copies arrive together', async () => {
      await save(1, '"one"')
      await Promise.all(Array.from({ length: 8 }, () => append(1, 1, '{"a":1}')))
      expect((await checkpoints().load('task-1'))?.changes).toEqual(['{"a":1}'])
    })

    it('keeps any text as it is, small or large', async () => {
      for (const text of hardTexts) {
        for (const state of [text, text + 'é'.repeat(MEBIBYTE)]) {
          await save(1, state)
          const loaded = await checkpoints().load('task-1')
          expect(loaded?.state === state).toBe(true)
        }
      }
    })

    it('accepts 10 MiB and refuses more, keeping the earlier state', async () => {
      await save(1, 'x'.repeat(10 * MEBIBYTE))
      await expect(save(1, 'y'.repeat(10 * MEBIBYTE + 1))).rejects.toMatchObject({ reason: 'TooLarge', status: 413 })
      expect((await checkpoints().load('task-1'))?.state.slice(0, 3)).toBe('xxx')
      await expect(save(1, '')).rejects.toMatchObject({ reason: 'InvalidRequest' })
    })

    it('keeps the earlier state when the disk is full, or when the process dies before the row is written', async () => {
      await save(1, 'earlier')
      bench().faults.diskBytes = 1000
      await expect(save(1, 'x'.repeat(MEBIBYTE))).rejects.toMatchObject({ reason: 'StorageFull' })
      bench().faults.diskBytes = undefined
      bench().faults.writes = 'fail'
      await expect(save(1, 'x'.repeat(MEBIBYTE))).rejects.toThrow('the process died')
      await bench().reopen()
      expect(await checkpoints().load('task-1')).toEqual({ attempt: 1, state: 'earlier', changes: [] })
      expect(await bench().countBodies()).toBe(0)
    })

    it('can be loaded while it is saved repeatedly', async () => {
      const states = Array.from({ length: 20 }, (_, turn) => String(turn % 10).repeat(100_000))
      await save(1, states[0] ?? '')
      const saving = states.reduce((before, state) => before.then(() => save(1, state)), Promise.resolve())
      for (let reads = 0; reads < 20; reads += 1) {
        const loaded = await checkpoints().load('task-1')
        expect(new Set(loaded?.state).size).toBe(1)
        expect(loaded?.state.length).toBe(100_000)
      }
      await saving
      // What was replaced while it was read goes when the reader has let go of it.
      await waitFor(async () => (await bench().countBodies()) <= 1, 'the bodies that were replaced to go')
    })

    it('returns a state with its own changes only, while both are written repeatedly', async () => {
      await save(1, '0')
      const write = async (turn: number) => {
        await save(1, String(turn))
        for (let number = 1; number <= 3; number += 1) await append(1, number, String(turn))
      }
      const saving = Array.from({ length: 20 }, (_, at) => at + 1).reduce(
        (before, turn) => before.then(() => write(turn)),
        Promise.resolve(),
      )
      for (let reads = 0; reads < 40; reads += 1) {
        const loaded = await checkpoints().load('task-1')
        for (const change of loaded?.changes ?? []) expect(change).toBe(loaded?.state)
        await new Promise((resolve) => setImmediate(resolve))
      }
      await saving
    })

    it('survives a restart and a sweep', async () => {
      await save(1, 'x'.repeat(MEBIBYTE))
      await bench().reopen()
      expect(await bench().stores().sweepOrphans()).toBe(0)
      expect((await checkpoints().load('task-1'))?.state.length).toBe(MEBIBYTE)
    })

    it('removes the state of one task and of no other', async () => {
      await save(1, 'x'.repeat(MEBIBYTE))
      await checkpoints().save({ taskUid: 'task-2', attempt: 1 }, 'other')
      await append(1, 1, '{"a":1}')
      await checkpoints().removeTask('task-1')
      await checkpoints().removeTask('task-1')
      expect(await checkpoints().load('task-1')).toBeUndefined()
      expect((await checkpoints().load('task-2'))?.state).toBe('other')
      expect(await bench().countBodies()).toBe(0)
      await save(1, 'again')
    })
  })
}
