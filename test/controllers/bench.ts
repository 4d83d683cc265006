// Controllers over the real SQLite stores in a folder of their own, under a clock and with workloads that the test moves.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { createAgentTokens } from '../../src/auth/agent-token.ts'
import { createWorkerTokens } from '../../src/auth/worker-tokens.ts'
import { AgentSpec } from '../../src/contract/kinds/agents/agent.ts'
import type { Kind, ResourceOf } from '../../src/contract/kinds/index.ts'
import { ProviderSpec } from '../../src/contract/kinds/providers/provider.ts'
import { type Task, type TaskPhase, TaskSpec } from '../../src/contract/kinds/tasks/task.ts'
import { SkillSpec } from '../../src/contract/kinds/tools/skill.ts'
import { ToolSpec } from '../../src/contract/kinds/tools/tool.ts'
import type { Controller } from '../../src/controllers/engine/controller.ts'
import { createControllerRunner } from '../../src/controllers/engine/runner.ts'
import { createResourceControllers } from '../../src/controllers/resources/controllers.ts'
import {
  defaultResourceControllerSettings,
  type ResourceControllerSettings,
} from '../../src/controllers/resources/settings.ts'
import { defaultTaskSettings, type TaskSettings } from '../../src/controllers/tasks/context.ts'
import { createTaskControllers } from '../../src/controllers/tasks/controller.ts'
import { createEgress } from '../../src/egress/egress.ts'
import { SvcError } from '../../src/errors.ts'
import { systemIds } from '../../src/lib/system-clock.ts'
import type { RepositoryFolders } from '../../src/ports/codehost/repository-folders.ts'
import type { TokenExchange } from '../../src/ports/identity/identity.ts'
import type { TryProvider } from '../../src/ports/providers/provider-state.ts'
import type { PolicyEntries } from '../../src/ports/resources/policy-entries.ts'
import type { Leadership } from '../../src/ports/service/leadership.ts'
import type { Probes } from '../../src/ports/tasks/parking.ts'
import type { ListMcpTools, ToolActors } from '../../src/ports/tools/tools.ts'
import { tryProvider } from '../../src/proxy/index.ts'
import { cleanupFinalizer } from '../../src/rules/tasks/schedule.ts'
import { openSecretKeys } from '../../src/store/local/secret-key.ts'
import { createEmbeddedSecrets } from '../../src/store/local/secrets.ts'
import { createRecords, type RecordStores } from '../../src/store/records.ts'
import { createConfigMaps } from '../../src/store/resources/configmaps.ts'
import { createResources } from '../../src/store/resources/resources.ts'
import { createSecretStorage } from '../../src/store/resources/secrets.ts'
import { listMcpTools } from '../../src/tools/custom/mcp/list-tools.ts'
import { createBudgetLedger, createTaskBudgets } from '../../src/usecases/index.ts'
import { openMigrated } from '../fixtures/sqlite.ts'
import { createManualClock, waitFor } from '../fixtures/time.ts'
import { createScriptedWorkloads } from './scripted-workloads.ts'

export type BenchOptions = {
  settings?: Partial<TaskSettings>
  catalog?: Partial<ResourceControllerSettings>
  withCatalog?: boolean
  repositoryFolders?: RepositoryFolders
  tokenExchange?: TokenExchange
  probes?: Probes
  /** Absent: actors are off. It is asked at each start of the controllers. */
  toolActors?: () => ToolActors | undefined
  /** In the place of SQLite's; they are closed by whoever opened them. */
  records?: RecordStores
  policyEntries?: PolicyEntries
  /** In the place of real trials, which end by themselves after some seconds. */
  tryProvider?: TryProvider
}
export type Bench = Awaited<ReturnType<typeof openBench>>

const specs = { Agent: AgentSpec, Provider: ProviderSpec, Skill: SkillSpec, Tool: ToolSpec, Task: TaskSpec }

/** Leads at once, and for good unless a test says that a replica is to find out that its term is over. */
function createTerm(): { isOver: boolean; leadership: Leadership } {
  const term = {
    isOver: false,
    leadership: {
      acquire: async () => new AbortController().signal,
      requireTerm() {
        if (term.isOver) throw new SvcError('Unavailable', 'this replica does not lead any more')
      },
      release: async () => undefined,
    },
  }
  return term
}

/** Counts the reconciles under way: one that has read the clock before it jumps would ask to be woken a jump too late. */
function countReconciles() {
  let count = 0
  return {
    count: () => count,
    watch: (controller: Controller): Controller => ({
      ...controller,
      async reconcile(...given) {
        count += 1
        try {
          return await controller.reconcile(...given)
        } finally {
          // Its queue hears the answer before anybody who waits for the count.
          setImmediate(() => {
            count -= 1
          })
        }
      },
    }),
  }
}

/** What the controllers log, for tests that look. */
function createMemoryLog() {
  const lines: { fields: object; message: string }[] = []
  const write = (fields: unknown, message?: string) =>
    void lines.push({ fields: fields as object, message: message ?? '' })
  return { lines, log: { debug: () => undefined, info: write, warn: write, error: write } }
}

async function openStores(clock: ReturnType<typeof createManualClock>) {
  const folder = await mkdtemp(join(tmpdir(), 'svc-controllers-'))
  const database = await openMigrated(join(folder, 'svc.db'))
  const ids = { ...systemIds, random: () => 0.5 }
  const resources = await createResources(database, { clock, ids })
  const records = createRecords({ database, blobDir: join(folder, 'data'), clock, ids })
  const keys = await openSecretKeys(join(folder, 'key'))
  const secrets = createEmbeddedSecrets({ storage: createSecretStorage({ database }), keys, clock })
  const configMaps = createConfigMaps({ database, clock })
  const workerTokens = createWorkerTokens({ keys, clock })
  return {
    ids,
    resources,
    records,
    secrets,
    configMaps,
    workerTokens,
    async close() {
      await resources.close()
      await records.close()
      await database.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

export async function openBench(options: BenchOptions = {}) {
  const { settings, catalog, withCatalog = false, tokenExchange, probes = {} } = options
  const clock = createManualClock(Date.parse('2026-03-01T12:00:00Z'))
  const own = await openStores(clock)
  const stores = { ...own, records: options.records ?? own.records }
  const workloads = createScriptedWorkloads(() => clock.now())
  const { log, lines } = createMemoryLog()
  const term = createTerm()
  const egress = createEgress()
  const reconciles = countReconciles()
  const { resources, records, ids, secrets, configMaps, workerTokens } = stores

  function makeRunner() {
    const stored = { resources, records, secrets, configMaps, workloads, workerTokens, egress, clock, ids, log }
    const deps = { ...stored, ...(tokenExchange === undefined ? {} : { tokenExchange }) }
    const workerApiUrl = () => 'http://127.0.0.1:1/internal'
    const spending = createBudgetLedger({ records, clock })
    const tasks = createTaskControllers({
      ...deps,
      leadership: term.leadership,
      agentTokens: createAgentTokens({ key: new Uint8Array(32), clock }),
      probes,
      spending,
      taskBudgets: createTaskBudgets({ resources, records, clock }),
      ...(options.policyEntries && { policyEntries: options.policyEntries }),
      settings: { ...defaultTaskSettings, workerApiUrl, ...settings },
    })
    const catalogSettings = { ...defaultResourceControllerSettings, ...catalog }
    const { allowNetworks, deny } = catalogSettings.egress
    const trials = { ports: { secrets, egress, clock }, settings: { allowNetworks, ownAddresses: () => deny } }
    const tryIt: TryProvider = options.tryProvider ?? ((provider, signal) => tryProvider(trials, provider, signal))
    const listTools: ListMcpTools = (server, signal) =>
      listMcpTools(server, { egress, egressPolicy: catalogSettings.egress }, signal)
    const others = withCatalog
      ? createResourceControllers({
          ...deps,
          tryProvider: tryIt,
          listMcpTools: listTools,
          repositoryFolders: options.repositoryFolders,
          toolActors: options.toolActors?.(),
          settings: catalogSettings,
        })
      : []
    const controllers = [...tasks, ...others].map(reconciles.watch)
    return createControllerRunner({ controllers, leadership: term.leadership, clock, ids, log })
  }
  let runner = makeRunner()
  runner.start()

  const keyOf = (name: string) => ({ namespace: 'default', name })
  const getTask = (name: string) => resources.get('Task', keyOf(name))

  /** The task once it is as wanted. */
  const taskWhen = (name: string, want: (task: Task) => boolean, what: string) =>
    waitFor(async () => {
      const task = await getTask(name)
      return task !== undefined && want(task) ? task : undefined
    }, `${name} ${what}`)

  async function create<K extends keyof typeof specs>(kind: K, name: string, spec: object, metadata: object = {}) {
    const parsed = specs[kind].parse(spec) as ResourceOf<K>['spec']
    const finalizers = kind === 'Task' ? [cleanupFinalizer] : []
    const draft = { metadata: { namespace: 'default', name, finalizers, ...metadata }, spec: parsed }
    return await resources.create(kind as Kind, draft as never)
  }

  return {
    ...stores,
    clock,
    egress,
    term,
    workloads,
    log,
    lines,
    create,
    getTask,
    submitTask: (name: string, spec: object = {}, metadata: object = {}) =>
      create('Task', name, { type: 'container', command: ['true'], ...spec }, metadata),
    taskWhen,
    phase: (name: string, phase: TaskPhase) => taskWhen(name, (task) => task.status?.phase === phase, `is ${phase}`),
    /** Moves the time at once, while no controller is at work, except one that waits for that time itself. */
    async jump(ms: number) {
      const patientUntil = performance.now() + 1000
      await waitFor(() => reconciles.count() === 0 || performance.now() > patientUntil, 'the controllers rest')
      clock.jump(ms)
    },
    /** Running, and the attempt is really there. */
    async running(name: string) {
      const task = await taskWhen(name, ({ status }) => status?.phase === 'Running', 'is Running')
      await waitFor(() => workloads.running().find((running) => running === name), `${name} has an attempt`)
      return task
    },
    async putResult(name: string, said: string) {
      const task = await getTask(name)
      const key = { taskUid: task?.metadata.uid ?? '', attempt: task?.status?.attempts ?? 0 }
      await records.results.put(key, Readable.from([Buffer.from(said)]), 'text/plain')
    },
    async readResult(name: string) {
      const found = await records.results.get((await getTask(name))?.metadata.uid ?? '')
      return found === undefined ? undefined : text(found.open())
    },
    async eventsOf(name: string) {
      const task = await getTask(name)
      return await records.events.list({ taskUid: task?.metadata.uid ?? '' })
    },
    /** What ran is gone with the service that held it; then another starts. */
    async crash() {
      workloads.loseAll()
      await runner.stop()
      runner = makeRunner()
      runner.start()
    },
    async pause() {
      await runner.stop()
    },
    resume() {
      runner = makeRunner()
      runner.start()
    },
    async dispose() {
      await runner.stop()
      await egress.close()
      await stores.close()
    },
  }
}
