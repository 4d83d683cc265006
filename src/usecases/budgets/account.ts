// What is spent of one limit: the store's sum at the last look, plus what this replica has used since.
import type { SpentSums, Usage } from '../../ports/budgets/usage.ts'
import { type Limit, startOfPeriod } from '../../rules/budgets/budget.ts'

export type { SpentSums } from '../../ports/budgets/usage.ts'

export type Account = {
  key: string
  limit: Limit
  /** Used here, and not in a record yet. */
  unwritten: SpentSums
  /** Now in a record. */
  settle(spent: SpentSums): void
  /** Reads what is new in the store. */
  look(usage: Pick<Usage, 'spent'>, now: Date): Promise<void>
  /** The store's sum as of the last look. */
  stored(): SpentSums
  /** Written to records since the last look. */
  recent: SpentSums
}

/** Records are written within this time of their timestamp; older sums no longer change. */
const settledAfterMs = 120_000
/** How often everything is summed again from the start. */
const wholeEveryMs = 6 * 3_600_000

function noSums(): SpentSums {
  return { tokens: 0, costs: {}, unpricedCalls: 0 }
}

export function addSpent(sum: SpentSums, more: SpentSums, sign: 1 | -1 = 1): void {
  sum.tokens += sign * more.tokens
  sum.unpricedCalls += sign * more.unpricedCalls
  for (const [currency, cost] of Object.entries(more.costs)) {
    sum.costs[currency] = (sum.costs[currency] ?? 0) + sign * cost
  }
}

export function sumOf(account: Account): SpentSums {
  const sum = noSums()
  for (const part of [account.stored(), account.unwritten, account.recent]) addSpent(sum, part)
  return sum
}

export function openAccount(limit: Limit): Account {
  let start: number | undefined
  /** Usage before `edge`, summed once, and usage after it, summed again at every look. */
  let closed = noSums()
  let open = noSums()
  let edge: Date | undefined
  let wholeAt = Number.NEGATIVE_INFINITY

  const account: Account = {
    // A changed scope or period makes another account; a changed maximum does not.
    key: JSON.stringify([limit.name, limit.scope, limit.period]),
    limit,
    unwritten: noSums(),
    recent: noSums(),
    settle(spent) {
      addSpent(account.unwritten, spent, -1)
      addSpent(account.recent, spent)
    },
    async look(usage, now) {
      const begin = startOfPeriod(limit.period, now)
      const isWhole = start !== begin?.getTime() || now.getTime() - wholeAt > wholeEveryMs
      const since = isWhole ? begin : edge
      const before = { ...account.recent, costs: { ...account.recent.costs } }
      const until = new Date(Math.max(now.getTime() - settledAfterMs, since?.getTime() ?? 0))
      const [older, newer] = await Promise.all([
        usage.spent(limit.scope, { since, until }),
        usage.spent(limit.scope, { since: until }),
      ])
      if (isWhole) {
        start = begin?.getTime()
        wholeAt = now.getTime()
        closed = older
      } else addSpent(closed, older)
      edge = until
      open = newer
      // Records written before the look are in the store's sum; newer ones may be, and count twice until the next look.
      addSpent(account.recent, before, -1)
    },
    stored() {
      const sum = noSums()
      addSpent(sum, closed)
      addSpent(sum, open)
      return sum
    },
  }
  return account
}
