// What every store of memory proposals does.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isSvcError } from '../../src/errors.ts'
import type { ProposalDraft, ProposalQuery } from '../../src/ports/memory/memories.ts'
import { hardTexts, type OpenBench, useBench } from './record-bench.ts'

async function reasonOf(work: Promise<unknown>): Promise<string> {
  const error = await work.catch((thrown: unknown) => thrown)
  return isSvcError(error) ? error.reason : `no error but ${JSON.stringify(error)}`
}

export function describeMemoryProposals(name: string, open: OpenBench): void {
  describe(`memory proposals on ${name}`, () => {
    const bench = useBench(open, { beforeEach, afterEach })
    const proposals = () => bench().stores().memoryProposals
    const namespace = 'default'
    const keyOf = (id: string) => ({ namespace, id })
    const propose = (id: string, more: Partial<ProposalDraft> = {}) =>
      proposals().create({ id, namespace, type: 'memory', title: 'a title', content: 'a fact', ...more })
    const decide = (id: string, status: 'accepted' | 'rejected' | 'pending', reviewer = 'ada') =>
      proposals().review(keyOf(id), { status, reviewer, reviewedBy: { name: reviewer } })
    const apply = (id: string, memoryId: string) => proposals().apply(keyOf(id), { memoryId, appliedBy: 'ada' })
    const list = async (query: Partial<ProposalQuery> = {}) =>
      (await proposals().list({ namespace, limit: 50, ...query })).map(({ id }) => id)

    it('keeps every text over a restart, and finds it', async () => {
      const made = await Promise.all(
        hardTexts.map((text, at) =>
          propose(`p-${at}`, { title: `t ${text}`, description: text, patch: text, agentName: text, type: text }),
        ),
      )
      await bench().reopen()
      for (const proposal of made) expect(await proposals().get(keyOf(proposal.id))).toEqual(proposal)
      for (const [at, text] of hardTexts.entries()) {
        expect(await list({ agentName: text })).toEqual([`p-${at}`])
        expect(await list({ type: text })).toEqual([`p-${at}`])
        expect(await list({ query: text })).toContain(`p-${at}`)
      }
      expect(await reasonOf(propose('p-0'))).toBe('AlreadyExists')
      expect(await proposals().get({ namespace: 'other', id: 'p-0' })).toBeUndefined()
    })

    it('counts those that nobody has decided about, by namespace', async () => {
      for (const id of ['one', 'two', 'three']) await propose(id)
      await propose('one', { namespace: 'other' })
      await decide('one', 'rejected')
      await proposals().archive(keyOf('two'))
      expect(await proposals().countPending()).toEqual({ default: 1, other: 1 })
    })

    it('lists the newest first, by all that is given', async () => {
      await propose('one', { title: 'First 100%', taskName: 't' })
      bench().advance(1000)
      await propose('two', { skillName: 'Release-Notes', type: 'skill', agentName: 'a' })
      expect(await list()).toEqual(['two', 'one'])
      expect(await list({ limit: 1 })).toEqual(['two'])
      expect(await list({ taskName: 't' })).toEqual(['one'])
      expect(await list({ type: 'skill', agentName: 'a' })).toEqual(['two'])
      for (const query of ['100%', 'FIRST', 't 1']) expect(await list({ query })).toEqual(['one'])
      expect(await list({ query: 'release-n' })).toEqual(['two'])
      for (const query of ['_', '!', '0%0', 'fact release']) expect(await list({ query })).toEqual([])
      await decide('one', 'rejected')
      expect(await list({ status: 'rejected' })).toEqual(['one'])
      expect(await list({ status: 'pending' })).toEqual(['two'])
    })

    it('is pending again once its rejection is taken back', async () => {
      await propose('one')
      await decide('one', 'rejected')
      await decide('one', 'pending')
      expect(await list({ status: 'pending' })).toEqual(['one'])
      await decide('one', 'accepted')
      expect(await decide('one', 'pending').catch(reasonOfError)).toBe('Conflict')
    })

    it('is decided by one of several reviewers', async () => {
      await propose('one')
      const names = ['ada', 'bob', 'eve']
      const outcomes = await Promise.all(
        names.map((reviewer, at) =>
          decide('one', at === 1 ? 'rejected' : 'accepted', reviewer).then(() => 'decided', reasonOfError),
        ),
      )
      expect(outcomes.toSorted()).toEqual(['Conflict', 'Conflict', 'decided'])
      const winner = names[outcomes.indexOf('decided')]
      expect(await proposals().get(keyOf('one'))).toMatchObject({ reviewer: winner, reviewedBy: { name: winner } })
    })

    it('is applied to one memory, however often and by how many at once', async () => {
      const description = 'seen often\n Tags:  Staging , db,staging\nTags: other'
      await propose('one', { description, agentName: 'a', taskName: 't' })
      expect(await reasonOf(apply('one', 'mem-0'))).toBe('Conflict')
      await decide('one', 'accepted')
      const made = await Promise.all(['mem-1', 'mem-2', 'mem-3'].map((id) => apply('one', id)))
      expect(new Set(made.map(({ id }) => id)).size).toBe(1)
      expect(made[0]).toMatchObject({
        source: 'memory_proposal',
        sourceProposalId: 'one',
        content: 'a fact',
        tags: ['staging', 'db'],
        agentName: 'a',
        taskName: 't',
      })
      const stored = await bench().stores().memories.list({ namespace, query: 'fact', limit: 9 })
      expect(stored.map(({ id }) => id)).toEqual([made[0]?.id])
      expect(await proposals().get(keyOf('one'))).toMatchObject({
        status: 'applied',
        appliedMemoryId: made[0]?.id,
        appliedBy: 'ada',
      })
      expect(await reasonOf(proposals().archive(keyOf('one')))).toBe('Conflict')
    })

    it('is not applied when nothing can be remembered of it', async () => {
      await propose('skill', { type: 'skill' })
      await propose('empty', { content: ' ' })
      for (const id of ['skill', 'empty']) {
        await decide(id, 'accepted')
        expect(await reasonOf(apply(id, 'mem-1'))).toBe('InvalidRequest')
      }
      expect(await bench().stores().memories.list({ namespace, limit: 9 })).toEqual([])
    })

    it('is archived, again without harm, and for good', async () => {
      await propose('one')
      await proposals().archive(keyOf('one'))
      await proposals().archive(keyOf('one'))
      expect(await reasonOf(decide('one', 'accepted'))).toBe('Conflict')
      expect(await reasonOf(apply('one', 'mem-1'))).toBe('Conflict')
      expect(await reasonOf(decide('none', 'accepted'))).toBe('NotFound')
      expect(await reasonOf(proposals().archive(keyOf('none')))).toBe('NotFound')
      expect(await reasonOf(apply('none', 'mem-1'))).toBe('NotFound')
    })
  })
}

function reasonOfError(error: unknown): string {
  return isSvcError(error) ? error.reason : String(error)
}
