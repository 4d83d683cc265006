// What every store of webhook deliveries does.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { DeliveryDraft } from '../../src/ports/codehost/deliveries.ts'
import { hardTexts, type OpenBench, useBench } from './record-bench.ts'

const repository = { fullName: 'Owner/Repo', url: 'https://github.com/Owner/Repo', cloneURL: 'https://github.com/o/r' }
const leaseMs = 10_000

export function describeDeliveries(name: string, open: OpenBench): void {
  describe(`deliveries on ${name}`, () => {
    const bench = useBench(open, { beforeEach, afterEach })
    const deliveries = () => bench().stores().deliveries
    const draft = (change: Partial<DeliveryDraft> = {}): DeliveryDraft => ({
      id: 'delivery-1',
      namespace: 'default',
      event: 'issues',
      action: 'labeled',
      repository: 'owner/repo',
      number: 7,
      sender: 'octocat',
      label: 'agent:implement',
      happenedAt: '2030-01-01T00:00:00.000Z',
      facts: { event: 'issues', action: 'labeled', repository, sender: 'octocat', isBot: false },
      state: 'pending',
      outcome: { status: 'accepted', message: 'waits' },
      ...change,
    })
    const done = { state: 'done', outcome: { status: 'created', message: 'task t was created' } } as const
    const claim = (id: string, worker: string) => deliveries().claim(id, { worker, leaseMs })

    it('gives back every field, also after a restart', async () => {
      const { delivery, isNew } = await deliveries().accept(draft())
      expect(isNew).toBe(true)
      const at = bench().now().toISOString()
      expect(delivery).toEqual({ ...draft(), receivedAt: at, attempts: 0, dueAt: at })
      await bench().reopen()
      expect(await deliveries().get('delivery-1')).toEqual(delivery)
      expect(await deliveries().get('delivery-2')).toBeUndefined()
    })

    it('keeps any text', async () => {
      for (const [at, text] of hardTexts.entries()) {
        const facts = { event: 'issues', action: text, repository, sender: text, isBot: false } as const
        const given = draft({ id: `${at}${text}`, sender: text, label: text, action: text, facts })
        expect((await deliveries().accept(given)).delivery).toMatchObject({ id: given.id, sender: text, facts })
        expect(await deliveries().get(given.id)).toMatchObject({ label: text, action: text, facts })
      }
    })

    it('stores an id once, also when it comes twice at the same time [HOOK-007]', async () => {
      const both = await Promise.all([
        deliveries().accept(draft({ sender: 'first' })),
        deliveries().accept(draft({ sender: 'second' })),
      ])
      expect(both.map(({ isNew }) => isNew).sort()).toEqual([false, true])
      expect(both[0]?.delivery).toEqual(both[1]?.delivery)
    })

    it('gives a delivery to one worker at a time', async () => {
      await deliveries().accept(draft())
      expect(await deliveries().due(10)).toEqual(['delivery-1'])
      const claims = await Promise.all(['a', 'b', 'c'].map((worker) => claim('delivery-1', worker)))
      expect(claims.filter((one) => one !== undefined)).toHaveLength(1)
      expect(claims.find((one) => one !== undefined)).toMatchObject({ attempts: 1, state: 'pending' })
      expect(await deliveries().due(10)).toEqual([])
    })

    it('gives it to another one when the first has died, and then no longer listens to the first', async () => {
      await deliveries().accept(draft())
      await claim('delivery-1', 'a')
      bench().advance(leaseMs - 1)
      expect(await deliveries().extend('delivery-1', { worker: 'a', leaseMs })).toBe(true)
      bench().advance(leaseMs - 1)
      expect(await claim('delivery-1', 'b')).toBeUndefined()
      bench().advance(1)
      expect(await claim('delivery-1', 'b')).toMatchObject({ attempts: 2 })
      expect(await deliveries().settle('delivery-1', 'a', done)).toBe(false)
      expect(await deliveries().extend('delivery-1', { worker: 'a', leaseMs })).toBe(false)
      expect(await deliveries().settle('delivery-1', 'b', done)).toBe(true)
      const ended = await deliveries().get('delivery-1')
      expect(ended).toMatchObject(done)
      expect(ended).not.toHaveProperty('dueAt')
      expect(await claim('delivery-1', 'c')).toBeUndefined()
    })

    it('takes a postponed one up again when its time has come', async () => {
      await deliveries().accept(draft())
      await claim('delivery-1', 'a')
      const outcome = { status: 'accepted', message: 'the code host did not answer' } as const
      expect(await deliveries().postpone('delivery-1', 'a', { afterMs: 1000, outcome })).toBe(true)
      expect(await deliveries().get('delivery-1')).toMatchObject({ state: 'pending', outcome })
      expect(await claim('delivery-1', 'b')).toBeUndefined()
      bench().advance(1000)
      expect(await deliveries().due(10)).toEqual(['delivery-1'])
      expect(await claim('delivery-1', 'b')).toMatchObject({ attempts: 2 })
    })

    it('opens an ended one again, and no other', async () => {
      await deliveries().accept(draft())
      await expect(deliveries().reopen('delivery-1')).rejects.toThrow(/it is pending already/)
      await expect(deliveries().reopen('none')).rejects.toMatchObject({ reason: 'NotFound' })
      await claim('delivery-1', 'a')
      await deliveries().settle('delivery-1', 'a', done)
      expect(await deliveries().reopen('delivery-1')).toMatchObject({ state: 'pending' })
      expect(await claim('delivery-1', 'b')).toMatchObject({ attempts: 1 })
      const ignored = { state: 'ignored', outcome: { status: 'ignored', message: 'not for us' } } as const
      await deliveries().accept(draft({ id: 'delivery-2', facts: undefined, ...ignored }))
      await expect(deliveries().reopen('delivery-2')).rejects.toThrow(/there is nothing to do: not for us/)
    })

    it('lists the newest first, page by page, by what is asked', async () => {
      for (const [at, change] of [
        { repository: 'owner/other' },
        { number: 8 },
        { event: 'pull_request' },
        { namespace: 'team' },
        { state: 'ignored', facts: undefined } as const,
      ].entries()) {
        await deliveries().accept(draft({ id: `d${at}`, ...change }))
        bench().advance(1000)
      }
      const ids = async (query: Partial<Parameters<ReturnType<typeof deliveries>['list']>[0]>) =>
        (await deliveries().list({ limit: 10, ...query })).map(({ id }) => id)
      expect(await ids({})).toEqual(['d4', 'd3', 'd2', 'd1', 'd0'])
      expect(await ids({ repository: 'owner/other' })).toEqual(['d0'])
      expect(await ids({ number: 8 })).toEqual(['d1'])
      expect(await ids({ event: 'pull_request' })).toEqual(['d2'])
      expect(await ids({ namespaces: ['team'] })).toEqual(['d3'])
      expect(await ids({ namespaces: [] })).toEqual([])
      expect(await ids({ state: 'ignored' })).toEqual(['d4'])
      const [, second] = await deliveries().list({ limit: 2 })
      expect(await ids({ before: second, limit: 2 })).toEqual(['d2', 'd1'])
    })

    it('finds what took a label off or ended its target later, and nothing else', async () => {
      const at = (second: number) => `2030-01-01T00:00:0${second}.000Z`
      const find = async (change: object = {}) =>
        (await deliveries().findRemoval({ repository: 'owner/repo', number: 7, label: 'l', after: at(3), ...change }))
          ?.id
      const removed = { action: 'unlabeled', label: 'l', happenedAt: at(3) }
      await deliveries().accept(draft({ id: 'same time', ...removed }))
      await deliveries().accept(draft({ id: 'other label', ...removed, label: 'm', happenedAt: at(5) }))
      await deliveries().accept(draft({ id: 'other target', ...removed, number: 8, happenedAt: at(5) }))
      await deliveries().accept(draft({ id: 'not a removal', ...removed, action: 'labeled', happenedAt: at(5) }))
      expect(await find()).toBeUndefined()
      expect(await find({ after: at(2) })).toBe('same time')
      await deliveries().accept(
        draft({ id: 'closed', ...removed, action: 'closed', label: undefined, happenedAt: at(4) }),
      )
      expect(await find()).toBe('closed')
      await deliveries().accept(draft({ id: 'off', ...removed, happenedAt: at(6) }))
      expect(await find()).toBe('off')
    })

    it('removes the old ones that have ended', async () => {
      await deliveries().accept(draft({ id: 'waits' }))
      await deliveries().accept(draft({ id: 'ended', state: 'ignored', facts: undefined }))
      bench().advance(1000)
      await deliveries().accept(draft({ id: 'young', state: 'ignored', facts: undefined }))
      expect(await deliveries().sweep(bench().now())).toBe(1)
      expect((await deliveries().list({ limit: 10 })).map(({ id }) => id)).toEqual(['young', 'waits'])
    })
  })
}
