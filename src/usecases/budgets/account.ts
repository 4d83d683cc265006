// What is spent of one limit: what the store had at the last look, and what this replica has used since.
import type { SpentSums, Usage } from '../../ports/usage.ts'
import { type Limit, startOfPeriod } from '../../rules/budget.ts'

export type { SpentSums } from '../../ports/usage.ts'

export type Account = {
  key: string
  limit: Limit
  /** Used here, and in no record yet. */
  unwritten: SpentSums
  /** It is in a record now. */
  settle(spent: SpentSums): void
  /** Reads what is new in the store. */
  look(usage: Pick<Usage, 'spent'>, now: Date): Promise<void>
  /** Of the store, as far as it was looked at. */
  stored(): SpentSums
  /** Written since the last look. */
  recent: SpentSums
}

/** Records are written within this time of the moment that they bear; what is older does not change any more. */
const settledAfterMs = 120_000
/** Everything is summed up anew this often. */
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
  /** What was used before `edge`, which is summed up once; and after it, which every look sums up again. */
  let closed = noSums()
  let open = noSums()
  let edge: Date | undefined
  let wholeAt = Number.NEGATIVE_INFINITY

  const account: Account = {
    // A changed limit is another account; a changed maximum is not.
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
        usage.spent(limit.scope, { ...(since && { since }), until }),
        usage.spent(limit.scope, { since: until }),
      ])
      if (isWhole) {
        start = begin?.getTime()
        wholeAt = now.getTime()
        closed = older
      } else addSpent(closed, older)
      edge = until
      open = newer
      // What was written before the look is in the store; what came meanwhile may be, and counts twice until the next one.
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
