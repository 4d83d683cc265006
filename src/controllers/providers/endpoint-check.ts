// Checks endpoints through the egress room: refused, unreachable or reachable. No more often than needed.
import type { McpServer } from '../../contract/api/tools/assigned-tool.ts'
import type { OfferedTool } from '../../contract/kinds/tools/tool-mcp.ts'
import { isSvcError, messageOf } from '../../errors.ts'
import type { EgressPolicy } from '../../ports/service/egress.ts'
import type { CatalogDeps } from '../resources/settings.ts'

type EndpointState =
  | { state: 'reachable'; offered?: OfferedTool[] }
  | { state: 'refused' | 'unreachable'; message: string }
export type EndpointCheck = EndpointState & { at: Date; nextAt: Date }

/** An MCP server is asked for its tools. */
type Target = ({ url: string; policy: Pick<EgressPolicy, 'trusted' | 'allowedHosts'> } | { server: McpServer }) & {
  /** Milliseconds after which one that cannot be reached is tried again. */
  retryMs?: number
}

export type EndpointChecks = {
  /** The last check of the object's endpoint, or a new one when that is too old or was for another endpoint. */
  check(key: string, target: Target, signal: AbortSignal): Promise<EndpointCheck>
  forget(key: string): void
  clear(): void
}

const timeoutMs = 10_000
const retryMs = 30_000

/** Any HTTP answer of a plain endpoint counts as reachable: one for POST may refuse a HEAD. */
async function ask({ egress, settings, listMcpTools }: CatalogDeps, target: Target, signal: AbortSignal) {
  if ('server' in target) return { offered: await listMcpTools(target.server, signal) }
  const policy = { ...settings.egress, ...target.policy }
  const request = { url: target.url, method: 'HEAD', maxBytes: 1024, timeoutMs, maxRedirects: 0, policy }
  await egress.request(request, signal)
  return {}
}

async function look(deps: CatalogDeps, target: Target, signal: AbortSignal): Promise<EndpointState> {
  try {
    return { state: 'reachable', ...(await ask(deps, target, signal)) }
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
        state.state === 'unreachable'
          ? Math.min(target.retryMs ?? retryMs, settings.checkIntervalMs)
          : settings.checkIntervalMs
      const check = { ...state, at, nextAt: new Date(at.getTime() + pauseMs) }
      if (!signal.aborted) seen.set(key, { target: spelled, check })
      return check
    },
    forget: (key) => void seen.delete(key),
    clear: () => seen.clear(),
  }
}
