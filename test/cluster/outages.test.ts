// The service, or what it stands on, is away while tasks run and end: none fails, none runs twice, and none of their words is lost.
// OUTAGE_MS makes the outages longer.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { isTerminalPhase, type Task } from '../../src/contract/kinds/tasks/task.ts'
import { describeOnCluster } from '../fixtures/cluster.ts'
import { type ClusterDatabase, hostAddress, startClusterDatabase } from '../fixtures/cluster-services.ts'
import { applyTasks, findObstacle, type Installation, install, release, undoAll } from '../fixtures/installation.ts'
import { kubectl, readObject } from '../fixtures/kubectl.ts'
import { readText, type ScriptedVendor, startVendor, type VendorRequest } from '../fixtures/llm/scripted-vendor.ts'
import { pause, waitFor } from '../fixtures/time.ts'

const image = process.env.SVC_TEST_IMAGE ?? ''
const obstacle = findObstacle(image)
const apiVersion = 'core.svc.ai/v1alpha1'
const outageMs = Number(process.env.OUTAGE_MS ?? 20_000)
const patienceMs = 180_000
/** What runs ends while the outage lasts. */
const seconds = 10
const kinds = ['talk', 'talk', 'talk', 'talk', 'tool', 'run', 'run', 'run', 'run'] as const

/** Talks take their time; one that calls a tool is asked a second time with what that answered. */
async function answer({ messages }: VendorRequest) {
  const prompt = readText(messages.find(({ role }) => role === 'user')?.content)
  const hasResult = messages.some(({ role }) => role === 'tool')
  if (prompt.includes('tool') && !hasResult) return [{ call: { name: 'update_plan', args: { steps: ['wait'] } } }]
  await pause(seconds * 1000)
  return [{ text: `done by ${prompt}` }]
}

describeOnCluster(`outages on a cluster${obstacle === undefined ? '' : ` (skipped: ${obstacle})`}`, () => {
  if (obstacle !== undefined) return it.skip(obstacle, () => undefined)
  let database: ClusterDatabase
  let service: Installation
  let vendor: ScriptedVendor

  const make = (kind: string, name: string, spec: object) => ({ apiVersion, kind, metadata: { name }, spec })
  const makeTask = (name: string, kind: (typeof kinds)[number]) => {
    const loop = `for line in $(seq ${seconds}); do echo line $line; sleep 1; done; echo done by ${name}`
    const spec =
      kind === 'run'
        ? { type: 'container', image, command: ['sh', '-c', loop] }
        : { type: 'ai', ai: { providerRef: { name: 'main' } }, prompt: name }
    return make('Task', name, spec)
  }
  const scale = async (replicas: number) => {
    const args = ['scale', `deployment/${release}`, `--replicas=${replicas}`]
    await kubectl(args, { namespace: service.namespace })
    if (replicas === 0)
      await kubectl(['delete', 'pods', '--all', '--grace-period=0', '--force'], { namespace: service.namespace })
  }
  const countCalls = (name: string) =>
    vendor.requests.filter(({ messages }) => readText(messages.find(({ role }) => role === 'user')?.content) === name)
      .length

  beforeAll(async () => {
    vendor = await startVendor(answer, hostAddress)
    database = await startClusterDatabase('outages')
    service = await install({ image, databaseUrl: database.url, replicas: 2 })
    const secretRef = { name: 'vendor', key: 'api-key' }
    await applyTasks(service, [
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'vendor' }, stringData: { 'api-key': 'made-up-key-0009' } },
      make('Provider', 'main', { type: 'llmo', baseURL: vendor.url, defaultModel: 'm', secretRef }),
    ])
  }, 300_000)
  afterAll(() => undoAll(service?.remove, database?.remove, () => vendor?.close()), 180_000)

  it.each([
    ['PostgreSQL', () => database.server.stop('immediate'), () => database.server.start()],
    ['every replica', () => scale(0), () => scale(2)],
  ])(
    '%s is away: every task that ends meanwhile succeeds, once',
    async (what, takeAway, bringBack) => {
      const prefix = what.toLowerCase().replaceAll(' ', '-')
      const names = kinds.map((kind, at) => `${prefix}-${kind}-${at}`)
      const read = (name: string) => readObject<Task>(['get', 'task', name], service.tasks)
      const waitForAll = async (title: string, is: (task: Task) => boolean) => {
        for (const name of names) await waitFor(async () => is(await read(name)), `${name} ${title}`, patienceMs)
      }
      await applyTasks(
        service,
        names.map((name, at) => makeTask(name, kinds[at] ?? 'run')),
      )
      await waitForAll('to run', ({ status }) => status?.phase === 'Running')
      await takeAway()
      await pause(outageMs)
      await bringBack()
      await waitForAll('to end', ({ status }) => isTerminalPhase(status?.phase))
      for (const [at, name] of names.entries()) {
        const { status } = await read(name)
        expect(status, JSON.stringify(status)).toMatchObject({ phase: 'Succeeded', attempts: 1 })
        const path = `/api/v1/tasks/${name}/result?namespace=${service.tasks}`
        const { body } = await service.call<{ result: string }>('GET', path)
        expect(body.result).toContain(`done by ${name}`)
        if (kinds[at] === 'run')
          expect(body.result.split('\n').filter((line) => line.startsWith('line'))).toHaveLength(seconds)
        else expect(countCalls(name)).toBe(kinds[at] === 'tool' ? 2 : 1)
      }
    },
    2 * patienceMs + outageMs,
  )
})
