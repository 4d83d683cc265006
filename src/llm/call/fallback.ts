// Tries one provider after another, in order of preference, skipping those in a cool-down (PROV-010).
import { ruleOfCall } from '../../contract/kinds/tasks/failures.ts'
import type { Clock } from '../../lib/clock.ts'
import type { CoolDown, RateLimits } from '../../ports/providers/provider-state.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'
import type { ModelError } from '../messages/messages.ts'
import { coolDownAfter, refuseDuringCoolDown } from './cool-down.ts'
import type { ModelClient, OnWait } from './model-client.ts'
import { attemptCall } from './retry.ts'

export type CoolDowns = Pick<RateLimits, 'coolDown'> & {
  /** Returned without a promise when it is known in memory. */
  coolingDown(provider: ResourceKey, model: string): CoolDown | undefined | Promise<CoolDown | undefined>
}

export type FallbackChoice = { key: ResourceKey; model: string; client: ModelClient }

export type FallbackOptions = {
  coolDowns: CoolDowns
  clock: Clock
  /** When all are cooling down: how long to wait at most for the first to be ready. Default 60 s; 0: called at once. */
  maxWaitMs?: number | undefined
  /** Waits only where a vendor has asked for the pause; a pause that was guessed after another's failure is tried at once. */
  waitsIfAsked?: boolean | undefined
  /** Called with every wait. */
  onWait?: OnWait | undefined
}

const defaultMaxWaitMs = 60_000

type Served = Pick<FallbackChoice, 'key' | 'model'>

/** Records a vendor's rate-limit answer for everyone who shares the provider. */
export function withCoolDown(client: ModelClient, { key, model }: Served, options: FallbackOptions): ModelClient {
  async function note(error: ModelError): Promise<void> {
    const rest = coolDownAfter(error, model, options.clock.now())
    if (rest !== undefined) await options.coolDowns.coolDown(key, rest).catch(() => {})
  }
  return {
    call: (request, { take, ...listener }) =>
      client.call(request, {
        ...listener,
        take(events) {
          const last = events.at(-1)
          return last?.type === 'error' ? note(last.error).then(() => take(events)) : take(events)
        },
      }),
  }
}

type Rated = FallbackChoice & { rest: CoolDown | undefined; until: number }

async function rateChoice(candidate: FallbackChoice, { coolDowns }: FallbackOptions): Promise<Rated> {
  const rest = await Promise.resolve(coolDowns.coolingDown(candidate.key, candidate.model)).catch(() => undefined)
  return { ...candidate, rest, until: rest?.until.getTime() ?? 0 }
}

type Plan = { order: Rated[]; skipped: string[] }

/**
 * Which providers are tried and which are skipped. When all cool down, all are tried, the first to be ready before the
 * others.
 */
async function planOrder(candidates: FallbackChoice[], options: FallbackOptions, signal: AbortSignal): Promise<Plan> {
  const { maxWaitMs = defaultMaxWaitMs } = options
  const now = options.clock.now().getTime()
  const rated = await Promise.all(candidates.map((candidate) => rateChoice(candidate, options)))
  const ready = rated.filter((candidate) => candidate.until <= now)
  if (ready.length > 0) {
    const cooling = rated.filter((candidate) => candidate.until > now)
    return { order: ready, skipped: cooling.map(describeCooling) }
  }
  const order = rated.toSorted((a, b) => a.until - b.until)
  const isGuess = options.waitsIfAsked === true && order[0]?.rest?.asked !== true
  const wait = isGuess ? 0 : Math.min((order[0]?.until ?? 0) - now, maxWaitMs)
  if (wait > 0) {
    options.onWait?.({ ms: wait, why: order.slice(0, 1).map(describeCooling).join() })
    await options.clock.sleep(wait, signal).catch(() => {})
  }
  return { order, skipped: [] }
}

function describeCooling({ key, until, rest }: Rated): string {
  return `Provider ${key.namespace}/${key.name} is cooling down until ${new Date(until).toISOString()}: ${rest?.reason}`
}

/** One error with what each provider answered. */
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

/** There is no other provider to try, and no wait. */
function withoutWait(only: FallbackChoice, options: FallbackOptions): ModelClient {
  return {
    async call(request, listener) {
      const { rest } = await rateChoice(only, options)
      const error = refuseDuringCoolDown(only.key, rest, options.clock.now())
      await (error === undefined ? only.client.call(request, listener) : listener.take([{ type: 'error', error }]))
    },
  }
}

export function withFallback(candidates: FallbackChoice[], options: FallbackOptions): ModelClient {
  const [only] = candidates
  if (only !== undefined && candidates.length === 1 && options.maxWaitMs === 0) return withoutWait(only, options)
  return {
    async call(request, listener) {
      const { signal, take } = listener
      const hides = ({ reason }: ModelError) => !signal.aborted && ruleOfCall(reason).takeOver
      const { order, skipped } = await planOrder(candidates, options, signal)
      const errors: ModelError[] = []
      for (const { client, key, rest } of order) {
        const refusal = refuseDuringCoolDown(key, rest, options.clock.now())
        const error = refusal ?? (await attemptCall({ client, request, hides }, listener))
        if (error === undefined) return
        errors.push(error)
      }
      await take([{ type: 'error', error: joinErrors(errors, skipped) }])
    },
  }
}
