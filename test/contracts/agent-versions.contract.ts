// What every store of the versions of agents does.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { agentVersionLimits } from '../../src/contract/api/agents/agents.ts'
import type { Agent } from '../../src/contract/kinds/agents/agent.ts'
import { hardTexts, MEBIBYTE, type OpenBench, useBench } from './record-bench.ts'

const key = { namespace: 'default', name: 'writer', uid: 'uid-1' }

const agent = (generation: number, own = key) =>
  ({ metadata: { ...own, generation, creationTimestamp: '2029-01-01T00:00:00Z' }, spec: {} }) as unknown as Agent

export function describeAgentVersions(name: string, open: OpenBench): void {
  describe(`versions of agents on ${name}`, () => {
    const bench = useBench(open, { beforeEach, afterEach })
    const versions = () => bench().stores().agentVersions
    const note = (prompt: string, generation: number, own = key) => versions().note(agent(generation, own), { prompt })
    const listPrompts = async (own = key) =>
      (await versions().list(own, { limit: 1000 })).map(({ number, content }) => [number, content.prompt])

    it('are added when the content is another one, once, and listed newest first', async () => {
      expect(await note('one', 1)).toBe(true)
      expect(await note('one', 1)).toBe(false)
      expect(await note('one', 2)).toBe(false)
      bench().advance(1000)
      expect(await note('two', 3)).toBe(true)
      expect(await note('one', 4)).toBe(true)
      // Of a replica that is behind the others.
      expect(await note('two', 3)).toBe(false)
      await bench().reopen()
      expect(await listPrompts()).toEqual([
        [3, 'one'],
        [2, 'two'],
        [1, 'one'],
      ])
      const [, second, first] = await versions().list(key, { limit: 10 })
      expect(first).toEqual({ number: 1, since: '2029-01-01T00:00:00.000Z', generation: 1, content: { prompt: 'one' } })
      expect(second).toMatchObject({ since: bench().now().toISOString(), generation: 3 })
      const page = await versions().list(key, { limit: 1, before: 3 })
      expect(page.map(({ number }) => number)).toEqual([2])
    })

    it('are the same for replicas that see the agent at once, and all that they see otherwise', async () => {
      const same = await Promise.all(Array.from({ length: 5 }, () => note('one', 1)))
      expect(same.filter((added) => added)).toHaveLength(1)
      expect(await listPrompts()).toEqual([[1, 'one']])
      await Promise.all(['two', 'three'].map((prompt) => note(prompt, 2)))
      expect((await listPrompts()).map(([number]) => number)).toEqual([3, 2, 1])
    })

    it('have whatever text the prompt is', async () => {
      for (const [at, text] of hardTexts.entries()) await note(text, at)
      await bench().reopen()
      const found = (await listPrompts()).map(([, prompt]) => prompt)
      expect(found).toEqual(hardTexts.toReversed())
    })

    it('are bounded in number and size, and the newest stays however large it is', async () => {
      const count = agentVersionLimits.versions + 3
      for (let at = 1; at <= count; at += 1) await note(`prompt ${at}`, at)
      const numbers = (await listPrompts()).map(([number]) => number)
      expect([numbers.length, numbers[0], numbers.at(-1)]).toEqual([agentVersionLimits.versions, count, 4])
      await note('a'.repeat(3 * MEBIBYTE), count + 1)
      await note('b'.repeat(3 * MEBIBYTE), count + 2)
      expect((await listPrompts()).map(([number]) => number)).toEqual([count + 2])
    })

    it('are those of one agent, and go with it', async () => {
      const again = { ...key, uid: 'uid-2' }
      const other = { ...key, namespace: 'team' }
      await note('one', 1)
      await note('two', 2)
      await note('again', 1, again)
      await note('other', 1, other)
      expect(await versions().agents()).toEqual([key, again, other])
      expect(await listPrompts(again)).toEqual([[1, 'again']])
      await versions().remove(key)
      expect([await listPrompts(), await listPrompts(again)]).toEqual([[], [[1, 'again']]])
      const { namespace, name: named } = key
      await versions().remove({ namespace, name: named })
      expect(await versions().agents()).toEqual([other])
    })
  })
}
