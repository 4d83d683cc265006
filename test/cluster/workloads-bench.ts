// Workloads on the cluster for a suite: a namespace of its own, the log store of the service, lines in a map.
import { join } from 'node:path'
import { connectFromKubeconfig } from '../../src/cluster/api/connection.ts'
import type { Collection } from '../../src/cluster/api/paths.ts'
import { createKubernetesApi, type KubernetesApi } from '../../src/cluster/api.ts'
import { systemClock, systemIds } from '../../src/lib/system-clock.ts'
import {
  createKubernetesWorkloads,
  type KubernetesWorkloads,
  type KubernetesWorkloadsOptions,
} from '../../src/runtime/jobs/workloads.ts'
import { createLogs, type LogStore } from '../../src/store/tasks/logs.ts'
import { makeFolder, removeFolder } from '../contracts/embedded-bench.ts'
import type { WorkloadsBench } from '../contracts/workloads.contract.ts'
import { waitFor } from '../fixtures/time.ts'

/** Has sh, node, tar and coreutils: node:24-slim as it is (setup.ts). */
export const testImage = 'svc-test-workloads:1'

/** Has one program and nothing else: no shell, no library. */
export const bareImage = 'svc-test-bare:1'

export const namespaces: Collection = { group: '', version: 'v1', plural: 'namespaces' }

export type ClusterBench = WorkloadsBench & {
  workloads: KubernetesWorkloads
  api: KubernetesApi
  namespace: string
  store: LogStore
  options: KubernetesWorkloadsOptions
  folder: string
  /** Another life of the service over the same logs and cluster. */
  restart(changed?: Partial<KubernetesWorkloadsOptions>): KubernetesWorkloads
}

export async function openApi(): Promise<KubernetesApi> {
  return createKubernetesApi({ connection: await connectFromKubeconfig(), clock: systemClock, ids: systemIds })
}

export async function createNamespace(api: KubernetesApi, prefix: string): Promise<string> {
  const name = `wl-${prefix}-${systemIds.hex(6)}`
  const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
  await api.request({ verb: 'create', collection: namespaces, body })
  const account = { verb: 'get' as const, collection: { group: '', version: 'v1', plural: 'serviceaccounts' } }
  await waitFor(
    () =>
      api.request({ ...account, namespace: name, name: 'default' }).then(
        () => true,
        () => false,
      ),
    'the namespace has its account',
  )
  return name
}

export async function openClusterBench(changed: Partial<KubernetesWorkloadsOptions> = {}): Promise<ClusterBench> {
  const api = await openApi()
  const namespace = await createNamespace(api, 'workloads')
  const folder = makeFolder('cluster-workloads')
  const store = createLogs({ folder: join(folder, 'logs'), clock: systemClock })
  const logs: WorkloadsBench['logs'] = new Map()
  const slowDown: WorkloadsBench['slowDown'] = {}
  const options: KubernetesWorkloadsOptions = {
    api,
    connection: await connectFromKubeconfig(),
    clock: systemClock,
    ids: systemIds,
    instance: namespace,
    namespaces: [namespace],
    worker: { image: testImage, command: ['node'], serviceAccount: 'svc-ai-worker' },
    outputFolder: join(folder, 'output'),
    helperLimits: { cpu: 0.5, memoryBytes: 256 * 1024 ** 2, requests: { cpu: 0.005, memoryBytes: 32 * 1024 ** 2 } },
    graceSeconds: 1,
    startGraceMs: 3000,
    nodeGraceMs: 5000,
    log: { warn: () => undefined },
    logs: {
      ...store,
      append: async (key, lines) => {
        const texts = lines.map((line) => (typeof line === 'string' ? line : line.text))
        await slowDown.take?.(key, texts)
        logs.set(key.taskUid, [...(logs.get(key.taskUid) ?? []).slice(-10_000), ...texts])
        await store.append(key, lines)
      },
    },
    ...changed,
  }
  const opened: KubernetesWorkloads[] = []
  const restart = (more: Partial<KubernetesWorkloadsOptions> = {}) => {
    const workloads = createKubernetesWorkloads({ ...options, ...more })
    opened.push(workloads)
    return workloads
  }
  const workloads = restart()
  const close = async () => {
    await Promise.all(opened.map((one) => one.close()))
    await api.request({ verb: 'delete', collection: namespaces, name: namespace })
    await api.close()
    await store.close()
    removeFolder(folder)
  }
  return {
    workloads,
    api,
    namespace,
    store,
    options,
    folder,
    restart,
    close,
    logs,
    slowDown,
    places: Number.POSITIVE_INFINITY,
    image: testImage,
    // The kubelet gives out some 60,000 lines in a second.
    flood: 1_000_000,
  }
}
