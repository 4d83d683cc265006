// The model of a run: provider choices in order, each with its rate limit, retries and cool-down; says who served.
import type { ModelChoice } from '../contract/api/assignment.ts'
import type { Ids } from '../ports/clock.ts'
import type { ResourceKey } from '../ports/resources.ts'
import { guardStream } from './collect.ts'
import { type Candidate, type CoolDowns, withCoolDown, withFallback } from './fallback.ts'
import { noUsage, type TokenUsage } from './messages.ts'
import type { ModelClient } from './model.ts'
import { createModelClient, type ModelClientDeps, nameProvider } from './model-client.ts'
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
}

function keyOf({ provider }: ModelChoice): ResourceKey {
  return { namespace: provider.namespace, name: provider.name }
}

function withUsage(client: ModelClient, choice: ModelChoice, onUsage: (call: ServedCall) => void): ModelClient {
  function report(usage: TokenUsage): void {
    const cost = computeCost(usage, choice.provider.price)
    const demo = choice.provider.type === 'demo'
    onUsage({ provider: keyOf(choice), model: choice.model, usage, demo, ...(cost === undefined ? {} : { cost }) })
  }
  return {
    async *stream(request, signal) {
      let usage = noUsage
      let answered = false
      try {
        for await (const event of client.stream(request, signal)) {
          if (event.type === 'usage') usage = event.usage
          answered ||= event.type === 'stop'
          yield event
        }
      } finally {
        if (answered || usage !== noUsage) report(usage)
      }
    },
  }
}

/** Says in the stream which provider serves it, and asks for its model. */
function withIdentity(client: ModelClient, choice: ModelChoice): ModelClient {
  return {
    async *stream(request, signal) {
      const own = client.stream({ ...request, model: choice.model }, signal)
      for await (const event of guardStream(own, signal)) {
        if (event.type !== 'start') yield event
        else yield { ...event, provider: nameProvider(choice.provider), model: event.model || choice.model }
      }
    },
  }
}

function createCandidate(choice: ModelChoice, isLast: boolean, deps: RouterDeps): Candidate {
  const { clock, random, rateLimits, onUsage = () => {} } = deps
  const key = keyOf(choice)
  const identified = withIdentity(createModelClient(choice, deps), choice)
  const counted = withUsage(withCoolDown(identified, key, { coolDowns: rateLimits, clock }), choice, onUsage)
  const limit = choice.provider.rateLimit
  const limited = limit ? withRateLimit(counted, { rateLimits, provider: key, limit, clock }) : counted
  // While another provider can be asked, nobody waits for one that is asked too much.
  const retries: RetryOptions['retries'] = isLast ? isPassing : (error) => isPassing(error) && !isLimited(error)
  return { key, client: withRetry(limited, { ...deps.retry, clock, random, retries }) }
}

export function createModelRouter(choices: ModelChoice[], deps: RouterDeps): ModelClient {
  const candidates = choices.map((choice, index) => createCandidate(choice, index === choices.length - 1, deps))
  return withFallback(candidates, { coolDowns: deps.rateLimits, clock: deps.clock })
}
