// The model of a run: provider choices in order, each with rate limit, retries and cool-down; reports which one served.
import type { ModelChoice } from '../../contract/api/tasks/assignment.ts'
import type { Price } from '../../contract/kinds/providers/provider.ts'
import { type Ids, monotonicMs } from '../../lib/clock.ts'
import type { BucketLimit } from '../../ports/providers/provider-state.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'
import { type ModelError, type ModelEvent, noUsage, type TokenUsage } from '../messages/messages.ts'
import { type CallWatch, computeCost, type EstimatedUsage, watchCall } from '../messages/token-usage.ts'
import { TimeLimitError } from './deadlines.ts'
import { type CoolDowns, type FallbackChoice, withCoolDown, withFallback } from './fallback.ts'
import type { ModelClient, OnWait, ServedCall } from './model-client.ts'
import { createProviderClient, nameProvider, type ProviderClientDeps, redactError } from './provider-client.ts'
import { type RateLimitOptions, withRateLimit } from './rate-limited.ts'
import { asksForPause, isRetryable, type RetryOptions, withRetry } from './retry.ts'

/** One try at a provider. */
export type BegunCall = { provider: ResourceKey; model: string }
/** `error`, without the provider's key: why there was no answer; `firstTokenMs`: until the answer began. */
export type EndedCall = { provider: ResourceKey; firstTokenMs?: number; error?: ModelError }

export type LimitedAgent = ResourceKey & { rateLimit: BucketLimit }

export type RouterDeps = ProviderClientDeps & {
  random: Ids['random']
  rateLimits: RateLimitOptions['rateLimits'] & CoolDowns
  /** Applies to all calls together, whichever provider answers; fallbacks of one call count once. */
  agent?: LimitedAgent | undefined
  /** Called for each try before it is made. */
  onBegin?(call: BegunCall): void
  /** Called for each try that ended: answered, failed or cancelled. */
  onEnd?(call: EndedCall): void
  retry?: Partial<Omit<RetryOptions, 'clock' | 'random' | 'retries'>>
  /** Called with every wait: for a retry, a rate limit, or the end of a cool-down. */
  onWait?: OnWait
  /** How long to wait for the first provider when all cool down. Default 60 s. */
  maxCoolDownWaitMs?: number
  /** Whether only a pause that a vendor has asked for is waited for. */
  waitsIfAsked?: boolean
}

function keyOf({ provider }: ModelChoice): ResourceKey {
  return { namespace: provider.namespace, name: provider.name }
}

type Report = {
  /** What the call has used; undefined when no vendor has begun to work. */
  measure(call: CallWatch): ServedCall | undefined
  /** A call starts. The returned function receives its events; the last one ends the call. */
  begin(signal: AbortSignal): (event: ModelEvent | undefined) => void
}

/** A provider that had most of a time limit to itself is late; one that was called shortly before its end is not. */
function blameLate(error: ModelError, choice: ModelChoice, { reason }: AbortSignal, ms: number): ModelError {
  if (error.reason !== 'Stopped' || !(reason instanceof TimeLimitError) || ms < reason.limitMs / 2) return error
  const name = nameProvider(choice.provider)
  const seconds = (ms / 1000).toFixed(1)
  return {
    reason: 'AnswerBrokenOff',
    message: `Provider ${name} had not finished its answer at the time limit, after ${seconds} s.`,
  }
}

type Measured = Pick<ServedCall, 'usage' | 'estimated' | 'cost' | 'estimatedCost'>

function measureCall(usage: TokenUsage, estimated: EstimatedUsage | undefined, price: Price | undefined): Measured {
  const cost = computeCost(usage, price)
  const estimatedCost = estimated && computeCost({ ...noUsage, ...estimated }, price)
  return {
    usage,
    ...(cost && { cost }),
    ...(estimated && { estimated }),
    ...(estimatedCost && { estimatedCost }),
  }
}

function createReport(
  choice: ModelChoice,
  { onBegin, onEnd, clock }: Pick<RouterDeps, 'onBegin' | 'onEnd' | 'clock'>,
): Report {
  const demo = choice.provider.type === 'demo'
  const provider = keyOf(choice)
  return {
    measure(call) {
      const counted = call.counted()
      const estimated = demo ? undefined : call.estimated()
      const isAnswered = call.isAnswered()
      if (counted === undefined && estimated === undefined && !isAnswered) return undefined
      const tokens = measureCall(counted ?? noUsage, estimated, choice.provider.price)
      return { provider, model: choice.model, demo, ...tokens, ...(isAnswered ? {} : { brokeOff: true as const }) }
    },
    begin(signal) {
      const since = monotonicMs(clock)
      let first: { firstTokenMs?: number } = {}
      onBegin?.({ provider, model: choice.model })
      return (event) => {
        if (event?.type === 'error') {
          const error = blameLate(event.error, choice, signal, monotonicMs(clock) - since)
          return onEnd?.({ provider, ...first, error })
        }
        if (event !== undefined && event.type !== 'start' && first.firstTokenMs === undefined)
          first = { firstTokenMs: Math.max(0, Math.round(monotonicMs(clock) - since)) }
        if (event?.type === 'stop') onEnd?.({ provider, ...first })
      }
    },
  }
}

/** Adds the serving provider to the answer, requests its model, and counts its usage. */
function withIdentity(client: ModelClient, choice: ModelChoice, report: Report): ModelClient {
  function identify(event: ModelEvent): ModelEvent {
    if (event.type === 'error') return { ...event, error: redactError(event.error, choice) }
    if (event.type !== 'start') return event
    return { ...event, provider: nameProvider(choice.provider), model: event.model || choice.model }
  }
  return {
    async call(request, { signal, take, spend }) {
      const follow = report.begin(signal)
      // A call that was aborted before it started is not sent.
      const watch = signal.aborted ? undefined : watchCall(request)
      const takeIdentified = (raw: ModelEvent[]) => {
        const events = raw.some(namesProvider) ? raw.map(identify) : raw
        watch?.push(events)
        follow(events.at(-1))
        return take(events)
      }
      try {
        await client.call({ ...request, model: choice.model }, { signal, take: takeIdentified, spend })
      } finally {
        const served = watch && report.measure(watch)
        if (served !== undefined) spend(served)
      }
    },
  }
}

function namesProvider({ type }: ModelEvent): boolean {
  return type === 'start' || type === 'error'
}

function createFallbackChoice(choice: ModelChoice, isLast: boolean, deps: RouterDeps): FallbackChoice {
  const { clock, random, rateLimits, onWait } = deps
  const key = keyOf(choice)
  const identified = withIdentity(createProviderClient(choice, deps), choice, createReport(choice, deps))
  const { model } = choice
  const counted = withCoolDown(identified, { key, model }, { coolDowns: rateLimits, clock })
  const limit = choice.provider.rateLimit
  const limited = limit ? withRateLimit(counted, { rateLimits, whose: key, limit, clock, onWait }) : counted
  // While another provider can be tried, nobody waits for a rate-limited one.
  const retries: RetryOptions['retries'] = isLast ? isRetryable : (error) => isRetryable(error) && !asksForPause(error)
  return { key, model, client: withRetry(limited, { ...deps.retry, clock, random, retries, onWait }) }
}

export function createModelRouter(choices: ModelChoice[], deps: RouterDeps): ModelClient {
  const candidates = choices.map((choice, index) => createFallbackChoice(choice, index === choices.length - 1, deps))
  const { agent, clock, rateLimits, onWait, maxCoolDownWaitMs: maxWaitMs, waitsIfAsked } = deps
  const model = withFallback(candidates, { coolDowns: rateLimits, clock, maxWaitMs, waitsIfAsked, onWait })
  if (agent === undefined) return model
  const { namespace, name, rateLimit: limit } = agent
  return withRateLimit(model, { rateLimits, whose: { kind: 'Agent', namespace, name }, limit, clock, onWait })
}
