// What every store of messages between tasks does.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { hardTexts, type OpenBench, useBench } from './record-bench.ts'

export function describeMessages(name: string, open: OpenBench): void {
  describe(`messages on ${name}`, () => {
    const bench = useBench(open, { beforeEach, afterEach })
    const messages = () => bench().stores().messages
    const send = (fromTask: string, toTask: string, content: string, parentTask = 'boss') =>
      messages().send({ namespace: 'default', fromTask, toTask, parentTask, content })
    const look = async (reader: string, markRead: boolean, parentTask = 'boss', namespace = 'default') =>
      (await messages().unread({ namespace, reader, parentTask, markRead })).map((message) => message.content)

    it('gives back every field, ids rising', async () => {
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
      const query = { namespace: 'default', reader: 'b', parentTask: 'boss', markRead: false }
      expect(await messages().unread(query)).toEqual([first, second])
    })

    it('shows a direct message to its receiver alone, until it is marked', async () => {
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

    it('stays under its coordinator and in its namespace [MSG-006]', async () => {
      await send('a', 'b', 'direct', 'boss')
      await send('a', '*', 'broadcast', 'boss')
      expect(await look('b', true, 'other-boss')).toEqual([])
      expect(await look('b', true, 'boss', 'elsewhere')).toEqual([])
      expect(await look('b', true, 'boss')).toEqual(['direct', 'broadcast'])
    })

    it('never shows a task its own message, not even one to itself', async () => {
      await send('a', 'a', 'note to self')
      expect(await look('a', true)).toEqual([])
    })

    it('knows names that differ in case as two', async () => {
      await send('a', 'B', 'for large B')
      expect(await look('b', true)).toEqual([])
      expect(await look('B', true)).toEqual(['for large B'])
    })

    it('hands each message to one of two looks at the same time', async () => {
      for (let number = 0; number < 20; number += 1) await send('a', '*', `message ${number}`)
      const looks = await Promise.all([look('b', true), look('b', true), look('b', true)])
      expect(looks.flat().sort()).toEqual(Array.from({ length: 20 }, (_, number) => `message ${number}`).sort())
    })

    it('keeps any text as it is, and marks over a restart', async () => {
      for (const text of hardTexts) await send('a', 'b', text)
      await bench().reopen()
      expect(await look('b', true)).toEqual(hardTexts)
      await bench().reopen()
      expect(await look('b', true)).toEqual([])
    })

    it('removes what a task sent, received or coordinated, and its marks', async () => {
      await send('a', 'b', 'sent')
      await send('b', 'a', 'received')
      await send('b', 'c', 'kept')
      await send('c', '*', 'broadcast')
      await send('x', 'y', 'under a', 'a')
      expect(await look('a', true)).toEqual(['received', 'broadcast'])
      await messages().removeTask('elsewhere', 'b')
      await messages().removeTask('default', 'a')
      await messages().removeTask('default', 'a')
      expect(await look('b', true)).toEqual(['broadcast'])
      expect(await look('c', true)).toEqual(['kept'])
      expect(await look('y', true, 'a')).toEqual([])
      expect(await look('a', true)).toEqual(['broadcast'])
    })
  })
}
