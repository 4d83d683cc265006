// Settings of chat, tasks, proxies, webhooks and workspaces, from the configuration.
import type { Config } from '../config/load.ts'
import { parseDuration } from '../contract/values/duration.ts'
import { parseQuantity } from '../contract/values/quantity.ts'
import { dropUndefined } from '../lib/json.ts'
import type { ReviewMarkerSettings } from '../lookup/service-secrets.ts'
import type { Metrics } from '../observability/metrics.ts'
import { makeModelSpan, type Traces } from '../observability/traces.ts'
import type { Records } from '../ports/index.ts'
import type { WorkloadLimits } from '../ports/tasks/workloads.ts'
import type { ProxySettings } from '../proxy/index.ts'
import type { IsolationSettings } from '../rules/tasks/isolation.ts'
import { runContextOf } from '../rules/tasks/trace-context.ts'
import type { ProviderSettings, WorkspaceSettings } from '../rules/workspaces/execution-workspace.ts'
import type { NetworkSettings } from '../rules/workspaces/network.ts'
import type { RecordStores } from '../store/records.ts'
import type { SearchSettings } from '../tools/registry/tool.ts'
import {
  type ChatSettings,
  defaultChatSettings,
  defaultWebhookSettings,
  keyOfAction,
  type WebhookSettings,
} from '../usecases/index.ts'

export function readProxySettings(
  config: Config,
  { metrics, search, traces }: { metrics: Metrics; search: SearchSettings | undefined; traces?: Traces | undefined },
): ProxySettings {
  return {
    defaults: { provider: config.chatProvider, model: config.chatModel },
    callers: { maxConcurrent: config.proxyMaxConcurrent, requestsPerMinute: config.proxyRequestsPerMinute },
    loops: {
      max: config.proxyMaxLoops,
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
    // Those of an attempt are steps of its trace.
    if (sample.traced !== undefined) return
    const context = sample.traceUid === undefined ? {} : { context: runContextOf({ uid: sample.traceUid }, 1) }
    traces.record({ ...makeModelSpan(sample, Date.now()), ...context })
  }
}

export function readWebhookSettings(config: Config): Omit<WebhookSettings, 'hosts'> {
  const agents = config.codehostLabelAgent.map(({ action, agent }) => [keyOfAction(action), agent])
  return {
    ...defaultWebhookSettings,
    secret: config.codehostWebhookSecret,
    previousSecrets: config.codehostWebhookPreviousSecrets,
    secretName: config.codehostWebhookSecretName,
    namespace: config.codehostLabelTriggerNamespace ?? config.watchNamespace[0] ?? defaultWebhookSettings.namespace,
    prefix: config.codehostLabelTriggerPrefix,
    agent: config.codehostLabelTriggerAgent,
    agents: Object.fromEntries(agents) as Record<string, string>,
    gitSecret: config.codehostLabelTriggerGitSecret,
    timeout: config.codehostLabelTriggerTimeout,
    maxTurns: config.codehostLabelTriggerMaxTurns,
  }
}

/** The template that embedded mode provides itself. */
export const localTemplate = 'default'

function seconds(duration: string): number {
  return Math.max(1, Math.ceil(parseDuration(duration) / 1000))
}

function readSandboxes(config: Config, ownNamespace: string | undefined): ProviderSettings | undefined {
  const isLocal = config.mode === 'embedded'
  if (!(config.agentSandboxEnabled ?? isLocal)) return undefined
  const isOurs = !isLocal && config.agentSandboxNamespaceStrategy === 'controller'
  return dropUndefined({
    template: config.agentSandboxDefaultTemplate ?? (isLocal ? localTemplate : undefined),
    cleanupPolicy: config.agentSandboxCleanupPolicy,
    claimTimeoutSeconds: seconds(config.agentSandboxClaimTimeout),
    commandTimeoutSeconds: seconds(config.agentSandboxCommandTimeout),
    // Sandboxes are made from templates of the namespace of their claim.
    templateNamespace: isOurs ? ownNamespace : undefined,
    claimNamespace: isOurs ? ownNamespace : undefined,
  })
}

function readActors(config: Config): ProviderSettings | undefined {
  if (!config.actorEnabled || config.mode === 'embedded') return undefined
  return dropUndefined({
    template: config.actorDefaultTemplate,
    templateNamespace: config.actorDefaultTemplateNamespace,
    cleanupPolicy: config.actorCleanupPolicy,
    claimTimeoutSeconds: seconds(config.actorClaimTimeout),
    commandTimeoutSeconds: seconds(config.actorCommandTimeout),
  })
}

/** What the containers beside a task's own may use. */
export function helperLimitsOf({ helperCpu, helperMemory, helperCpuRequest, helperMemoryRequest }: Config) {
  return {
    cpu: parseQuantity(helperCpu),
    memoryBytes: parseQuantity(helperMemory),
    requests: { cpu: parseQuantity(helperCpuRequest), memoryBytes: parseQuantity(helperMemoryRequest) },
  }
}

/** `ownNamespace`: where the service itself runs, if on a cluster. */
export function readWorkspaceSettings(config: Config, ownNamespace: string | undefined): WorkspaceSettings {
  return {
    defaultProvider: config.executionWorkspaceDefaultProvider,
    providers: dropUndefined({ 'agent-sandbox': readSandboxes(config, ownNamespace), actor: readActors(config) }),
  }
}

/** Days or a duration. */
export function readRetention({ executionWorkspaceRetention: text }: Config): number {
  return text.endsWith('d') ? Number(text.slice(0, -1)) * 86_400_000 : parseDuration(text)
}

/** For people who look at what there is. */
export function readWorkspaceList(config: Config) {
  return { retentionMs: readRetention(config), hourlyCost: config.executionWorkspaceHourlyCost }
}

export function choosePlans(config: Pick<Config, 'planStore'>, stores: RecordStores): Records {
  const { plans, ...records } = stores
  return config.planStore === 'none' ? records : { ...records, plans }
}

/** The resources of tasks that name none; used to start tasks and to prepare idle workers. */
export function defaultLimitsOf(config: Config) {
  const { taskCpuRequest, taskMemoryRequest } = config
  const requests = {
    ...(taskCpuRequest === undefined ? {} : { cpu: parseQuantity(taskCpuRequest) }),
    ...(taskMemoryRequest === undefined ? {} : { memoryBytes: parseQuantity(taskMemoryRequest) }),
  }
  return {
    cpu: parseQuantity(config.taskCpu),
    memoryBytes: parseQuantity(config.taskMemory),
    diskBytes: parseQuantity(config.workspaceSize),
    ...(Object.keys(requests).length > 0 && { requests }),
  } satisfies WorkloadLimits
}

/** The workspace of tasks in a git repository that name no size. */
export function checkoutLimitsOf({ gitWorkspaceSize, gitWorkspaceFiles }: Config) {
  return { diskBytes: parseQuantity(gitWorkspaceSize), diskFiles: gitWorkspaceFiles } satisfies WorkloadLimits
}

/** `ownNamespace`: where the service itself runs, if on a cluster (CHAT-038). */
export function readChatSettings(config: Config, ownNamespace: string | undefined): ChatSettings {
  return {
    ...defaultChatSettings,
    enabled: config.chatEnabled,
    provider: config.chatProvider,
    model: config.chatModel,
    maxIterations: config.chatMaxIterations,
    maxToolCalls: config.maxToolCallsPerTurn,
    maxDurationMs: parseDuration(config.chatMaxDuration),
    toolTimeoutMs: parseDuration(config.chatToolTimeout),
    maxConcurrent: config.chatMaxConcurrent,
    maxConcurrentPerNamespace: config.chatMaxConcurrentPerNamespace,
    maxConcurrentPerCaller: config.chatMaxConcurrentPerCaller,
    maxTasksPerTurn: config.chatMaxTasksPerTurn,
    maxSessionBytes: config.chatMaxSessionSize,
    blockedNamespaces: [
      ...new Set([...defaultChatSettings.blockedNamespaces, ...(ownNamespace ? [ownNamespace] : [])]),
    ],
  }
}

export function reviewMarkersOf(
  config: Config,
  { markerKeys }: { markerKeys: readonly Uint8Array[] },
): ReviewMarkerSettings {
  return {
    secret: config.prReviewMarkerSecret,
    previousSecrets: config.prReviewMarkerPreviousSecrets,
    trustedAuthor: config.prReviewMarkerTrustedAuthor,
    installation: markerKeys,
  }
}

/** Which network the programs of tasks have. */
export function networkOf(config: Config): NetworkSettings {
  return {
    agents: config.agentNetwork,
    commands: config.commandNetwork,
    onUnknown: config.networkUnknown,
    namespaces: Object.fromEntries(config.namespaceNetwork.map(({ namespace, network }) => [namespace, network])),
    allowsOpen: config.allowOpenNetwork,
    ports: config.networkPorts,
    independent: config.independentNetworks,
  }
}

/** Whether attempts of ai tasks share processes. */
export function isolationOf({ isolation, processNamespaces }: Config): IsolationSettings {
  return { usual: isolation, processNamespaces }
}
