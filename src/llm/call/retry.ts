// Retries calls that failed for a temporary reason, as long as nothing of the answer has been shown.
import { ruleOfCall } from '../../contract/kinds/tasks/failures.ts'
import { delayMs } from '../../lib/backoff.ts'
import type { Clock, Ids } from '../../lib/clock.ts'
import type { ModelError, ModelEvent, ModelRequest } from '../messages/messages.ts'
import type { Listener, ModelClient, OnWait } from './model-client.ts'

export type RetryOptions = {
  clock: Clock
  /** Jitter. */
  random: Ids['random']
  /** The most calls, including the first. Default 4. */
  maxTries?: number
  /** The same while the vendor reports overload or rate limits, which can last a minute. Default 10. */
  maxTriesWhenLimited?: number
  /** Default 1 s; doubles with each try. */
  baseMs?: number
  /** The longest pause that is not set by the vendor. Default 30 s. */
  capMs?: number
  /** Default: every temporary failure. */
  retries?: (error: ModelError) => boolean
  /** Called with every pause. */
  onWait?: OnWait | undefined
}

export function isRetryable({ reason }: ModelError): boolean {
  return ruleOfCall(reason).again
}

/** The vendor asks for a pause. */
export function asksForPause({ reason }: ModelError): boolean {
  return ruleOfCall(reason).rest !== undefined
}

/** Events after which another try would repeat what was already shown. */
function isContent(event: ModelEvent): boolean {
  return !['start', 'usage', 'block_start', 'error'].includes(event.type)
}

/** When a vendor asks for a longer pause, the call fails instead. */
const maxRetryAfterMs = 90_000

/**
 * The pause before try `tries + 1`: what the vendor asks for, else exponential with full jitter. Undefined: no more
 * tries.
 */
function pauseBefore(error: ModelError, tries: number, options: RetryOptions): number | undefined {
  const { baseMs = 1000, capMs = 30_000, retries = isRetryable } = options
  const maxTries = asksForPause(error) ? (options.maxTriesWhenLimited ?? 10) : (options.maxTries ?? 4)
  if (tries >= maxTries || !retries(error)) return undefined
  if (error.retryAfterMs !== undefined) return error.retryAfterMs > maxRetryAfterMs ? undefined : error.retryAfterMs
  return delayMs({ firstMs: baseMs, maxMs: capMs, jitter: 'full' }, tries, options.random())
}

/** A call whose failure can be withheld while it has shown no content. */
export type ModelAttempt = { client: ModelClient; request: ModelRequest; hides(error: ModelError): boolean }

/**
 * Holds back the start of an answer until its content arrives. Returns a withheld failure; undefined when everything
 * was passed on.
 */
export async function attemptCall(
  { client, request, hides }: ModelAttempt,
  { take, ...listener }: Listener,
): Promise<ModelError | undefined> {
  let buffer: ModelEvent[] | undefined = []
  const takeOrBuffer: Listener['take'] = (events) => {
    if (buffer === undefined) return take(events)
    buffer = [...buffer, ...events]
    if (!buffer.some(isContent)) return
    const opening = buffer
    buffer = undefined
    return take(opening)
  }
  await client.call(request, { ...listener, take: takeOrBuffer })
  const last = buffer?.at(-1)
  if (buffer === undefined || last?.type !== 'error') return undefined
  if (hides(last.error)) return last.error
  await take(buffer)
  return undefined
}

function describePause({ message, retryAfterMs }: ModelError): string {
  const source = retryAfterMs === undefined ? '' : ' (the vendor asks for this wait)'
  return `${message}${source}; then it is retried`
}

export function withRetry(client: ModelClient, options: RetryOptions): ModelClient {
  if (options.maxTries === 1 && options.maxTriesWhenLimited === 1) return client
  return {
    async call(request, listener) {
      const { signal } = listener
      for (let tries = 1, pause: number | undefined = 0; pause !== undefined; tries += 1) {
        pause = undefined
        const hides = (error: ModelError) => {
          pause = signal.aborted ? undefined : pauseBefore(error, tries, options)
          if (pause !== undefined) options.onWait?.({ ms: pause, why: describePause(error) })
          return pause !== undefined
        }
        await attemptCall({ client, request, hides }, listener)
        // An abort ends the pause; the next try then reports it.
        if (pause !== undefined) await options.clock.sleep(pause, signal).catch(() => {})
      }
    },
  }
}
