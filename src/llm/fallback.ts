// Asks one provider after another, in the order of preference, skipping those that cool down (PROV-010).
import { ruleOfCall } from '../contract/failures.ts'
import type { Clock } from '../ports/clock.ts'
import type { RateLimits } from '../ports/rate-limits.ts'
import type { ResourceKey } from '../ports/resources.ts'
import type { ModelError, ModelEvent } from './messages.ts'
import type { ModelClient } from './model.ts'
import { asksForRest, attemptCall } from './retry.ts'

export type CoolDowns = Pick<RateLimits, 'coolDown' | 'coolingDown'>

export type Candidate = { key: ResourceKey; client: ModelClient }

export type FallbackOptions = {
  coolDowns: CoolDowns
  clock: Clock
  /** When all cool down, the one that is ready first is waited for, so long at most. Default 60 s; 0: asked at once. */
  maxWaitMs?: number | undefined
}

/** When a vendor gives no time of its own. */
const defaultCoolDownMs = 10_000
const defaultMaxWaitMs = 60_000

/** Notes a vendor's "too much" for everyone who shares the provider. */
export function withCoolDown(client: ModelClient, key: ResourceKey, options: FallbackOptions): ModelClient {
  async function note(error: ModelError): Promise<void> {
    const until = new Date(options.clock.now().getTime() + (error.retryAfterMs ?? defaultCoolDownMs))
    await options.coolDowns.coolDown(key, until, error.message).catch(() => {})
  }
  const { answer } = client
  return {
    ...(answer && {
      async answer(request, signal) {
        const events = await answer(request, signal)
        const last = events.at(-1)
        if (last?.type === 'error' && asksForRest(last.error)) await note(last.error)
        return events
      },
    }),
    async *stream(request, signal) {
      for await (const event of client.stream(request, signal)) {
        if (event.type === 'error' && asksForRest(event.error)) await note(event.error)
        yield event
      }
    },
  }
}

type Rated = Candidate & { until: number; reason: string }

async function rateCandidate(candidate: Candidate, options: FallbackOptions): Promise<Rated> {
  const cooling = await options.coolDowns.coolingDown(candidate.key).catch(() => undefined)
  return { ...candidate, until: cooling?.until.getTime() ?? 0, reason: cooling?.reason ?? '' }
}

type Plan = { order: Rated[]; skipped: string[] }

/** Who is asked, and who is passed over. When all cool down, all are asked, the one that is ready first before the others. */
async function planOrder(candidates: Candidate[], options: FallbackOptions, signal: AbortSignal): Promise<Plan> {
  const { maxWaitMs = defaultMaxWaitMs } = options
  const now = options.clock.now().getTime()
  const rated = await Promise.all(candidates.map((candidate) => rateCandidate(candidate, options)))
  const ready = rated.filter((candidate) => candidate.until <= now)
  if (ready.length > 0) {
    const cooling = rated.filter((candidate) => candidate.until > now)
    return { order: ready, skipped: cooling.map(describeCooling) }
  }
  const order = rated.toSorted((a, b) => a.until - b.until)
  const wait = Math.min((order[0]?.until ?? 0) - now, maxWaitMs)
  if (wait > 0) await options.clock.sleep(wait, signal).catch(() => {})
  return { order, skipped: [] }
}

function describeCooling({ key, until, reason }: Rated): string {
  return `Provider ${key.namespace}/${key.name} is cooling down until ${new Date(until).toISOString()}: ${reason}`
}

/** One error that says what each provider said. */
function joinErrors(errors: ModelError[], skipped: string[]): ModelError {
  const last = errors.at(-1) ?? { reason: 'Internal', message: 'No provider is configured for this call.' }
  const reasons = [...errors.map((error) => error.message), ...skipped]
  if (reasons.length <= 1) return last
  const waits = errors.flatMap((error) => error.retryAfterMs ?? [])
  const { retryAfterMs: _, ...rest } = last
  return {
    ...rest,
    message: `No provider could answer. ${reasons.map((reason, index) => `(${index + 1}) ${reason}`).join(' ')}`,
    ...(waits.length > 0 ? { retryAfterMs: Math.min(...waits) } : {}),
  }
}

export function withFallback(candidates: Candidate[], options: FallbackOptions): ModelClient {
  const [only] = candidates
  // There is nobody else to ask, and nothing is waited for.
  if (only !== undefined && candidates.length === 1 && options.maxWaitMs === 0) return only.client
  return {
    async *stream(request, signal): AsyncGenerator<ModelEvent> {
      const { order, skipped } = await planOrder(candidates, options, signal)
      const errors: ModelError[] = []
      for (const candidate of order) {
        const { error, events } = await attemptCall(candidate.client, request, signal)
        if (error === undefined || signal.aborted || !ruleOfCall(error.reason).takeOver) return yield* events()
        errors.push(error)
      }
      yield { type: 'error', error: joinErrors(errors, skipped) }
    },
  }
}
