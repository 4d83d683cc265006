// What runs on this machine in embedded mode: workers, commands, containers and sandboxed code.
import { createHash } from 'node:crypto'
import { availableParallelism, totalmem } from 'node:os'
import { join } from 'node:path'
import type { Config } from '../config/load.ts'
import { runnerLimits } from '../contract/api/tasks/runners.ts'
import { parseQuantity } from '../contract/values/quantity.ts'
import { messageOf } from '../errors.ts'
import { packageRoot, version, workerProgram } from '../launch/program-files.ts'
import { systemClock as clock, systemIds as ids } from '../lib/system-clock.ts'
import type { Runners } from '../ports/tasks/runners.ts'
import type { Checkouts } from '../ports/workspaces/checkouts.ts'
import type { Sandbox } from '../ports/workspaces/sandbox.ts'
import type { AgentPrograms } from '../rules/agents/programs.ts'
import { nodeInside } from '../runtime/attempts/process-limits.ts'
import { type ContainerEngine, createContainerEngine } from '../runtime/local/commands/container-engine.ts'
import { probeBubblewrap } from '../runtime/local/confinement/bubblewrap.ts'
import { findControlGroups } from '../runtime/local/confinement/control-groups.ts'
import { createProcessGuard } from '../runtime/local/confinement/process-guard.ts'
import { createLocalWorkspaces, type LocalWorkspaces } from '../runtime/local/execution-workspaces/workspaces.ts'
import { nameGroups } from '../runtime/local/runner.ts'
import { createRunnerTable } from '../runtime/local/runners/table.ts'
import { createSandbox } from '../runtime/local/sandbox/sandbox.ts'
import { bindProgramFolders } from '../runtime/local/workers/program-folders.ts'
import { chooseHeapMegabytes } from '../runtime/local/workers/worker-launcher.ts'
import { createEmbeddedWorkloads, type EmbeddedWorkloads } from '../runtime/local/workloads.ts'
import { openAgentPrograms } from './agent-programs.ts'
import { checkoutPartsOf } from './checkouts.ts'
import { type NetworkParts, openNetworkGates } from './network-gates.ts'
import { workspaceSizeOf } from './scratch.ts'
import { checkoutLimitsOf, defaultLimitsOf, localTemplate } from './settings.ts'

export type LocalWork = {
  workloads: EmbeddedWorkloads
  localWorkspaces: LocalWorkspaces
  sandbox: Sandbox
  engine: ContainerEngine
  agents: AgentPrograms
  runners: Runners
}

/** How many tasks run at once by default. */
export function defaultConcurrency(): number {
  return Math.max(4, availableParallelism() * 2)
}

const slotsPerRunner = 1000

/** Of the machine, or of the container that has less. */
function readMemory(): number {
  return Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY)
}

/** The service needs a core of its own. Ten thousand attempts that wait take about a gigabyte. */
function sizeRunners({ maxConcurrentTasks = 0 }: Config) {
  const cores = Math.max(1, Math.min(availableParallelism() - 1, 4))
  const count = Math.max(cores, Math.ceil(maxConcurrentTasks / runnerLimits.slots))
  const slots = Math.max(slotsPerRunner, Math.ceil(maxConcurrentTasks / count))
  return { count, slots, memoryBytes: Math.min(4 * 1024 ** 3, readMemory() / 2) }
}

/** Identifies this data folder to a container engine; the same after restarts. */
function nameInstance(dataDir: string): string {
  return createHash('sha256').update(dataDir).digest('hex').slice(0, 16)
}

export function openEngine(config: Config): ContainerEngine {
  const host = config.containerSocket === undefined ? config.dockerHost : `unix://${config.containerSocket}`
  return createContainerEngine({ host, runtimeDir: config.runtimeDir })
}

type LocalParts = Pick<NetworkParts, 'records' | 'resources' | 'policy' | 'log'> & { checkouts: Checkouts }

export function openLocalWork(config: Config, { checkouts, ...parts }: LocalParts): LocalWork {
  const { records, log } = parts
  const { dataDir, configDir } = config.paths
  const { diskBytes: bytes, diskFiles: files } = checkoutLimitsOf(config)
  const engine = openEngine(config)
  const instance = nameInstance(dataDir)
  const bubblewrap = probeBubblewrap({ guard: createProcessGuard() })
  const groups = findControlGroups()
  const agents = openAgentPrograms(config, bubblewrap)
  const runners = createRunnerTable(ids)
  const gates = openNetworkGates(config, { ...parts, clock })
  const workloads = createEmbeddedWorkloads({
    clock,
    ids,
    dataDir,
    configDir,
    instance,
    programRoot: packageRoot,
    workerProgram,
    workerMemoryBytes: defaultLimitsOf(config).memoryBytes,
    runners: { table: runners, version, ...sizeRunners(config) },
    cacheFolder: join(dataDir, 'cache'),
    allowUnsandboxed: config.allowUnsandboxed,
    workspaces: {
      size: workspaceSizeOf(config),
      checkoutSize: { bytes, files },
      reserveBytes: parseQuantity(config.diskReserve),
    },
    engine,
    gates,
    bubblewrap,
    groups,
    maxConcurrent: config.maxConcurrentTasks ?? defaultConcurrency(),
    checkouts: checkoutPartsOf(checkouts, records),
    onLog: (key, lines, stream) =>
      records.logs
        .append(
          key,
          lines.map((text) => ({ text, stream })),
        )
        .catch((error) => log.error({ error: messageOf(error) }, 'log lines of a task were lost')),
  })
  const localWorkspaces = createLocalWorkspaces({
    root: join(dataDir, 'workspaces'),
    template: localTemplate,
    worker: [
      nodeInside,
      `--max-old-space-size=${chooseHeapMegabytes(defaultLimitsOf(config).memoryBytes)}`,
      workerProgram,
      '--leave-programs',
    ],
    prefix: `workspaces-${nameGroups(instance)}`,
    bubblewrap,
    groups,
    gates,
    clock,
    nodePath: process.execPath,
    binds: bindProgramFolders(packageRoot, workerProgram),
    agentFolders: agents.listFolders,
    masked: [dataDir, configDir],
    memoryBytes: defaultLimitsOf(config).memoryBytes,
    processes: 512,
    size: { bytes, files },
    graceMs: 10_000,
  })
  const container = { engine, image: config.codeImage, instance, scratchRoot: join(dataDir, 'work') }
  const sandbox = createSandbox({ ids, bubblewrap, groups, container })
  return { workloads, localWorkspaces, engine, agents, runners, sandbox }
}
