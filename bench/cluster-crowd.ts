// A burst of tasks on one node, and replicas that are killed in the middle of it: how long until they are back.
import { type Installation, release } from '../test/fixtures/installation.ts'
import { kubectl, readObject } from '../test/fixtures/kubectl.ts'
import { waitFor } from '../test/fixtures/time.ts'
import { type Row, round } from './measure.ts'

const count = Number(process.env.BENCH_CLUSTER_CROWD ?? 300)
const kills = 3
const patienceMs = 1_800_000

type Task = { metadata: { name: string }; status?: { phase?: string; attempts?: number } }

/** Short tasks: each says a word and ends. */
function makeTasks(image: string): object[] {
  const spec = { type: 'container', image, command: ['sh', '-c', 'sleep 2; echo done'] }
  const apiVersion = 'core.svc.ai/v1alpha1'
  return Array.from({ length: count }, (_none, at) => ({
    apiVersion,
    kind: 'Task',
    metadata: { name: `crowd-${at}` },
    spec,
  }))
}

export async function benchCrowd(service: Installation, image: string): Promise<Row[]> {
  const { tasks: namespace } = service
  const list = async () =>
    (await readObject<{ items: Task[] }>(['get', 'tasks'], namespace)).items.filter(({ metadata }) =>
      metadata.name.startsWith('crowd-'),
    )
  const countIn = async (...phases: string[]) =>
    (await list()).filter(({ status }) => phases.includes(status?.phase ?? '')).length
  const scale = (replicas: number) =>
    kubectl(['scale', `deployment/${release}`, `--replicas=${replicas}`], { namespace: service.namespace })
  // One kubectl makes them more slowly than they end: all of them are there when the service comes.
  await scale(0)
  await waitFor(async () => (await service.pods()).length === 0, 'every replica being gone', patienceMs)
  const input = makeTasks(image)
    .map((task) => JSON.stringify(task))
    .join('\n')
  await kubectl(['create', '-f', '-'], { namespace, input })
  const started = performance.now()
  await scale(2)
  const backs: Back[] = []
  for (let kill = 1; kill <= kills; kill += 1) {
    const share = (count * kill) / (kills + 2)
    await waitFor(
      async () => (await countIn('Succeeded', 'Failed')) >= share,
      `${share} tasks having ended`,
      patienceMs,
    )
    backs.push(await killReplica(service, kill % 2 === 1))
  }
  await waitFor(async () => (await countIn('Succeeded', 'Failed')) === count, 'every task having ended', patienceMs)
  const tasks = await list()
  const failed = tasks.filter(({ status }) => status?.phase !== 'Succeeded').length
  const again = tasks.filter(({ status }) => (status?.attempts ?? 0) > 1).length
  return [
    {
      what: `${count} tasks at once`,
      seconds: round((performance.now() - started) / 1000),
      failed,
      'run again': again,
    },
    ...backs.map((back) => ({ what: 'a killed replica is ready again', ...back })),
  ]
}

type Pod = {
  metadata: { name: string; creationTimestamp: string }
  status: { conditions: { type: string; lastTransitionTime: string }[] }
}
type Back = { seconds: number; steps: string }

/** Without a warning. Resolves once there are two ready ones again: after how long, and when the new one was where. */
async function killReplica(service: Installation, isLeader: boolean): Promise<Back> {
  const { namespace } = service
  const leader = await waitFor(() => service.leader(), 'somebody leading')
  const other = (await service.pods()).find(({ name }) => name !== leader)?.name ?? leader
  const victim = isLeader ? leader : other
  const killedAt = performance.now()
  await kubectl(['delete', 'pod', victim, '--grace-period=0', '--force'], { namespace })
  const isBack = async () =>
    (await service.pods()).filter(({ name, isReady }) => isReady && name !== victim).length === 2
  await waitFor(isBack, 'two replicas being ready', patienceMs)
  return { seconds: round((performance.now() - killedAt) / 1000), steps: await readSteps(namespace) }
}

/** Of the newest pod, in seconds from its creation. */
async function readSteps(namespace: string): Promise<string> {
  const { items } = await readObject<{ items: Pod[] }>(['get', 'pods'], namespace)
  const [newest] = items.toSorted((a, b) => b.metadata.creationTimestamp.localeCompare(a.metadata.creationTimestamp))
  const since = Date.parse(newest?.metadata.creationTimestamp ?? '')
  const steps = newest?.status.conditions.filter(({ type }) => /^(PodScheduled|PodReadyToStart.*|Ready)$/.test(type))
  return (steps ?? [])
    .map(({ type, lastTransitionTime }) => `${type} ${(Date.parse(lastTransitionTime) - since) / 1000}`)
    .join(', ')
}
