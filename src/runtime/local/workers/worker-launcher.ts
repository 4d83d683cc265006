// Starts worker processes: inside their sandbox from the start, with an empty folder and nothing of the service's
// environment. Their compile cache is filled by a trusted run without work and read-only for them.
import { createHash } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { mkdir, readdir, rename, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { onAbort } from '../../../lib/abort.ts'
import { removeTree } from '../../../lib/tree-removal.ts'
import { walkTree } from '../../../lib/tree-walk.ts'
import type { WorkloadLimits } from '../../../ports/tasks/workloads.ts'
import { baseEnvironment, nodeInside, workspaceInside } from '../../attempts/process-limits.ts'
import { makeWorkFolder } from '../../folders/work-folder.ts'
import type { Workspaces } from '../../folders/workspaces.ts'
import { type Bubblewrap, viewArguments } from '../confinement/bubblewrap.ts'
import type { ControlGroup } from '../confinement/control-group.ts'
import { type ControlGroups, delegateBinds } from '../confinement/control-groups.ts'
import { type LocalProcess, launchConfined, launchPlain } from '../confinement/local-process.ts'
import { forgetProcess, recordProcess } from '../confinement/process-record.ts'
import { type BindMount, bindArguments, showProgram } from '../confinement/root-folder.ts'
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
  /** Folder for what is kept beside their folders. */
  workFolder: string
  /** Where workers get their folders; otherwise invisible to them. */
  workspaces: Workspaces
  /** Data and config folders. */
  masked: string[]
  /** In addition to PATH, HOME, LANG, TERM and TMPDIR. */
  environment: Record<string, string>
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
    variables: { ...options.environment, ...(cache === undefined ? {} : { NODE_COMPILE_CACHE: cacheInside }) },
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
  const heap = `--max-old-space-size=${chooseHeapMegabytes(memoryBytes)}`
  const shared = { group: sandbox.group, withStdin: true, withReport: !sandbox.sharesProcess }
  const program = [options.program, ...listArguments(sandbox)]
  if (options.bubblewrap === undefined) {
    const env = { ...baseEnvironment(sandbox.folder), TMPDIR: sandbox.folder, ...options.environment }
    const cache: Record<string, string> =
      options.compileCache === undefined ? {} : { NODE_COMPILE_CACHE: options.compileCache }
    return launchPlain({
      ...shared,
      argv: [options.nodePath, heap, ...program],
      folder: sandbox.folder,
      env: { ...env, ...cache },
    })
  }
  return launchConfined({
    ...shared,
    bubblewrap: options.bubblewrap,
    options: workerArguments(options, options.bubblewrap, sandbox),
    argv: [nodeInside, heap, ...program],
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

type CompileCacheOptions = {
  launcher: WorkerLauncherOptions
  /** Folder for the caches of all versions; may be removed at any time. */
  folder: string
  /** A fresh name for the work folder of the warming run. */
  id: string
  /** Ends the run; Node itself loops forever when the folder is removed while it writes. */
  signal: AbortSignal
}

async function findNewestChange(folder: string): Promise<number> {
  let newest = 0
  for await (const { stats } of walkTree(folder)) if (stats?.isFile()) newest = Math.max(newest, stats.mtimeMs)
  return newest
}

/** A new Node or a changed source gives another folder, so a cache is either complete or absent. */
async function chooseFolder(options: Pick<CompileCacheOptions, 'launcher' | 'folder'>): Promise<string> {
  const { program } = options.launcher
  const parts = [process.version, program, await findNewestChange(dirname(program))]
  const version = createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16)
  return join(options.folder, version)
}

async function isThere(folder: string): Promise<boolean> {
  return (await readdir(folder).catch(() => [])).length > 0
}

/** The program exits when its stdin ends, and Node writes the cache on the way out. */
async function runOnce(options: CompileCacheOptions, cache: string): Promise<boolean> {
  const launcher = { ...options.launcher, compileCache: cache }
  const folder = await makeWorkFolder(launcher.workFolder, options.id)
  try {
    const running = startWorkerProgram(
      launcher,
      { folder, group: undefined, cacheIsWritable: true },
      launcher.memoryBytes,
    )
    for (const stream of [running.stdout, running.stderr, running.report]) stream?.resume()
    running.stdin?.end()
    const exit = await running.exited.finally(onAbort(options.signal, () => void running.kill()))
    return exit.startError === undefined && exit.signal === null
  } finally {
    await removeTree(folder)
  }
}

const unfinished = '.unfinished'
/** No run takes that long: what is older was left by one that was killed. */
const maxRunMs = 3_600_000

async function isBeingFilled(folder: string): Promise<boolean> {
  if (!folder.endsWith(unfinished)) return false
  const changed = await stat(folder).catch(() => undefined)
  return changed !== undefined && Date.now() - changed.mtimeMs < maxRunMs
}

/** Those of other versions, but not what another service is filling. */
async function removeOthers(folder: string, current: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const other = join(folder, name)
    if (other !== current && !(await isBeingFilled(other))) await removeTree(other)
  }
}

/** Another service may have been faster: its folder is as good. */
async function publishFolder(filled: string, folder: string): Promise<void> {
  await rename(filled, folder).catch(() => undefined)
  await removeTree(filled)
}

/** The folder of a filled cache, which is filled first if necessary; undefined when that fails. */
export async function warmCompileCache(options: CompileCacheOptions): Promise<string | undefined> {
  const folder = await chooseFolder(options)
  if (await isThere(folder)) return folder
  options.signal.throwIfAborted()
  // Filled beside its path: whoever finds a folder there can rely on it, whatever becomes of this run.
  const filling = `${folder}.${options.id}${unfinished}`
  await mkdir(filling, { recursive: true, mode: 0o700 })
  const isFilled = (await runOnce(options, filling)) && (await isThere(filling))
  if (!isFilled) {
    await removeTree(filling)
    return undefined
  }
  await publishFolder(filling, folder)
  await removeOthers(options.folder, folder)
  return (await isThere(folder)) ? folder : undefined
}

/** The folder if it is already filled; takes some milliseconds. */
export async function findCompileCache(
  options: Pick<CompileCacheOptions, 'launcher' | 'folder'>,
): Promise<string | undefined> {
  const folder = await chooseFolder(options)
  return (await isThere(folder)) ? folder : undefined
}
