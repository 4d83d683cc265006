// What every store of execution workspaces does.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { WorkspaceLeaseRequest } from '../../src/ports/workspaces/workspace-records.ts'
import { type OpenBench, useBench } from './record-bench.ts'

const key = { provider: 'agent-sandbox', namespace: 'claims', name: 'svc-ws-1' } as const
const facts = {
  claim: { namespace: 'claims', name: 'svc-ws-1', template: { namespace: 'a', name: 't' }, labels: {} },
  cleanupPolicy: 'retain',
} as const
const first = { taskUid: 'task-1', attempt: 1, namespace: 'team-a', taskName: 'one' }
const second = { taskUid: 'task-2', attempt: 1, namespace: 'team-a', taskName: 'two' }

export function describeWorkspaceRecords(name: string, open: OpenBench): void {
  describe(`execution workspaces on ${name}`, () => {
    const bench = useBench(open, { beforeEach, afterEach })
    const store = () => bench().stores().workspaces
    const lease = (changes: Partial<WorkspaceLeaseRequest> = {}) =>
      store().lease({ ...key, holder: first, facts, quota: 0, ...changes })

    it('are held by one attempt at a time, which may say it twice', async () => {
      expect(await lease()).toBe('leased')
      expect(await lease()).toBe('leased')
      expect(await lease({ holder: second })).toBe('busy')
      expect(await lease({ holder: { ...first, attempt: 2 } })).toBe('busy')
      expect(await store().ofAttempt(first)).toMatchObject({ ...key, owner: 'team-a', holder: first, step: 'claiming' })
      expect(await store().ofAttempt(second)).toBeUndefined()
      await store().release(key, second)
      expect((await store().get(key))?.holder).toEqual(first)
      await store().release(key, first)
      expect((await store().get(key))?.holder).toBeUndefined()
      expect(await lease({ holder: second })).toBe('leased')
    })

    it('keep what is known of them from one holder to the next', async () => {
      await lease()
      await store().note(key, first, { step: 'running', facts: { root: '/workspace', command: 'a-1' } })
      await store().note(key, first, { facts: { checkout: { url: 'https://h/o/r', baseSHA: 'abc' } } })
      const stored = await store().get(key)
      expect(stored).toMatchObject({ step: 'running', facts: { ...facts, root: '/workspace', command: 'a-1' } })
      await expect(store().note(key, second, { step: 'running' })).rejects.toMatchObject({ reason: 'Conflict' })
      await store().release(key, first)
      const lentAt = (await store().lend(key)) ?? new Date(0)
      await store().returnLoan(key, lentAt, { isSuspended: true })
      expect((await store().get(key))?.facts.isSuspended).toBe(true)
      await lease({ holder: second })
      await store().returnLoan(key, lentAt, { isSuspended: true })
      const taken = await store().get(key)
      expect(taken?.step).toBe('claiming')
      expect(taken?.facts).toMatchObject({ checkout: { baseSHA: 'abc' }, isSuspended: false })
    })

    it('are as many as the quota of their namespace allows, however many ask at once', async () => {
      const asked = Array.from({ length: 6 }, (_none, at) =>
        lease({ name: `w${at}`, holder: { ...first, taskUid: `task-${at}` }, quota: 3 }),
      )
      const answers = await Promise.all(asked)
      expect(answers.filter((answer) => answer === 'leased')).toHaveLength(3)
      expect(answers.filter((answer) => answer === 'full')).toHaveLength(3)
      expect(await lease({ name: 'other', holder: { ...second, namespace: 'team-b' }, quota: 3 })).toBe('leased')
    })

    it('are taken away from everybody before they are deleted', async () => {
      await lease()
      expect(await store().seize(key)).toBe(false)
      expect(await store().seize(key, second)).toBe(false)
      await store().release(key, first)
      expect(await store().seize(key)).toBe(true)
      expect(await store().seize(key)).toBe(true)
      expect(await lease({ holder: second })).toBe('busy')
      expect(await store().get(key)).toMatchObject({ isSeized: true })
      expect((await store().get(key))?.holder).toBeUndefined()
      await store().remove(key)
      await store().remove(key)
      expect(await store().get(key)).toBeUndefined()
      expect(await lease({ holder: second })).toBe('leased')
    })

    it('are lent to one at a time, and given back by whoever had them last', async () => {
      expect(await store().lend(key)).toBeUndefined()
      await lease()
      expect(await store().lend(key)).toBeUndefined()
      await store().release(key, first)
      const lentAt = await store().lend(key)
      expect(lentAt).toEqual(bench().now())
      expect(await store().get(key)).toMatchObject({ lentAt, isSeized: false })
      expect((await store().get(key))?.holder).toBeUndefined()
      expect(await store().lend(key)).toBeUndefined()
      expect(await store().seize(key)).toBe(false)
      expect(await lease({ holder: second })).toBe('busy')
      await store().returnLoan(key, new Date(0), {})
      expect((await store().get(key))?.lentAt).toEqual(lentAt)
      await store().returnLoan(key, lentAt ?? new Date(0), {})
      bench().advance(1)
      const again = await store().lend(key)
      await store().returnLoan(key, lentAt ?? new Date(0), {})
      expect((await store().get(key))?.lentAt).toEqual(again)
      expect(again).not.toEqual(lentAt)
    })

    it('are listed by the namespace of their tasks', async () => {
      await lease()
      await lease({ name: 'w2', holder: { ...second, namespace: 'team-b' } })
      const names = async (owners?: string[]) =>
        (await store().list(owners === undefined ? {} : { owners })).map((one) => one.name)
      expect((await names()).toSorted()).toEqual(['svc-ws-1', 'w2'])
      expect(await names(['team-b', 'team-c'])).toEqual(['w2'])
      expect(await names([])).toEqual([])
    })
  })
}
