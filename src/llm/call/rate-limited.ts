// Takes a lease from the token buckets of a provider or agent before each call and corrects it afterwards (PROV-009).
import type { Clock } from '../../lib/clock.ts'
import type { BucketLimit, Limited, RateLimits } from '../../ports/providers/provider-state.ts'
import type { ModelEvent, ModelRequest } from '../messages/messages.ts'
import { type CallWatch, estimateInput, watchCall } from '../messages/token-usage.ts'
import type { ModelClient, OnWait } from './model-client.ts'

export type RateLimitOptions = {
  rateLimits: Pick<RateLimits, 'take' | 'settle'>
  whose: Limited
  limit: BucketLimit
  clock: Clock
  /** Called with every wait. */
  onWait?: OnWait | undefined
}

/** The vendor also counts the answer: as long as the request allows, within reason. */
const expectedOutput = 1024

/** Input and expected output of a call, before it is made. */
function estimateRequest(request: ModelRequest): number {
  return estimateInput(request) + Math.min(request.maxTokens ?? expectedOutput, expectedOutput)
}

/** What a call used of its limit, as far as is known. */
function sumUp(watch: CallWatch): number {
  return [watch.counted(), watch.estimated()].reduce(
    (sum, part) => sum + (part?.inputTokens ?? 0) + (part?.outputTokens ?? 0),
    0,
  )
}

/** Waits for a lease, unless the signal aborts; returns how many tokens it took. */
async function takeLease(tokens: number, options: RateLimitOptions, signal: AbortSignal): Promise<number> {
  while (true) {
    const lease = await options.rateLimits.take(options.whose, { requests: 1, tokens }, options.limit)
    if (lease.granted) return lease.tokens
    const { kind, name } = options.whose
    options.onWait?.({
      ms: lease.retryAfterMs,
      why: `the rate limit of ${kind === 'Agent' ? 'agent' : 'provider'} "${name}" is used up`,
    })
    await options.clock.sleep(lease.retryAfterMs, signal)
  }
}

export function withRateLimit(client: ModelClient, options: RateLimitOptions): ModelClient {
  return {
    async call(request, { signal, take, spend }) {
      let taken: number
      try {
        taken = await takeLease(estimateRequest(request), options, signal)
      } catch (error) {
        return take([failLease(error, signal, options.whose)])
      }
      const watch = watchCall(request)
      const watchAndTake = (events: ModelEvent[]) => {
        watch.push(events)
        return take(events)
      }
      try {
        await client.call(request, { signal, take: watchAndTake, spend })
      } finally {
        await options.rateLimits.settle(options.whose, sumUp(watch) - taken, options.limit).catch(() => {})
      }
    },
  }
}

function failLease(error: unknown, signal: AbortSignal, { kind, name }: Limited): ModelEvent {
  const message = `The rate limit of ${kind === 'Agent' ? 'agent' : 'provider'} "${name}" could not be checked: ${String(error)}`
  return signal.aborted
    ? {
        type: 'error',
        error: { reason: 'Stopped', message: 'The call was cancelled while it waited for the rate limit.' },
      }
    : { type: 'error', error: { reason: 'ServiceUnavailable', message } }
}
