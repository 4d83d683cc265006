import { describe, expect, it } from 'vitest'
import { createManualClock } from '../../../test/fixtures/time.ts'
import { BudgetSpec } from '../../contract/api/budgets/budgets.ts'
import type { Budget } from '../../ports/budgets/usage.ts'
import type { Records } from '../../ports/index.ts'
import { createBudgetLedger } from './ledger.ts'

const start = Date.parse('2026-03-10T12:00:00.000Z')
const subject = { namespace: 'team', caller: { kind: 'token', id: 'tok-1', name: 'me' } } as const
const used = (tokens: number) => ({ usage: { inputTokens: tokens, outputTokens: 0, cachedTokens: 0 } })

/** A ledger over a store of which the test says what it holds; `rows` are of one scope, each with its time. */
function open(...specs: Partial<BudgetSpec>[]) {
  const clock = createManualClock(start)
  const rows: { at: number; tokens: number }[] = []
  const queries: { since?: Date; until?: Date }[] = []
  const store = { isAway: false, budgets: [] as Budget[] }
  store.budgets = specs.map((spec, index) => ({
    name: `b${index}`,
    spec: BudgetSpec.parse({ period: 'day', ...spec }),
  }))
  const records = {
    budgets: {
      async list() {
        if (store.isAway) throw new Error('away')
        return store.budgets
      },
    },
    usage: {
      async spent(_scope: object, time: { since?: Date; until?: Date }) {
        queries.push(time)
        const from = time.since?.getTime() ?? Number.NEGATIVE_INFINITY
        const to = time.until?.getTime() ?? Number.POSITIVE_INFINITY
        const tokens = rows.filter(({ at }) => at >= from && at < to).reduce((sum, row) => sum + row.tokens, 0)
        return { tokens, costs: {}, unpricedCalls: 0 }
      },
    },
  } as unknown as Records
  return { clock, rows, queries, store, ledger: createBudgetLedger({ records, clock }) }
}

const isRefused = async (ledger: ReturnType<typeof open>['ledger']) => {
  try {
    await ledger.require(subject)
    return false
  } catch {
    return true
  }
}

describe('the ledger', () => {
  it('reads the store once, then every few seconds while somebody asks', async () => {
    const { ledger, queries, clock } = open({ maxTokens: 10 })
    await ledger.require(subject)
    const first = queries.length
    for (let count = 0; count < 1000; count += 1) expect(ledger.require(subject)).toBeUndefined()
    expect(queries).toHaveLength(first)
    await clock.advance(3000)
    expect(queries.length).toBeGreaterThan(first)
    await clock.advance(60_000)
    const last = queries.length
    await clock.advance(60_000)
    expect(queries).toHaveLength(last)
    expect(clock.sleeping()).toBe(0)
  })

  it('counts local use at once, and not again when it is in the store', async () => {
    const { ledger, rows, clock } = open({ maxTokens: 100 })
    await ledger.require(subject)
    const counted = ledger.count(subject, used(60))
    const spent = async () => (await ledger.read())[0]?.spent.tokens
    expect(await spent()).toBe(60)
    rows.push({ at: clock.now().getTime(), tokens: 60 })
    ledger.settle(counted)
    expect(await spent()).toBe(60)
    await clock.advance(600_000)
    expect(await spent()).toBe(60)
    ledger.count(subject, used(40))
    expect(await isRefused(ledger)).toBe(true)
  })

  it('adds only new records, and starts again with the next day', async () => {
    const { ledger, rows, queries, clock } = open({ maxTokens: 100 })
    rows.push({ at: start - 3_600_000, tokens: 100 })
    expect(await isRefused(ledger)).toBe(true)
    queries.length = 0
    await clock.advance(3000)
    // From where the last sum ended, two minutes before it.
    expect(queries[0]?.since?.getTime()).toBe(start - 120_000)
    await clock.advance(12 * 3_600_000)
    expect(await isRefused(ledger)).toBe(false)
    rows.push({ at: clock.now().getTime(), tokens: 100 })
    await clock.advance(3000)
    expect(await isRefused(ledger)).toBe(true)
  })

  it('keeps its sums while the store is away, and applies a raised budget when it is back', async () => {
    const { ledger, store, clock } = open({ maxTokens: 10 })
    await ledger.require(subject)
    ledger.count(subject, used(10))
    store.isAway = true
    await clock.advance(3000)
    expect(await isRefused(ledger)).toBe(true)
    store.isAway = false
    store.budgets = [{ name: 'b0', spec: BudgetSpec.parse({ period: 'day', maxTokens: 11 }) }]
    await clock.advance(3000)
    expect(await isRefused(ledger)).toBe(false)
    store.budgets = []
    await clock.advance(3000)
    expect(ledger.count(subject, used(1))).toEqual([])
  })

  it('enforces the limit of a single task', async () => {
    const { ledger } = open()
    const task = { uid: 'u1', name: 't' }
    const own = { name: '', scope: { taskUid: 'u1' }, period: 'total', maxTokens: 5, currency: 'USD' } as const
    await ledger.require({ ...subject, task }, own)
    ledger.count({ ...subject, task }, used(5))
    expect(() => ledger.require({ ...subject, task }, own)).toThrow('the budget of 5 tokens for this task is used up')
    expect(await isRefused(ledger)).toBe(false)
  })
})
