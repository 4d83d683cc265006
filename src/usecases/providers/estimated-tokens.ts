// How model calls are reported: their tokens with an estimate of what the vendor did not count, their failures, their provider's name.
import { ruleOfCall } from '../../contract/kinds/tasks/failures.ts'
import { SvcError } from '../../errors.ts'
import type { ServedCall } from '../../llm/call/model-client.ts'
import type { ModelError, TokenUsage } from '../../llm/messages/messages.ts'
import type { UsageRecord } from '../../ports/budgets/usage.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'

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

/** How long the client should wait: what the vendor says, else the remaining cool-down. Absent: no recommendation. */
export function modelRetrySeconds({ reason, retryAfterMs }: ModelError): number | undefined {
  const { rest, again } = ruleOfCall(reason)
  return rest === undefined || !again ? undefined : Math.max(1, Math.ceil((retryAfterMs ?? rest.ms) / 1000))
}

export function explainModelError(error: ModelError): SvcError {
  const retryAfterSeconds = modelRetrySeconds(error)
  const retry = retryAfterSeconds === undefined ? {} : { retryAfterSeconds }
  const { error: reason, again } = ruleOfCall(error.reason)
  return new SvcError(reason, error.message, { ...retry, lasts: !again })
}

/** Includes the provider's namespace when it is another one. */
export function nameProviderIn(namespace: string, provider: ResourceKey): string {
  return provider.namespace === namespace ? provider.name : `${provider.namespace}/${provider.name}`
}
