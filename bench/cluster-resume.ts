// Coordinators on a cluster: how soon one goes on when its child has ended, beside a bare Job.
import { hostAddress } from '../test/fixtures/cluster-services.ts'
import { applyTasks, type Installation } from '../test/fixtures/installation.ts'
import { readObject } from '../test/fixtures/kubectl.ts'
import { readText, startVendor, type VendorAnswer, type VendorRequest } from '../test/fixtures/llm/scripted-vendor.ts'
import { waitFor } from '../test/fixtures/time.ts'
import { timePlainJobs } from './floors/plain-jobs.ts'
import { percentile, type Row } from './measure.ts'

const runs = Number(process.env.BENCH_CLUSTER_RESUMES ?? 5)
const patienceMs = 180_000
const apiVersion = 'core.svc.ai/v1alpha1'

type Condition = { type: string; status: string }
type Task = { metadata: { name: string }; status?: { phase?: string; conditions?: Condition[] } }

/** By the prompt of the task, which is its name: a child answers when it is let, a coordinator delegates and waits. */
type Play = { asked: Map<string, number>; release: PromiseWithResolvers<void> }

async function answer({ messages }: VendorRequest, { asked, release }: Play): Promise<VendorAnswer> {
  const prompt = readText(messages.find(({ role }) => role === 'user')?.content)
  const [delegated, waited] = messages.filter(({ role }) => role === 'tool')
  if (prompt.startsWith('child')) {
    await release.promise
    return [{ text: 'done' }]
  }
  const child = prompt.replace('lead', 'child')
  if (delegated === undefined) return [{ call: { name: 'delegate_task', args: { agent: 'leaf', prompt: child } } }]
  const { taskName } = JSON.parse(readText(delegated.content)) as { taskName: string }
  if (waited === undefined) return [{ call: { name: 'wait_for_tasks', args: { tasks: [taskName] } } }]
  asked.set(prompt, Date.now())
  return [{ text: 'heard' }]
}

const make = (kind: string, name: string, spec: object) => ({ apiVersion, kind, metadata: { name }, spec })

async function makeAgents(service: Installation, url: string): Promise<void> {
  const providerRef = { name: 'vendor' }
  const coordination = { enabled: true, allowedAgents: [{ name: 'leaf' }] }
  await applyTasks(service, [
    make('Provider', 'vendor', { type: 'llmo', baseURL: url, defaultModel: 'scripted' }),
    make('Agent', 'leaf', { providerRef }),
    make('Agent', 'lead', { providerRef, coordination }),
  ])
}

/** Milliseconds from the end of the child, as the service wrote it down, to the next request of the coordinator. */
async function timeResume(service: Installation, name: string, play: Play): Promise<number> {
  play.release = Promise.withResolvers()
  await applyTasks(service, [make('Task', name, { type: 'ai', agentRef: { name: 'lead' }, prompt: name })])
  const isParked = async () => {
    const { status } = await readObject<Task>(['get', 'task', name], service.tasks)
    return status?.conditions?.some(({ type, status: is }) => type === 'Parked' && is === 'True')
  }
  await waitFor(isParked, `${name} to be parked`, patienceMs)
  play.release.resolve()
  const resumed = await waitFor(() => play.asked.get(name), `${name} to go on`, patienceMs)
  const of = `namespace=${service.tasks}`
  const children = await service.call<{ items: Task[] }>('GET', `/api/v1/tasks/${name}/children?${of}`)
  const child = children.body.items[0]?.metadata.name ?? ''
  const events = await service.call<{ items: { phase?: string; createdAt: string }[] }>(
    'GET',
    `/api/v1/tasks/${child}/events?${of}`,
  )
  return resumed - Date.parse(events.body.items.find(({ phase }) => phase === 'Succeeded')?.createdAt ?? '')
}

export async function benchResume(service: Installation, image: string): Promise<Row[]> {
  const play: Play = { asked: new Map(), release: Promise.withResolvers() }
  const vendor = await startVendor((request) => answer(request, play), hostAddress)
  try {
    await makeAgents(service, vendor.url)
    const floors: number[] = []
    const took: number[] = []
    for (let of = 0; of < runs; of += 1) {
      floors.push((await timePlainJobs(1, service.tasks, image)) * 1000)
      took.push(await timeResume(service, `lead-${of}`, play))
    }
    const show = (what: string, times: number[]): Row => ({
      what,
      'p50 ms': percentile(times, 0.5),
      'most ms': Math.max(...times),
    })
    return [show('floor: one bare Job', floors), show('child ended to coordinator asked again', took)]
  } finally {
    await vendor.close()
  }
}
