// The model of a run: provider choices in order, each with its rate limit, retries and cool-down; says who served.
import type { ModelChoice } from '../contract/api/assignment.ts'
import type { Ids } from '../ports/clock.ts'
import type { ResourceKey } from '../ports/resources.ts'
import { guardStream } from './collect.ts'
import { type Candidate, type CoolDowns, withCoolDown, withFallback } from './fallback.ts'
import { type ModelEvent, noUsage, type TokenUsage } from './messages.ts'
import type { ModelClient } from './model.ts'
import { createModelClient, type ModelClientDeps, nameProvider, redactError } from './model-client.ts'
import { type Cost, computeCost } from './pricing.ts'
import { type RateLimitOptions, withRateLimit } from './rate-limited.ts'
import { isLimited, isPassing, type RetryOptions, withRetry } from './retry.ts'

/** One call that reached a provider, for the usage records. */
export type ServedCall = {
  provider: ResourceKey
  model: string
  usage: TokenUsage
  /** Absent when the provider has no price. */
  cost?: Cost
  /** Served by the demo provider: no language model (PROV-014). */
  demo: boolean
}

export type RouterDeps = ModelClientDeps & {
  random: Ids['random']
  rateLimits: RateLimitOptions['rateLimits'] & CoolDowns
  /** Called once for each call that was answered or broke off after tokens were counted. */
  onUsage?(call: ServedCall): void
  retry?: Partial<Omit<RetryOptions, 'clock' | 'random' | 'retries'>>
  /** How long the first of providers that all cool down is waited for. Default 60 s. */
  maxCoolDownWaitMs?: number
}

function keyOf({ provider }: ModelChoice): ResourceKey {
  return { namespace: provider.namespace, name: provider.name }
}

type Report = (usage: TokenUsage) => void

function createReport(choice: ModelChoice, onUsage: (call: ServedCall) => void): Report {
  const demo = choice.provider.type === 'demo'
  return (usage) => {
    const cost = computeCost(usage, choice.provider.price)
    onUsage({ provider: keyOf(choice), model: choice.model, usage, demo, ...(cost === undefined ? {} : { cost }) })
  }
}

/** Says in the stream which provider serves it, asks for its model, counts what it uses. One layer: each costs every event its time. */
function withIdentity(client: ModelClient, choice: ModelChoice, report: Report): ModelClient {
  function identify(event: ModelEvent): ModelEvent {
    if (event.type === 'error') return { ...event, error: redactError(event.error, choice) }
    if (event.type !== 'start') return event
    return { ...event, provider: nameProvider(choice.provider), model: event.model || choice.model }
  }
  const { answer } = client
  return {
    ...(answer && {
      async answer(request, signal) {
        const events = await answer({ ...request, model: choice.model }, signal)
        const counted = events.findLast((event) => event.type === 'usage')?.usage
        if (counted !== undefined || events.at(-1)?.type === 'stop') report(counted ?? noUsage)
        return events.map(identify)
      },
    }),
    async *stream(request, signal) {
      const own = client.stream({ ...request, model: choice.model }, signal)
      let usage = noUsage
      let answered = false
      try {
        for await (const event of guardStream(own, signal)) {
          if (event.type === 'usage') usage = event.usage
          answered ||= event.type === 'stop'
          yield identify(event)
        }
      } finally {
        if (answered || usage !== noUsage) report(usage)
      }
    },
  }
}

function createCandidate(choice: ModelChoice, isLast: boolean, deps: RouterDeps): Candidate {
  const { clock, random, rateLimits, onUsage = () => {} } = deps
  const key = keyOf(choice)
  const identified = withIdentity(createModelClient(choice, deps), choice, createReport(choice, onUsage))
  const counted = withCoolDown(identified, key, { coolDowns: rateLimits, clock })
  const limit = choice.provider.rateLimit
  const limited = limit ? withRateLimit(counted, { rateLimits, provider: key, limit, clock }) : counted
  // While another provider can be asked, nobody waits for one that is asked too much.
  const retries: RetryOptions['retries'] = isLast ? isPassing : (error) => isPassing(error) && !isLimited(error)
  return { key, client: withRetry(limited, { ...deps.retry, clock, random, retries }) }
}

export function createModelRouter(choices: ModelChoice[], deps: RouterDeps): ModelClient {
  const candidates = choices.map((choice, index) => createCandidate(choice, index === choices.length - 1, deps))
  return withFallback(candidates, {
    coolDowns: deps.rateLimits,
    clock: deps.clock,
    maxWaitMs: deps.maxCoolDownWaitMs,
  })
}
