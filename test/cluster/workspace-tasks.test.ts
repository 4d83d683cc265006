// Agent tasks in sandboxes of a cluster, from end to end: the chart's installation, the double of agent-sandbox's controller,
// and the service's image in the sandboxes.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { findHelm } from '../../scripts/chart.ts'
import { type SandboxController, startController } from '../fixtures/agent-sandbox/controller.ts'
import { install as installKinds, uninstall } from '../fixtures/agent-sandbox/definitions.ts'
import { describeOnCluster, openClusterApi } from '../fixtures/cluster.ts'
import { type ClusterDatabase, startClusterDatabase } from '../fixtures/cluster-services.ts'
import { applyTasks, type Installation, install } from '../fixtures/installation.ts'
import { kubectl, readObject } from '../fixtures/kubectl.ts'
import { postgresMissing } from '../fixtures/postgres.ts'
import { waitFor } from '../fixtures/time.ts'

type Shown = { phase?: string; reason?: string; reused?: boolean; placement?: string; message?: string }
type Task = { status?: { phase?: string; message?: string; executionWorkspace?: Shown } }

const image = process.env.SVC_TEST_IMAGE ?? ''
const obstacle =
  image === ''
    ? 'SVC_TEST_IMAGE names no image that the cluster has; .ci/run builds it'
    : findHelm() === undefined
      ? 'helm is not installed'
      : postgresMissing
const apiVersion = 'core.svc.ai/v1alpha1'
const program = readFileSync(join(import.meta.dirname, '../fixtures/agents/shell.mjs'), 'utf8')
const waitScript = 'trap "exit 0" TERM; while :; do sleep 3600 & wait $!; done'

/** An image of its own is not needed: the program is put where images of agents have theirs. */
const template = {
  apiVersion: 'extensions.agents.x-k8s.io/v1beta1',
  kind: 'SandboxTemplate',
  metadata: { name: 'agents' },
  spec: {
    podTemplate: {
      spec: {
        securityContext: { fsGroup: 65_532 },
        containers: [
          {
            name: 'agent',
            image,
            imagePullPolicy: 'IfNotPresent',
            command: ['/bin/sh', '-c', waitScript],
            volumeMounts: [
              { name: 'program', mountPath: '/opt/agent/node_modules/.bin' },
              { name: 'files', mountPath: '/workspace' },
            ],
          },
        ],
        volumes: [
          { name: 'program', configMap: { name: 'shell-agent', defaultMode: 0o755 } },
          { name: 'files', emptyDir: {} },
        ],
      },
    },
  },
}

describeOnCluster(`tasks in sandboxes${obstacle === undefined ? '' : ` (skipped: ${obstacle})`}`, () => {
  if (obstacle !== undefined) return it.skip(obstacle, () => undefined)
  let database: ClusterDatabase
  let service: Installation
  let controller: SandboxController

  const make = (kind: string, name: string, spec: object) => ({ apiVersion, kind, metadata: { name }, spec })
  const makeTask = (name: string, prompt: string, workspace: object, session?: string) =>
    make('Task', name, {
      type: 'agent',
      prompt,
      agentRef: { name: 'shell' },
      execution: { workspace: { enabled: true, ...workspace } },
      ...(session && { sessionRef: { name: session, create: true } }),
    })

  beforeAll(async () => {
    const api = await openClusterApi()
    await installKinds(api, 'v1beta1')
    await api.close()
    database = await startClusterDatabase('sandboxes')
    const settings = {
      agentImage: [`shell=${image}`],
      agentProgram: ['shell=shell-agent'],
      agentSandboxEnabled: true,
      agentSandboxDefaultTemplate: 'agents',
    }
    service = await install({ image, databaseUrl: database.url, replicas: 1, more: { settings } })
    controller = await startController({ version: 'v1beta1', namespace: service.tasks })
    const script = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'shell-agent' },
      data: { 'shell-agent': program },
    }
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'vendor' },
      stringData: { 'api-key': 'made-up' },
    }
    await applyTasks(service, [
      script,
      secret,
      template,
      make('Provider', 'main', {
        type: 'llmo',
        baseURL: 'https://llm.example.com/v1',
        secretRef: { name: 'vendor', key: 'api-key' },
      }),
      make('Agent', 'shell', { runtime: { runtimeRef: { name: 'shell' } }, model: { name: 'main/test-model' } }),
    ])
  }, 300_000)
  afterAll(async () => {
    await controller?.close()
    await service?.remove()
    await database?.remove()
    const api = await openClusterApi()
    await uninstall(api)
    await api.close()
  }, 180_000)

  async function finish(name: string): Promise<{ text: string; shown: Shown | undefined }> {
    let last: Task | undefined
    const check = async () => {
      last = await readObject<Task>(['get', 'task', name], service.tasks)
      return last.status?.phase === 'Succeeded' || last.status?.phase === 'Failed'
    }
    await waitFor(check, `${name} to end`, 120_000).catch((error: unknown) => {
      throw new Error(`${error}; it is ${JSON.stringify(last?.status)}`)
    })
    if (last?.status?.phase === 'Failed') throw new Error(`${name} failed: ${JSON.stringify(last.status)}`)
    const path = `/api/v1/tasks/${name}/result?namespace=${service.tasks}`
    const { body } = await service.call<{ result: string }>('GET', path)
    return { text: String(body.result), shown: last?.status?.executionWorkspace }
  }
  const listClaims = () => kubectl(['get', 'sandboxclaims', '-o', 'name'], { namespace: service.tasks })

  it('a session finds its files in the sandbox that an earlier task left; one that is not kept leaves nothing', async () => {
    const kept = { reusePolicy: 'session', cleanupPolicy: 'retain' }
    await applyTasks(service, [makeTask('first', 'echo kept >note; id -u; ls /var/run/secrets 2>&1', kept, 'talk')])
    const first = await finish('first')
    expect(first.text).not.toMatch(/^0$/m)
    expect(first.text).toContain('No such file')
    expect(first.shown).toMatchObject({ phase: 'Retained', reused: false })
    await applyTasks(service, [makeTask('second', 'cat note', kept, 'talk'), makeTask('third', 'ls', {})])
    const second = await finish('second')
    expect(second.text.trim()).toBe('kept')
    expect(second.shown).toMatchObject({ phase: 'Retained', reused: true })
    const third = await finish('third')
    expect(third.text).not.toContain('note')
    expect(third.shown).toMatchObject({ phase: 'Deleted', reason: 'WorkspaceDeleted' })
    await waitFor(async () => (await listClaims()).trim().split('\n').length === 1, 'one claim is left')
  }, 300_000)
})
