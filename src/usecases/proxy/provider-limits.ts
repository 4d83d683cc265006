// What a provider may be asked: its rate limit, and the pauses that its vendor asked for.
import { SvcError } from '../../errors.ts'
import type { Ports } from '../../ports/index.ts'
import type { Target } from './target.ts'
import { defaultRetrySeconds } from './upstream-error.ts'

/** Tokens taken before a call. */
export interface Lease {
  /** Corrects it by what was really used. */
  settle(tokens: number): void
}

export type ProviderLimits = {
  /** TooManyRequests with the time to wait. */
  lease(target: Target, bodyBytes: number): Lease | Promise<Lease>
  coolDown(target: Target, pause: { status: number; retryMs: number | undefined; reason: string }): void
}

const noLease: Lease = { settle() {} }
/** English text has some four bytes per token; an answer is part of what the vendor counts. */
const bytesPerToken = 4
const expectedOutput = 1024

/** Vendors limit each model by itself. */
function pauseKey({ key, model }: Target): string {
  return `${key.namespace}/${key.name}/${model}`
}

/** Names of models are the callers' own: when so many are known, those that are over are forgotten, then the oldest. */
const mostPauses = 1000

type Pause = { until: number; reason: string; status: number }

export function createProviderLimits({ records, clock }: Pick<Ports, 'records' | 'clock'>): ProviderLimits {
  const { rateLimits } = records
  /** Only pauses that a vendor asked for by name: without `Retry-After` the caller decides when to come back. */
  const pauses = new Map<string, Pause>()

  function checkPause(target: Target): void {
    if (pauses.size === 0) return
    const id = pauseKey(target)
    const pause = pauses.get(id)
    if (pause === undefined) return
    const leftMs = pause.until - clock.now().getTime()
    if (leftMs <= 0) return void pauses.delete(id)
    const message = `Provider ${target.key.namespace}/${target.key.name} asked for a pause: ${pause.reason}`
    const reason = pause.status === 529 ? 'Overloaded' : 'TooManyRequests'
    throw new SvcError(reason, target.redact(message), { retryAfterSeconds: Math.ceil(leftMs / 1000) })
  }

  function forgetOver(): void {
    const now = clock.now().getTime()
    for (const [id, { until }] of pauses) {
      if (until <= now) pauses.delete(id)
    }
  }

  function notePause(id: string, pause: Pause): void {
    if (pauses.size >= mostPauses) forgetOver()
    const [oldest] = pauses.keys()
    if (pauses.size >= mostPauses && oldest !== undefined) pauses.delete(oldest)
    pauses.set(id, pause)
  }

  async function take(target: Target, limit: NonNullable<Target['rateLimit']>, bodyBytes: number): Promise<Lease> {
    const want = Math.ceil(bodyBytes / bytesPerToken) + expectedOutput
    const lease = await rateLimits.take(target.key, { requests: 1, tokens: want }, limit)
    if (!lease.granted) {
      const message = `the rate limit of provider "${target.name}" is used up`
      throw new SvcError('TooManyRequests', message, { retryAfterSeconds: Math.ceil(lease.retryAfterMs / 1000) })
    }
    return {
      settle: (tokens) => void rateLimits.settle(target.key, tokens - lease.tokens, limit).catch(() => {}),
    }
  }

  return {
    lease(target, bodyBytes) {
      checkPause(target)
      return target.rateLimit === undefined ? noLease : take(target, target.rateLimit, bodyBytes)
    },
    coolDown(target, { status, retryMs, reason }) {
      const now = clock.now().getTime()
      const words = target.redact(reason)
      if (retryMs !== undefined) {
        notePause(pauseKey(target), { until: now + retryMs, reason: words, status })
      }
      const until = new Date(now + (retryMs ?? defaultRetrySeconds * 1000))
      rateLimits.coolDown(target.key, until, words).catch(() => {})
    },
  }
}
