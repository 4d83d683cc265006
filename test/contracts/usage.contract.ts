// What every store of usage does.
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type UsageGroup, usageGroups } from '../../src/contract/api/budgets/usage.ts'
import type { RecordedCaller } from '../../src/contract/api/identity/caller.ts'
import type { UsageRecord } from '../../src/ports/budgets/usage.ts'
import { hardTexts, type OpenBench, useBench } from './record-bench.ts'

export function describeUsage(name: string, open: OpenBench): void {
  describe(`usage on ${name}`, () => {
    const bench = useBench(open, { beforeEach, afterEach })
    const usage = () => bench().stores().usage
    let made = 0
    const makeRecord = (fields: Partial<UsageRecord> = {}): UsageRecord => {
      made += 1
      return {
        id: `call-${made}`,
        namespace: 'default',
        provider: 'main',
        model: 'some-model',
        inputTokens: 10,
        outputTokens: 5,
        cachedTokens: 2,
        demo: false,
        createdAt: bench().now().toISOString(),
        ...fields,
      }
    }
    const keys = async (groupBy: UsageGroup, query = {}) =>
      (await usage().sum({ groupBy, ...query })).map((sum) => [sum.namespace, sum.key, sum.llmCalls])

    it('sums the calls of a task exactly, counting each record once [USAGE-003]', async () => {
      const record = makeRecord({ taskUid: 'task-1', taskName: 'research', cost: 0.25, currency: 'USD' })
      await usage().record([record, record])
      await usage().record([
        record,
        makeRecord({ taskUid: 'task-1', taskName: 'research', cost: 0.5, currency: 'USD' }),
      ])
      await usage().record([makeRecord({ taskUid: 'task-2', taskName: 'research' }), makeRecord()])
      await usage().record([])
      await bench().reopen()
      expect(await usage().ofTask('task-1')).toEqual({
        inputTokens: 20,
        outputTokens: 10,
        cachedTokens: 4,
        llmCalls: 2,
        cost: 0.75,
        currency: 'USD',
      })
      expect(await usage().ofTask('task-2')).toEqual({
        inputTokens: 10,
        outputTokens: 5,
        cachedTokens: 2,
        llmCalls: 1,
        unpricedCalls: 1,
      })
      expect(await usage().ofTask('task-3')).toBeUndefined()
    })

    it('keeps tokens written to a cache apart, and omits them where there are none', async () => {
      const mine = { taskUid: 'task-1', taskName: 'research', cost: 1 }
      await usage().record([
        makeRecord({ ...mine, cacheWriteTokens: 3, currency: 'USD' }),
        makeRecord({ ...mine, cacheWriteTokens: 4, currency: 'EUR' }),
        makeRecord({ taskUid: 'task-2', cacheWriteTokens: 0 }),
      ])
      await bench().reopen()
      expect(await usage().ofTask('task-1')).toMatchObject({ inputTokens: 20, cachedTokens: 4, cacheWriteTokens: 7 })
      const sums = await usage().sum({ groupBy: 'task', name: 'research' })
      expect(sums.map((sum) => [sum.currency, sum.cacheWriteTokens]).toSorted()).toEqual([
        ['EUR', 4],
        ['USD', 3],
      ])
      expect(await usage().ofTask('task-2')).not.toHaveProperty('cacheWriteTokens')
    })

    it('sums one group only, by its name', async () => {
      for (const session of ['one', 'two', `one's`]) await usage().record([makeRecord({ session })])
      await usage().record([makeRecord({ session: 'one', namespace: 'other' }), makeRecord()])
      expect(await keys('session', { namespace: 'default', name: 'one' })).toEqual([['default', 'one', 1]])
      expect(await keys('session', { name: `one's` })).toEqual([['default', `one's`, 1]])
      expect(await keys('model', { name: 'some-model' })).toEqual([[undefined, 'some-model', 5]])
      expect(await keys('session', { name: '%' })).toEqual([])
    })

    it('adds any counts and any money, however large a price makes them', async () => {
      const huge = { inputTokens: 9e15, outputTokens: 9e15, cachedTokens: 9e15, llmCalls: 9e15, cost: 1.8e24 }
      const records = Array.from({ length: 40 }, () =>
        makeRecord({ ...huge, currency: 'USD', taskUid: 'task-1', estimatedInputTokens: 9e15, estimatedCost: 1e300 }),
      )
      await usage().record([...records, makeRecord({ cost: Number.NaN, currency: 'USD', outputTokens: -5 })])
      const [sum] = await usage().sum({ groupBy: 'namespace' })
      expect(sum).toMatchObject({ outputTokens: 40e12, cost: 40e9, estimatedInputTokens: 40e12, estimatedCost: 40e9 })
      expect(sum?.llmCalls).toBeGreaterThan(40)
      expect(Number.isSafeInteger(sum?.inputTokens)).toBe(true)
      expect(await usage().ofTask('task-1')).toMatchObject({ outputTokens: 40e12 })
    })

    it('sets aside a record that cannot be stored, and stores all others of its batch', async () => {
      const bad = [makeRecord({ createdAt: 'yesterday' }), makeRecord({ namespace: undefined as unknown as string })]
      const good = Array.from({ length: 3 }, () => makeRecord())
      await usage().record([good[0], bad[0], good[1], bad[1], good[2]] as UsageRecord[])
      expect(await keys('namespace')).toEqual([['default', 'default', 3]])
      await usage().record(bad)
      expect(await usage().sweep(new Date(bench().now().getTime() + 86_400_000))).toBe(3)
    })

    it('keeps estimated counts beside exact ones', async () => {
      await usage().record([
        makeRecord({ taskUid: 'task-1', cost: 1, currency: 'USD', estimatedOutputTokens: 7, estimatedCost: 0.5 }),
        makeRecord({ taskUid: 'task-1', estimatedInputTokens: 3 }),
        makeRecord({ taskUid: 'task-2' }),
      ])
      expect(await usage().ofTask('task-1')).toEqual({
        inputTokens: 20,
        outputTokens: 10,
        cachedTokens: 4,
        llmCalls: 2,
        cost: 1,
        currency: 'USD',
        estimatedInputTokens: 3,
        estimatedOutputTokens: 7,
        estimatedCost: 0.5,
        unpricedCalls: 1,
      })
      expect(await usage().ofTask('task-2')).not.toHaveProperty('estimatedInputTokens')
    })

    it('counts every token of a task that was priced in part or in two currencies', async () => {
      await usage().record([
        makeRecord({ taskUid: 'task-1', outputTokens: 100, cost: 1, currency: 'USD' }),
        makeRecord({ taskUid: 'task-1', outputTokens: 1, cost: 9, currency: 'EUR' }),
        makeRecord({ taskUid: 'task-1', outputTokens: 1000 }),
      ])
      expect(await usage().ofTask('task-1')).toMatchObject({
        outputTokens: 1101,
        llmCalls: 3,
        cost: 1,
        currency: 'USD',
      })
    })

    it('sums per task, session, agent, caller, namespace and provider', async () => {
      const caller = { kind: 'token', id: 'tok-1', name: 'me' } as const
      const full = { taskUid: 'u1', taskName: 'research', session: 's', agent: 'a', caller }
      await usage().record([
        makeRecord(full),
        makeRecord({ ...full, namespace: 'other', taskUid: 'u2' }),
        makeRecord({ ...full, taskUid: 'u3' }),
        makeRecord({ provider: 'spare' }),
      ])
      expect((await keys('task')).sort()).toEqual([
        [undefined, '', 1],
        ['default', 'research', 1],
        ['default', 'research', 1],
        ['other', 'research', 1],
      ])
      const tasks = (await usage().sum({ groupBy: 'task' })).map((sum) => sum.taskUid)
      expect(tasks.sort()).toEqual(['u1', 'u2', 'u3', undefined])
      for (const [group, key] of [
        ['session', 's'],
        ['agent', 'a'],
      ] as const) {
        expect(await keys(group)).toEqual([
          ['default', key, 2],
          [undefined, '', 1],
          ['other', key, 1],
        ])
      }
      expect(await keys('caller')).toEqual([
        [undefined, 'tok-1', 3],
        [undefined, '', 1],
      ])
      expect((await keys('namespace')).map(([, key, calls]) => [key, calls])).toEqual([
        ['default', 3],
        ['other', 1],
      ])
      expect((await keys('provider')).sort()).toEqual([
        ['default', 'main', 2],
        ['default', 'spare', 1],
        ['other', 'main', 1],
      ])
      expect(await keys('caller', { namespace: 'other' })).toEqual([[undefined, 'tok-1', 1]])
    })

    it('sums to the same total by everything, with what has none of it as a group of its own', async () => {
      const rich = {
        taskUid: 'u1',
        taskName: 't',
        session: 's',
        agent: 'a',
        caller: { name: 'me' },
        monitor: 'm',
        scan: 'x',
      }
      await usage().record([
        makeRecord({ ...rich, labels: { team: 'search', env: 'test' }, cost: 0.5, currency: 'USD' }),
        makeRecord({ labels: { team: 'ads' }, inputTokens: 1000, namespace: 'other' }),
        makeRecord({ monitor: 'm', agent: 'b', cost: 0.25, currency: 'EUR', estimatedInputTokens: 7 }),
        makeRecord({ scan: 'x', createdAt: new Date(bench().now().getTime() + 40 * 86_400_000).toISOString() }),
        makeRecord(),
      ])
      const total = async (query: Parameters<ReturnType<typeof usage>['sum']>[0]) => {
        const sums = await usage().sum(query)
        const sum = (field: 'inputTokens' | 'llmCalls' | 'cost' | 'estimatedInputTokens') =>
          sums.reduce((all, one) => all + (one[field] ?? 0), 0)
        return [sum('inputTokens'), sum('llmCalls'), sum('cost'), sum('estimatedInputTokens')]
      }
      for (const groupBy of usageGroups) {
        for (const per of [undefined, 'month', 'day', 'hour'] as const) {
          expect([groupBy, per, await total({ groupBy, label: 'team', ...(per && { per }) })]).toEqual([
            groupBy,
            per,
            [1040, 5, 0.75, 7],
          ])
        }
      }
      const byLabel = await usage().sum({ groupBy: 'label', label: 'team' })
      expect(byLabel.map(({ key, llmCalls }) => [key, llmCalls]).sort()).toEqual([
        ['', 1],
        ['', 2],
        ['ads', 1],
        ['search', 1],
      ])
      expect((await keys('scan', { name: 'x' })).map(([, key, calls]) => [key, calls])).toEqual([
        ['x', 1],
        ['x', 1],
      ])
    })

    it('sums each day apart, the newest first, and forgets attributes with their records', async () => {
      const at = (createdAt: string, agent: string) => makeRecord({ createdAt, agent, monitor: 'm' })
      await usage().record([
        at('2026-01-01T10:00:00.000Z', 'a'),
        at('2026-01-02T10:00:00.000Z', 'a'),
        at('2026-01-02T11:00:00.000Z', 'b'),
      ])
      const sums = await usage().sum({ groupBy: 'agent', per: 'day' })
      expect(sums.map((sum) => [sum.at, sum.key])).toEqual([
        ['2026-01-02', 'a'],
        ['2026-01-02', 'b'],
        ['2026-01-01', 'a'],
      ])
      expect(await usage().sweep(new Date('2026-01-02T00:00:00Z'))).toBe(1)
      expect(await keys('monitor')).toEqual([['default', 'm', 2]])
    })

    it('keeps callers apart by kind and id, and shows the latest name of each', async () => {
      const at = (second: number) => ({ createdAt: new Date(bench().now().getTime() + second * 1000).toISOString() })
      const call = (caller: RecordedCaller, second: number, outputTokens: number) =>
        makeRecord({ caller, outputTokens, ...at(second) })
      await usage().record([
        call({ kind: 'token', id: 'tok-1', name: 'zoe' }, 1, 100),
        call({ kind: 'token', id: 'tok-1', name: 'ann' }, 2, 100),
        call({ kind: 'token', id: 'tok-2', name: 'ann' }, 3, 50),
        call({ kind: 'tokenReview', id: 'tok-2', name: 'ann' }, 3, 40),
        // As it was recorded before callers had an id.
        call({ name: 'ann' }, 0, 30),
        call({ name: 'tok-1' }, 0, 20),
      ])
      const sums = await usage().sum({ groupBy: 'caller' })
      expect(sums.map(({ key, caller, outputTokens }) => [key, caller, outputTokens])).toEqual([
        ['tok-1', { kind: 'token', id: 'tok-1', name: 'ann' }, 200],
        ['tok-2', { kind: 'token', id: 'tok-2', name: 'ann' }, 50],
        ['tok-2', { kind: 'tokenReview', id: 'tok-2', name: 'ann' }, 40],
        ['ann', { name: 'ann' }, 30],
        ['tok-1', { name: 'tok-1' }, 20],
      ])
    })

    it('lists the largest output first, and each currency apart', async () => {
      await usage().record([
        makeRecord({ agent: 'small', outputTokens: 1 }),
        makeRecord({ agent: 'large', outputTokens: 100, cost: 2, currency: 'EUR' }),
        makeRecord({ agent: 'large', outputTokens: 50, cost: 3, currency: 'USD' }),
      ])
      const sums = await usage().sum({ groupBy: 'agent' })
      expect(sums.map((sum) => [sum.key, sum.outputTokens, sum.cost, sum.currency])).toEqual([
        ['large', 100, 2, 'EUR'],
        ['large', 50, 3, 'USD'],
        ['small', 1, undefined, undefined],
      ])
    })

    it('sums per model, and per day and hour in UTC with the newest first', async () => {
      const at = (createdAt: string, model: string) => makeRecord({ createdAt, model, cost: 1, currency: 'USD' })
      await usage().record([
        at('2026-01-01T23:59:59.999Z', 'small'),
        at('2026-01-02T00:00:00.000Z', 'small'),
        at('2026-01-02T12:00:00.000Z', 'large'),
      ])
      expect(await keys('day')).toEqual([
        [undefined, '2026-01-02', 2],
        [undefined, '2026-01-01', 1],
      ])
      expect(await keys('hour')).toEqual([
        [undefined, '2026-01-02T12', 1],
        [undefined, '2026-01-02T00', 1],
        [undefined, '2026-01-01T23', 1],
      ])
      expect(await keys('hour', { namespaces: ['other'] })).toEqual([])
      expect(await keys('hour', { namespaces: [] })).toEqual([])
      expect(await keys('day', { namespaces: ['other', 'default'], since: new Date('2026-01-02T00:00:00Z') })).toEqual([
        [undefined, '2026-01-02', 2],
      ])
      expect(await keys('model')).toEqual([
        [undefined, 'small', 2],
        [undefined, 'large', 1],
      ])
    })

    it('counts the calls without a price, and gives them no cost', async () => {
      await usage().record([
        makeRecord({ agent: 'a', cost: 0, currency: 'USD' }),
        makeRecord({ agent: 'a', llmCalls: 3 }),
      ])
      const sums = await usage().sum({ groupBy: 'agent' })
      const shown = sums.map(({ cost, currency, unpricedCalls }) => ({ cost, currency, unpricedCalls }))
      expect(shown).toHaveLength(2)
      expect(shown).toContainEqual({ cost: 0, currency: 'USD', unpricedCalls: undefined })
      expect(shown).toContainEqual({ cost: undefined, currency: undefined, unpricedCalls: 3 })
    })

    it('sums the usage of a scope, with estimates, from `since` up to but excluding `until`', async () => {
      const caller = { kind: 'token', id: 'tok-1', name: 'me' } as const
      const start = bench().now().getTime()
      const at = (second: number) => new Date(start + second * 1000)
      const call = (second: number, fields: Partial<UsageRecord>) =>
        makeRecord({ createdAt: at(second).toISOString(), inputTokens: 1, outputTokens: 0, cachedTokens: 0, ...fields })
      await usage().record([
        call(0, { caller, agent: 'a', taskUid: 'u1', cost: 1, currency: 'USD', estimatedCost: 0.5 }),
        call(1, { caller, estimatedInputTokens: 10, estimatedOutputTokens: 100, cost: 2, currency: 'EUR' }),
        call(2, { caller: { ...caller, kind: 'oidc' }, namespace: 'other', llmCalls: 4 }),
        call(3, { caller: { name: 'old' }, taskUid: 'u2', outputTokens: 1000 }),
      ])
      const tokens = async (...query: Parameters<ReturnType<typeof usage>['spent']>) =>
        (await usage().spent(...query)).tokens
      expect(await usage().spent({}, {})).toEqual({ tokens: 1114, costs: { USD: 1.5, EUR: 2 }, unpricedCalls: 5 })
      expect(await tokens({}, { since: at(1), until: at(3) })).toBe(112)
      expect(await tokens({ namespace: 'default' }, {})).toBe(1113)
      expect(await tokens({ namespace: 'default', agent: 'a' }, {})).toBe(1)
      expect(await tokens({ token: 'tok-1' }, {})).toBe(112)
      expect(await tokens({ caller: 'tok-1' }, {})).toBe(113)
      expect(await tokens({ caller: 'old' }, {})).toBe(1001)
      expect(await tokens({ taskUid: 'u1' }, {})).toBe(1)
      expect(await tokens({ taskUids: ['u1', 'u2', 'u3'] }, {})).toBe(1002)
      expect(await tokens({ taskUids: ['u3'] }, {})).toBe(0)
      expect(await usage().spent({ namespace: 'none' }, {})).toEqual({ tokens: 0, costs: {}, unpricedCalls: 0 })
    })

    it('counts from `since` up to but excluding `until`', async () => {
      const start = bench().now().getTime()
      for (const second of [0, 1, 2, 3]) {
        await usage().record([
          makeRecord({ createdAt: new Date(start + second * 1000).toISOString().replace('.000', '') }),
        ])
      }
      const at = (second: number) => new Date(start + second * 1000)
      expect(await keys('provider', { since: at(1), until: at(3) })).toEqual([['default', 'main', 2]])
      expect(await keys('provider', { since: at(3) })).toEqual([['default', 'main', 1]])
      expect(await keys('provider', { until: at(0) })).toEqual([])
    })

    it('adds money without rounding drift, in any order, down to the price of one token', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.integer({ min: 1, max: 2_000_000 }), { minLength: 1, maxLength: 60 }),
          async (nanos) => {
            const taskUid = `money-${made}`
            await usage().record(nanos.map((nano) => makeRecord({ taskUid, cost: nano / 1e9, currency: 'USD' })))
            const total = nanos.reduce((sum, nano) => sum + nano, 0)
            expect((await usage().ofTask(taskUid))?.cost).toBe(total / 1e9)
          },
        ),
        { numRuns: 20 },
      )
    })

    it('loses none of many records that arrive together', async () => {
      const batches = Array.from({ length: 8 }, () =>
        Array.from({ length: 200 }, () => makeRecord({ taskUid: 'task-1' })),
      )
      await Promise.all(batches.map((batch) => usage().record(batch)))
      expect(await usage().ofTask('task-1')).toMatchObject({ llmCalls: 1600, inputTokens: 16_000 })
    })

    it('keeps any name as it is, case included', async () => {
      const names = [...hardTexts, 'A', 'a']
      await usage().record(names.map((id) => makeRecord({ caller: { kind: 'token', id, name: id } })))
      expect((await usage().sum({ groupBy: 'caller' })).map((sum) => sum.key).sort()).toEqual([...names].sort())
    })

    it('sweeps old records', async () => {
      await usage().record(Array.from({ length: 2500 }, () => makeRecord()))
      bench().advance(1000)
      await usage().record([makeRecord()])
      expect(await usage().sweep(bench().now())).toBe(2500)
      expect(await keys('provider')).toEqual([['default', 'main', 1]])
    })
  })
}
