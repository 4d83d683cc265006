// Who edits one namespace changes no agent and no config map there, by kubectl, that an unfinished task has Secrets with which
// they may not read.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeOnCluster } from '../fixtures/cluster.ts'
import { type ClusterDatabase, hostAddress, startClusterDatabase } from '../fixtures/cluster-services.ts'
import { findObstacle, type Installation, install, undoAll } from '../fixtures/installation.ts'
import { applyManifest, kubectl, readObject, runKubectl } from '../fixtures/kubectl.ts'
import { waitFor } from '../fixtures/time.ts'

const image = process.env.SVC_TEST_IMAGE ?? ''
const obstacle = findObstacle(image)
const apiVersion = 'core.svc.ai/v1alpha1'
const refusal = 'part of a task of another namespace that has not ended'
const textRefusal = 'this config map is part of a task that has not ended'

describeOnCluster(`what tasks use elsewhere${obstacle === undefined ? '' : ` (skipped: ${obstacle})`}`, () => {
  if (obstacle !== undefined) return it.skip(obstacle, () => undefined)
  let database: ClusterDatabase
  let service: Installation
  /** That of the agents, whose editor has all rights in it and none elsewhere. */
  const home = `dep-used-${process.pid}`

  const apply = (namespace: string, ...objects: object[]) =>
    applyManifest(objects.map((object) => JSON.stringify({ apiVersion, ...object })).join('\n'), { namespace })
  const agent = (name: string, text: string) => ({
    kind: 'Agent',
    metadata: { name },
    spec: { systemPrompt: { inline: text }, providerRef: { name: 'silent' } },
  })
  const task = (name: string, agentName: string, more: object = {}) => ({
    kind: 'Task',
    metadata: { name },
    spec: {
      type: 'ai',
      prompt: 'say the word',
      secretRef: { name: 'own' },
      agentRef: { name: agentName, namespace: home },
      ...more,
    },
  })
  /** A model that never answers: its tasks run until somebody ends them. */
  const vendor = createServer(() => undefined)
  /** What kubectl says on stderr; empty when it was let in. */
  const editAs = async (object: object, namespace = home) => {
    const args = ['apply', '--server-side', '--force-conflicts', '--as', 'editor-of-home', '-f', '-']
    const input = JSON.stringify({ apiVersion, ...object })
    return (await runKubectl(args, { input, namespace })).stderr
  }
  const phaseOf = async (name: string) =>
    (await readObject<{ status?: { phase?: string } }>(['get', 'task', name], service.tasks)).status?.phase
  const becomesFree = (object: object, namespace = home) =>
    waitFor(async () => (await editAs(object, namespace)) === '', 'the editor being let in', 60_000)
  const isNoted = (line: string) =>
    waitFor(async () => {
      const found = await kubectl(['get', 'usedelsewhere', 'svc-used-elsewhere', '-o', 'jsonpath={.data}'], {
        namespace: service.namespace,
      })
      return found.includes(line)
    }, `the note ${line}`)

  beforeAll(async () => {
    database = await startClusterDatabase('used')
    await kubectl(['create', 'namespace', home])
    const values = ['enforceNamespaceIsolation=false']
    service = await install({ image, databaseUrl: database.url, values, alsoServed: [home] })
    const rules = [{ apiGroups: ['', 'core.svc.ai'], resources: ['*'], verbs: ['*'] }]
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: { name: 'editor' }, rules }
    await kubectl(['create', 'rolebinding', 'editor', '--role=editor', '--user=editor-of-home'], { namespace: home })
    await kubectl(['create', 'secret', 'generic', 'own', '--from-literal=key=made-up'], { namespace: service.tasks })
    await new Promise<void>((resolve) => vendor.listen(0, hostAddress, resolve))
    const baseURL = `http://${hostAddress}:${(vendor.address() as AddressInfo).port}/v1`
    const spec = { type: 'llmo', baseURL, defaultModel: 'test-model' }
    await apply(home, role, { kind: 'Provider', metadata: { name: 'silent' }, spec }, agent('helper', 'be kind'))
    await becomesFree(agent('unused', 'be brief'))
  }, 300_000)

  afterAll(
    () =>
      undoAll(
        service?.remove,
        database?.remove,
        () => vendor.closeAllConnections(),
        () => vendor.close(),
        () => kubectl(['delete', 'namespace', home, '--wait=false']),
      ),
    180_000,
  )

  it('is closed to the editor of its namespace until the task has ended', async () => {
    await apply(service.tasks, task('long', 'helper'))
    await waitFor(async () => (await phaseOf('long')) === 'Running', 'the task running', 90_000)
    // It did not start before.
    expect(await editAs(agent('helper', 'be cruel'))).toContain(refusal)
    expect(await editAs(agent('unused', 'be briefer'))).toBe('')
    const path = `/api/v1/tasks/long/cancel?namespace=${service.tasks}`
    expect((await service.call('POST', path, {})).status).toBeLessThan(300)
    await waitFor(async () => (await phaseOf('long')) === 'Cancelled', 'the task having ended', 90_000)
    await becomesFree(agent('helper', 'be kinder'))
  })

  it('closes the config maps of the task, in its own namespace as well', async () => {
    const words = (name: string, text: string) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name },
      data: { text },
    })
    const systemPrompt = { configMapRef: { name: 'words', key: 'text' } }
    const speaker = {
      kind: 'Agent',
      metadata: { name: 'speaker' },
      spec: { systemPrompt, providerRef: { name: 'silent' } },
    }
    const skills = [{ configMapRef: { name: 'own-words', key: 'text' } }]
    await apply(home, words('words', 'be kind'), speaker)
    await apply(service.tasks, words('own-words', 'be kind'), task('reading', 'speaker', { ai: { skills } }))
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['*'] }]
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: { name: 'words' }, rules }
    await apply(service.tasks, role)
    const namespace = service.tasks
    await kubectl(['create', 'rolebinding', 'words', '--role=words', '--user=editor-of-home'], { namespace })
    await waitFor(async () => (await phaseOf('reading')) === 'Running', 'the task running', 90_000)
    // It did not start before; the policy itself may be learnt of later.
    await waitFor(async () => (await editAs(words('words', 'be cruel'))).includes(textRefusal), 'the refusal', 60_000)
    expect(await editAs(words('own-words', 'be cruel'), namespace)).toContain(textRefusal)
    expect(await editAs(words('free', 'be cruel'))).toBe('')
    expect(await editAs(words('free', 'be cruel'), namespace)).toBe('')
    await kubectl(['delete', 'task', 'reading'], { namespace })
    await becomesFree(words('words', 'be kinder'))
    await becomesFree(words('own-words', 'be kinder'), namespace)
  }, 300_000)

  it('is closed before it exists', async () => {
    await apply(service.tasks, task('held', 'later', { suspend: true }))
    await isNoted(`later ${service.tasks}`)
    await waitFor(async () => (await editAs(agent('later', 'be cruel'))).includes(refusal), 'the note being read')
    await kubectl(['delete', 'task', 'held'], { namespace: service.tasks })
    await becomesFree(agent('later', 'be kind'))
  })

  it('is noted where only the service writes', async () => {
    for (const verb of [['patch', '--type=merge', '-p', '{"data":null}'], ['delete']]) {
      const [name = '', ...rest] = verb
      const args = [name, 'usedelsewhere', 'svc-used-elsewhere', ...rest, '--as', 'editor-of-home']
      expect((await runKubectl(args, { namespace: service.namespace })).stderr).toContain('Forbidden')
    }
  })
})
