// The one ledger of budgets: running sums in memory of what is spent, and the one check whether more may be spent.
// Usage of this replica counts at once; usage of others counts after the next look at the store.
import type { Price } from '../../contract/kinds/providers/provider.ts'
import { SvcError } from '../../errors.ts'
import { monotonicMs } from '../../lib/clock.ts'
import { addUsage, noUsage, type TokenUsage } from '../../llm/messages/messages.ts'
import { type Cost, computeCost, type EstimatedUsage } from '../../llm/messages/token-usage.ts'
import type { SpentSums, Usage } from '../../ports/budgets/usage.ts'
import type { Ports } from '../../ports/index.ts'
import {
  type BudgetSubject,
  coversSubject,
  explainUsedUp,
  isUsedUp,
  type Limit,
  startOfPeriod,
} from '../../rules/budgets/budget.ts'
import type { TaskBound } from '../../rules/budgets/task-budget.ts'
import { countAll, tokensOf } from '../providers/estimated-tokens.ts'

/** What one call used. */
export type CallUsage = { usage: TokenUsage; estimated?: EstimatedUsage | undefined; price?: Price | undefined }

/** Usage that is counted and not in a record yet, by account. */
export type Counted = readonly { account: Account; spent: SpentSums }[]

export type BudgetState = { limit: Limit; spent: SpentSums; since: Date | undefined; usedUp: boolean }

export interface BudgetLedger {
  /**
   * BudgetExceeded when a budget that covers the subject is used up. `own`: a limit of the subject's alone. Returns a
   * promise only when sums must be read first: after a pause, or for a limit that is checked for the first time.
   */
  require(subject: BudgetSubject, own?: Limit): void | Promise<void>
  /** What the budgets that cover the subject allow each single task. A promise only after a pause, as above. */
  taskBounds(subject: BudgetSubject): TaskBound[] | Promise<TaskBound[]>
  /** Counts usage before a record holds it; does nothing when no budget covers it. */
  count(subject: BudgetSubject, used: CallUsage): Counted
  /** The usage is recorded now: the next look at the store will find it. */
  settle(counted: Counted): void
  /** Every budget with what is spent, as the store has it now. */
  read(): Promise<BudgetState[]>
  /** Stops reading the store. */
  close(): void
}

/** Time between two looks at the store while checks come in. */
const lookEveryMs = 3000
/** An account without checks for this long is no longer refreshed; its next check waits for one look. */
const awakeMs = 30_000

function toLimit({ name, spec }: { name: string; spec: Omit<Limit, 'name'> }): Limit {
  const { scope, period, maxTokens, maxCost, currency, maxTaskDuration, maxTaskIterations } = spec
  return { name, scope, period, maxTokens, maxCost, currency, maxTaskDuration, maxTaskIterations }
}

function costsOf({ usage, estimated, price }: CallUsage): Cost | undefined {
  const all = estimated === undefined ? usage : addUsage(usage, { ...noUsage, ...estimated })
  return computeCost(all, price)
}

function toSpent(used: CallUsage): SpentSums {
  const cost = costsOf(used)
  return {
    tokens: countAll(tokensOf({ usage: used.usage, estimated: used.estimated })),
    costs: cost === undefined ? {} : { [cost.currency]: cost.cost },
    unpricedCalls: cost === undefined ? 1 : 0,
  }
}

export function createBudgetLedger({ records, clock }: Pick<Ports, 'records' | 'clock'>): BudgetLedger {
  const closing = new AbortController()
  /** Accounts of budgets, by name, and of the limits that subjects bring along. */
  let accounts: Account[] = []
  const owned = new Map<string, { account: Account; requestedAt: number }>()
  let requestedAt = 0
  let isAwake = false
  let looking: Promise<void> | undefined

  const now = () => clock.now()

  async function lookAtBudgets(): Promise<void> {
    const budgets = await records.budgets.list()
    const known = new Map(accounts.map((account) => [account.key, account]))
    const next = budgets.map((budget) => {
      const limit = toLimit(budget)
      const account = openAccount(limit)
      const before = known.get(account.key)
      return before === undefined ? account : Object.assign(before, { limit })
    })
    await Promise.all(next.map((account) => account.look(records.usage, now())))
    accounts = next
  }

  async function lookAtOwned(): Promise<void> {
    for (const [key, entry] of owned) {
      if (monotonicMs(clock) - entry.requestedAt > awakeMs) owned.delete(key)
      else await entry.account.look(records.usage, now())
    }
  }

  /** One look at a time; everyone who waits shares it. */
  function look(): Promise<void> {
    looking ??= Promise.all([lookAtBudgets(), lookAtOwned()])
      .then(() => {})
      .finally(() => {
        looking = undefined
      })
    return looking
  }

  async function keepLooking(): Promise<void> {
    while (monotonicMs(clock) - requestedAt < awakeMs) {
      await clock.sleep(lookEveryMs, closing.signal)
      // While the store is unavailable the sums stay as they are.
      await look().catch(() => {})
    }
  }

  /** From here on the sums are kept current. */
  function wake(): void {
    isAwake = true
    keepLooking()
      .catch(() => {})
      .finally(() => {
        isAwake = false
      })
  }

  async function openOwned(limit: Limit): Promise<Account> {
    const account = openAccount(limit)
    await account.look(records.usage, now())
    const entry = owned.get(account.key) ?? { account, requestedAt }
    owned.set(account.key, entry)
    return entry.account
  }

  function check(account: Account): void {
    const { limit } = account
    const spent = sumOf(account)
    const money = { tokens: spent.tokens, cost: spent.costs[limit.currency] ?? 0 }
    if (isUsedUp(limit, money)) throw new SvcError('BudgetExceeded', explainUsedUp(limit, money, now()))
  }

  function checkAll(subject: BudgetSubject): void {
    for (const account of accounts) if (coversSubject(account.limit.scope, subject)) check(account)
  }

  function checkOwn(limit: Limit): void | Promise<void> {
    const entry = owned.get(openAccount(limit).key)
    if (entry === undefined) return openOwned(limit).then(check)
    entry.requestedAt = requestedAt
    check(entry.account)
  }

  async function requireLater(subject: BudgetSubject, own: Limit | undefined): Promise<void> {
    await look()
    if (!isAwake) wake()
    checkAll(subject)
    if (own !== undefined) await checkOwn(own)
  }

  function listBounds(subject: BudgetSubject): TaskBound[] {
    const limits = accounts.map(({ limit }) => limit).filter(({ scope }) => coversSubject(scope, subject))
    return limits.flatMap(({ name, maxTaskDuration: maxDuration, maxTaskIterations: maxIterations }) =>
      maxDuration === undefined && maxIterations === undefined ? [] : [{ name, maxDuration, maxIterations }],
    )
  }

  async function listBoundsLater(subject: BudgetSubject): Promise<TaskBound[]> {
    await look()
    if (!isAwake) wake()
    return listBounds(subject)
  }

  return {
    taskBounds(subject) {
      requestedAt = monotonicMs(clock)
      return isAwake ? listBounds(subject) : listBoundsLater(subject)
    },
    require(subject, own) {
      requestedAt = monotonicMs(clock)
      if (!isAwake) return requireLater(subject, own)
      checkAll(subject)
      return own === undefined ? undefined : checkOwn(own)
    },
    count(subject, used) {
      const all = owned.size === 0 ? accounts : [...accounts, ...[...owned.values()].map(({ account }) => account)]
      const covering = all.filter(({ limit }) => coversSubject(limit.scope, subject))
      if (covering.length === 0) return []
      const spent = toSpent(used)
      for (const account of covering) addSpent(account.unwritten, spent)
      return covering.map((account) => ({ account, spent }))
    },
    settle(counted) {
      for (const { account, spent } of counted) account.settle(spent)
    },
    async read() {
      await look()
      return accounts.map((account) => {
        const { limit } = account
        const spent = sumOf(account)
        const usedUp = isUsedUp(limit, { tokens: spent.tokens, cost: spent.costs[limit.currency] ?? 0 })
        return { limit, spent, since: startOfPeriod(limit.period, now()), usedUp }
      })
    },
    close: () => closing.abort(),
  }
}

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
