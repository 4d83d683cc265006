// One local program and everything it starts, treated as one thing that ends together.
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { constants, getPriority, setPriority } from 'node:os'
import { Readable, type Writable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { type ProcessExit, readExit } from '../../attempts/end.ts'
import { type Bubblewrap, startArguments } from './bubblewrap.ts'
import { type ControlGroup, joinGroups } from './control-group.ts'
import type { ProcessGuard } from './process-guard.ts'
import { accountArguments, accountFiles, canHideProcesses, hideProcesses, hidesProcesses } from './root-folder.ts'
import { scopeSockets } from './socket-scope.ts'

export type LocalProcess = {
  pid: number | undefined
  /** Absent when it was started without standard input. */
  stdin: Writable | undefined
  stdout: Readable
  stderr: Readable
  /** File descriptor 3, on which a worker reports; absent when it was started without one. */
  report: Readable | undefined
  /** Resolves when nothing of it is left; never rejects. */
  exited: Promise<ProcessExit>
  /** Asks its main program to end (SIGTERM). */
  terminate(): Promise<void>
  /** Ends all of it at once (SIGKILL). */
  kill(): Promise<void>
}

export type ConfinedProcess = LocalProcess & {
  /** The init of its pid namespace, as this process numbers it; undefined when there is no sandbox. */
  init: Promise<number | undefined>
}

export type LaunchOptions = {
  /** Program and arguments, as seen inside. */
  argv: string[]
  group?: ControlGroup | undefined
  withStdin: boolean
  withReport: boolean
}

export type ConfinedLaunch = LaunchOptions & {
  bubblewrap: Bubblewrap
  /** Options of bubblewrap; passed over a pipe, so that none of their values appears in the process list. */
  options: string[]
  /** Its /proc is the enclosing sandbox's: what is not hidden there is covered as far as it is known. */
  coversProc?: boolean
  /** Its /proc, which sandboxes inside it share, shows each of them only its own processes, where possible. */
  hidesProcesses?: boolean
  /** Contents for file descriptors 6, 7 ..., which options refer to. */
  data?: (string | Buffer)[]
  /** The allowed system calls (`findSystemCallFilter`). Not for a program that starts a further sandbox. */
  filter?: Buffer | undefined
}

export type PlainLaunch = LaunchOptions & { folder: string; env: Record<string, string> }

// 3 is the report.
const infoFd = 4
const argumentsFd = 5
export const firstDataFd = 6

function watchExit(child: ChildProcess): Promise<ProcessExit> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ code: null, signal: null, startError: error.message }))
    child.once('exit', (code, signal) => resolve(readExit(code, signal)))
  })
}

function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // ESRCH: it is gone, which is the desired state.
  }
}

/** Above the service's own, as setpriority(2) counts: a third of the processor time that the service has beside it. */
const niceness = 5

/** What it starts inherits it. Starting a program blocks the service until the program has had its turn. */
function giveWay({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) setPriority(pid, Math.min(constants.priority.PRIORITY_LOW, getPriority() + niceness))
  } catch {
    // ESRCH: it has ended.
  }
}

/** A reader that has gone away is not our error. */
function writeAll(stream: unknown, content: string | Buffer): void {
  const writable = stream as Writable | undefined
  writable?.on('error', () => undefined)
  writable?.end(content)
}

type Stdio = 'pipe' | 'ignore'

function chooseStdio(launch: LaunchOptions): Stdio[] {
  return [launch.withStdin ? 'pipe' : 'ignore', 'pipe', 'pipe', launch.withReport ? 'pipe' : 'ignore']
}

function readStreams(
  child: ChildProcess,
  launch: LaunchOptions,
): Pick<LocalProcess, 'stdin' | 'stdout' | 'stderr' | 'report'> {
  // Node creates no streams at all when no file descriptor is left for them.
  const [stdin, stdout, stderr, report] = (child.stdio as ChildProcess['stdio'] | undefined) ?? []
  for (const stream of [stdin, stdout, stderr, report]) stream?.on('error', () => undefined)
  return {
    stdin: launch.withStdin ? ((stdin ?? undefined) as Writable | undefined) : undefined,
    stdout: stdout ?? Readable.from([]),
    stderr: stderr ?? Readable.from([]),
    report: launch.withReport ? ((report ?? undefined) as Readable | undefined) : undefined,
  }
}

/** Bubblewrap writes `{"child-pid": N}`: the init of the pid namespace, with which everything in it ends. */
async function readInitPid(info: Readable | undefined): Promise<number | undefined> {
  let text = ''
  try {
    for await (const chunk of info ?? []) text += chunk
    return (JSON.parse(text) as { 'child-pid'?: number })['child-pid']
  } catch {
    return undefined
  }
}

export function listChildProcesses(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  } catch {
    return []
  }
}

const setUpPollMs = 10

/** The init of a pid namespace starts the main program before any other: NSpid of proc_pid_status(5) ends with its number in there. */
function isMain(pid: number): boolean {
  try {
    return /^NSpid:.*\t2$/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

/** TERM to those that are listed. They may not exist yet: the sandbox reports its init's pid before it starts the program. */
export async function terminateListed(list: () => number[], isAlive: () => boolean): Promise<void> {
  while (isAlive()) {
    const pids = list()
    for (const pid of pids) signalProcess(pid, 'SIGTERM')
    if (pids.length > 0) return
    await delay(setUpPollMs)
  }
}

/** The program of a sandbox, by its init. */
export const listMain = (init: number): number[] => listChildProcesses(init).filter(isMain)

/** These processes must not be visible: their sockets are the host's, and their mounts name its folders. */
function coverArguments(pids: (number | undefined)[]): string[] {
  const known = [...new Set(pids)].filter((pid) => pid !== undefined)
  return known.flatMap((pid) => ['--size', '4096', '--perms', '0500', '--tmpfs', `/proc/${pid}`])
}

type Streams = Pick<LocalProcess, 'stdout' | 'stderr' | 'report'>

const abandonAfterMs = 5000

/** What left the process group may hold the pipes open forever; everything written before the exit is read by then. */
function abandonStreams(streams: Streams): void {
  const timer = setTimeout(() => {
    for (const stream of [streams.stdout, streams.stderr, streams.report]) stream?.destroy()
  }, abandonAfterMs)
  timer.unref()
}

/**
 * Bubblewrap that somebody kills while it sets the sandbox up leaves an init that does not yet end with it, and holds the
 * pipes. It is known by the group that bubblewrap leads, where that has one of its own, and else by its pid; nothing is known
 * of one whose pid was not reported yet, but that it waits for ever to be told to go on.
 */
async function endOrphan(
  child: ChildProcess,
  { init, guard }: { init: Promise<number | undefined>; guard: ProcessGuard | undefined },
  streams: Streams,
): Promise<ProcessExit> {
  const exit = await watchExit(child)
  if (child.signalCode !== null) {
    if (guard !== undefined && child.pid !== undefined) signalProcess(-child.pid, 'SIGKILL')
    const pid = await init
    if (pid !== undefined) signalProcess(pid, 'SIGKILL')
    abandonStreams(streams)
  }
  guard?.forget(child)
  return exit
}

/**
 * Starts a program in a sandbox. Bubblewrap waits for the init of the pid namespace, which the kernel ends after
 * everything else in it, so its exit means that nothing is left, and --die-with-parent ends it all when the service dies;
 * but of a view that outlives its starter, the exit is that of the main program.
 */
export function launchConfined(launch: ConfinedLaunch): ConfinedProcess {
  const { bubblewrap, filter } = launch
  const inputs = [...(launch.data ?? []), ...accountFiles.map(({ content }) => content)]
  const data = [...inputs, ...(filter === undefined ? [] : [filter])]
  const hides = launch.hidesProcesses === true && canHideProcesses
  const gateFd = firstDataFd + data.length
  const options = [
    ...accountArguments(firstDataFd + inputs.length - accountFiles.length),
    ...launch.options,
    ...(filter === undefined ? [] : ['--seccomp', String(gateFd - 1)]),
    ...(hides ? ['--block-fd', String(gateFd)] : []),
  ]
  const fds = ['--info-fd', String(infoFd), '--args', String(argumentsFd)]
  const command = startArguments(bubblewrap, [...fds, ...launch.argv])
  const [file = '', ...args] = joinGroups(launch.group?.folders ?? [], command)
  const { guard } = bubblewrap
  const child = spawn(file, args, {
    env: { ...guard?.prepare() },
    cwd: '/',
    detached: guard !== undefined,
    stdio: [...chooseStdio(launch), 'pipe', 'pipe', ...data.map((): Stdio => 'pipe'), hides ? 'pipe' : 'ignore'],
  })
  // Before its arguments are written: until then it has begun nothing.
  guard?.watch(child)
  giveWay(child)
  const init = readInitPid(child.stdio?.at(infoFd) as Readable | undefined)
  const covered = launch.coversProc && !hidesProcesses() ? coverArguments([1, process.pid, child.pid]) : []
  writeAll(child.stdio?.at(argumentsFd), [...options, ...covered].map((option) => `${option}\0`).join(''))
  data.forEach((content, index) => {
    writeAll(child.stdio?.at(firstDataFd + index), content)
  })
  // It waits to read one byte before it starts the program.
  if (hides) void init.then(hideProcesses).then(() => writeAll(child.stdio?.at(gateFd), '.'))
  const isAlive = () => child.exitCode === null && child.signalCode === null
  const streams = readStreams(child, launch)
  return {
    pid: child.pid,
    init,
    ...streams,
    exited: endOrphan(child, { init, guard }, streams),
    terminate: async () => {
      const pid = await init
      if (pid !== undefined) await terminateListed(() => listMain(pid), isAlive)
    },
    kill: async () => {
      const pid = await init
      if (!isAlive()) return
      if (pid === undefined) child.kill('SIGKILL')
      else signalProcess(pid, 'SIGKILL')
    },
  }
}

/**
 * Starts a program without a sandbox, as leader of a process group. What leaves that group is only caught by a
 * control group; without one it can survive (`--allow-unsandboxed` accepts that).
 */
export function launchPlain(launch: PlainLaunch): LocalProcess {
  const [file = '', ...args] = joinGroups(launch.group?.folders ?? [], scopeSockets(launch.argv))
  const child = spawn(file, args, {
    env: launch.env,
    cwd: launch.folder,
    detached: true,
    stdio: chooseStdio(launch),
  })
  giveWay(child)
  const signalGroup = (signal: NodeJS.Signals) => {
    if (child.pid !== undefined) signalProcess(-child.pid, signal)
  }
  const streams = readStreams(child, launch)
  const exited = watchExit(child).then((exit) => {
    signalGroup('SIGKILL')
    abandonStreams(streams)
    return exit
  })
  return {
    pid: child.pid,
    ...streams,
    exited,
    terminate: async () => signalGroup('SIGTERM'),
    kill: async () => signalGroup('SIGKILL'),
  }
}
