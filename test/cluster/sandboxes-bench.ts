// agent-sandbox on the cluster for a suite: its definitions, a controller, a namespace with templates, and our adapter.
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { connectFromKubeconfig } from '../../src/cluster/api/connection.ts'
import type { Collection } from '../../src/cluster/api/paths.ts'
import type { KubernetesApi } from '../../src/cluster/api.ts'
import { systemClock as clock, systemIds as ids } from '../../src/lib/system-clock.ts'
import type {
  ExecutionWorkspaces,
  WorkspaceClaim,
  WorkspaceCommand,
} from '../../src/ports/workspaces/execution-workspaces.ts'
import { createExecShell } from '../../src/runtime/agent-sandbox/exec-shell.ts'
import { type AgentSandboxOptions, createAgentSandboxes } from '../../src/runtime/agent-sandbox/execution-workspaces.ts'
import { type Pod, pods } from '../../src/runtime/jobs/objects.ts'
import { startController } from '../fixtures/agent-sandbox/controller.ts'
import { install, type Version } from '../fixtures/agent-sandbox/definitions.ts'
import type { Entity } from '../fixtures/agent-sandbox/world.ts'
import { waitFor } from '../fixtures/time.ts'
import { createNamespace, namespaces, openApi, testImage } from './workloads-bench.ts'

/** `installed`: the suites use the controller that the cluster has, instead of the double. */
export const isInstalled = process.env.SVC_TEST_AGENT_SANDBOX === 'installed'

const volumes: Collection = { group: '', version: 'v1', plural: 'persistentvolumes' }

/** Ends at once when it is told to. */
const waitScript = 'trap "exit 0" TERM INT; while :; do sleep 3600 & wait $!; done'
const runtime = readFileSync(join(import.meta.dirname, '../fixtures/agent-sandbox/runtime.mjs'), 'utf8')

type Container = Record<string, unknown>

export type TemplateChanges = { container?: Container; pod?: Record<string, unknown>; spec?: Record<string, unknown> }

export type SandboxesBench = {
  api: KubernetesApi
  namespace: string
  version: Version
  workspaces: ExecutionWorkspaces
  /** Another life of the service, or one with other settings. */
  openWorkspaces(changes?: Partial<AgentSandboxOptions>): ExecutionWorkspaces
  addTemplate(name: string, changes?: TemplateChanges): Promise<void>
  /** Its sandboxes are ready when it resolves. */
  addPool(name: string, template: string, replicas: number): Promise<void>
  waitForPool(name: string): Promise<unknown>
  list(kind: string): Promise<Entity[]>
  listPods(): Promise<Pod[]>
  claimOf(template: string): WorkspaceClaim
  close(): Promise<void>
}

export function collectionOf(version: Version, plural: string): Collection {
  const group = plural === 'sandboxes' ? 'agents.x-k8s.io' : 'extensions.agents.x-k8s.io'
  return { group, version, plural }
}

function makeTemplate(version: Version, name: string, { container, pod, spec }: TemplateChanges): object {
  const main = {
    name: 'main',
    image: testImage,
    imagePullPolicy: 'Never',
    command: ['/bin/sh', '-c', waitScript],
    ...container,
  }
  return {
    apiVersion: `extensions.agents.x-k8s.io/${version}`,
    kind: 'SandboxTemplate',
    metadata: { name },
    spec: { podTemplate: { spec: { enableServiceLinks: false, containers: [main], ...pod } }, ...spec },
  }
}

/** With a volume that outlives its pods. */
export function keepFiles(namespace: string): TemplateChanges {
  const resources = { requests: { storage: '1Mi' } }
  const claim = { accessModes: ['ReadWriteOnce'], storageClassName: namespace, resources }
  return {
    container: { volumeMounts: [{ name: 'files', mountPath: '/files' }] },
    spec: { volumeClaimTemplates: [{ metadata: { name: 'files' }, spec: claim }] },
  }
}

/** What the published image of agent-sandbox starts with. */
export const withRuntime: TemplateChanges = {
  container: {
    command: ['node', '--input-type=module', '-e', runtime],
    readinessProbe: { httpGet: { path: '/', port: 8888 }, periodSeconds: 1 },
  },
}

/** Folders of the node, as volumes of a class that is named as the namespace. */
async function makeVolumes(api: KubernetesApi, namespace: string, count: number) {
  const folder = `/tmp/${namespace}-volumes`
  const names = Array.from({ length: count }, (_, at) => `${namespace}-${at}`)
  for (const name of names) {
    const hostPath = { path: `${folder}/${name}`, type: 'DirectoryOrCreate' }
    const shape = { capacity: { storage: '1Mi' }, accessModes: ['ReadWriteOnce'], storageClassName: namespace }
    const body = { apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name }, spec: { ...shape, hostPath } }
    await api.request({ verb: 'create', collection: volumes, body })
  }
  return async () => {
    for (const name of names) await api.request({ verb: 'delete', collection: volumes, name }).catch(() => undefined)
    await rm(folder, { recursive: true, force: true })
  }
}

export async function openSandboxes(version: Version, { volumeCount = 0 } = {}): Promise<SandboxesBench> {
  const api = await openApi()
  if (!isInstalled) await install(api, version)
  const namespace = await createNamespace(api, 'sandboxes')
  const dropVolumes = await makeVolumes(api, namespace, volumeCount)
  const controller = isInstalled ? undefined : await startController({ version, namespace })
  const shell = createExecShell({ api, connection: await connectFromKubeconfig() })
  const usual: AgentSandboxOptions = { api, clock, ids, instance: namespace, warmPoolPolicy: 'disabled', shell }
  const openWorkspaces = (changes = {}) => createAgentSandboxes({ ...usual, namespaces: [namespace], ...changes })
  const create = (plural: string, body: object) =>
    api.request({ verb: 'create', collection: collectionOf(version, plural), namespace, body })
  const list = async (plural: string) => {
    const collection = collectionOf(version, plural)
    return (await api.request<{ items: Entity[] }>({ verb: 'list', collection, namespace })).items
  }
  const waitForPool = (name: string) =>
    waitFor(async () => {
      const pool = (await list('sandboxwarmpools')).find(({ metadata }) => metadata.name === name)
      return pool !== undefined && (pool.status?.readyReplicas ?? 0) === pool.spec.replicas
    }, `the pool ${name} is full`)
  return {
    api,
    namespace,
    version,
    workspaces: openWorkspaces(),
    openWorkspaces,
    addTemplate: async (name, changes = {}) => {
      await create('sandboxtemplates', makeTemplate(version, name, changes))
    },
    async addPool(name, template, replicas) {
      const spec = { replicas, sandboxTemplateRef: { name: template } }
      const apiVersion = `extensions.agents.x-k8s.io/${version}`
      await create('sandboxwarmpools', { apiVersion, kind: 'SandboxWarmPool', metadata: { name }, spec })
      await waitForPool(name)
    },
    waitForPool,
    list,
    listPods: async () => (await api.request<{ items: Pod[] }>({ verb: 'list', collection: pods, namespace })).items,
    claimOf: (template) => ({
      namespace,
      name: `svc-ws-${ids.hex(8)}`,
      template: { namespace, name: template },
      labels: { 'svc.ai/task': 'test' },
    }),
    async close() {
      await controller?.close()
      await api.request({ verb: 'delete', collection: namespaces, name: namespace })
      await dropVolumes()
      await api.close()
    },
  }
}

/** A command of a shell. */
export function shellCommand(id: string, script: string, changes: Partial<WorkspaceCommand> = {}): WorkspaceCommand {
  return { id, command: ['sh', '-c', script], env: {}, timeoutSeconds: 60, maxOutputBytes: 64 * 1024, ...changes }
}
