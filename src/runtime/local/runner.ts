// Chooses how an attempt runs on this machine, and refuses with a reason what cannot run here.
import { createHash } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock, Ids } from '../../lib/clock.ts'
import type { WorkloadSpec } from '../../ports/tasks/workloads.ts'
import type { NetworkGate, NetworkGates } from '../../ports/workspaces/network-gates.ts'
import type { CheckoutParts } from '../attempts/checkout-changes.ts'
import {
  createWorkspaces,
  defaultSize,
  type SizeLayer,
  type Workspaces,
  type WorkspacesOptions,
} from '../folders/workspaces.ts'
import { gateSocketInside } from '../network/forwarder.ts'
import {
  type AttemptSink,
  type CheckoutFolder,
  openCheckoutFolder,
  type RunningAttempt,
  redactAttempt,
  StartRefused,
} from './attempt.ts'
import { reapContainers, startContainerCommand } from './commands/container-command.ts'
import type { ContainerEngine } from './commands/container-engine.ts'
import { canGateContainers, explainUngated } from './commands/container-gate.ts'
import { type LocalCommandOptions, startLocalCommand } from './commands/local-command.ts'
import { type Bubblewrap, type BubblewrapProbe, probeBubblewrap } from './confinement/bubblewrap.ts'
import { type ControlGroups, findControlGroups } from './confinement/control-groups.ts'
import { reapProcesses } from './confinement/process-record.ts'
import { RunnerPool, type RunnerPoolOptions, type RunnerState } from './runners/pool.ts'
import { launchRunner } from './runners/process.ts'
import { type CachedLauncher, createCachedLauncher } from './workers/compile-cache.ts'
import { listProgramFolders } from './workers/program-folders.ts'
import { startWorkerAttempt, type WorkerAttemptsOptions } from './workers/worker-attempts.ts'

export type AttemptRunnerOptions = {
  clock: Clock
  ids: Ids
  dataDir: string
  configDir: string
  /** Identifies this service on the container engine: the same after restarts, different for another data folder. */
  instance: string
  /** The installed program, and the worker in it (`src/worker.ts` or `dist/worker.js`). */
  programRoot: string
  workerProgram: string
  /** May be emptied at any time; absent: no compile cache. */
  cacheFolder?: string
  nodePath?: string
  /** Agent tasks and commands without an image run even without a sandbox (SAND-003). */
  allowUnsandboxed: boolean
  engine: ContainerEngine
  /** Absent: attempts in git repositories are refused. */
  checkouts?: CheckoutParts
  /** Absent: programs have the network of the machine, and those that may not are refused. */
  gates?: NetworkGates
  /** Network mode of containers; default: the engine's. */
  containerNetwork?: string
  /** Memory of a worker and what it starts, when its task sets no limit; default 1 GiB. */
  workerMemoryBytes?: number
  /** Size of the folders that attempts write to; default 2 GiB and 65,536 files each. */
  workspaces?: Partial<Omit<WorkspacesOptions, 'root'>>
  /** Processes and threads of one attempt; default 512. */
  processes?: number
  /** Absent: no attempts share a process here. */
  runners?: Pick<RunnerPoolOptions, 'table' | 'version' | 'count' | 'slots' | 'memoryBytes' | 'idleMs'>
  /** Known answers; determined when absent. */
  bubblewrap?: Promise<BubblewrapProbe>
  groups?: Promise<ControlGroups>
}

export type RunnerStatus = {
  /** How local work is confined, or why it is not. */
  sandbox: { available: true; kind: string } | { available: false; reason: string; suggestion: string }
  /** What control groups limit: `memory`, `pids`, `cpu`. */
  limits: string[]
  /** How the size of workspaces is limited. */
  sizes: SizeLayer
  runners: RunnerState[]
}

export type AttemptRunner = {
  /** Rejects with StartRefused, or with any other error. */
  start(spec: WorkloadSpec, sink: AttemptSink, signal: AbortSignal): Promise<RunningAttempt>
  status(): Promise<RunnerStatus>
  /** Whether the disk has enough free space to start something new. */
  hasRoom(): boolean
  close(): Promise<void>
}

const resultBytes = 5 * 1024 * 1024
/** That an attempt may hold which shares its process. */
const attemptBytes = 64 * 1024 * 1024

type Prepared = {
  probe: BubblewrapProbe
  bubblewrap: Bubblewrap | undefined
  groups: ControlGroups
  launcher: CachedLauncher
  workers: WorkerAttemptsOptions
  pool: RunnerPool | undefined
  local: LocalCommandOptions
  prefix: string
  /** Done once containers of an earlier run are removed; awaited before new ones are created, which look the same. */
  containersReaped: Promise<unknown>
}

/** What the names of the service's control groups begin with: those of an earlier run are removed at the start. */
export function nameGroups(instance: string): string {
  return `svc-${createHash('sha256').update(instance).digest('hex').slice(0, 8)}`
}

type Leftovers = { groups: ControlGroups; prefix: string; workspaces: Workspaces }

/** Removes what an earlier run of this service left: processes, control groups, folders. */
async function reapLeftovers(options: AttemptRunnerOptions, { groups, prefix, workspaces }: Leftovers): Promise<void> {
  await reapProcesses(join(options.dataDir, 'work'))
  await groups.reap((name) => name.startsWith(prefix))
  await workspaces.clear()
}

async function prepare(options: AttemptRunnerOptions, workspaces: Workspaces): Promise<Prepared> {
  const [probe, groups] = await Promise.all([
    options.bubblewrap ?? probeBubblewrap(),
    options.groups ?? findControlGroups(),
  ])
  const prefix = nameGroups(options.instance)
  await mkdir(join(options.dataDir, 'work'), { recursive: true, mode: 0o700 })
  await reapLeftovers(options, { groups, prefix, workspaces })
  // Tried now, so that no attempt waits for it.
  void workspaces.layer()
  // An engine that fails now does not prevent the start: its containers are found again next time.
  const containersReaped = reapContainers(options).catch(() => undefined)
  const bubblewrap = probe.available ? probe.bubblewrap : undefined
  const shared = {
    bubblewrap,
    groups,
    nodePath: options.nodePath ?? process.execPath,
    workFolder: join(options.dataDir, 'work'),
    workspaces,
    masked: [options.dataDir, options.configDir],
    processes: options.processes ?? 512,
  }
  const { ids, workerMemoryBytes: memoryBytes = 1024 ** 3 } = options
  const launcher = createCachedLauncher({
    ...options,
    prefix,
    cacheFolder: options.cacheFolder,
    launcher: {
      ...shared,
      program: realpathSync(options.workerProgram),
      programFolders: listProgramFolders(options.programRoot, options.workerProgram),
      memoryBytes,
    },
  })
  const pool =
    options.runners &&
    new RunnerPool({
      ...options.runners,
      ids,
      prefix,
      attemptBytes,
      size: workspaces.size,
      launch: async (runner) => {
        const started = await launchRunner(await launcher.find(), runner)
        launcher.fillAfter(Promise.resolve())
        return started
      },
    })
  return {
    probe,
    bubblewrap,
    groups,
    launcher,
    workers: { launcher, workspaces, memoryBytes, ids, prefix },
    pool,
    local: { ...shared, outputBytes: resultBytes },
    prefix,
    containersReaped,
  }
}

/** Refuses what must not run without a sandbox; plain `ai` workers may, with a scrubbed environment . */
function requireSandbox(options: AttemptRunnerOptions, prepared: Prepared, what: string): void {
  if (prepared.probe.available || options.allowUnsandboxed) return
  const { reason, suggestion } = prepared.probe
  throw new StartRefused(
    'NoSandbox',
    `${what} needs a sandbox, and ${reason}. To fix it: ${suggestion}; or start the service with --allow-unsandboxed.`,
  )
}

type Start = {
  spec: WorkloadSpec
  sink: AttemptSink
  signal: AbortSignal
  workspaces: Workspaces
  checkout: CheckoutFolder | undefined
  gate?: NetworkGate | undefined
}

function openCheckout({ checkouts }: AttemptRunnerOptions, start: Omit<Start, 'checkout'>): CheckoutFolder | undefined {
  if (start.spec.checkout === undefined) return undefined
  if (checkouts !== undefined) return openCheckoutFolder(checkouts, { ...start, shared: start.workspaces.shared })
  throw new StartRefused('CheckoutFailed', 'This service cannot check out git repositories.')
}

/** Takes what a command changed before it counts as ended. */
function keepChanges(attempt: RunningAttempt, checkout: CheckoutFolder | undefined): RunningAttempt {
  if (checkout === undefined) return attempt
  const ended = attempt.ended.then(async (end) =>
    checkout.finish({ end, ...(attempt.readOutput && { output: await attempt.readOutput() }) }),
  )
  return { ...attempt, ended }
}

async function startWorker(options: AttemptRunnerOptions, prepared: Prepared, start: Start): Promise<RunningAttempt> {
  const { spec, sink, checkout } = start
  if (spec.run.kind !== 'worker') throw new StartRefused('StartFailed', 'The attempt has no work for a worker.')
  const { assignment } = spec.run
  if (spec.isolation?.mode === 'shared' && prepared.pool !== undefined) return prepared.pool.start(assignment)
  if (assignment.task.type === 'agent') requireSandbox(options, prepared, 'An agent task')
  const { gate } = start
  const network = gate && { socket: gateSocketInside, isRequired: spec.network?.from !== 'service' }
  const gated = network === undefined ? assignment : { ...assignment, network }
  return startWorkerAttempt(prepared.workers, { assignment: gated, limits: spec.limits, sink, checkout, gate })
}

async function startCommand(options: AttemptRunnerOptions, prepared: Prepared, start: Start): Promise<RunningAttempt> {
  const { spec, sink, signal, checkout, workspaces } = start
  if (spec.run.kind !== 'command') throw new StartRefused('StartFailed', 'The attempt has no command.')
  const { image, command, args, env, redact = [], transactionToken, artifactsDir, network } = spec.run
  const redaction = redactAttempt(sink, redact)
  const id = options.ids.next(prepared.prefix)
  const { limits, secrets } = spec
  const shared = { id, env, limits, sink: redaction.sink, transactionToken, secrets, artifactsDir, checkout, network }
  const wrap = (attempt: RunningAttempt) => keepChanges(redaction.wrap(attempt), checkout)
  if (image !== undefined) {
    await prepared.containersReaped
    const engine = { engine: options.engine, instance: options.instance, network: options.containerNetwork }
    const { labels } = spec
    const container = { ...shared, key: spec.key, image, command, args, signal, labels, workspaces, gate: start.gate }
    return wrap(await startContainerCommand({ ...prepared.local, ...engine }, container))
  }
  requireSandbox(options, prepared, 'A command without an image')
  if (spec.secrets !== undefined && prepared.bubblewrap === undefined) {
    const advice = 'name the entries as variables (env with valueFrom.secretKeyRef) instead'
    throw new StartRefused('NoSandbox', `secretRef needs a sandbox to show its files in; ${advice}.`)
  }
  if (network === 'none' && prepared.bubblewrap === undefined) {
    throw new StartRefused('NoSandbox', 'A command that may have no network needs a sandbox: install bubblewrap.')
  }
  const argv = [...command, ...args]
  if (argv.length === 0)
    throw new StartRefused('StartFailed', 'The task has neither an image nor a command: set one of them.')
  return wrap(await startLocalCommand(prepared.local, { ...shared, argv, gate: start.gate }))
}

/** Undefined: the network of the machine. StartRefused where it is to be less, and cannot be. */
async function openGate(
  options: AttemptRunnerOptions,
  prepared: Prepared,
  start: Start,
): Promise<NetworkGate | undefined> {
  const { key, namespace, taskName, network, run } = start.spec
  if (network === undefined || (run.kind === 'command' && run.network === 'none')) return undefined
  const isContainer = run.kind === 'command' && run.image !== undefined
  const canBeGated = isContainer ? canGateContainers : prepared.bubblewrap !== undefined
  if (canBeGated && options.gates !== undefined)
    return options.gates.open({ key, namespace, taskName, rules: network.rules })
  if (network.from === 'service' && !isContainer) {
    await start.sink(['[the network is not limited: there is no sandbox]'], 'stderr')
    return undefined
  }
  throw new StartRefused('NoSandbox', `${explainUngated(isContainer)}.`)
}

/** The gate is there for as long as anything of the attempt is. */
function closeLater(attempt: RunningAttempt, gate: NetworkGate | undefined): RunningAttempt {
  if (gate === undefined) return attempt
  void attempt.ended.finally(() => void gate.close())
  return attempt
}

/** Checks the machine and cleans up in the background; the first attempt waits for it. */
export function createAttemptRunner(options: AttemptRunnerOptions): AttemptRunner {
  const workspaces = createWorkspaces({ size: defaultSize, ...options.workspaces, root: join(options.dataDir, 'work') })
  const preparing = prepare(options, workspaces)
  // Reported by the first attempt that needs it.
  preparing.catch(() => undefined)
  return {
    start: async (spec, sink, signal) => {
      const prepared = await preparing
      signal.throwIfAborted()
      const inputs = { spec, sink, signal, workspaces }
      const checkout = openCheckout(options, inputs)
      let gate: NetworkGate | undefined
      try {
        gate = await openGate(options, prepared, { ...inputs, checkout })
        const start = { ...inputs, checkout, gate }
        const begun = await (spec.run.kind === 'worker' ? startWorker : startCommand)(options, prepared, start)
        return closeLater(begun, gate)
      } catch (error) {
        await gate?.close()
        await checkout?.close()
        throw error
      }
    },
    status: async () => {
      const { probe, groups, pool } = await preparing
      const sandbox = probe.available ? { available: true as const, kind: 'bubblewrap' } : probe
      const sizes = await workspaces.layer()
      return { sandbox, limits: groups.controllers, sizes, runners: (await pool?.list()) ?? [] }
    },
    hasRoom: workspaces.hasRoom,
    close: async () => {
      const prepared = await preparing.catch(() => undefined)
      await Promise.all([prepared?.launcher.close(), prepared?.pool?.close()])
      await prepared?.containersReaped
    },
  }
}
