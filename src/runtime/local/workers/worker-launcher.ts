// Starts worker processes: inside their sandbox from the start, with an empty folder and nothing of the service's
// environment.
import { realpathSync } from 'node:fs'
import type { WorkloadLimits } from '../../../ports/tasks/workloads.ts'
import { baseEnvironment, nodeInside, workspaceInside } from '../../attempts/process-limits.ts'
import type { Workspaces } from '../../folders/workspaces.ts'
import { type Bubblewrap, viewArguments } from '../confinement/bubblewrap.ts'
import type { ControlGroup } from '../confinement/control-group.ts'
import { type ControlGroups, delegateBinds } from '../confinement/control-groups.ts'
import { type LocalProcess, launchConfined, launchPlain } from '../confinement/local-process.ts'
import { forgetProcess, recordProcess } from '../confinement/process-record.ts'
import { type BindMount, bindArguments, bindGate, showProgram } from '../confinement/root-folder.ts'
import { superviseWorker, type WorkerProcess } from './worker-process.ts'

export type WorkerLauncherOptions = {
  /** Absent: workers are plain child processes, with a scrubbed environment and their own folder. */
  bubblewrap: Bubblewrap | undefined
  groups: ControlGroups
  /** The worker program (`src/worker.ts` or `dist/worker.js`). */
  program: string
  nodePath: string
  /** Folders and files shown read-only at their own paths (`listProgramFolders`). */
  programFolders: string[]
  /** Of the program of an agent, shown read-only as well. */
  agentFolders?: readonly string[]
  /** The way out of the program of an agent, which is shown as well. */
  gate?: { socket: string } | undefined
  /** Folder for what is kept beside their folders. */
  workFolder: string
  /** Where workers get their folders; otherwise invisible to them. */
  workspaces: Workspaces
  /** Data and config folders. */
  masked: string[]
  /** Filled by `warmCompileCache`, shown read-only. */
  compileCache: string | undefined
  /** Memory of a worker and what it starts, unless its task sets it. */
  memoryBytes: number
  processes: number
}

export type LaunchedLimits = Pick<WorkloadLimits, 'memoryBytes' | 'diskBytes' | 'diskFiles'>

const cacheInside = '/opt/svc/compile-cache'

// Enough for a tool loop; a tool that needs gigabytes belongs in a task with its own memory limit.
const scratchBytes = 256 * 1024 * 1024

export function chooseHeapMegabytes(memoryBytes: number): number {
  return Math.max(32, Math.floor((memoryBytes * 0.6) / 1024 ** 2))
}

function listBinds(options: WorkerLauncherOptions, { group, sharesProcess }: WorkerSandbox): BindMount[] {
  const program = options.programFolders.map((path) => ({ source: realpathSync(path), target: path }))
  return [
    { source: realpathSync(options.nodePath), target: nodeInside },
    ...program,
    ...showProgram(options.agentFolders ?? []),
    ...bindGate(options.gate),
    ...(group === undefined || sharesProcess ? [] : delegateBinds(group)),
  ]
}

/** Where a runner sees the folders of its attempts. */
export const attemptsInside = '/attempts'

export type WorkerSandbox = {
  folder: string
  group: ControlGroup | undefined
  cacheIsWritable?: boolean
  /** It is a runner, which starts no other program. */
  sharesProcess?: boolean
}

/** A worker's sandbox shares the network: it must reach the service on loopback, and the vendors. */
function workerArguments(options: WorkerLauncherOptions, bubblewrap: Bubblewrap, sandbox: WorkerSandbox): string[] {
  const inside = sandbox.sharesProcess ? attemptsInside : workspaceInside
  const cache = options.compileCache
  const cacheBind =
    cache === undefined ? [] : [{ source: cache, target: cacheInside, writable: sandbox.cacheIsWritable === true }]
  return viewArguments({
    bubblewrap,
    network: true,
    temporaryBytes: scratchBytes,
    nests: !sandbox.sharesProcess,
    sealsProc: false,
    binds: listBinds(options, sandbox),
    masked: options.masked,
    workspace: bindArguments([...cacheBind, { source: sandbox.folder, target: inside, writable: true }]),
    variables: cache === undefined ? {} : { NODE_COMPILE_CACHE: cacheInside },
    startsIn: inside,
  })
}

function listArguments({ cacheIsWritable = false, sharesProcess = false }: WorkerSandbox): string[] {
  return [...(cacheIsWritable ? ['--fill-cache'] : []), ...(sharesProcess ? ['--runner'] : [])]
}

/** Starts the program, confined where possible. */
export function startWorkerProgram(
  options: WorkerLauncherOptions,
  sandbox: WorkerSandbox,
  memoryBytes: number,
): LocalProcess {
  // The young generation as the service has it (bin/svc): it grows with the limit of the heap, and stays there.
  const heap = [`--max-old-space-size=${chooseHeapMegabytes(memoryBytes)}`, '--max-semi-space-size=16']
  const shared = { group: sandbox.group, withStdin: true, withReport: !sandbox.sharesProcess }
  const program = [options.program, ...listArguments(sandbox)]
  if (options.bubblewrap === undefined) {
    const env = { ...baseEnvironment(sandbox.folder), TMPDIR: sandbox.folder }
    const cache: Record<string, string> =
      options.compileCache === undefined ? {} : { NODE_COMPILE_CACHE: options.compileCache }
    return launchPlain({
      ...shared,
      argv: [options.nodePath, ...heap, ...program],
      folder: sandbox.folder,
      env: { ...env, ...cache },
    })
  }
  return launchConfined({
    ...shared,
    bubblewrap: options.bubblewrap,
    options: workerArguments(options, options.bubblewrap, sandbox),
    argv: [nodeInside, ...heap, ...program],
    hidesProcesses: options.bubblewrap.proc === 'own',
  })
}

/** Starts a worker, idle. `id` names its folder and control group. */
export async function launchWorker(
  options: WorkerLauncherOptions,
  id: string,
  limits: LaunchedLimits = {},
): Promise<WorkerProcess> {
  const memoryBytes = limits.memoryBytes ?? options.memoryBytes
  const workspace = await options.workspaces.open(id, limits)
  const { folder } = workspace
  const group = await options.groups.create(id)
  const release = async () => {
    await group?.remove()
    await forgetProcess(options.workFolder, id)
    await workspace.remove()
  }
  try {
    await group?.setLimits({ memoryBytes, processes: options.processes })
    const running = startWorkerProgram(options, { folder, group }, memoryBytes)
    const worker = superviseWorker({ id, workspace, running, group, release })
    // Not earlier: Node discards the output of a process that ends before anybody reads it.
    if (options.bubblewrap === undefined) await recordProcess(options.workFolder, id, running.pid)
    return worker
  } catch (error) {
    await release()
    throw error
  }
}
