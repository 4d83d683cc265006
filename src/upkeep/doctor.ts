// `svc doctor`: what this machine has for running tasks, what it lacks and how to get that.
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { commandHint } from '../client/command-hint.ts'
import type { DoctorFinding } from '../client/machine.ts'
import type { Config } from '../config/load.ts'
import { canListen } from '../launch/free-port.ts'
import { findLocalService } from '../launch/local-service.ts'
import { systemIds } from '../lib/system-clock.ts'
import { describeSize, type WorkspaceSize } from '../runtime/folders/size.ts'
import { findSizeLayer } from '../runtime/folders/workspaces.ts'
import type { ContainerEngine } from '../runtime/local/commands/container-engine.ts'
import { probeBubblewrap } from '../runtime/local/confinement/bubblewrap.ts'
import { findSocketScope } from '../runtime/local/confinement/socket-scope.ts'
import { createSandbox } from '../runtime/local/sandbox/sandbox.ts'

const run = promisify(execFile)

/** What is examined; tests describe another machine. */
export type Machine = {
  platform: NodeJS.Platform
  engine: ContainerEngine
  workspaceSize: WorkspaceSize
  agents: FoundAgents
}

/** `file`: where it was found, whether or not it is ready. */
type FoundAgent = {
  name: string
  ready: boolean
  file?: string | undefined
  version?: string | undefined
  problem?: string | undefined
}

export type FoundAgents = {
  /** Address of the service that has looked; absent: this program has. */
  by?: string | undefined
  programs: readonly FoundAgent[]
}

export async function diagnose(config: Config, machine: Machine): Promise<DoctorFinding[]> {
  const engine = await machine.engine.find()
  return [
    checkRuntime(),
    await checkSandbox(machine, engine.available),
    ...checkSockets(machine),
    await checkGit(),
    describeEngine(engine),
    ...describeAgents(machine),
    checkKeys(config),
    checkSearch(config),
    await checkService(config),
    checkDisk(config),
    await checkWorkspaces(machine),
  ]
}

function checkRuntime(): DoctorFinding {
  return { what: 'runtime', state: 'ok', detail: `Node ${process.version} on ${process.platform}-${process.arch}` }
}

async function checkSandbox({ platform }: Machine, hasEngine: boolean): Promise<DoctorFinding> {
  const what = 'sandbox'
  const availability = await createSandbox({ ids: systemIds, bubblewrap: probeBubblewrap({ platform }) }).check()
  if (availability.available) {
    return { what, state: 'ok', detail: `${availability.kind}, runs ${availability.languages.join(', ')}` }
  }
  const { reason, suggestion: fix } = availability
  if (!hasEngine) return { what, state: 'missing', detail: reason, fix }
  return { what, state: 'warning', detail: `${reason}; code runs in containers, local commands do not run`, fix }
}

/** Tried in the same way as the service does. */
function checkSockets({ platform }: Machine): DoctorFinding[] {
  if (platform !== 'linux') return []
  const what = 'sockets'
  const scope = findSocketScope()
  if (scope.available) return [{ what, state: 'ok', detail: 'abstract Unix sockets are out of reach of tasks' }]
  const detail = `tasks with the machine's network reach its abstract Unix sockets (docs/security.md): ${scope.reason}`
  return [{ what, state: 'warning', detail, fix: scope.suggestion }]
}

async function checkGit(): Promise<DoctorFinding> {
  const what = 'git'
  try {
    const { stdout } = await run('git', ['--version'])
    return { what, state: 'ok', detail: stdout.trim() }
  } catch {
    const detail = 'not found; tasks with a workspace.gitRepo cannot run'
    return { what, state: 'warning', detail, fix: 'apt-get install git, or what your system has for it' }
  }
}

function describeEngine(probe: Awaited<ReturnType<ContainerEngine['find']>>): DoctorFinding {
  const what = 'containers'
  if (probe.available) return { what, state: 'ok', detail: `engine at ${probe.name}` }
  return { what, state: 'warning', detail: `${probe.reason}; tasks with an image cannot run`, fix: probe.suggestion }
}

function describeAgents({ agents: { by, programs } }: Machine): DoctorFinding[] {
  const what = 'agents'
  const where = by === undefined ? '' : ` (found by the service at ${by})`
  const ready = programs.filter(({ ready }) => ready)
  // What is not installed may not be wanted.
  const broken = programs.flatMap(({ ready, file, problem = '' }): DoctorFinding[] => {
    const [detail = '', fix] = problem.split('; ')
    return ready || file === undefined ? [] : [{ what, state: 'warning', detail, ...(fix && { fix }) }]
  })
  if (ready.length === 0 && broken.length > 0) return broken
  if (ready.length === 0) {
    const detail = `no agent program in the PATH${where}; tasks of type agent cannot run`
    return [{ what, state: 'warning', detail, fix: 'install one, such as Claude Code (docs/agents.md)' }]
  }
  const names = ready.map(({ name, version }) => (version === undefined ? name : `${name} ${version}`))
  return [{ what, state: 'ok', detail: `programs for ${names.join(', ')}${where}` }, ...broken]
}

function checkKeys(config: Config): DoctorFinding {
  const what = 'model keys'
  const names = config.vendorKeys.map((key) => key.name)
  if (names.length > 0) return { what, state: 'ok', detail: `${names.join(', ')} in the environment` }
  return {
    what,
    state: 'warning',
    detail: 'none in the environment; only the demo provider and providers with secrets work',
    fix: `export ANTHROPIC_API_KEY or OPENAI_API_KEY, or \`${commandHint('provider create --help')}\``,
  }
}

function checkSearch(config: Config): DoctorFinding {
  const what = 'web search'
  if (config.searchBackend !== undefined) return { what, state: 'ok', detail: config.searchBackend }
  return {
    what,
    state: 'warning',
    detail: 'no backend; web_search answers not_configured',
    fix: 'set SVC_SEARCH_BACKEND',
  }
}

async function checkService(config: Config): Promise<DoctorFinding> {
  const note = await findLocalService(config.paths)
  if (note) return { what: 'service', state: 'ok', detail: `runs at ${note.url} (pid ${note.pid})` }
  const isFree = await canListen(config.host, config.port)
  if (isFree) return { what: 'service', state: 'ok', detail: `not running; port ${config.port} is free` }
  return {
    what: 'service',
    state: 'warning',
    detail: `port ${config.port} is taken`,
    fix: `${commandHint('up --port 0')} picks a free one`,
  }
}

const enoughBytes = 1024 ** 3

function checkDisk(config: Config): DoctorFinding {
  const { dataDir } = config.paths
  const free = freeBytes(dataDir)
  const detail = `${dataDir}, ${Math.floor(free / 2 ** 20)} MiB free`
  if (free >= enoughBytes) return { what: 'data folder', state: 'ok', detail }
  return {
    what: 'data folder',
    state: 'warning',
    detail,
    fix: 'free some space, or name another folder with --data-dir',
  }
}

/** Tried in the same way as the service does; the launcher gives both programs the same rights to mount. */
async function checkWorkspaces({ workspaceSize }: Machine): Promise<DoctorFinding> {
  const what = 'workspaces'
  const size = describeSize(workspaceSize)
  const folder = mkdtempSync(join(tmpdir(), 'svc-doctor-'))
  try {
    const layer = await findSizeLayer(folder)
    if (layer.kind === 'image')
      return { what, state: 'ok', detail: `at most ${size}; each is a file system of its own` }
    return {
      what,
      state: 'warning',
      detail: `at most ${size}; watched while they are written to, for a file system of their own cannot be had: ${layer.why}`,
      fix: `\`${commandHint('up')}\` as root with CAP_SYS_ADMIN, loop devices and e2fsprogs`,
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** For the nearest existing folder above the path. */
function freeBytes(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize
  } catch (error) {
    if (dirname(folder) === folder) throw error
    return freeBytes(dirname(folder))
  }
}
