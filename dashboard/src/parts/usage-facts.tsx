// Tokens and cost in words.
import { formatMoney } from '../../../src/client/money.ts'
import type { BudgetLeft } from '../../../src/contract/api/budgets/usage.ts'
import type { TaskUsage } from '../../../src/contract/kinds/tasks/task.ts'
import { Facts } from './facts.tsx'
import { describeSpan } from './time.tsx'

const numbers = new Intl.NumberFormat('en')

export const formatCount = (count: number) => numbers.format(count)

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 })

/** Where there is little room: `120K`, `1.5M`. */
export const formatCompact = (value: number): string => compact.format(value)

type Used = Partial<Omit<TaskUsage, 'cost' | 'currency'>> & Pick<TaskUsage, 'cost' | 'currency'>

function count(value: number | undefined): string | undefined {
  return value === undefined ? undefined : formatCount(value)
}

export function UsageFacts({ usage }: { usage: Used }) {
  const { cost, estimatedCost, currency } = usage
  return (
    <Facts
      of={[
        ['Model calls', count(usage.llmCalls)],
        ['Tokens in', count(usage.inputTokens)],
        ['Cached', usage.cachedTokens ? count(usage.cachedTokens) : undefined],
        ['Written to the cache', count(usage.cacheWriteTokens)],
        ['Tokens out', count(usage.outputTokens)],
        ['Estimated tokens in', count(usage.estimatedInputTokens)],
        ['Estimated tokens out', count(usage.estimatedOutputTokens)],
        ['Cost', cost === undefined ? 'no price is set' : formatMoney(cost, currency)],
        ['Estimated cost', estimatedCost === undefined ? undefined : formatMoney(estimatedCost, currency)],
      ]}
    />
  )
}

/** `380,000 tokens, 3.5 USD`: what is left of a budget. */
export function describeLeft({ tokens, cost, currency, seconds, iterations }: BudgetLeft): string {
  return [
    tokens !== undefined && `${formatCount(tokens)} tokens`,
    cost !== undefined && formatMoney(cost, currency),
    seconds !== undefined && describeSpan(seconds * 1000),
    iterations !== undefined && `${iterations} iterations`,
  ]
    .filter((part) => part !== false)
    .join(', ')
}
