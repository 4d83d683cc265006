// Runs untrusted commands in bubblewrap: no network, read-only root, a scratch folder in memory, limits.
import { realpathSync } from 'node:fs'
import { release } from 'node:os'
import { SvcError } from '../../../errors.ts'
import type { SandboxCommand, SandboxLimits, SandboxOutcome } from '../../../ports/sandbox.ts'
import { type Bubblewrap, leafArguments } from '../confinement/bubblewrap.ts'
import type { ControlGroup, GroupEvents } from '../confinement/control-group.ts'
import type { ControlGroups } from '../confinement/control-groups.ts'
import {
  countsProcessesPerNamespace,
  type InputFile,
  limitProcess,
  type ProcessLimits,
} from '../confinement/launch-script.ts'
import {
  firstDataFd,
  isSandboxFailure,
  type LocalProcess,
  launchConfined,
  type ProcessExit,
} from '../confinement/local-process.ts'
import {
  bindArguments,
  environmentArguments,
  nodeInside,
  procArguments,
  rootArguments,
  sealArguments,
  workspaceInside,
} from '../confinement/root-folder.ts'
import { captureOutput } from './captured-output.ts'
import { checkFileNames } from './file-names.ts'

export type BubblewrapSandboxOptions = {
  bubblewrap: Bubblewrap
  groups: ControlGroups
  /** The Node that runs JavaScript inside. */
  nodePath: string
  /** A fresh name for each run, for its control group. */
  nextName: () => string
}

/** Node reserves address space far beyond what it uses: its heap is limited by a flag instead. */
export function isNode(argv: string[]): boolean {
  return argv[0] === 'node' || argv[0] === nodeInside
}

/** Adds the heap limit to a command that runs Node. */
export function limitHeap(argv: string[], memoryBytes: number): string[] {
  if (!isNode(argv)) return argv
  const megabytes = Math.max(16, Math.floor((memoryBytes * 0.75) / 1024 ** 2))
  return [argv[0] ?? 'node', `--max-old-space-size=${megabytes}`, ...argv.slice(1)]
}

function chooseProcessLimits(command: SandboxCommand): ProcessLimits {
  const { limits } = command
  return {
    cpuSeconds: limits.cpuSeconds,
    fileBytes: limits.diskBytes,
    openFiles: 1024,
    ...(isNode(command.argv) ? {} : { addressBytes: limits.memoryBytes * 2 }),
    ...(countsProcessesPerNamespace(release()) ? { processes: limits.processes } : {}),
  }
}

/** The scratch folder is memory with a size: total disk use is bounded by it, and nothing is left on the host. */
function workspaceArguments(command: SandboxCommand): string[] {
  if (command.workspace !== undefined) return ['--bind', realpathSync(command.workspace), workspaceInside]
  return ['--size', String(Math.max(4096, command.limits.diskBytes)), '--tmpfs', workspaceInside]
}

function dataArguments(files: InputFile[]): string[] {
  return files.flatMap((file, index) => ['--ro-bind-data', String(firstDataFd + index), file.source])
}

function sandboxArguments(options: BubblewrapSandboxOptions, command: SandboxCommand, files: InputFile[]): string[] {
  return [
    ...rootArguments({ network: false, temporaryBytes: Math.max(4096, command.limits.diskBytes) }),
    ...procArguments(options.bubblewrap.proc, { leaf: true }),
    ...leafArguments(options.bubblewrap),
    ...bindArguments([{ source: realpathSync(options.nodePath), target: nodeInside }]),
    ...workspaceArguments(command),
    ...dataArguments(files),
    ...environmentArguments({ variables: command.env ?? {} }),
    ...sealArguments(),
    ...['--chdir', workspaceInside],
  ]
}

/** A heap or an allocation that hit its limit says so itself where no control group counts. */
const outOfMemoryWords = /JavaScript heap out of memory|^MemoryError|[Cc]annot allocate|bad_alloc/m

function findExceeded(exit: ProcessExit, events: GroupEvents, errorText: string): SandboxOutcome['exceeded'] {
  if (exit.code === 0) return undefined
  if (exit.signal === 'SIGXCPU') return 'cpu'
  if (exit.signal === 'SIGXFSZ') return 'disk'
  if (events.memoryKills > 0 || outOfMemoryWords.test(errorText)) return 'memory'
  return events.refusedForks > 0 || /[Cc]annot fork|fork: |Resource temporarily unavailable/.test(errorText) ? 'processes' : undefined
}

/** Kills at the timeout or the abort; resolves with what happened first. */
function watchTime(
  running: LocalProcess,
  timeoutMs: number,
  signal: AbortSignal,
): { timedOut: () => boolean; stop: () => void } {
  let timedOut = false
  const timer = setTimeout(() => {
    timedOut = true
    void running.kill()
  }, timeoutMs)
  const abort = () => void running.kill()
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  const stop = () => {
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
  }
  return { timedOut: () => timedOut, stop }
}

async function collectOutcome(running: LocalProcess, limits: SandboxLimits, group: ControlGroup | undefined) {
  const [exit, stdout, stderr] = await Promise.all([
    running.exited,
    captureOutput(running.stdout, limits.outputBytes),
    captureOutput(running.stderr, limits.outputBytes),
  ])
  const events = (await group?.readEvents()) ?? { memoryKills: 0, refusedForks: 0 }
  return { exit, stdout, stderr, events }
}

async function runInGroup(
  options: BubblewrapSandboxOptions,
  command: SandboxCommand,
  run: { group: ControlGroup | undefined; signal: AbortSignal },
): Promise<SandboxOutcome> {
  const { limits } = command
  const names = Object.keys(command.files ?? {})
  const files = names.map((target, index) => ({ source: `/run/svc/input/${index}`, target }))
  const running = launchConfined({
    bubblewrap: options.bubblewrap,
    options: sandboxArguments(options, command, files),
    argv: limitProcess(limitHeap(command.argv, limits.memoryBytes), chooseProcessLimits(command), files),
    group: run.group,
    data: Object.values(command.files ?? {}),
    withStdin: command.stdin !== undefined,
    withReport: false,
  })
  running.stdin?.end(command.stdin)
  const time = watchTime(running, limits.timeoutMs, run.signal)
  const { exit, stdout, stderr, events } = await collectOutcome(running, limits, run.group).finally(time.stop)
  run.signal.throwIfAborted()
  if (isSandboxFailure(exit, stderr.text) && stdout.text === '') {
    throw new SvcError('Internal', `The sandbox could not be started: ${exit.startError ?? stderr.text.trim()}`)
  }
  const exceeded = time.timedOut() ? undefined : findExceeded(exit, events, stderr.text)
  return {
    exitCode: exit.code,
    signal: exit.signal,
    stdout: stdout.text,
    stderr: stderr.text,
    stdoutTruncated: stdout.truncated,
    stderrTruncated: stderr.truncated,
    timedOut: time.timedOut(),
    ...(exceeded === undefined ? {} : { exceeded }),
  }
}

/** Runs one command. Limits that hold for the whole tree: time always, memory and processes where cgroups can be had. */
export async function runInBubblewrap(
  options: BubblewrapSandboxOptions,
  command: SandboxCommand,
  signal: AbortSignal,
): Promise<SandboxOutcome> {
  checkFileNames(Object.keys(command.files ?? {}))
  signal.throwIfAborted()
  const group = await options.groups.create(options.nextName())
  try {
    // Two more: bubblewrap itself, outside and as init inside.
    await group?.setLimits({ memoryBytes: command.limits.memoryBytes, processes: command.limits.processes + 2 })
    return await runInGroup(options, command, { group, signal })
  } finally {
    await group?.remove()
  }
}
