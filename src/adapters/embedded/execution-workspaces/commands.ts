// The commands in the folder of one workspace: each in a sandbox of its own, which ends with all that was started in it.
import { constants } from 'node:os'
import type { Clock } from '../../../ports/clock.ts'
import { type CommandState, WorkspaceError } from '../../../ports/execution-workspaces.ts'
import type { ProcessExit } from '../../attempts/exit.ts'
import { nodeInside, workspaceInside } from '../../attempts/inside.ts'
import { describeSize, type WorkspaceSize } from '../../workspaces/size.ts'
import { watchFolder } from '../../workspaces/watch.ts'
import type { Bubblewrap } from '../confinement/bubblewrap.ts'
import { viewArguments } from '../confinement/confined-view.ts'
import type { ControlGroup } from '../confinement/control-group.ts'
import { type ControlGroups, delegateBinds } from '../confinement/control-groups.ts'
import { type LocalProcess, launchConfined } from '../confinement/local-process.ts'
import { type Bind, bindArguments } from '../confinement/root-folder.ts'
import { captureStream } from './captured.ts'

export type CommandsOptions = {
  bubblewrap: Bubblewrap
  groups: ControlGroups
  clock: Clock
  nodePath: string
  /** Shown read-only: the worker program and the programs of agents. */
  binds: readonly Bind[]
  /** Data and config folders. */
  masked: string[]
  /** Of each command, with all that it starts. */
  memoryBytes: number
  processes: number
  /** Of the whole folder. */
  size: WorkspaceSize
  /** From TERM to KILL. */
  graceMs: number
}

export type FolderCommand = {
  argv: readonly string[]
  env: Record<string, string>
  /** As seen inside. */
  workDir: string
  stdin?: Uint8Array | undefined
  timeoutSeconds: number
  maxOutputBytes: number
}

export type RunningCommand = { state(): CommandState; stop(): Promise<void>; ended: Promise<void> }

/** For the commands of one workspace; `name` names their control groups. */
export type FolderPlace = { folder: string; name: string }

const scratchBytes = 256 * 1024 * 1024

function viewFolder(options: CommandsOptions, { folder }: FolderPlace, command: FolderCommand, group?: ControlGroup) {
  return viewArguments({
    bubblewrap: options.bubblewrap,
    network: true,
    temporaryBytes: scratchBytes,
    nests: true,
    sealsProc: false,
    binds: [
      { source: options.nodePath, target: nodeInside },
      ...options.binds,
      ...(group === undefined ? [] : delegateBinds(group)),
    ],
    masked: options.masked,
    workspace: bindArguments([{ source: folder, target: workspaceInside, writable: true }]),
    variables: command.env,
    startsIn: command.workDir,
  })
}

function codeOf({ code, signal }: ProcessExit): number {
  return code ?? 128 + (constants.signals[signal as NodeJS.Signals] ?? 0)
}

async function launch(options: CommandsOptions, place: FolderPlace, command: FolderCommand) {
  const group = await options.groups.create(place.name)
  await group?.setLimits({ memoryBytes: options.memoryBytes, processes: options.processes })
  const running = launchConfined({
    bubblewrap: options.bubblewrap,
    options: viewFolder(options, place, command, group),
    argv: [...command.argv],
    group,
    withStdin: true,
    withReport: false,
    hidesProcesses: options.bubblewrap.proc === 'own',
  })
  running.stdin?.on('error', () => undefined).end(command.stdin)
  return { running, group }
}

async function endIn(running: LocalProcess, clock: Clock, graceMs: number): Promise<void> {
  const over = new AbortController()
  const ended = running.exited.then(() => over.abort())
  await running.terminate()
  await clock.sleep(graceMs, over.signal).then(running.kill, () => undefined)
  await ended
}

/** Rejects when the sandbox cannot be started at all. */
export async function runInFolder(
  options: CommandsOptions,
  place: FolderPlace,
  command: FolderCommand,
): Promise<RunningCommand> {
  const { clock, size } = options
  const { running, group } = await launch(options, place, command)
  const streams = [running.stdout, running.stderr].map((stream) => captureStream(stream, command.maxOutputBytes))
  const over = new AbortController()
  let verdict: { exitCode: number; why: string } | undefined
  const endBecause = (exitCode: number, why: string) => {
    verdict ??= { exitCode, why }
    void running.kill()
  }
  const watch = watchFolder({
    folder: place.folder,
    most: () => size,
    onOver: () => endBecause(137, `it wrote more than ${describeSize(size)} in its workspace`),
  })
  const tooLong = `it ran longer than ${command.timeoutSeconds} s`
  clock.sleep(command.timeoutSeconds * 1000, over.signal).then(
    () => endBecause(124, tooLong),
    () => undefined,
  )
  let state: CommandState = { phase: 'Running' }
  const ended = running.exited.then(async (exit) => {
    over.abort()
    watch.stop()
    await group?.remove()
    await Promise.all(streams.map(({ done }) => done))
    const [stdout = '', stderr = ''] = streams.map(({ read }) => read())
    const said = verdict === undefined ? (exit.startError ?? stderr) : `${stderr}${verdict.why}\n`
    const truncated = streams.some(({ isCut }) => isCut())
    state = { phase: 'Ended', exitCode: verdict?.exitCode ?? codeOf(exit), stdout, stderr: said, truncated }
  })
  return { state: () => state, stop: () => endIn(running, clock, options.graceMs).then(() => ended), ended }
}

/** Runs a small program of the service's own to its end; its output. WorkspaceLost when it fails. */
export async function doInFolder(
  options: CommandsOptions,
  place: FolderPlace,
  { argv, stdin }: Pick<FolderCommand, 'argv' | 'stdin'>,
): Promise<void> {
  const limits = { timeoutSeconds: 60, maxOutputBytes: 65_536 }
  const command = await runInFolder(options, place, { argv, stdin, env: {}, workDir: workspaceInside, ...limits })
  await command.ended
  const state = command.state()
  if (state.phase === 'Ended' && state.exitCode === 0) return
  const said = state.phase === 'Ended' ? state.stderr.trim() : ''
  throw new WorkspaceError('WorkspaceLost', `the folder of the workspace cannot be written to: ${said}`)
}
