// usage: tokens and cost, summed by day, agent, caller, model or whatever else is counted by.
import { type Command, Option } from 'commander'
import type { Client } from '../../../client/client.ts'
import { forecastMonth, forecastSince, startOfMonth } from '../../../client/forecast.ts'
import { formatMoney } from '../../../client/money.ts'
import { costOf, formatTotalCost, shareOfUsage, sumUsageItems, type UsageTotal } from '../../../client/usage-totals.ts'
import {
  getUsage,
  getUsageTable,
  type UsageItem,
  usageGroups,
  usagePeriods,
} from '../../../contract/api/budgets/usage.ts'
import { formatDuration } from '../../../contract/values/duration.ts'
import type { CliContext } from '../../context.ts'
import { readGlobalOptions, readSince } from '../../global-options.ts'
import { type ListCall, type ListCommand, printListed, readList, requestOf } from '../../output/list-command.ts'

type UsageOptions = {
  by: (typeof usageGroups)[number]
  label?: string
  per?: (typeof usagePeriods)[number]
  since?: string
  until?: string
  month?: true
  csv?: true
}

export function addUsageCommand(program: Command, context: CliContext): void {
  const command = program
    .command('usage')
    .description('tokens and cost, by day unless another grouping is named')
    .addOption(new Option('--by <what>', 'what is summed').choices(usageGroups).default('day'))
    .option('--label <key>', 'of tasks: sums by its values')
    .addOption(new Option('--per <period>', 'each of these apart').choices(usagePeriods))
    .option('--month', 'of this month, with what it will have cost at its end')
    .option('--since <time>', 'from then on: 7d, 12h, or a time (2026-01-31T00:00:00Z)')
    .option('--until <time>', 'up to then')
    .option('--csv', 'as comma-separated values, for spreadsheets; so does -o csv')
    .addHelpText(
      'after',
      `
Cost follows from the prices that each provider has for its models (spec.prices), or else from those that vendors publish. CACHED and WRITTEN are the
parts of IN that were read from a vendor's cache, and written to it. Calls without a price have no cost; UNPRICED says how many those are.
SHARE is that of the cost in its currency, or of the tokens where nothing has a price.
LEFT is what is left of the budget of a task, an agent, a namespace or a caller.
Estimates are of calls that broke off and that no vendor counted.`,
    )
  command.action(async (flags: UsageOptions, called: Command) => {
    const call = { options: readGlobalOptions(called), context, flags, args: called.args }
    const request = requestOf(usage, call)
    const client = await context.connect(call.options)
    if (flags.csv || call.options.csv) {
      return context.terminal.print((await (await client.open(getUsageTable, request)).text()).trimEnd())
    }
    await printUsage(client, call, request)
    if (flags.month && call.options.output === 'table') await noteForecast(client, call)
  })
}

/** In a table the last line is the total. */
async function printUsage(
  client: Client,
  call: ListCall<UsageOptions>,
  request: ReturnType<typeof requestOf>,
): Promise<void> {
  const found = await readList(usage, request, client, call.context)
  const items: UsageRow[] = found.items
  if (call.options.output !== 'table' || items.length === 0) return printListed(usage, call, found)
  const total = sumUsageItems(items)
  const { costs: _costs, ...counts } = total
  await printListed(usage, call, { ...found, items: [...items, { key: '', ...counts, total }] })
}

/** By currency: what was spent this month goes on as it did in the last week. */
async function noteForecast(client: Client, call: ListCall<UsageOptions>): Promise<void> {
  const now = call.context.now()
  const { namespace } = call.options
  const query = { groupBy: 'day', since: forecastSince(now).toISOString(), ...(namespace && { namespace }) } as const
  const { items } = await client.call(getUsage, { query })
  for (const [currency, days] of Map.groupBy(items, (item) => item.currency)) {
    if (currency === undefined) continue
    const costs = days.map(({ key, cost = 0, estimatedCost = 0 }) => ({ day: key, cost: cost + estimatedCost }))
    call.context.terminal.note(`at the end of the month: about ${formatMoney(forecastMonth(costs, now), currency)}`)
  }
}

/** `total`: of the last line, which is about all others. */
type UsageRow = UsageItem & { total?: UsageTotal }

function formatCost({ total, ...item }: UsageRow): string | undefined {
  if (total !== undefined) return formatTotalCost(total)
  const cost = costOf(item)
  return cost === undefined ? undefined : formatMoney(cost, item.currency)
}

function nameOf({ caller, key, total }: UsageRow): string {
  if (total !== undefined) return 'TOTAL'
  return caller?.name ?? (key === '' ? '(none)' : key)
}

/** Of a list whose last line is the total. */
function describeShare(items: readonly UsageRow[]): (row: UsageRow) => string | undefined {
  const total = items.at(-1)?.total
  return (row) => {
    const share = total === undefined || row.total !== undefined ? undefined : shareOfUsage(row, total)
    return share === undefined ? undefined : `${(share * 100).toFixed(1)}%`
  }
}

function sumEstimates({ estimatedInputTokens = 0, estimatedOutputTokens = 0 }: UsageItem): number | undefined {
  return estimatedInputTokens + estimatedOutputTokens || undefined
}

/** Of the budget that has least left, where there are several. */
function describeLeft({ budgets = [] }: UsageItem): string | undefined {
  const [left] = budgets.toSorted((a, b) => Number(b.usedUp) - Number(a.usedUp))
  if (left === undefined) return undefined
  if (left.usedUp) return 'nothing'
  const { tokens, cost, currency, seconds, iterations } = left
  const parts = [
    tokens !== undefined && `${tokens} tokens`,
    cost !== undefined && formatMoney(cost, currency),
    seconds !== undefined && formatDuration(seconds * 1000),
    iterations !== undefined && `${iterations} iterations`,
  ]
  return parts.filter((part) => part !== false).join(', ')
}

const usage: ListCommand<UsageRow, UsageOptions> = {
  route: getUsage,
  filters: ({ by, label, per, month, since, until }, { context }) => ({
    groupBy: label === undefined ? by : 'label',
    label,
    per,
    since: month ? startOfMonth(context.now()).toISOString() : readSince('--since', since, context.now()),
    until: readSince('--until', until, context.now()),
  }),
  columns: (_now, { by, label, per = 'day' }, items = []) => [
    { title: per.toUpperCase(), value: ({ at }) => at },
    { title: (label ?? by).toUpperCase(), value: nameOf },
    { title: 'ID', value: ({ caller }) => caller?.id },
    { title: 'CALLS', value: ({ llmCalls }) => llmCalls },
    { title: 'IN', value: ({ inputTokens }) => inputTokens },
    { title: 'CACHED', value: ({ cachedTokens }) => cachedTokens || undefined },
    { title: 'WRITTEN', value: ({ cacheWriteTokens }) => cacheWriteTokens },
    { title: 'OUT', value: ({ outputTokens }) => outputTokens },
    { title: 'ESTIMATED', value: sumEstimates },
    { title: 'COST', value: formatCost },
    { title: 'SHARE', value: describeShare(items) },
    { title: 'UNPRICED', value: ({ unpricedCalls }) => unpricedCalls },
    { title: 'LEFT', value: describeLeft },
  ],
  empty: () => 'no usage yet',
}
