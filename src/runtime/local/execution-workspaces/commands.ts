// The commands in the folder of one workspace: each in a sandbox of its own, with as much of its output as is wanted.
// What a command leaves running may go on there.
import { constants } from 'node:os'
import type { Readable } from 'node:stream'
import { gatePort, gateVariables } from '../../../contract/values/proxy-variables.ts'
import type { Clock } from '../../../lib/clock.ts'
import { type CommandState, WorkspaceError } from '../../../ports/workspaces/execution-workspaces.ts'
import type { NetworkGate } from '../../../ports/workspaces/network-gates.ts'
import type { ProcessExit } from '../../attempts/end.ts'
import { nodeInside, workspaceInside } from '../../attempts/process-limits.ts'
import { describeSize, type WorkspaceSize } from '../../folders/size.ts'
import { gateSocketInside, withForwarder } from '../../network/forwarder.ts'
import { type Bubblewrap, viewArguments } from '../confinement/bubblewrap.ts'
import type { ControlGroup } from '../confinement/control-group.ts'
import { delegateBinds } from '../confinement/control-groups.ts'
import { type LastingProcess, launchBrief, launchLasting } from '../confinement/lasting-process.ts'
import {
  type BindMount,
  bindArguments,
  bindGate,
  type SandboxNetwork,
  showProgram,
} from '../confinement/root-folder.ts'
import type { CommandFolder } from './command-folder.ts'

export type CommandsOptions = {
  bubblewrap: Bubblewrap
  clock: Clock
  nodePath: string
  /** Shown read-only: the worker program. */
  binds: readonly BindMount[]
  /** The same, of the programs of agents as they are now. */
  agentFolders?(): Promise<string[]>
  /** Data and config folders. */
  masked: string[]
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
  /** Absent: what it leaves running ends with it. */
  leavesPrograms?: boolean | undefined
  /** `gate`: its own only way out; with `true` it is shown the gate, for its program. */
  network: SandboxNetwork
  /** Closed at its end. */
  gate?: NetworkGate | undefined
}

export type RunningCommand = {
  state(): CommandState
  /** TERM to the command, if it runs; then KILL to all of it. Returns once nothing of it is left. */
  stop(): Promise<void>
  /** The end of the command. */
  ended: Promise<void>
  /** Whether nothing of it is left, nor of what it has started. */
  isOver(): boolean
  /** Whether its programs have the network of the machine. */
  isOpen: boolean
}

const scratchBytes = 256 * 1024 * 1024

type View = { group: ControlGroup | undefined; agentFolders: readonly string[] }

function viewFolder(
  options: CommandsOptions,
  { folder }: CommandFolder,
  { network, gate, env, workDir }: FolderCommand,
  { group, agentFolders }: View,
) {
  return viewArguments({
    bubblewrap: options.bubblewrap,
    network,
    temporaryBytes: scratchBytes,
    nests: true,
    sealsProc: false,
    binds: [
      { source: options.nodePath, target: nodeInside },
      ...options.binds,
      ...showProgram(agentFolders),
      ...bindGate(gate),
      ...(group === undefined ? [] : delegateBinds(group)),
    ],
    masked: options.masked,
    workspace: bindArguments([{ source: folder, target: workspaceInside, writable: true }]),
    variables: { ...(network === 'gate' && gateVariables), ...env },
    startsIn: workDir,
  })
}

function codeOf({ code, signal }: ProcessExit): number {
  return code ?? 128 + (constants.signals[signal as NodeJS.Signals] ?? 0)
}

const ports = { [gatePort]: gateSocketInside }

type Launched = { running: LastingProcess; streams: Captured[]; group: ControlGroup | undefined }

async function launch(options: CommandsOptions, folder: CommandFolder, command: FolderCommand): Promise<Launched> {
  const agentFolders = (await options.agentFolders?.()) ?? []
  const group = await folder.createGroup()
  const argv = [...command.argv]
  const launched = {
    bubblewrap: options.bubblewrap,
    options: viewFolder(options, folder, command, { group, agentFolders }),
    argv: command.network === 'gate' ? withForwarder(argv, { nodePath: nodeInside, ports }) : argv,
    group,
    withStdin: true,
    hidesProcesses: options.bubblewrap.proc === 'own',
  }
  const running = command.leavesPrograms ? launchLasting(launched) : launchBrief(launched)
  const streams = [running.stdout, running.stderr].map((stream) => captureStream(stream, command.maxOutputBytes))
  running.stdin?.on('error', () => undefined).end(command.stdin)
  return { running, streams, group }
}

async function endIn({ running }: Launched, clock: Clock, graceMs: number): Promise<void> {
  const over = new AbortController()
  const ended = running.ended.then(() => over.abort())
  await Promise.race([running.terminate(), ended])
  await clock.sleep(graceMs, over.signal).catch(() => undefined)
  await running.kill()
  await running.exited
}

type EarlyEnd = { exitCode: number; why: string }

function describeEnded(streams: Captured[], exit: ProcessExit, early?: EarlyEnd): CommandState {
  const [stdout = '', stderr = ''] = streams.map(({ read }) => read())
  const reason = early === undefined ? (exit.startError ?? stderr) : `${stderr}${early.why}\n`
  const truncated = streams.some(({ isCut }) => isCut())
  return { phase: 'Ended', exitCode: early?.exitCode ?? codeOf(exit), stdout, stderr: reason, truncated }
}

/** Rejects when the sandbox cannot be started at all. */
export async function runInFolder(
  options: CommandsOptions,
  folder: CommandFolder,
  command: FolderCommand,
): Promise<RunningCommand> {
  const { clock, size } = options
  const launched = await launch(options, folder, command)
  const { running, streams, group } = launched
  const timer = new AbortController()
  let verdict: EarlyEnd | undefined
  const endBecause = (exitCode: number, why: string) => {
    verdict ??= { exitCode, why }
    void running.kill()
  }
  const unwatch = folder.watch(() => endBecause(137, `it wrote more than ${describeSize(size)} in its workspace`))
  const tooLong = `it ran longer than ${command.timeoutSeconds} s`
  clock.sleep(command.timeoutSeconds * 1000, timer.signal).then(
    () => endBecause(124, tooLong),
    () => undefined,
  )
  let state: CommandState = { phase: 'Running' }
  let isOver = false
  const over = running.exited.then(async () => {
    unwatch()
    await group?.remove()
    isOver = true
  })
  const ended = running.ended.then(async (exit) => {
    timer.abort()
    await command.gate?.close().catch(() => undefined)
    state = describeEnded(streams, exit, verdict)
  })
  return {
    state: () => state,
    stop: async () => {
      await endIn(launched, clock, options.graceMs)
      await Promise.all([ended, over])
    },
    ended,
    isOver: () => isOver,
    isOpen: command.network === true && command.gate === undefined,
  }
}

/** Runs a small program of the service's own to its end; its output. WorkspaceLost when it fails. */
export async function doInFolder(
  options: CommandsOptions,
  folder: CommandFolder,
  { argv, stdin }: Pick<FolderCommand, 'argv' | 'stdin'>,
): Promise<void> {
  const limits = { timeoutSeconds: 60, maxOutputBytes: 65_536 }
  const own = { argv, stdin, env: {}, workDir: workspaceInside, network: false, ...limits }
  const command = await runInFolder(options, folder, own)
  await command.ended
  const state = command.state()
  if (state.phase === 'Ended' && state.exitCode === 0) return
  const reason = state.phase === 'Ended' ? state.stderr.trim() : ''
  throw new WorkspaceError('WorkspaceLost', `the folder of the workspace cannot be written to: ${reason}`)
}

type Captured = { read(): string; isCut(): boolean }

/** Reads on to the end, so that the program is never blocked. */
function captureStream(stream: Readable, maxBytes: number): Captured {
  const chunks: Buffer[] = []
  let left = maxBytes
  let isCut = false
  stream.on('data', (chunk: Buffer) => {
    isCut ||= chunk.length > left
    if (left > 0) chunks.push(chunk.subarray(0, left))
    left -= Math.min(left, chunk.length)
  })
  return { read: () => Buffer.concat(chunks).toString('utf8'), isCut: () => isCut }
}
