// A coordinator on a cluster, from end to end: the chart's installation, workers in pods, a scripted vendor.
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ApprovalItem } from '../../src/contract/api/tasks/approvals.ts'
import type { Task } from '../../src/contract/kinds/tasks/task.ts'
import { describeOnCluster } from '../fixtures/cluster.ts'
import { type ClusterDatabase, hostAddress, startClusterDatabase } from '../fixtures/cluster-services.ts'
import { applyTasks, findObstacle, type Installation, install, undoAll } from '../fixtures/installation.ts'
import { kubectl, readObject } from '../fixtures/kubectl.ts'
import {
  readText,
  type ScriptedVendor,
  startVendor,
  type VendorAnswer,
  type VendorRequest,
} from '../fixtures/llm/scripted-vendor.ts'
import { waitFor } from '../fixtures/time.ts'

const image = process.env.SVC_TEST_IMAGE ?? ''
const obstacle = findObstacle(image)
const apiVersion = 'core.svc.ai/v1alpha1'
const patienceMs = 180_000

const hold = Promise.withResolvers<void>()

/** What the model of a task says; the prompt of each is its name. */
async function answer({ messages }: VendorRequest): Promise<VendorAnswer> {
  const prompt = readText(messages.find(({ role }) => role === 'user')?.content)
  const results = messages
    .filter(({ role }) => role === 'tool')
    .map(({ content }) => JSON.parse(readText(content)) as Record<string, unknown>)
  if (prompt.startsWith('work')) {
    await hold.promise
    return [{ text: 'the work is done' }]
  }
  const [first, second, third] = results
  if (first === undefined) return [{ call: { name: 'delegate_task', args: { agent: 'worker', prompt: 'work' } } }]
  if (second === undefined) return [{ call: { name: 'wait_for_tasks', args: { tasks: [first.taskName] } } }]
  if (third === undefined) return [{ call: { name: 'request_approval', args: { message: 'May I tell?' } } }]
  return [{ text: `${JSON.stringify(second.results)} ${third.approved}` }]
}

describeOnCluster(`coordination on a cluster${obstacle === undefined ? '' : ` (skipped: ${obstacle})`}`, () => {
  if (obstacle !== undefined) return it.skip(obstacle, () => undefined)
  let database: ClusterDatabase
  let service: Installation
  let vendor: ScriptedVendor

  const make = (kind: string, name: string, spec: object) => ({ apiVersion, kind, metadata: { name }, spec })

  beforeAll(async () => {
    vendor = await startVendor(answer, hostAddress)
    database = await startClusterDatabase('coordination')
    service = await install({
      image,
      databaseUrl: database.url,
      replicas: 2,
      more: { settings: { maxTasksPerNamespace: 1 } },
    })
    const secretRef = { name: 'vendor', key: 'api-key' }
    const coordination = { enabled: true, allowedAgents: [{ name: 'worker' }] }
    await applyTasks(service, [
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'vendor' }, stringData: { 'api-key': 'made-up-key-0007' } },
      make('Provider', 'main', { type: 'llmo', baseURL: vendor.url, defaultModel: 'm', secretRef }),
      make('Agent', 'worker', { providerRef: { name: 'main' } }),
      make('Agent', 'lead', { providerRef: { name: 'main' }, coordination }),
    ])
  }, 300_000)
  afterAll(() => undoAll(service?.remove, database?.remove, () => vendor?.close()), 180_000)

  const readTask = (name: string) => readObject<Task>(['get', 'task', name], service.tasks)
  const isParked = ({ status }: Task) =>
    status?.conditions?.some(({ type, status: is }) => type === 'Parked' && is === 'True') === true
  const podsOf = async (name: string) => {
    const args = ['get', 'pods', '-l', `svc.ai/task-uid=${(await readTask(name)).metadata.uid}`]
    return (await readObject<{ items: object[] }>(args, service.tasks)).items
  }
  const waitForParked = (name: string) =>
    waitFor(async () => isParked(await readTask(name)), `${name} to be parked`, patienceMs)

  it('leaves its place and its pod to its child, outlives the leader, and waits for a person', async () => {
    await applyTasks(service, [make('Task', 'lead', { type: 'ai', agentRef: { name: 'lead' }, prompt: 'lead' })])
    await waitForParked('lead')
    await waitFor(async () => (await podsOf('lead')).length === 0, 'the pod of the coordinator to go', patienceMs)
    await waitFor(
      () => vendor.requests.some((request) => JSON.stringify(request).includes('"work"')),
      'the child',
      patienceMs,
    )
    const leader = await service.leader()
    if (leader === undefined) throw new Error('there is no leader')
    await kubectl(['delete', 'pod', leader, '--grace-period=0', '--force'], { namespace: service.namespace })
    hold.resolve()
    const question = await waitFor(
      async () => {
        const path = `/api/v1/approvals?namespace=${service.tasks}&status=pending`
        const { body } = await service.call<{ items?: ApprovalItem[] }>('GET', path)
        return body.items?.[0]
      },
      'the question',
      patienceMs,
    )
    expect(question).toMatchObject({ taskName: 'lead', agentName: 'lead', message: 'May I tell?' })
    await waitForParked('lead')
    const path = `/api/v1/approvals/${question.id}/approve?namespace=${service.tasks}`
    expect((await service.call('POST', path, { reason: 'go on' })).status).toBe(200)
    const ended = await waitFor(
      async () => {
        const task = await readTask('lead')
        return ['Succeeded', 'Failed'].includes(task.status?.phase ?? '') ? task : undefined
      },
      'the coordinator to end',
      patienceMs,
    )
    expect(ended.status, JSON.stringify(ended.status)).toMatchObject({ phase: 'Succeeded', parkings: 2 })
    const { body } = await service.call<{ result: string }>(
      'GET',
      `/api/v1/tasks/lead/result?namespace=${service.tasks}`,
    )
    expect(body.result).toContain('"phase":"Succeeded","result":"the work is done"')
    expect(body.result).toMatch(/ true$/)
  })
})
