// Kubernetes mode: custom resources, Jobs and Secrets on a cluster, records in PostgreSQL. Opens what the rest works
// with.
import { createHmac } from 'node:crypto'
import { hostname } from 'node:os'
import { connectFromKubeconfig, connectFromPod } from '../cluster/api/connection.ts'
import { createKubernetesApi, type KubernetesApi } from '../cluster/api.ts'
import { createKubernetesConfigMaps, type KubernetesConfigMapsOptions } from '../cluster/configmaps.ts'
import { createClusterEvents, withClusterEvents } from '../cluster/events.ts'
import { createReviewAuthenticator } from '../cluster/identity/authenticator.ts'
import { createReviewAuthorizer } from '../cluster/identity/authorizer.ts'
import { createKubernetesLeadership } from '../cluster/leadership.ts'
import { createPolicyEntries } from '../cluster/policy-entries.ts'
import { ensureReplicaKey } from '../cluster/replica-key.ts'
import { createKubernetesSecrets } from '../cluster/secrets.ts'
import { openServedResources } from '../cluster/served-resources.ts'
import type { Config } from '../config/load.ts'
import { apiVersion } from '../contract/kinds/index.ts'
import { createEgress } from '../egress/egress.ts'
import { messageOf, type SvcError } from '../errors.ts'
import { prepareDataFolder } from '../launch/folders.ts'
import { systemClock as clock, systemIds as ids } from '../lib/system-clock.ts'
import { portOf } from '../lib/url-port.ts'
import { isLiveIn } from '../lookup/live-task.ts'
import type { Logger } from '../observability/log.ts'
import type { Ports } from '../ports/index.ts'
import type { Leadership } from '../ports/service/leadership.ts'
import type { Events } from '../ports/tasks/events.ts'
import { createStrayJobs } from '../runtime/jobs/stray-jobs.ts'
import { type Closing, createClosing } from '../service/closing.ts'
import { createClusterHealth } from '../service/cluster-health.ts'
import { bindTerm } from '../service/term.ts'
import { createCredentials } from '../store/identity/sign-in-links.ts'
import { openPostgresRecords } from '../store/postgres/records.ts'
import { carryWorkspace } from '../tools/workspaces/carried-workspace.ts'
import { type OpenedActors, openAnyActors } from './actors.ts'
import { openCheckouts, openCodeHosts, openReach, openRepositories } from './checkouts.ts'
import { composeWorkspaces, type WorkspaceParts, withWorkspaceTokens } from './execution-workspaces.ts'
import { createClusterGate } from './kubernetes-gate.ts'
import { agentImagePath, type ClusterWork, listAgentImages, openClusterWork, sandboxesOf } from './kubernetes-work.ts'
import type { OpenedMode } from './mode.ts'
import { openScratch } from './scratch.ts'
import { choosePlans } from './settings.ts'
import { openVolume, type Stores } from './sqlite-volume.ts'

export const leaseName = 'svc-controllers'
const replicaKeyName = 'svc-replica-key'

/** NotConfigured when there is no cluster, or its definitions are missing. */
export async function openKubernetes(config: Config, log: Logger): Promise<OpenedMode> {
  prepareDataFolder(config)
  const closing = createClosing()
  try {
    return await openAll(config, log, closing)
  } catch (error) {
    await closing.run()
    throw error
  }
}

async function openAll(config: Config, log: Logger, closing: Closing): Promise<OpenedMode> {
  const { api, connection } = await openApi(config, closing)
  const operatorNamespace = config.operatorNamespace ?? api.namespace
  const { watchNamespace: namespaces } = config
  const onFault = (error: SvcError) =>
    log.warn({ error: messageOf(error) }, 'a watch of the cluster broke and will be resumed')
  const leadership = openLeadership({ api, operatorNamespace, log }, closing)
  const { database, records, health } = await openStores(config, { leadership, log }, closing)
  const resources = await openServedResources({ api, clock, ids, namespaces, onFault: (_kind, e) => onFault(e) })
  closing.add(() => resources.close())
  const named = openNamed({ api, clock, ids, namespaces, onFault, operatorNamespace }, closing)
  const egress = createEgress()
  closing.add(() => egress.close())
  const events = openEvents(records.events, { api, log }, closing)
  const reach = openReach(config)
  const checkouts = openCheckouts(config, { egress, policy: reach.policy })
  const stored = { records, resources, secrets: named.secrets, checkouts }
  const controllerUrl = config.controllerUrl ?? `http://svc.${operatorNamespace}.svc:${config.port}`
  const replicaKey = await ensureReplicaKey({ api, namespace: operatorNamespace, name: replicaKeyName })
  const gate = createClusterGate(config, controllerUrl, replicaKey)
  const connected = { api, connection, egress, operatorNamespace, controllerUrl, gateUrl: gate.url }
  const work = openClusterWork(config, { ...connected, ...stored, log })
  closing.add(() => work.sandbox.close())
  const codeHosts = openCodeHosts(config, { egress, policy: reach.policy })
  const found = openAnyActors(config, { api, egress, ...named, log, operatorNamespace, key: replicaKey }, closing)
  const own = openWorkspaces(config, { ...stored, ...named, codeHosts, log }, { work, ...found }, closing)
  const term = bindTerm({ leadership, workloads: gate.addTo(own.workloads) })
  const strays = createStrayJobs({ api, isLive: isLiveIn(resources), clock, instance: operatorNamespace, namespaces })
  const ports: Ports = {
    resources,
    records: choosePlans(config, { ...records, events }),
    ...named,
    workloads: term.workloads,
    sandbox: carryWorkspace(work.sandbox),
    scratch: openScratch(config),
    authenticator: createReviewAuthenticator({ api, clock }),
    authorizer: createReviewAuthorizer({ api, clock, operatorNamespace }),
    ...createCredentials({ database, clock, ids }),
    ...found.actors,
    executionWorkspaces: own.providers,
    workerTokens: withWorkspaceTokens(work.ports.workerTokens, replicaKey),
    leadership: term.leadership,
    egress,
    ...openRepositories(config, checkouts, { egress, policy: reach.policy }),
    codeHosts,
    clock,
    ids,
    health: [health, createClusterHealth({ listStale: resources.listStale, clock })],
    close: closing.run,
  }
  return {
    ports,
    owners: records.owners,
    leftovers: [
      { name: 'bodies', run: records.sweepOrphans },
      { name: 'git repositories', run: checkouts.clean },
    ],
    sweepWorkloads: async (signal) => (await strays.sweep(signal)) + (await own.sweep()),
    idempotencyKey: replicaKey,
    markerKeys: [createHmac('sha256', replicaKey).update('review markers').digest()],
    metrics: { clusterRequests: api.countRequests, staleKinds: () => resources.listStale().length },
    allowDemoProvider: false,
    ownNamespace: operatorNamespace,
    ...listAddresses(config, controllerUrl),
    ...describePrograms(config),
    setOwnAddresses: reach.setOwnAddresses,
    prepare: () =>
      gate.listen({ records, resources, policy: reach.policy, log, ownerOf: work.workloads.ownerOf }, closing),
  }
}

/** What runs in pods, and how much of it. */
function describePrograms(config: Config) {
  return {
    hasCluster: true,
    sandboxes: sandboxesOf(config),
    taskSettings: { maxRunningTasks: config.maxConcurrentTasks ?? 0, agentPath: agentImagePath, marksEnds: true },
    agentPrograms: listAgentImages(config),
  }
}

/** Where the service is, and each replica of it. */
function listAddresses({ metricsHost, metricsPort, gatePort, host }: Config, controllerUrl: string) {
  return {
    workerApiUrl: controllerUrl,
    serviceNames: listServiceNames(controllerUrl),
    servicePort: portOf(new URL(controllerUrl)),
    gatePort,
    replicaNames: listServiceNames(controllerUrl, '-metrics'),
    metricsListener: { host: metricsHost ?? host, port: metricsPort },
  }
}

type ClusterProviders = { work: ClusterWork; actors: OpenedActors; retired: WorkspaceParts['retired'] }

/** Attempts in workspaces, whoever provides them. */
function openWorkspaces(
  config: Config,
  parts: Omit<WorkspaceParts, 'providers' | 'endsOnClose'>,
  { work, actors, retired }: ClusterProviders,
  closing: Closing,
) {
  const providers = { ...work.ports.executionWorkspaces, ...actors.executionWorkspaces }
  const own = composeWorkspaces(config, work.workloads, {
    ...parts,
    providers,
    retired,
    endsOnClose: false,
    gate: work.gate,
  })
  closing.add(() => own.workloads.close())
  return { providers, ...own }
}

type NamedOptions = KubernetesConfigMapsOptions & { operatorNamespace: string }

/** What resources can refer to besides each other, and what a policy reads of those who do. */
function openNamed(options: NamedOptions, closing: Closing) {
  const secrets = createKubernetesSecrets(options)
  const configMaps = createKubernetesConfigMaps(options)
  closing.add(() => Promise.all([secrets.close(), configMaps.close()]))
  return { secrets, configMaps, policyEntries: createPolicyEntries(options.api, options.operatorNamespace) }
}

/** Also published to those who watch the events of the cluster. */
function openEvents(stored: Events, { api, log }: { api: KubernetesApi; log: Logger }, closing: Closing): Events {
  const clusterEvents = createClusterEvents({ api, clock, ids, apiVersion, log })
  closing.add(() => clusterEvents.close())
  return withClusterEvents(stored, clusterEvents, clock)
}

async function openApi({ podAddress, kubeconfig }: Config, closing: Closing) {
  const isInside = podAddress !== undefined && kubeconfig === undefined
  const connection = isInside ? await connectFromPod(podAddress) : await connectFromKubeconfig(kubeconfig)
  const api = createKubernetesApi({ connection, clock, ids })
  closing.add(() => api.close())
  return { api, connection }
}

type LeadershipParts = { api: KubernetesApi; operatorNamespace: string; log: Logger }

function openLeadership({ api, operatorNamespace, log }: LeadershipParts, closing: Closing): Leadership {
  const leadership = createKubernetesLeadership({
    api,
    clock,
    ids,
    name: leaseName,
    namespace: operatorNamespace,
    // In a pod the host name is the pod's name.
    identity: hostname(),
    onFault: (error) => log.warn({ error: messageOf(error) }, 'the lease of the leader could not be written'),
  })
  closing.add(() => leadership.release())
  return leadership
}

async function openStores(
  config: Config,
  { leadership, log }: { leadership: Leadership; log: Logger },
  closing: Closing,
): Promise<Stores> {
  if (config.databaseUrl === undefined) {
    return openVolume({ dataDir: config.paths.dataDir, leadership, log }, closing)
  }
  const report = (error: unknown) =>
    log.warn(
      { error: messageOf(error) },
      'a connection to the database was lost or refused; its address and password are read at the start',
    )
  const { databaseUrl: url, databasePoolSize: poolSize } = config
  const opened = await openPostgresRecords({ url, poolSize, clock, ids, report })
  closing.add(() => opened.close())
  await opened.records.sweepOrphans()
  return opened
}

/**
 * A Service has a short name and longer ones, any of which a client may use (RFC 1035 search lists). With `suffix`,
 * those of the Service beside it: the one for metrics has the addresses of all replicas.
 */
function listServiceNames(url: string, suffix = ''): string[] {
  const { hostname: host } = new URL(url)
  const [first, namespace, kind, ...rest] = host.split('.')
  if (first === undefined || namespace === undefined || kind !== 'svc') return suffix === '' ? [host] : []
  const service = `${first}${suffix}`
  const domain = rest.length > 0 ? rest.join('.') : 'cluster.local'
  return [service, `${service}.${namespace}`, `${service}.${namespace}.svc`, `${service}.${namespace}.svc.${domain}`]
}
