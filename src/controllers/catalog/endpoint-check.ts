// Checks endpoints through the egress room: refused, unreachable or reachable. No more often than needed.
import { isSvcError, messageOf } from '../../errors.ts'
import type { EgressPolicy } from '../../ports/egress.ts'
import type { CatalogDeps } from './settings.ts'

type EndpointState = { state: 'reachable' } | { state: 'refused' | 'unreachable'; message: string }
export type EndpointCheck = EndpointState & { at: Date; nextAt: Date }

type Target = { url: string; policy: Pick<EgressPolicy, 'trusted' | 'allowedHosts'> }

export type EndpointChecks = {
  /** The last check of the object's endpoint, or a new one when that is too old or was for another endpoint. */
  check(key: string, target: Target, signal: AbortSignal): Promise<EndpointCheck>
  forget(key: string): void
  clear(): void
}

const timeoutMs = 10_000
const retryMs = 30_000

/** Any HTTP answer counts as reachable: an endpoint for POST may refuse a HEAD. */
async function look({ egress, settings }: CatalogDeps, target: Target, signal: AbortSignal): Promise<EndpointState> {
  const policy = { ...settings.egress, ...target.policy }
  const request = { url: target.url, method: 'HEAD', maxBytes: 1024, timeoutMs, maxRedirects: 0, policy }
  try {
    await egress.request(request, signal)
    return { state: 'reachable' }
  } catch (error) {
    const state = isSvcError(error, 'Forbidden') ? 'refused' : 'unreachable'
    return { state, message: messageOf(error) }
  }
}

export function createEndpointChecks(deps: CatalogDeps): EndpointChecks {
  const { clock, settings } = deps
  const seen = new Map<string, { target: string; check: EndpointCheck }>()
  return {
    async check(key, target, signal) {
      const spelled = JSON.stringify(target)
      const before = seen.get(key)
      if (before?.target === spelled && before.check.nextAt > clock.now()) return before.check
      const state = await look(deps, target, signal)
      const at = clock.now()
      const pauseMs =
        state.state === 'unreachable' ? Math.min(retryMs, settings.checkIntervalMs) : settings.checkIntervalMs
      const check = { ...state, at, nextAt: new Date(at.getTime() + pauseMs) }
      if (!signal.aborted) seen.set(key, { target: spelled, check })
      return check
    },
    forget: (key) => void seen.delete(key),
    clear: () => seen.clear(),
  }
}
