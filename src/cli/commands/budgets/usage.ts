// usage: tokens and cost, summed by day, agent, caller, model or whatever else is counted by.
import { type Command, Option } from 'commander'
import { formatMoney } from '../../../client/money.ts'
import { getUsage, type UsageItem, usageGroups } from '../../../contract/api/budgets/usage.ts'
import { formatDuration } from '../../../contract/values/duration.ts'
import type { CliContext } from '../../context.ts'
import { readSince } from '../../global-options.ts'
import { addList, type ListCommand } from '../../output/list-command.ts'

type UsageOptions = { by: (typeof usageGroups)[number]; since?: string; until?: string }

export function addUsageCommand(program: Command, context: CliContext): void {
  const command = program
    .command('usage')
    .description('tokens and cost, by day unless another grouping is named')
    .addOption(new Option('--by <what>', 'what is summed').choices(usageGroups).default('day'))
    .option('--since <time>', 'from then on: 7d, 12h, or a time (2026-01-31T00:00:00Z)')
    .option('--until <time>', 'up to then')
    .addHelpText(
      'after',
      `
Cost follows from the prices that each provider has for its models (spec.prices). CACHED and WRITTEN are the
parts of IN that were read from a vendor's cache, and written to it. Calls without a price have no cost; UNPRICED says how many those are.
LEFT is what is left of the budget of a task, an agent, a namespace or a caller.
Estimates are of calls that broke off and that no vendor counted.`,
    )
  addList(command, context, usage)
}

function formatCost({ cost, currency, estimatedCost }: UsageItem): string | undefined {
  if (cost === undefined) return undefined
  return formatMoney(cost + (estimatedCost ?? 0), currency)
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

const usage: ListCommand<UsageItem, UsageOptions> = {
  route: getUsage,
  filters: ({ by, since, until }, { context }) => ({
    groupBy: by,
    since: readSince('--since', since, context.now()),
    until: readSince('--until', until, context.now()),
  }),
  columns: (_now, { by }) => [
    { title: by.toUpperCase(), value: ({ caller, key }) => caller?.name ?? key },
    { title: 'ID', value: ({ caller }) => caller?.id },
    { title: 'CALLS', value: ({ llmCalls }) => llmCalls },
    { title: 'IN', value: ({ inputTokens }) => inputTokens },
    { title: 'CACHED', value: ({ cachedTokens }) => cachedTokens || undefined },
    { title: 'WRITTEN', value: ({ cacheWriteTokens }) => cacheWriteTokens },
    { title: 'OUT', value: ({ outputTokens }) => outputTokens },
    { title: 'ESTIMATED', value: sumEstimates },
    { title: 'COST', value: formatCost },
    { title: 'UNPRICED', value: ({ unpricedCalls }) => unpricedCalls },
    { title: 'LEFT', value: describeLeft },
  ],
  empty: () => 'no usage yet',
}
