// The service from its parts: ports, use cases, HTTP and controllers, started and stopped in order.
import type { AddressInfo } from 'node:net'
import { readIdentityConfig } from '../config/identity.ts'
import type { Config } from '../config/load.ts'
import { describeStates, type SettingState } from '../config/values.ts'
import type { SettingItem } from '../contract/api/service/settings.ts'
import { taskPhases, taskTypes, terminalPhases } from '../contract/kinds/tasks/task.ts'
import { parseDuration } from '../contract/values/duration.ts'
import { parseQuantity } from '../contract/values/quantity.ts'
import { createAlertController } from '../controllers/budgets/alerts.ts'
import { createTranscriptIndexController } from '../controllers/chat/transcript-index.ts'
import { createCommandAnswerController, createDeliveryController } from '../controllers/codehost/deliveries.ts'
import type { Controller } from '../controllers/engine/controller.ts'
import { createControllerRunner } from '../controllers/engine/runner.ts'
import { createMonitorController } from '../controllers/monitors/controller.ts'
import { createResourceControllers } from '../controllers/resources/controllers.ts'
import { defaultResourceControllerSettings } from '../controllers/resources/settings.ts'
import {
  createSweepController,
  createWorkloadSweepController,
  defaultRetention,
  type RetentionSettings,
} from '../controllers/resources/sweep.ts'
import { createScanControllers } from '../controllers/scans/controller.ts'
import { defaultTaskSettings } from '../controllers/tasks/context.ts'
import { createTaskControllers } from '../controllers/tasks/controller.ts'
import { messageOf } from '../errors.ts'
import type { HttpApp } from '../http/app.ts'
import { createMetricsServer } from '../http/listeners.ts'
import type { TlsPair } from '../http/tls.ts'
import { choosePort } from '../launch/free-port.ts'
import { version } from '../launch/program-files.ts'
import { listMarkerKeys } from '../lookup/service-secrets.ts'
import type { Logger } from '../observability/log.ts'
import { watchLoop } from '../observability/loop-watch.ts'
import { createMetrics, type Metrics } from '../observability/metrics.ts'
import type { Traces } from '../observability/traces.ts'
import type { Ports } from '../ports/index.ts'
import type { ResourceReader } from '../ports/resources/resources.ts'
import type { Probe } from '../ports/tasks/parking.ts'
import { type Proxies, tryProvider } from '../proxy/index.ts'
import { describeAgentPrograms, noAgentPrograms } from '../rules/agents/programs.ts'
import { createOwnAddresses, followNames, type Listening, originOf, workerUrlOf } from '../service/addresses.ts'
import { watchIdleness } from '../service/closing.ts'
import { openTls } from '../service/tls.ts'
import { listMcpTools } from '../tools/custom/mcp/list-tools.ts'
import {
  type AlertUsecases,
  askForChecks,
  type BudgetLedger,
  checksProbe,
  createBudgetLedger,
  createBuiltinTools,
  createTaskBudgets,
  type DeliveryUsecases,
  queueRuns,
  type UsecaseSettings,
} from '../usecases/index.ts'
import { composeApp } from './app.ts'
import { countedUsage, listPriced } from './counted-usage.ts'
import { propagationOf, readSignIn, withIdentity } from './identity.ts'
import { warnOfMissingAgents } from './label-agents.ts'
import { composeMemoryVectors, withQueryVectors } from './memory-vectors.ts'
import type { OpenedMode } from './mode.ts'
import {
  checkoutLimitsOf,
  defaultLimitsOf,
  networkOf,
  readChatSettings,
  readProxySettings,
  readWebhookSettings,
  readWorkspaceList,
  readWorkspaceSettings,
  reviewMarkersOf,
} from './settings.ts'
import { openTraces, traceSteps } from './traces.ts'

export type RunningService = {
  url: string
  /** Aborts when the service has been idle for `--idle-exit`. */
  idle: AbortSignal
  /** Drains HTTP, then stops the controllers, then closes everything. */
  stop(): Promise<void>
}

/** Serving once it resolves. */
export async function startService(config: Config, opened: OpenedMode, log: Logger): Promise<RunningService> {
  const listening: Listening = { host: config.host, port: config.port }
  const { serviceNames, replicaNames = [], servicePort, gatePort, metricsListener } = opened
  const names = followNames([...serviceNames, ...replicaNames])
  const otherAddresses = { hosts: names.hosts, servicePort, gatePort, metrics: metricsListener }
  const ownAddresses = createOwnAddresses(listening, otherAddresses)
  opened.setOwnAddresses?.(ownAddresses)
  const metrics = createMetrics({ types: taskTypes, phases: taskPhases, endPhases: terminalPhases })
  const counted = withCounts(withQueue(opened), metrics)
  const identified = await withIdentity(config, { ports: counted, log, metrics, key: opened.idempotencyKey })
  const searching = withQueryVectors(config, { ports: identified, ownAddresses, log })
  const mode = { ...opened, ports: withProbes(config, opened, searching) }
  const tls = await openTls(config, { clock: mode.ports.clock, log })
  listening.isEncrypted = tls !== undefined
  const traces = openTraces(config, log.child({ name: 'traces' }))
  const ledger = createBudgetLedger(mode.ports)
  const { app, proxies, deliveries, alerts } = composeHttp(config, mode, {
    log,
    metrics,
    ownAddresses,
    ledger,
    traces,
    tls: tls?.pair,
  })
  metrics.attach(mode.metrics)
  await app.server.listen({ host: config.host, port: await choosePort(config) })
  listening.port = (app.server.server.address() as AddressInfo).port
  const closeMetrics = await listenForMetrics(mode, metrics)
  const closeTls = await tls?.follow(app.server, mode.workerApiUrl === undefined ? listening : undefined)
  await mode.prepare?.()
  await warnOfMissingAgents(mode.ports.resources, readWebhookSettings(config), log)
  const { ports } = mode
  const controllers = composeControllers(config, mode, {
    log,
    listening,
    metrics,
    ownAddresses,
    ledger,
    settleUsage: proxies.settle,
    deliveries,
    alerts,
  })
  const runner = createControllerRunner({
    controllers,
    leadership: ports.leadership,
    clock: ports.clock,
    ids: ports.ids,
    log,
  })
  const { resources } = ports
  const gauges = { taskPhases: () => countPhases(resources), providers: () => listPriced(resources) }
  metrics.attach({ queueDepth: runner.depth, ...gauges })
  runner.start()
  const loopWatch = watchLoop({ log, count: metrics.countStall })
  const stop = async () => {
    // Another replica may lead while this one finishes its answers.
    await Promise.all([app.drain(parseDuration(config.drainTimeout)), runner.stop()])
    loopWatch.stop()
    names.close()
    ledger.close()
    await Promise.all([closeMetrics(), closeTls?.(), traces?.close()])
    await ports.close()
  }
  return { url: originOf(listening), idle: watchIdleness(config, { server: app.server, ports }), stop }
}

function withQueue({ ports, sandboxes }: OpenedMode): Ports {
  const { sandbox, clock } = ports
  return { ...ports, sandbox: queueRuns(sandbox, { max: sandboxes, clock }) }
}

/** What the service asks for parked tasks: workers may name it, and the controllers ask. */
function withProbes(config: Config, mode: OpenedMode, ports: Ports): Ports {
  const settings = { reviewMarkers: reviewMarkersOf(config, mode) }
  const askChecks: Probe = (question, signal) => askForChecks({ ports, settings }, question, signal)
  return { ...ports, probes: { ...ports.probes, [checksProbe]: askChecks } }
}

function withCounts(ports: Ports, metrics: Metrics): Ports {
  const counted = countedUsage(ports.records, ports.resources, metrics.countUsage)
  return { ...ports, records: { ...ports.records, ...counted } }
}

/** Resolves to the function that ends it. */
async function listenForMetrics({ metricsListener }: OpenedMode, metrics: Metrics): Promise<() => Promise<void>> {
  if (metricsListener === undefined) return async () => undefined
  const server = createMetricsServer(metrics)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(metricsListener.port, metricsListener.host, resolve)
  })
  return () =>
    new Promise((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
}

/** All phases, so that one without tasks is shown as zero. */
async function countPhases(resources: ResourceReader): Promise<Record<string, number>> {
  const counts = await resources.countBy('Task', 'phase')
  return Object.fromEntries(taskPhases.map((phase) => [phase, counts[phase] ?? 0]))
}

type CommonParts = { log: Logger; metrics: Metrics; ownAddresses: () => string[]; ledger: BudgetLedger }
type HttpParts = CommonParts & { traces?: Traces | undefined; tls?: TlsPair }

function composeHttp(
  config: Config,
  mode: OpenedMode,
  parts: HttpParts,
): { app: HttpApp; proxies: Proxies; deliveries: DeliveryUsecases; alerts: AlertUsecases } {
  const { log, metrics, ownAddresses, ledger, traces, tls } = parts
  const { ports } = mode
  const search = searchOf(config)
  const builtinTools = createBuiltinTools(
    { sandbox: ports.sandbox, search },
    { hideUnavailable: config.hideUnavailableTools },
  )
  const propagation = propagationOf(config)
  const usecaseSettings: UsecaseSettings = {
    allowDemoProvider: mode.allowDemoProvider,
    hasCluster: mode.hasCluster,
    hasActors: mode.ports.toolActors !== undefined,
    ownAddresses,
    allowNetworks: config.allowNetwork,
    isolateNamespaces: config.enforceNamespaceIsolation,
    chat: readChatSettings(config, mode.ownNamespace),
    webhook: readWebhookSettings(config),
    alertWebhook: alertWebhookOf(config),
    audit: { level: config.auditLevel, report: logAuditFailure(log) },
    onUnknown: reportUnknown(log, metrics),
    onUnstored: (answer) => log.warn(answer, 'a response could not be stored; it was sent with "store": false'),
    contextMode: config.contextTokenAuthzMode,
    propagation,
    reviewMarkers: reviewMarkersOf(config, mode),
    idempotencyKey: mode.idempotencyKey,
    applyMemoriesOf: config.applyMemoriesOf,
    ownerSecret: mode.ownerSecret,
    workspaces: readWorkspaceSettings(config, mode.ownNamespace),
    workspaceList: readWorkspaceList(config),
    network: networkOf(config),
    ...traceSteps(traces, config),
  }
  const http = {
    publicHosts: [...config.publicHost, ...mode.serviceNames],
    corsAllowedOrigins: config.corsAllowedOrigins,
    tls,
    ...readSignIn(config),
    tokenHeaders: readIdentityConfig(config).context?.headers ?? [],
    authFailuresPerMinute: config.authFailuresPerMinute,
    trustedProxies: config.trustedProxies,
    version,
    states: describeStates(config).map(presentState),
    agentPrograms: () => describeAgentPrograms(mode.agentPrograms ?? noAgentPrograms),
    metricsApart: mode.metricsListener !== undefined,
  }
  const proxySettings = readProxySettings(config, { metrics, search, traces })
  const settings = { usecases: usecaseSettings, proxies: proxySettings, http }
  const { app, usecases, proxies } = composeApp({ ports, builtinTools, ledger, log, metrics }, settings)
  return { app, proxies, deliveries: usecases.deliveries, alerts: usecases.alerts }
}

/** Without what only the command line needs. */
function presentState({ placeholder: _shown, isList: _list, example: _example, ...state }: SettingState): SettingItem {
  return { ...state, values: [...state.values] }
}

type ControllerParts = CommonParts & {
  listening: Listening
  settleUsage: () => Promise<void>
  deliveries: DeliveryUsecases
  alerts: AlertUsecases
}

function composeControllers(
  config: Config,
  mode: OpenedMode,
  { log, metrics, listening, ownAddresses, ledger, settleUsage, deliveries, alerts }: ControllerParts,
): Controller[] {
  const { ports, owners, leftovers, sweepWorkloads } = mode
  // Read each time: replicas come and go.
  const egress = {
    allowNetworks: config.allowNetwork,
    get deny() {
      return ownAddresses()
    },
  }
  const trialSettings = { allowNetworks: config.allowNetwork, ownAddresses }
  const deps = { ...ports, log: log.child({ name: 'controllers' }) }
  return [
    ...createTaskControllers({
      ...deps,
      observer: metrics,
      spending: ledger,
      taskBudgets: createTaskBudgets(ports),
      settleUsage,
      settings: {
        ...defaultTaskSettings,
        defaultLimits: defaultLimitsOf(config),
        checkoutLimits: checkoutLimitsOf(config),
        propagated: { labels: config.propagateLabels, annotations: config.propagateAnnotations },
        maxTasksPerNamespace: config.maxTasksPerNamespace,
        ...mode.taskSettings,
        agentPrograms: mode.agentPrograms ?? noAgentPrograms,
        workerApiUrl: () => mode.workerApiUrl ?? workerUrlOf(listening),
        egress,
        isolateNamespaces: config.enforceNamespaceIsolation,
        contextMode: config.contextTokenAuthzMode,
        network: networkOf(config),
        workspaces: readWorkspaceSettings(config, mode.ownNamespace),
        maxIterations: config.maxIterations,
        maxToolCalls: config.maxToolCallsPerTurn,
        toolTimeoutMs: parseDuration(config.toolTimeout),
        keep: { files: config.keepFiles, bytes: parseQuantity(config.keepSize) },
        referenceWaitMs: parseDuration(config.referenceWait),
        search: searchOf(config),
        propagation: propagationOf(config),
      },
    }),
    ...createResourceControllers({
      ...deps,
      tryProvider: (provider, signal) => tryProvider({ ports, settings: trialSettings }, provider, signal),
      listMcpTools: (server, signal) => listMcpTools(server, { egress: ports.egress, egressPolicy: egress }, signal),
      settings: {
        ...defaultResourceControllerSettings,
        egress,
        agentPrograms: mode.agentPrograms ?? noAgentPrograms,
      },
    }),
    ...createScanControllers(deps),
    createMonitorController({ ...deps, settings: monitorSettingsOf(config, mode) }),
    ...(sweepWorkloads === undefined ? [] : [createWorkloadSweepController({ ...deps, sweep: sweepWorkloads })]),
    createDeliveryController({ deliveries, clock: ports.clock }),
    createAlertController({ alerts, clock: ports.clock }),
    createCommandAnswerController({ ...ports, deliveries }),
    createTranscriptIndexController({ transcripts: ports.records.transcripts, clock: ports.clock }),
    composeMemoryVectors(config, { ports, ownAddresses, log: deps.log }),
    createSweepController({
      ...deps,
      owners,
      leftovers,
      settings: readRetention(config),
    }),
  ]
}

function alertWebhookOf({ alertWebhook: url, alertSecret: secret }: Config): UsecaseSettings['alertWebhook'] {
  return url === undefined ? undefined : { url, ...(secret !== undefined && { secret }) }
}

function monitorSettingsOf(config: Config, mode: OpenedMode) {
  const markerKeys = listMarkerKeys(reviewMarkersOf(config, mode))
  return { isolateNamespaces: config.enforceNamespaceIsolation, markerKeys }
}

/** Counted each time and named once: the next version should know it. */
function reportUnknown(log: Logger, metrics: Metrics): NonNullable<UsecaseSettings['onUnknown']> {
  return ({ provider: { namespace, name }, kind, word }, isNew) => {
    metrics.countUnknown({ kind })
    if (isNew) log.warn({ provider: `${namespace}/${name}`, kind, word }, 'a provider sent something that is not known')
  }
}

function logAuditFailure(log: Logger) {
  return (message: string, error?: unknown) => log.warn(error === undefined ? {} : { error: messageOf(error) }, message)
}

function readRetention(config: Config): RetentionSettings {
  return {
    ...readTaskTtl(config),
    intervalMs: defaultRetention.intervalMs,
    sessionsMs: parseDays(config.sessionRetention),
    eventsMs: parseDays(config.eventRetention),
    usageMs: parseDays(config.usageRetention),
    auditMs: parseDays(config.auditRetention),
    deliveriesMs: parseDays(config.deliveryRetention),
    responsesMs: parseDays(config.responseRetention),
  }
}

/** Zero: forever. */
function readTaskTtl({ taskTtl }: Config): { tasksMs?: number } {
  const tasksMs = parseDays(taskTtl)
  return tasksMs === 0 ? {} : { tasksMs }
}

const hoursPerDay = 24

/** A Go duration, or whole days (`90d`), in milliseconds. */
function parseDays(text: string): number {
  const days = /^(\d+)d$/.exec(text)?.[1]
  return parseDuration(days === undefined ? text : `${Number(days) * hoursPerDay}h`)
}

function searchOf(config: Config) {
  if (config.searchBackend === undefined) return undefined
  return { backend: config.searchBackend, url: config.searchUrl, apiKey: config.searchApiKey }
}
