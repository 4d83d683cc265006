// What runs on the cluster in Kubernetes mode: workers, commands and sandboxed code, each in its own pod.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ApiConnection } from '../adapters/kubernetes/api/connection.ts'
import type { KubernetesApi } from '../adapters/kubernetes/api.ts'
import { createKubernetesSandbox, type KubernetesSandbox } from '../adapters/kubernetes/sandbox/sandbox.ts'
import { createKubernetesWorkerTokens } from '../adapters/kubernetes/worker-tokens.ts'
import { createKubernetesWorkloads, type KubernetesWorkloads } from '../adapters/kubernetes/workloads.ts'
import { systemClock as clock, systemIds as ids } from '../adapters/system/clock.ts'
import type { Config } from '../config/load.ts'
import { apiVersion } from '../contract/resources/index.ts'
import { SvcError } from '../errors.ts'
import type { Logger } from '../observability/log.ts'
import type { WorkerTokens } from '../ports/identity.ts'
import type { Logs } from '../ports/logs.ts'
import type { WorkloadSpec } from '../ports/workloads.ts'

/** The worker program in the service's image (deploy/Containerfile). */
const workerCommand = ['node', '/app/dist/worker.js']
const workerAccount = 'svc-worker'

export type ClusterWork = { workloads: KubernetesWorkloads; sandbox: KubernetesSandbox; workerTokens: WorkerTokens }

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

/** NotConfigured when the file cannot be read. */
function trustOf({ workerAuthorities: file }: Config): { authorities?: string } {
  if (file === undefined) return {}
  try {
    return { authorities: readFileSync(file, 'utf8') }
  } catch (cause) {
    throw new SvcError('NotConfigured', `--worker-authorities ${file} cannot be read`, { cause })
  }
}

export type ClusterWorkParts = {
  api: KubernetesApi
  connection: ApiConnection
  logs: Logs
  log: Logger
  operatorNamespace: string
}

export function openClusterWork(config: Config, parts: ClusterWorkParts): ClusterWork {
  const { api, connection, logs, log, operatorNamespace } = parts
  if (config.workerImage === undefined) {
    throw new SvcError('NotConfigured', "no image for workers: name the service's own with --worker-image")
  }
  const workloads = createKubernetesWorkloads({
    api,
    connection,
    clock,
    ids,
    logs,
    log: log.child({ name: 'workloads' }),
    instance: operatorNamespace,
    namespaces: config.watchNamespace,
    worker: { image: config.workerImage, command: workerCommand, serviceAccount: workerAccount, ...trustOf(config) },
    outputFolder: join(config.paths.dataDir, 'output'),
    ownerOf,
    imagePullSecrets: config.imagePullSecrets,
    priorityClasses: config.priorityClasses,
  })
  return {
    workloads,
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
      most: sandboxesOf(config),
      imagePullSecrets: config.imagePullSecrets,
      ...ownSandboxes(config, api.namespace, operatorNamespace),
    }),
    workerTokens: createKubernetesWorkerTokens({
      api,
      clock,
      workloads,
      instance: operatorNamespace,
      serviceAccount: workerAccount,
    }),
  }
}
