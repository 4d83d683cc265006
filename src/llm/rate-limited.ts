// Takes a lease from the provider's token buckets before each call and corrects it afterwards (PROV-009).
import type { Clock } from '../ports/clock.ts'
import type { RateLimit, RateLimits } from '../ports/rate-limits.ts'
import type { ResourceKey } from '../ports/resources.ts'
import type { ModelEvent, ModelRequest } from './messages.ts'
import type { ModelClient } from './model.ts'
import { countTextTokens, estimateTokens } from './truncate.ts'

export type RateLimitOptions = {
  rateLimits: Pick<RateLimits, 'take' | 'settle'>
  provider: ResourceKey
  limit: RateLimit
  clock: Clock
}

/** The answer is part of what the vendor counts: as long as the request allows, within reason. */
const expectedOutput = 1024

/** Input and expected output of a call, before it is made. */
function estimateRequest(request: ModelRequest): number {
  const system = request.system.reduce((sum, block) => sum + countTextTokens(block.text), 0)
  const messages = request.messages.reduce((sum, message) => sum + estimateTokens(message), 0)
  const tools = request.tools.length === 0 ? 0 : countTextTokens(JSON.stringify(request.tools))
  return system + messages + tools + Math.min(request.maxTokens ?? expectedOutput, expectedOutput)
}

/** Waits for a lease, within the signal; answers how many tokens it took. */
async function takeLease(tokens: number, options: RateLimitOptions, signal: AbortSignal): Promise<number> {
  while (true) {
    const lease = await options.rateLimits.take(options.provider, { requests: 1, tokens }, options.limit)
    if (lease.granted) return lease.tokens
    await options.clock.sleep(lease.retryAfterMs, signal)
  }
}

export function withRateLimit(client: ModelClient, options: RateLimitOptions): ModelClient {
  return {
    async *stream(request, signal) {
      let taken: number
      try {
        taken = await takeLease(estimateRequest(request), options, signal)
      } catch (error) {
        return yield failLease(error, signal)
      }
      let used: number | undefined
      try {
        for await (const event of client.stream(request, signal)) {
          if (event.type === 'usage') used = event.usage.inputTokens + event.usage.outputTokens
          yield event
        }
      } finally {
        await options.rateLimits.settle(options.provider, (used ?? 0) - taken, options.limit).catch(() => {})
      }
    },
  }
}

function failLease(error: unknown, signal: AbortSignal): ModelEvent {
  const message = `The rate limit of the provider could not be asked for: ${String(error)}`
  return signal.aborted
    ? {
        type: 'error',
        error: { reason: 'Stopped', message: 'The call was cancelled while it waited for the rate limit.' },
      }
    : { type: 'error', error: { reason: 'ServiceUnavailable', message } }
}
