// The tokens of a call for usage records: those that the vendor counted, and separately an estimate of the others.

import type { ServedCall } from '../../llm/call/model.ts'
import type { TokenUsage } from '../../llm/messages/messages.ts'
import type { UsageRecord } from '../../ports/budgets/usage.ts'

type Tokens = TokenUsage & Pick<UsageRecord, 'estimatedInputTokens' | 'estimatedOutputTokens' | 'estimatedCost'>

export function tokensOf({
  usage,
  estimated,
  estimatedCost,
}: Pick<ServedCall, 'usage' | 'estimated' | 'estimatedCost'>): Tokens {
  return {
    ...usage,
    ...(estimated && { estimatedInputTokens: estimated.inputTokens, estimatedOutputTokens: estimated.outputTokens }),
    ...(estimatedCost && { estimatedCost: estimatedCost.cost }),
  }
}

/** Everything that counts against limits and budgets. */
export function countAll(tokens: Partial<Tokens>): number {
  const { inputTokens = 0, outputTokens = 0, estimatedInputTokens = 0, estimatedOutputTokens = 0 } = tokens
  return inputTokens + outputTokens + estimatedInputTokens + estimatedOutputTokens
}
