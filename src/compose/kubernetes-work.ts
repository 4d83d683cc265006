// What runs on the cluster in Kubernetes mode: workers, commands and sandboxed code, each in its own pod.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ApiConnection } from '../cluster/api/connection.ts'
import type { KubernetesApi } from '../cluster/api.ts'
import type { Config } from '../config/load.ts'
import { structuredResultType } from '../contract/api/tasks/structured-result.ts'
import { runtimeTypes } from '../contract/kinds/agents/runtime-types.ts'
import { apiVersion } from '../contract/kinds/index.ts'
import { resolveCheckout } from '../controllers/tasks/checkout.ts'
import { SvcError } from '../errors.ts'
import { dropUndefined } from '../lib/json.ts'
import { systemClock as clock, systemIds as ids } from '../lib/system-clock.ts'
import type { Logger } from '../observability/log.ts'
import type { Ports, Records } from '../ports/index.ts'
import type { ResourceReader } from '../ports/resources/resources.ts'
import type { Secrets } from '../ports/resources/secrets.ts'
import type { Egress } from '../ports/service/egress.ts'
import type { WorkloadSpec } from '../ports/tasks/workloads.ts'
import type { Checkouts } from '../ports/workspaces/checkouts.ts'
import type { ExecutionWorkspaces } from '../ports/workspaces/execution-workspaces.ts'
import type { AgentPrograms, InstalledAgentProgram } from '../rules/agents/programs.ts'
import { createExecShell } from '../runtime/agent-sandbox/exec-shell.ts'
import { createAgentSandboxes } from '../runtime/agent-sandbox/execution-workspaces.ts'
import { createRouterShell } from '../runtime/agent-sandbox/router-shell.ts'
import type { SandboxShell } from '../runtime/agent-sandbox/shell.ts'
import { createKubernetesSandbox, type KubernetesSandbox } from '../runtime/code-pods/sandbox.ts'
import type { PodCheckoutParts } from '../runtime/jobs/checkouts/work.ts'
import { createPodGate, type PodGate } from '../runtime/jobs/pod-gate.ts'
import { createKubernetesWorkerTokens } from '../runtime/jobs/worker-tokens.ts'
import { createKubernetesWorkloads, type KubernetesWorkloads } from '../runtime/jobs/workloads.ts'
import { checkoutPartsOf } from './checkouts.ts'
import { helperLimitsOf } from './settings.ts'

type SandboxesParts = {
  api: KubernetesApi
  connection: ApiConnection
  egress: Egress
  operatorNamespace: string
  gate: PodGate | undefined
}

/** The router is the administrator's choice, and may be anywhere. */
function openShell(config: Config, { api, connection, egress }: Omit<SandboxesParts, 'gate'>): SandboxShell {
  const { agentSandboxRouterUrl: url, agentSandboxRouterToken: token } = config
  if (url === undefined) return createExecShell({ api, connection })
  const policy = { allowNetworks: [], deny: [], trusted: new URL(url).origin }
  return createRouterShell({ url, token, fetch: egress.fetchWith(policy), ids })
}

/** Where claims are made; empty: anywhere. */
function listNamespaces({ watchNamespace, agentSandboxNamespaceStrategy: strategy }: Config, own: string): string[] {
  if (watchNamespace.length === 0 || strategy === 'task') return watchNamespace
  return [...new Set([...watchNamespace, own])]
}

/** Undefined unless they are enabled. */
function openSandboxes(config: Config, parts: SandboxesParts): ExecutionWorkspaces | undefined {
  if (!config.agentSandboxEnabled) return undefined
  const { api, operatorNamespace, gate } = parts
  return createAgentSandboxes({
    api,
    clock,
    ids,
    shell: openShell(config, parts),
    instance: operatorNamespace,
    namespaces: listNamespaces(config, operatorNamespace),
    warmPoolPolicy: config.agentSandboxWarmPoolPolicy,
    gate,
  })
}

/** The worker program in the service's image (deploy/Containerfile). */
const workerCommand = ['node', '/app/dist/worker.js']
const workerAccount = 'svc-worker'

export type ClusterWork = {
  workloads: KubernetesWorkloads
  gate: PodGate | undefined
  sandbox: KubernetesSandbox
  ports: Pick<Ports, 'workerTokens' | 'executionWorkspaces'>
}

/** Jobs and Secrets are removed with their Task, whoever deletes it. */
function ownerOf({ key, taskName }: WorkloadSpec) {
  return { apiVersion, kind: 'Task', name: taskName, uid: key.taskUid, controller: true, blockOwnerDeletion: false }
}

/** Concurrent pods for code. */
export function sandboxesOf({ maxSandboxes = 8 }: Config): number {
  return maxSandboxes
}

/** Sandboxes are removed with the replica that created them; an owner must be in the same namespace. */
function ownSandboxes({ ownPod, sandboxNamespace }: Config, ownNamespace: string, operatorNamespace: string) {
  if (ownPod === undefined || (sandboxNamespace ?? operatorNamespace) !== ownNamespace) return {}
  return { owner: { apiVersion: 'v1', kind: 'Pod', ...ownPod } }
}

/** Each agent program has an image of its own. */
export function listAgentImages({ agentImage, agentProgram }: Config): AgentPrograms {
  const describe = (name: string, command?: string[]): [string, InstalledAgentProgram] => {
    const image = agentImage.findLast((one) => one.name === name)?.image
    if (image === undefined) return [name, { found: false, setting: `--agent-image ${name}=IMAGE` }]
    return [name, { found: true, image, ...(command && { command }) }]
  }
  const added = agentProgram.map(({ name, command }) => describe(name, command))
  const all = new Map([...added, ...runtimeTypes.map((name) => describe(name))])
  return { find: async (name) => all.get(name), names: [...all.keys()] }
}

/** Where the images have them (deploy/agent.Containerfile). */
export const agentImagePath = ['/opt/agent/node_modules/.bin', '/usr/local/bin', '/usr/bin', '/bin'].join(':')

/** NotConfigured when the file cannot be read. */
function trustOf({ workerAuthorities: file }: Config): { authorities?: string } {
  if (file === undefined) return {}
  try {
    return { authorities: readFileSync(file, 'utf8') }
  } catch (cause) {
    throw new SvcError('NotConfigured', `--worker-authorities ${file} cannot be read`, { cause })
  }
}

/** Secrets and earlier tasks are read again for an attempt that another replica began. */
function openPodCheckouts(config: Config, { resources, secrets, records, checkouts }: ClusterWorkParts) {
  const folder = join(config.paths.dataDir, 'checkouts')
  const parts: PodCheckoutParts = {
    ...checkoutPartsOf(checkouts, records),
    async find({ namespace, taskName, key }) {
      const task = await resources.get('Task', { namespace, name: taskName })
      return task?.metadata.uid === key.taskUid
        ? await resolveCheckout({ resources, secrets, records }, task)
        : undefined
    },
    isStored: async ({ taskUid, attempt }) =>
      (await records.results.get(taskUid, attempt))?.info.contentType === structuredResultType,
  }
  return { parts, folder }
}

type ClusterWorkParts = {
  api: KubernetesApi
  connection: ApiConnection
  records: Records
  resources: ResourceReader
  secrets: Secrets
  checkouts: Checkouts
  egress: Egress
  log: Logger
  operatorNamespace: string
  /** Of this service, as pods reach it, and of its gate; absent: pods have the network as it is. */
  controllerUrl: string
  gateUrl?(): string
}

/** The probe has a pod in the service's own namespace. */
function openPodGate(config: Config, parts: ClusterWorkParts, image: string): PodGate | undefined {
  const { api, log, operatorNamespace, controllerUrl, gateUrl } = parts
  if (gateUrl === undefined) return undefined
  return createPodGate({
    api,
    clock,
    ids,
    instance: operatorNamespace,
    namespace: operatorNamespace,
    image,
    imagePullSecrets: config.imagePullSecrets,
    serviceUrl: controllerUrl,
    gateUrl,
    required: config.networkEnforcement === 'required',
    log: log.child({ name: 'network' }),
  })
}

export function openClusterWork(config: Config, parts: ClusterWorkParts): ClusterWork {
  const { api, connection, records, log, operatorNamespace } = parts
  if (config.workerImage === undefined) {
    throw new SvcError('NotConfigured', "no image for workers: name the service's own with --worker-image")
  }
  const gate = openPodGate(config, parts, config.workerImage)
  const workloads = createKubernetesWorkloads({
    api,
    connection,
    clock,
    ids,
    logs: records.logs,
    log: log.child({ name: 'workloads' }),
    instance: operatorNamespace,
    namespaces: config.watchNamespace,
    worker: { image: config.workerImage, command: workerCommand, serviceAccount: workerAccount, ...trustOf(config) },
    outputFolder: join(config.paths.dataDir, 'output'),
    checkouts: openPodCheckouts(config, parts),
    ownerOf,
    imagePullSecrets: config.imagePullSecrets,
    priorityClasses: config.priorityClasses,
    helperLimits: helperLimitsOf(config),
    ...(gate && { gate }),
  })
  return {
    workloads,
    gate,
    sandbox: createKubernetesSandbox({
      api,
      connection,
      clock,
      ids,
      log: log.child({ name: 'sandbox' }),
      instance: operatorNamespace,
      namespace: config.sandboxNamespace ?? operatorNamespace,
      image: config.codeImage,
      languages: config.codeLanguages,
      max: sandboxesOf(config),
      imagePullSecrets: config.imagePullSecrets,
      ...ownSandboxes(config, api.namespace, operatorNamespace),
    }),
    ports: {
      workerTokens: createKubernetesWorkerTokens({
        api,
        clock,
        workloads,
        instance: operatorNamespace,
        serviceAccount: workerAccount,
      }),
      executionWorkspaces: dropUndefined({ 'agent-sandbox': openSandboxes(config, { ...parts, gate }) }),
    },
  }
}
