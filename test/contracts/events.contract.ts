// What every store of timeline events does.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SvcError } from '../../src/errors.ts'
import { hardTexts, type OpenBench, useBench } from './record-bench.ts'

export function describeEvents(name: string, open: OpenBench): void {
  describe(`events on ${name}`, () => {
    const bench = useBench(open, { beforeEach, afterEach })
    const events = () => bench().stores().events
    const draft = (message: string, taskUid = 'task-1') => ({
      taskUid,
      attempt: 1,
      namespace: 'default',
      taskName: 'research',
      type: 'PhaseChanged',
      phase: 'Running',
      reason: 'Started',
      message,
    })
    const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

    it('numbers the events of each task from 1 and returns every field', async () => {
      const first = await events().append(draft('a'))
      expect(first).toEqual({ ...draft('a'), seq: 1, createdAt: bench().now().toISOString() })
      await events().append(draft('other', 'task-2'))
      const { phase: _phase, reason: _reason, ...bare } = draft('b')
      const second = await events().append(bare)
      expect(second).toEqual({ ...bare, seq: 2, createdAt: bench().now().toISOString() })
      expect(await events().list({ taskUid: 'task-1' })).toEqual([first, second])
      expect(await events().list({ taskUid: 'task-3' })).toEqual([])
    })

    it('stores an event once when it is appended again after a crash, and leaves no gap', async () => {
      const first = await events().append(draft('done'))
      expect(await events().append(draft('done'))).toEqual(first)
      expect((await events().append({ ...draft('done'), attempt: 2 })).seq).toBe(2)
      expect((await events().append(draft('done'))).seq).toBe(3)
      expect(await events().list({ taskUid: 'task-1' })).toHaveLength(3)
    })

    it('adds nothing that is not admitted, and leaves no gap for it', async () => {
      await events().append(draft('a'))
      const refuse = () => {
        throw new SvcError('Unavailable', 'this replica does not lead any more')
      }
      await expect(events().append(draft('late'), refuse)).rejects.toMatchObject({ reason: 'Unavailable' })
      expect((await events().append(draft('b'), () => undefined)).seq).toBe(2)
      expect((await events().list({ taskUid: 'task-1' })).map(({ message }) => message)).toEqual(['a', 'b'])
    })

    it('lists events after a number, page by page', async () => {
      for (const number of upTo(10)) await events().append(draft(`event ${number}`))
      const seqs = async (afterSeq: number, limit?: number) =>
        (await events().list({ taskUid: 'task-1', afterSeq, ...(limit === undefined ? {} : { limit }) })).map(
          (e) => e.seq,
        )
      expect(await seqs(7)).toEqual([8, 9, 10])
      expect(await seqs(2, 3)).toEqual([3, 4, 5])
      expect(await seqs(10)).toEqual([])
    })

    it('leaves no gap and uses no number twice when many append at once', async () => {
      const appended = await Promise.all(upTo(200).map((number) => events().append(draft(`event ${number}`))))
      expect(appended.map((event) => event.seq).sort((a, b) => a - b)).toEqual(upTo(200))
      expect((await events().list({ taskUid: 'task-1' })).map((event) => event.seq)).toEqual(upTo(200))
    })

    it('adds several at once, and none beyond the number that a task may have', async () => {
      await events().append(draft('a'))
      const more = ['b', 'c', 'd'].map((message) => draft(message))
      const added = await events().appendAll(more, 3)
      expect(added.map(({ seq, message }) => [seq, message])).toEqual([
        [2, 'b'],
        [3, 'c'],
      ])
      expect(await events().appendAll(more, 3)).toEqual([])
      expect(await events().appendAll([], 3)).toEqual([])
      expect((await events().append(draft('e'))).seq).toBe(4)
      const stored = await events().list({ taskUid: 'task-1' })
      expect(stored.map(({ message }) => message)).toEqual(['a', 'b', 'c', 'e'])
      expect(stored.slice(1, 3)).toEqual(added)
    })

    it('never lets a cursor skip an event that becomes visible late', async () => {
      const seen: number[] = []
      const tasks = upTo(5).map((number) => `noise-${number}`)
      const writing = Promise.all(
        upTo(100).flatMap((number) => [
          events().append(draft(`event ${number}`)),
          ...tasks.map((taskUid) => events().append(draft('noise', taskUid))),
        ]),
      )
      while (seen.length < 100) {
        const page = await events().list({ taskUid: 'task-1', afterSeq: seen.at(-1) ?? 0, limit: 7 })
        seen.push(...page.map((event) => event.seq))
        if (page.length === 0) await new Promise(setImmediate)
      }
      await writing
      expect(seen).toEqual(upTo(100))
    })

    it('uses no number for an event that was not stored', async () => {
      await events().append(draft('a'))
      bench().faults.writes = 'fail'
      await expect(events().append(draft('lost'))).rejects.toThrow('the process died')
      bench().faults.writes = 'work'
      expect((await events().append(draft('b'))).seq).toBe(2)
    })

    it('notifies followers once an event can be read, until they leave', async () => {
      const seen: Promise<number>[] = []
      const stop = events().onAppend('task-1', () => {
        seen.push(
          events()
            .list({ taskUid: 'task-1' })
            .then((list) => list.length),
        )
      })
      await events().append(draft('a'))
      await events().append(draft('other', 'task-2'))
      expect(await Promise.all(seen)).toEqual([1])
      stop()
      await events().append(draft('b'))
      expect(seen).toHaveLength(1)
    })

    it('keeps any text as it is', async () => {
      for (const text of hardTexts) {
        const event = await events().append({ ...draft(text), reason: text, type: text })
        const [stored] = await events().list({ taskUid: 'task-1', afterSeq: event.seq - 1 })
        expect(stored).toEqual(event)
      }
    })

    it('goes on with its numbers after a restart and after a sweep', async () => {
      for (const number of upTo(3)) await events().append(draft(`event ${number}`))
      bench().advance(60_000)
      await bench().reopen()
      expect((await events().append(draft('later'))).seq).toBe(4)
      expect(await events().sweep(bench().now())).toBe(3)
      expect(await events().sweep(bench().now())).toBe(0)
      expect((await events().list({ taskUid: 'task-1' })).map((event) => event.seq)).toEqual([4])
      bench().advance(60_000)
      expect(await events().sweep(bench().now())).toBe(1)
      expect((await events().append(draft('last'))).seq).toBe(5)
    })

    it('removes all of a task and nothing of another', async () => {
      await events().append(draft('a'))
      await events().append(draft('other', 'task-2'))
      await events().removeTask('task-1')
      await events().removeTask('task-1')
      expect(await events().list({ taskUid: 'task-1' })).toEqual([])
      expect(await events().list({ taskUid: 'task-2' })).toHaveLength(1)
    })
  })
}
