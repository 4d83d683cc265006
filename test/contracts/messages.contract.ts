// What every store of messages between tasks does.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { AgentMessage } from '../../src/contract/api/tasks/task-records.ts'
import type { Correspondent } from '../../src/ports/coordination/coordination.ts'
import { hardTexts, type OpenBench, useBench } from './record-bench.ts'

const contentsOf = (found: AgentMessage[]) => found.map(({ content }) => content)

export function describeMessages(name: string, open: OpenBench): void {
  describe(`messages on ${name}`, () => {
    const bench = useBench(open, { beforeEach, afterEach })
    const messages = () => bench().stores().messages
    const task = (name: string) => ({ uid: `uid-of-${name}`, name })
    const send = (from: string, to: string, content: string, parent = 'boss') =>
      messages().send({
        namespace: 'default',
        from: task(from),
        to: to === '*' ? '*' : task(to),
        parent: task(parent),
        content,
      })
    const look = async (reader: string, markRead: boolean, parent = 'boss') =>
      contentsOf(
        await messages().unread({ namespace: 'default', reader: task(reader), parent: task(parent), markRead }),
      )

    it('returns every field, with rising ids, and marks a message as read when it is asked for [MSG-008]', async () => {
      const first = await send('a', 'b', 'hello')
      expect(first).toEqual({
        id: first.id,
        namespace: 'default',
        fromTask: 'a',
        toTask: 'b',
        parentTask: 'boss',
        content: 'hello',
        read: false,
        createdAt: bench().now().toISOString(),
      })
      expect(Number.isInteger(first.id)).toBe(true)
      const second = await send('a', 'b', 'again')
      expect(second.id).toBeGreaterThan(first.id)
      const query = { namespace: 'default', reader: task('b'), parent: task('boss') }
      expect(await messages().unread({ ...query, markRead: false })).toEqual([first, second])
      const read = [first, second].map((message) => ({ ...message, read: true }))
      expect(await messages().unread({ ...query, markRead: true })).toEqual(read)
    })

    it('counts what a task has sent, to one or to all, and not what it was sent', async () => {
      await send('a', 'b', 'one')
      await send('a', '*', 'two')
      await send('b', 'a', 'three')
      const counts = ['a', 'b', 'c'].map((one) => messages().countSent(task(one).uid))
      expect(await Promise.all(counts)).toEqual([2, 1, 0])
      await messages().removeTask(task('a').uid)
      expect(await messages().countSent(task('a').uid)).toBe(0)
    })

    it('shows a direct message to its receiver only, until it is marked as read', async () => {
      await send('a', 'b', 'for b')
      expect(await look('c', true)).toEqual([])
      expect(await look('a', true)).toEqual([])
      expect(await look('b', false)).toEqual(['for b'])
      expect(await look('b', true)).toEqual(['for b'])
      expect(await look('b', true)).toEqual([])
    })

    it('shows a broadcast to every sibling once, and never to its sender [MSG-005] [MSG-010]', async () => {
      await send('a', '*', 'to all')
      expect(await look('b', true)).toEqual(['to all'])
      expect(await look('b', true)).toEqual([])
      expect(await look('c', true)).toEqual(['to all'])
      expect(await look('a', true)).toEqual([])
      await send('b', '*', 'answer')
      expect(await look('a', true)).toEqual(['answer'])
      expect(await look('c', true)).toEqual(['answer'])
    })

    it('shows a message only below the coordinator it was sent under [MSG-006]', async () => {
      await send('a', 'b', 'direct', 'boss')
      await send('a', '*', 'broadcast', 'boss')
      expect(await look('b', true, 'other-boss')).toEqual([])
      expect(await look('b', true, 'boss')).toEqual(['direct', 'broadcast'])
    })

    it('identifies tasks by uid: a later task of the same name sees and receives nothing of the earlier one [MSG-006]', async () => {
      await send('a', 'b', 'direct')
      await send('a', '*', 'broadcast')
      const [reader, parent] = [task('b'), task('boss')]
      const other = (name: string) => ({ uid: `another-${name}`, name })
      const lookAs = async (who: { reader: Correspondent; parent: Correspondent }) =>
        contentsOf(await messages().unread({ namespace: 'default', ...who, markRead: true }))
      expect(await lookAs({ reader, parent: other('boss') })).toEqual([])
      expect(await lookAs({ reader: other('b'), parent: other('boss') })).toEqual([])
      // A sibling of the same parent that was made under the name of a sibling that is gone.
      expect(await lookAs({ reader: other('b'), parent })).toEqual(['broadcast'])
      expect(await lookAs({ reader, parent })).toEqual(['direct', 'broadcast'])
    })

    it('lists what was sent below a coordinator, newest first and in pages, whoever has read it', async () => {
      for (const [from, to, text] of [
        ['a', 'b', 'one'],
        ['b', '*', 'two'],
        ['boss', 'a', 'three'],
      ] as const)
        await send(from, to, text)
      await send('a', 'b', 'elsewhere', 'other-boss')
      await look('b', true)
      const below = (page: { limit: number; before?: number }, uid = task('boss').uid) =>
        messages().sentBelow(uid, page)
      const [first, second] = await below({ limit: 2 })
      expect([first, second].map((one) => [one?.fromTask, one?.toTask, one?.content])).toEqual([
        ['boss', 'a', 'three'],
        ['b', '*', 'two'],
      ])
      const [last, ...rest] = await below({ limit: 2, before: second?.id ?? 0 })
      expect(last).toEqual({
        id: last?.id,
        namespace: 'default',
        fromTask: 'a',
        toTask: 'b',
        parentTask: 'boss',
        content: 'one',
        createdAt: bench().now().toISOString(),
      })
      expect(rest).toEqual([])
      // Another task of the same name has none of them.
      expect(await below({ limit: 9 }, 'uid-of-a-namesake')).toEqual([])
    })

    it('sweeps old messages', async () => {
      await send('a', 'b', 'old')
      bench().advance(1000)
      await send('a', 'b', 'new')
      expect(await messages().sweep(bench().now())).toBe(1)
      expect(await look('b', true)).toEqual(['new'])
    })

    it('never shows a task its own message, even one addressed to itself', async () => {
      await send('a', 'a', 'note to self')
      expect(await look('a', true)).toEqual([])
    })

    it('treats names that differ in case as different', async () => {
      await send('a', 'B', 'for large B')
      expect(await look('b', true)).toEqual([])
      expect(await look('B', true)).toEqual(['for large B'])
    })

    it('hands each message to one of several readers at the same time', async () => {
      for (let number = 0; number < 20; number += 1) await send('a', '*', `message ${number}`)
      const looks = await Promise.all([look('b', true), look('b', true), look('b', true)])
      expect(looks.flat().sort()).toEqual(Array.from({ length: 20 }, (_, number) => `message ${number}`).sort())
    })

    it('keeps any text as it is, and read marks over a restart', async () => {
      for (const text of hardTexts) await send('a', 'b', text)
      await bench().reopen()
      expect(await look('b', true)).toEqual(hardTexts)
      await bench().reopen()
      expect(await look('b', true)).toEqual([])
    })

    it('removes what a task sent, received or coordinated, with the read marks', async () => {
      await send('a', 'b', 'sent')
      await send('b', 'a', 'received')
      await send('b', 'c', 'kept')
      await send('c', '*', 'broadcast')
      await send('x', 'y', 'under a', 'a')
      expect(await look('a', true)).toEqual(['received', 'broadcast'])
      await messages().removeTask('a')
      await messages().removeTask('uid-of-a')
      await messages().removeTask('uid-of-a')
      expect(await look('b', true)).toEqual(['broadcast'])
      expect(await look('c', true)).toEqual(['kept'])
      expect(await look('y', true, 'a')).toEqual([])
      expect(await look('a', true)).toEqual(['broadcast'])
    })
  })
}
