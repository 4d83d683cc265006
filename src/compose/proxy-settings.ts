// The settings of the proxies, from flags, environment and file.
import type { Config } from '../config/load.ts'
import { parseDuration } from '../contract/values/duration.ts'
import type { Metrics } from '../observability/metrics.ts'
import { makeModelSpan } from '../observability/model-spans.ts'
import type { Traces } from '../observability/traces.ts'
import type { ProxySettings } from '../proxy/index.ts'
import type { SearchSettings } from '../tools/registry/tool.ts'

export function readProxySettings(
  config: Config,
  { metrics, search, traces }: { metrics: Metrics; search: SearchSettings | undefined; traces?: Traces | undefined },
): ProxySettings {
  return {
    defaults: { provider: config.chatProvider, model: config.chatModel },
    callers: { maxConcurrent: config.proxyMaxConcurrent, requestsPerMinute: config.proxyRequestsPerMinute },
    loops: {
      most: config.proxyMaxLoops,
      perNamespace: config.proxyMaxLoopsPerNamespace,
      perCaller: config.proxyMaxLoopsPerCaller,
    },
    loop: {
      maxIterations: config.chatMaxIterations,
      maxToolCalls: config.maxToolCallsPerTurn,
      maxDurationMs: parseDuration(config.chatMaxDuration),
      toolTimeoutMs: parseDuration(config.chatToolTimeout),
      search,
    },
    observe: observeWith(metrics, traces),
  }
}

function observeWith({ observeProxy }: Metrics, traces: Traces | undefined): NonNullable<ProxySettings['observe']> {
  if (traces === undefined) return observeProxy
  return (sample) => {
    observeProxy(sample)
    traces.record(makeModelSpan(sample, Date.now()))
  }
}
