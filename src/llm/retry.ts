// Calls again what failed for a passing reason, as long as nothing of the answer has been shown.
import { ruleOfCall } from '../contract/failures.ts'
import type { Clock, Ids } from '../ports/clock.ts'
import type { ModelError, ModelEvent, ModelRequest } from './messages.ts'
import type { ModelClient } from './model.ts'

export type RetryOptions = {
  clock: Clock
  /** Jitter. */
  random: Ids['random']
  /** Calls at most, the first included. Default 4. */
  maxTries?: number
  /** The same while the vendor says that it is asked too much: that can take a minute. Default 10. */
  maxTriesWhenLimited?: number
  /** Default 1 s; doubles with each try. */
  baseMs?: number
  /** The longest pause of our own choosing. Default 30 s. */
  capMs?: number
  /** A vendor that asks for a longer pause is not waited for. Default 90 s. */
  maxRetryAfterMs?: number
  /** Default: every passing failure. */
  retries?: (error: ModelError) => boolean
}

export function isPassing({ reason }: ModelError): boolean {
  return ruleOfCall(reason).again
}

/** The vendor wants to be left alone for a while. */
export function asksForRest({ reason }: ModelError): boolean {
  return ruleOfCall(reason).rest !== undefined
}

/** Events after which a second try would repeat what was already seen. */
function isContent(event: ModelEvent): boolean {
  return !['start', 'usage', 'block_start', 'error'].includes(event.type)
}

/** The pause before try `tries + 1`: what the vendor says, else exponential with full jitter. Undefined: no more tries. */
function pauseBefore(error: ModelError, tries: number, options: RetryOptions): number | undefined {
  const { baseMs = 1000, capMs = 30_000, maxRetryAfterMs = 90_000, retries = isPassing } = options
  const maxTries = asksForRest(error) ? (options.maxTriesWhenLimited ?? 10) : (options.maxTries ?? 4)
  if (tries >= maxTries || !retries(error)) return undefined
  if (error.retryAfterMs !== undefined) return error.retryAfterMs > maxRetryAfterMs ? undefined : error.retryAfterMs
  return options.random() * Math.min(capMs, baseMs * 2 ** (tries - 1))
}

/** A call up to its first content or its failure. `events` gives that again and what follows. */
export type Attempt = { error?: ModelError; events(): AsyncGenerator<ModelEvent> }

export async function attemptCall(client: ModelClient, request: ModelRequest, signal: AbortSignal): Promise<Attempt> {
  const iterator = client.stream(request, signal)[Symbol.asyncIterator]()
  const head: ModelEvent[] = []
  let last: ModelEvent | undefined
  do {
    const next = await iterator.next()
    last = next.done ? undefined : next.value
    if (last !== undefined) head.push(last)
  } while (last !== undefined && last.type !== 'error' && !isContent(last))
  // Nobody may ask for more of it: what it counted and what it took of a limit is settled before another call is made.
  if (last?.type === 'error') await iterator.return?.(undefined)

  async function* events(): AsyncGenerator<ModelEvent> {
    yield* head
    yield* { [Symbol.asyncIterator]: () => iterator }
  }
  return last?.type === 'error' ? { error: last.error, events } : { events }
}

export function withRetry(client: ModelClient, options: RetryOptions): ModelClient {
  if (options.maxTries === 1 && options.maxTriesWhenLimited === 1) return client
  return {
    async *stream(request, signal) {
      for (let tries = 1; ; tries += 1) {
        const { error, events } = await attemptCall(client, request, signal)
        const pause = error === undefined || signal.aborted ? undefined : pauseBefore(error, tries, options)
        if (pause === undefined) return yield* events()
        // An abort ends the pause; the next try then says so.
        await options.clock.sleep(pause, signal).catch(() => {})
      }
    },
  }
}
