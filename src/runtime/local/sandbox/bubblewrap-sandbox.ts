// Runs untrusted commands in bubblewrap: no network, read-only root, a scratch folder in memory, limits.
import { realpathSync } from 'node:fs'
import { release } from 'node:os'
import { SvcError } from '../../../errors.ts'
import type { SandboxCommand, SandboxLimits, SandboxOutcome } from '../../../ports/workspaces/sandbox.ts'
import { isSandboxFailure } from '../../attempts/end.ts'
import {
  countsProcessesPerNamespace,
  type InputFile,
  isNode,
  limitHeap,
  limitProcess,
  nodeInside,
  type ProcessLimits,
  workspaceInside,
} from '../../attempts/process-limits.ts'
import { captureOutput, checkFileNames, composeOutcome, limitTime } from '../../attempts/sandbox-run.ts'
import { watchGrowth } from '../../folders/size.ts'
import { type Bubblewrap, viewArguments } from '../confinement/bubblewrap.ts'
import type { ControlGroup } from '../confinement/control-group.ts'
import type { ControlGroups } from '../confinement/control-groups.ts'
import { firstDataFd, type LocalProcess, launchConfined } from '../confinement/local-process.ts'
import { findSystemCallFilter } from '../confinement/system-calls.ts'

export type BubblewrapSandboxOptions = {
  bubblewrap: Bubblewrap
  groups: ControlGroups
  /** The Node that runs JavaScript inside. */
  nodePath: string
  /** A fresh name for each run's control group. */
  nextName: () => string
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

/** The scratch folder is memory of fixed size: it limits total disk use, and leaves nothing on the host. */
function workspaceArguments(command: SandboxCommand): string[] {
  if (command.workspace !== undefined) return ['--bind', realpathSync(command.workspace), workspaceInside]
  return ['--size', String(Math.max(4096, command.limits.diskBytes)), '--tmpfs', workspaceInside]
}

function dataArguments(paths: string[]): string[] {
  return paths.flatMap((path, index) => ['--ro-bind-data', String(firstDataFd + index), path])
}

function sandboxArguments(options: BubblewrapSandboxOptions, command: SandboxCommand, paths: string[]): string[] {
  return viewArguments({
    bubblewrap: options.bubblewrap,
    network: false,
    temporaryBytes: Math.max(4096, command.limits.diskBytes),
    nests: false,
    sealsProc: true,
    binds: [{ source: realpathSync(options.nodePath), target: nodeInside }],
    workspace: [...workspaceArguments(command), ...dataArguments(paths)],
    variables: command.env ?? {},
  })
}

async function collectFacts(running: LocalProcess, limits: SandboxLimits, group: ControlGroup | undefined) {
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
  const files: InputFile[] = names.map((target, index) => ({ source: `/run/svc/input/${index}`, target }))
  const { readOnlyFiles = {} } = command
  const paths = [...files.map(({ source }) => source), ...Object.keys(readOnlyFiles)]
  const running = launchConfined({
    bubblewrap: options.bubblewrap,
    options: sandboxArguments(options, command, paths),
    argv: limitProcess(limitHeap(command.argv, limits.memoryBytes), chooseProcessLimits(command), files),
    group: run.group,
    data: [...Object.values(command.files ?? {}), ...Object.values(readOnlyFiles)],
    filter: findSystemCallFilter(),
    coversProc: options.bubblewrap.proc === 'bound',
    withStdin: command.stdin !== undefined,
    withReport: false,
  })
  running.stdin?.end(command.stdin)
  const kill = () => void running.kill()
  const time = limitTime(limits.timeoutMs, run.signal, kill)
  const growth = watchGrowth(command.workspace, limits.diskBytes, kill)
  const facts = await collectFacts(running, limits, run.group).finally(time.stop)
  const { wasOver, stop } = await growth
  stop()
  run.signal.throwIfAborted()
  if (isSandboxFailure(facts.exit, facts.stderr.text) && facts.stdout.text === '') {
    throw new SvcError(
      'Internal',
      `The sandbox could not be started: ${facts.exit.startError ?? facts.stderr.text.trim()}`,
    )
  }
  return composeOutcome({ ...facts, timedOut: time.timedOut(), wasOverfull: wasOver() })
}

/** Runs one command. Limits on the whole tree: time always, memory and processes where cgroups are available. */
export async function runInBubblewrap(
  options: BubblewrapSandboxOptions,
  command: SandboxCommand,
  signal: AbortSignal,
): Promise<SandboxOutcome> {
  checkFileNames(Object.keys(command.files ?? {}))
  signal.throwIfAborted()
  const group = await options.groups.create(options.nextName())
  try {
    // Two more processes: bubblewrap itself, outside and as init inside.
    await group?.setLimits({ memoryBytes: command.limits.memoryBytes, processes: command.limits.processes + 2 })
    return await runInGroup(options, command, { group, signal })
  } finally {
    await group?.remove()
  }
}
