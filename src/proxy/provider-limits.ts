// Limits of calls to a provider: its rate limit, and the cool-downs that its vendor asked for.
import { SvcError } from '../errors.ts'
import { coolDownAfter, refuseDuringCoolDown } from '../llm/call/cool-down.ts'
import type { ModelError } from '../llm/messages/messages.ts'
import type { Ports } from '../ports/index.ts'
import { explainModelError } from '../usecases/providers/estimated-tokens.ts'
import type { ProxyTarget } from './target.ts'

/** Tokens taken before a call. */
export interface TokenLease {
  /** Corrects the lease to what was actually used. */
  settle(tokens: number): void
}

export type ProviderLimits = {
  /** TooManyRequests with the time to wait. */
  lease(target: ProxyTarget, bodyBytes: number): TokenLease | Promise<TokenLease>
  /** False: other providers go first. */
  isReady(target: ProxyTarget): boolean
  /** Starts a cool-down if the failure calls for one; the message contains no key. */
  noteFailure(target: ProxyTarget, error: ModelError): void
}

const noLease: TokenLease = { settle() {} }
/** English text has about four bytes per token; the answer counts towards the vendor's limit too. */
const bytesPerToken = 4
const expectedOutput = 1024

export function createProviderLimits({ records, clock }: Pick<Ports, 'records' | 'clock'>): ProviderLimits {
  const { rateLimits } = records

  function checkCoolDown({ key, model }: ProxyTarget): void {
    const rest = rateLimits.peekCoolDown(key, model)
    const refusal = rest && refuseDuringCoolDown(key, rest, clock.now())
    if (refusal !== undefined) throw explainModelError(refusal)
  }

  async function take(
    target: ProxyTarget,
    limit: NonNullable<ProxyTarget['rateLimit']>,
    bodyBytes: number,
  ): Promise<TokenLease> {
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
      checkCoolDown(target)
      return target.rateLimit === undefined ? noLease : take(target, target.rateLimit, bodyBytes)
    },
    isReady: ({ key, model }) => rateLimits.peekCoolDown(key, model) === undefined,
    noteFailure({ key, model }, error) {
      const rest = coolDownAfter(error, model, clock.now())
      if (rest !== undefined) rateLimits.coolDown(key, rest).catch(() => {})
    },
  }
}
