// The controller of monitors over real stores and a real code host over HTTP; the tests play the tasks that it creates.
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { createCodeHosts } from '../../src/codehost/code-hosts.ts'
import { type RepositoryMonitor, RepositoryMonitorSpec } from '../../src/contract/kinds/monitors/repository-monitor.ts'
import type { Task } from '../../src/contract/kinds/tasks/task.ts'
import { createMonitorController } from '../../src/controllers/monitors/controller.ts'
import { createEgress } from '../../src/egress/egress.ts'
import type { Clock } from '../../src/lib/clock.ts'
import { systemIds as ids } from '../../src/lib/system-clock.ts'
import type { MonitorKey, RunDraft } from '../../src/ports/monitors/monitors.ts'
import type { ResourceKey } from '../../src/ports/resources/resources.ts'
import type { Secrets } from '../../src/ports/resources/secrets.ts'
import { createRecords } from '../../src/store/records.ts'
import { createResources } from '../../src/store/resources/resources.ts'
import type { CodeHostServer } from '../fixtures/codehost/server.ts'
import { openMigrated } from '../fixtures/sqlite.ts'

const namespace = 'default'

export type MonitorBench = Awaited<ReturnType<typeof openMonitorBench>>

export const markerKeys = [randomBytes(32)]

/** Secrets by name. */
type Values = Record<string, Record<string, string>>

function createValues(values: Values): Secrets {
  return {
    read: async ({ name }: ResourceKey) => values[name],
    describe: async ({ name }: ResourceKey) =>
      values[name] && { namespace, name, type: 'Opaque', keys: [], annotations: {}, createdAt: '' },
  } as unknown as Secrets
}

/** `full`: a repository of the code host that no other test uses. */
export async function openMonitorBench(server: CodeHostServer, full: string) {
  const folder = await mkdtemp(join(tmpdir(), 'svc-monitors-'))
  const database = await openMigrated(join(folder, 'svc.db'))
  let aheadMs = 0
  const clock: Clock = { now: () => new Date(Date.now() + aheadMs), sleep: async () => {} }
  const resources = await createResources(database, { clock, ids })
  const records = createRecords({ database, blobDir: join(folder, 'data'), clock, ids })
  const values: Values = { vendor: { VENDOR_API_KEY: 'made-up' }, codehost: { token: server.tokenOf('writer') } }
  const egress = createEgress()
  const warned: unknown[] = []
  const log = { debug: () => {}, info: () => {}, warn: (fields: unknown) => void warned.push(fields), error: () => {} }
  const codeHosts = createCodeHosts({
    hosts: ['github.com'],
    apiUrls: { 'github.com': server.url },
    egress,
    policy: { allowNetworks: [], deny: [] },
    now: () => clock.now().getTime(),
    pause: async () => {},
  })
  const makeController = () =>
    createMonitorController({
      resources,
      records,
      secrets: createValues(values),
      codeHosts,
      clock,
      ids,
      log: log as never,
      settings: { isolateNamespaces: false, markerKeys },
    })
  let controller = makeController()
  await resources.create('Agent', {
    metadata: { namespace, name: 'reviewer' },
    spec: { runtime: { type: 'llma-cli' }, secretRef: { name: 'vendor' } } as never,
  })

  async function getMonitor(name = 'reviews'): Promise<RepositoryMonitor> {
    const monitor = await resources.get('RepositoryMonitor', { namespace, name })
    if (monitor === undefined) throw new Error(`monitor ${name} is not there`)
    return monitor
  }
  async function keyOf(name = 'reviews'): Promise<MonitorKey> {
    const { uid } = (await getMonitor(name)).metadata
    return { uid, namespace, name }
  }
  const step = (name = 'reviews') => controller.reconcile(`${namespace}/${name}`, new AbortController().signal)

  async function listTasks(prefix: string): Promise<Task[]> {
    const { items } = await resources.list('Task', { namespace })
    return items.filter(({ metadata }) => metadata.name.startsWith(prefix))
  }

  async function endTask(task: Task, phase: 'Succeeded' | 'Failed', result?: string): Promise<void> {
    const now = await resources.get('Task', task.metadata)
    if (now === undefined) throw new Error(`task ${task.metadata.name} is not there`)
    if (result !== undefined) {
      const body = Readable.from([Buffer.from(result)], { objectMode: false })
      await records.results.put({ taskUid: task.metadata.uid, attempt: 1 }, body, 'text/plain')
    }
    await resources.updateStatus('Task', {
      ...now,
      status: { phase, attempts: 1, message: `it ${phase.toLowerCase()}` },
    })
  }

  /** Ends a task of checks, of which each printed its text and ended with its code. */
  async function endChecks(task: Task, ended: readonly [text: string, code: number][]): Promise<void> {
    const fence = task.spec.command?.[3]
    const lines = ended.flatMap(([said, code], at) => [...said.split('\n'), '', `${fence} ${at} ${code}`])
    await records.logs.append({ taskUid: task.metadata.uid, attempt: 1 }, [`${fence} begin`, ...lines])
    await endTask(task, ended.every(([, code]) => code === 0) ? 'Succeeded' : 'Failed')
  }

  return {
    server,
    resources,
    records: records.monitors,
    values,
    warned,
    clock,
    getMonitor,
    keyOf,
    step,
    listTasks,
    endTask,
    endChecks,
    /** What happens when a monitor is deleted, and each hour. */
    sweep: () => controller.reconcile('/', new AbortController().signal),
    /** Moves the clock. */
    advance: (ms: number) => {
      aheadMs += ms
    },
    /** As after a crash: everything in memory is gone. */
    restart: () => {
      controller = makeController()
    },
    async addMonitor(spec: object = {}, name = 'reviews'): Promise<MonitorKey> {
      const whole = RepositoryMonitorSpec.parse({
        repoURL: `https://github.com/${full}`,
        agents: { reviewer: { name: 'reviewer' } },
        gitSecretRef: { name: 'codehost' },
        ...spec,
      })
      await resources.create('RepositoryMonitor', { metadata: { namespace, name }, spec: whole })
      return keyOf(name)
    },
    async changeMonitor(
      change: (spec: RepositoryMonitorSpec) => RepositoryMonitorSpec,
      name = 'reviews',
    ): Promise<void> {
      const monitor = await getMonitor(name)
      await resources.update('RepositoryMonitor', { ...monitor, spec: change(monitor.spec) })
    },
    /** Queues a run and takes a step. */
    async run(draft: Partial<RunDraft> = {}, name = 'reviews') {
      const key = await keyOf(name)
      const id = ids.next('monrun')
      await records.monitors.queueRun(key, { id, trigger: 'manual', ...draft }, { runID: id, eventType: 'run_queued' })
      await step(name)
      const runs = await records.monitors.listRuns(key, { limit: 50 })
      const run = runs.find((one) => one.id === id)
      if (run === undefined) throw new Error('the run is not there')
      return run
    },
    async item(number: number, name = 'reviews') {
      const [item] = await records.monitors.listItems(await keyOf(name), { limit: 1, number })
      return item
    },
    async events(number?: number, name = 'reviews') {
      const events = await records.monitors.listEvents(await keyOf(name), { limit: 200, itemNumber: number })
      return events
        .map(({ eventType, metadata }) =>
          [eventType, metadata?.reason ?? metadata?.skipReason].filter(Boolean).join(' '),
        )
        .toReversed()
    },
    /** A file that a task was given. */
    async readInput(task: Task, path: string): Promise<string> {
      const found = await records.inputs.open(task.metadata.uid, path)
      return found === undefined ? '' : text(found.open())
    },
    /** Ends the only open review task with this verdict, and takes a step. */
    async answer(number: number, verdict: object | string, name = 'reviews'): Promise<void> {
      const open = (await listTasks('monrev')).filter(({ status }) => status?.phase === undefined)
      const task = open.find(({ metadata }) => metadata.annotations?.['svc.ai/monitor-item-number'] === String(number))
      if (task === undefined) throw new Error(`no review of pull request ${number} is under way`)
      const result = typeof verdict === 'string' ? verdict : JSON.stringify(verdict)
      await endTask(task, 'Succeeded', JSON.stringify({ version: 1, summary: result }))
      await step(name)
    },
    async reviewsAt(number: number) {
      const token = server.tokenOf('writer')
      const answer = await fetch(`${server.url}/repos/${full}/pulls/${number}/reviews?per_page=100`, {
        headers: { authorization: `Bearer ${token}` },
      })
      return (await answer.json()) as { body: string; state: string; user: { login: string } }[]
    },
    async close() {
      await resources.close()
      await records.close()
      await database.close()
      await egress.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
