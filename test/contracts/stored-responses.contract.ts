// What every store of stored responses does.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { StoredResponse } from '../../src/ports/chat/stored-responses.ts'
import { hardTexts, type OpenBench, useBench } from './record-bench.ts'

const owner = { namespace: 'default', caller: 'token:t1' }
const others = [
  { namespace: 'default', caller: 'token:t2' },
  { namespace: 'other', caller: 'token:t1' },
]
const message = (text: string) => ({ type: 'message', role: 'user', content: text })

function makeResponse(
  id: string,
  { previous, text = 'hi' }: { previous?: string; text?: string } = {},
): StoredResponse {
  const output = [{ ...message(text), role: 'assistant', id: `msg_${id}` }]
  const made = { provider: 'vendor', model: 'm' }
  return { id, ...(previous !== undefined && { previous }), ...made, input: [message(text)], response: { id, output } }
}

export function describeStoredResponses(name: string, open: OpenBench): void {
  describe(`stored responses on ${name}`, () => {
    const bench = useBench(open, { beforeEach, afterEach })
    const kept = () => bench().stores().storedResponses
    const listThere = async (ids: string[]) =>
      (await Promise.all(ids.map((id) => kept().find(owner, [id])))).flat().map(({ id }) => id)
    const idsOf = (responses: StoredResponse[] | undefined) => responses?.map(({ id }) => id)

    it('gives back every field and any text, also after a restart', async () => {
      for (const [at, text] of hardTexts.entries()) await kept().keep(owner, makeResponse(`r${at}`, { text }))
      await bench().reopen()
      for (const [at, text] of hardTexts.entries()) {
        expect(await kept().find(owner, [`r${at}`])).toEqual([makeResponse(`r${at}`, { text })])
      }
      expect(await kept().find(owner, [])).toEqual([])
    })

    it('reads no conversation that would hold everybody up', async () => {
      const text = 'x'.repeat(2 * 1024 ** 2)
      const ids = ['a', 'b', 'c', 'd', 'e']
      for (const [at, id] of ids.entries())
        await kept().keep(owner, makeResponse(id, { text, ...(at > 0 && { previous: ids[at - 1] as string }) }))
      expect(idsOf(await kept().thread(owner, 'c'))).toEqual(['a', 'b', 'c'])
      const refusal = { reason: 'TooLarge', message: expect.stringContaining('more than the 16 MiB that it may have') }
      await expect(kept().thread(owner, 'e')).rejects.toMatchObject(refusal)
      await expect(kept().find(owner, ids)).rejects.toMatchObject(refusal)
    })

    it('follows a conversation to its beginning, and not where a part of it is missing', async () => {
      await kept().keep(owner, makeResponse('a'))
      await kept().keep(owner, makeResponse('b', { previous: 'a' }))
      await kept().keep(owner, makeResponse('c', { previous: 'b' }))
      await kept().keep(owner, makeResponse('fork', { previous: 'a' }))
      expect(idsOf(await kept().thread(owner, 'c'))).toEqual(['a', 'b', 'c'])
      expect(idsOf(await kept().thread(owner, 'fork'))).toEqual(['a', 'fork'])
      expect(await kept().remove(owner, 'a')).toBe(true)
      expect(await kept().thread(owner, 'c')).toBeUndefined()
      expect(await kept().thread(owner, 'unknown')).toBeUndefined()
    })

    it("shows nobody another caller's, nor those of another namespace", async () => {
      await kept().keep(owner, makeResponse('a'))
      for (const other of others) {
        await kept().keep(other, makeResponse(`of ${other.namespace} ${other.caller}`, { previous: 'a' }))
        expect(await kept().find(other, ['a'])).toEqual([])
        expect(await kept().thread(other, 'a')).toBeUndefined()
        expect(await kept().thread(other, `of ${other.namespace} ${other.caller}`)).toBeUndefined()
        expect(await kept().remove(other, 'a')).toBe(false)
      }
      expect(idsOf(await kept().find(owner, ['a']))).toEqual(['a'])
    })

    it('keeps so many bytes of one owner, the newest, and none that is too large', async () => {
      const text = 'x'.repeat(7_500_000)
      await kept().keep(others[0] ?? owner, makeResponse('theirs'))
      for (let at = 0; at < 6; at += 1) {
        expect(await kept().keep(owner, makeResponse(`r${at}`, { text }))).toBe(true)
        bench().advance(1)
      }
      expect(await listThere(['r0', 'r1', 'r2', 'r5'])).toEqual(['r2', 'r5'])
      expect(idsOf(await kept().find(others[0] ?? owner, ['theirs']))).toEqual(['theirs'])
      expect(await kept().keep(owner, makeResponse('huge', { text: 'x'.repeat(9_000_000) }))).toBe(false)
      expect(await kept().find(owner, ['huge'])).toEqual([])
    })

    it('counts small ones for more than they are, so that there are not too many', async () => {
      for (let at = 0; at < 4; at += 1) {
        await kept().keep(owner, makeResponse(`large${at}`, { text: 'x'.repeat(8_000_000) }))
        bench().advance(1)
      }
      for (let at = 0; at < 50; at += 1) await kept().keep(owner, makeResponse(`small${at}`))
      const ids = ['large0', 'large1', 'large2', 'large3', 'small0', 'small49']
      expect(await listThere(ids)).toEqual(['large1', 'large2', 'large3', 'small0', 'small49'])
    })

    it('removes those that are old', async () => {
      await kept().keep(owner, makeResponse('old'))
      bench().advance(1000)
      await kept().keep(owner, makeResponse('new'))
      expect(await kept().sweep(bench().now())).toBe(1)
      expect(idsOf(await kept().find(owner, ['old', 'new']))).toEqual(['new'])
    })
  })
}
