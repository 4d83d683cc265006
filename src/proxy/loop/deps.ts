// What the proxies' tool loop needs.
import type { SearchSettings } from '../../tools/registry/tool.ts'
import type { UsecaseDeps } from '../../usecases/service/deps.ts'

export type ProxyLoopSettings = {
  /** `--chat-max-iterations`: the most model calls; the last is the summary call without tools (LIM-006). */
  maxIterations: number
  /** `--max-tool-calls-per-turn`. */
  maxToolCalls: number
  /** `--chat-max-duration` (LIM-008). */
  maxDurationMs: number
  /** `--chat-tool-timeout` (LIM-010). */
  toolTimeoutMs: number
  /** Absent: web_search is not configured. */
  search?: SearchSettings | undefined
}

export type ProxyLoopDeps = Pick<UsecaseDeps, 'ports' | 'settings' | 'builtinTools' | 'health'> & {
  loop: ProxyLoopSettings
}
