// Runs a user's command without an image: in its own sandbox, its output captured line by line.
import { release } from 'node:os'
import { join } from 'node:path'
import { gatePort, gateVariables } from '../../../contract/values/proxy-variables.ts'
import { type CommandCapture, createCommandCapture, feedLines } from '../../../lib/line-reader.ts'
import { createOutputTail } from '../../../lib/output-tail.ts'
import type { MountedSecret, WorkloadLimits } from '../../../ports/tasks/workloads.ts'
import type { NetworkGate } from '../../../ports/workspaces/network-gates.ts'
import { type AttemptEnd, describeMemory, describeProcessEnd, isSandboxFailure } from '../../attempts/end.ts'
import {
  baseEnvironment,
  countsProcessesPerNamespace,
  limitProcess,
  nodeInside,
  workspaceInside,
} from '../../attempts/process-limits.ts'
import type { AttemptWorkspace, Workspaces } from '../../folders/workspaces.ts'
import { gateSocketInside, withForwarder } from '../../network/forwarder.ts'
import type { AttemptSink, CheckoutFolder, RunningAttempt } from '../attempt.ts'
import type { Bubblewrap } from '../confinement/bubblewrap.ts'
import { viewArguments } from '../confinement/bubblewrap.ts'
import type { ControlGroup } from '../confinement/control-group.ts'
import type { ControlGroups } from '../confinement/control-groups.ts'
import { type LocalProcess, launchConfined, launchPlain } from '../confinement/local-process.ts'
import { forgetProcess, recordProcess } from '../confinement/process-record.ts'
import { type BindMount, bindArguments, bindGate } from '../confinement/root-folder.ts'
import { findSystemCallFilter } from '../confinement/system-calls.ts'
import {
  type ArtifactsFolder,
  makeInWorkspace,
  nameTokenFile,
  type SecretFiles,
  type TokenFile,
  tokenInside,
  writeSecretFiles,
  writeTokenFile,
} from './command-files.ts'

export type LocalCommandOptions = {
  /** Absent: commands run as plain child processes (`--allow-unsandboxed`). */
  bubblewrap: Bubblewrap | undefined
  groups: ControlGroups
  nodePath: string
  /** Folder for what is kept beside the workspaces: tokens, outputs. */
  workFolder: string
  workspaces: Workspaces
  /** Data and config folders. */
  masked: string[]
  /** Limit of stdout kept for the result. */
  outputBytes: number
  processes: number
}

export type LocalCommand = {
  id: string
  argv: string[]
  env: Record<string, string>
  limits: WorkloadLimits
  /** Absent: the machine's. */
  network?: 'none' | undefined
  /** Present: its only way out. */
  gate?: Pick<NetworkGate, 'socket'> | undefined
  sink: AttemptSink
  /** The task's token; the command finds it in a file. */
  transactionToken?: string | undefined
  /** Folders of files that it can only read. */
  secrets?: MountedSecret[] | undefined
  /** A folder in /workspace. */
  artifactsDir?: string | undefined
  /** What is in its workspace when it begins; it begins in the folder `subPath`. */
  checkout?: Pick<CheckoutFolder, 'fill' | 'subPath'> | undefined
}

const scratchBytes = 256 * 1024 * 1024

function confinedArguments(
  options: LocalCommandOptions,
  bubblewrap: Bubblewrap,
  command: Pick<LocalCommand, 'env' | 'network' | 'gate'> & { folder: string } & Pick<
      ExecutionEnvironment,
      'tokenPath' | 'binds'
    >,
) {
  const { tokenPath, binds, gate } = command
  const token = tokenPath === undefined ? [] : [{ source: tokenPath, target: tokenInside }]
  return viewArguments({
    bubblewrap,
    network: gate === undefined ? command.network !== 'none' : 'gate',
    temporaryBytes: scratchBytes,
    nests: false,
    sealsProc: false,
    binds: [{ source: options.nodePath, target: nodeInside }, ...bindGate(gate)],
    masked: options.masked,
    workspace: bindArguments([{ source: command.folder, target: workspaceInside, writable: true }, ...token, ...binds]),
    variables: { ...(gate && gateVariables), ...command.env, ...nameTokenFile(tokenPath && tokenInside) },
  })
}

type ExecutionEnvironment = {
  workspace: AttemptWorkspace
  group: ControlGroup | undefined
  tokenPath: string | undefined
  binds: BindMount[]
  artifacts: ArtifactsFolder | undefined
}

/** Paths are arguments, so that none is read as a part of the command. */
function beginIn(subPath: string | undefined, argv: string[]): string[] {
  return subPath ? ['sh', '-c', 'cd -- "$0" && exec "$@"', `./${subPath}`, ...argv] : argv
}

function launch(options: LocalCommandOptions, command: LocalCommand, environment: ExecutionEnvironment): LocalProcess {
  const { tokenPath, workspace } = environment
  const isCounted = options.bubblewrap !== undefined && countsProcessesPerNamespace(release())
  const fileBytes = command.limits.diskBytes ?? options.workspaces.size.bytes
  const limited = limitProcess(beginIn(command.checkout?.subPath, command.argv), {
    fileBytes,
    ...(isCounted ? { processes: options.processes } : {}),
  })
  const ports = { [gatePort]: gateSocketInside }
  const argv = command.gate === undefined ? limited : withForwarder(limited, { nodePath: nodeInside, ports })
  const shared = { argv, group: environment.group, withStdin: false, withReport: false }
  if (options.bubblewrap === undefined) {
    const own = {
      ...nameTokenFile(tokenPath),
      ...(environment.artifacts && { SVC_ARTIFACTS_DIR: environment.artifacts.path }),
    }
    const env = { ...baseEnvironment(workspace.folder), TMPDIR: workspace.folder, ...command.env, ...own }
    return launchPlain({ ...shared, folder: workspace.folder, env })
  }
  const inside = confinedArguments(options, options.bubblewrap, {
    folder: workspace.folder,
    env: command.env,
    network: command.network,
    gate: command.gate,
    ...environment,
  })
  const filter = findSystemCallFilter()
  return launchConfined({ ...shared, bubblewrap: options.bubblewrap, options: inside, filter })
}

async function captureStreams(running: LocalProcess, capture: CommandCapture): Promise<void> {
  await Promise.all([feedLines(running.stdout, capture.stdout), feedLines(running.stderr, capture.stderr)])
}

type Run = {
  running: LocalProcess
  group: ControlGroup | undefined
  workspace: AttemptWorkspace
  captured: Promise<void>
  capture: CommandCapture
  command: LocalCommand
}

async function awaitEnd(run: Run): Promise<AttemptEnd> {
  const exit = await run.running.exited
  const kills = (await run.group?.readEvents())?.memoryKills ?? 0
  // The group is removed first: that ends what an unsandboxed command left behind and lets its pipes close.
  await run.group?.remove()
  const failure = await run.captured.then(
    () => undefined,
    (error: Error) => error.message,
  )
  const errorTail = run.capture.errorTail()
  if (failure !== undefined)
    return { ok: false, reason: 'DiskFull', message: `The output of the command could not be kept: ${failure}` }
  if (isSandboxFailure(exit, errorTail)) {
    const message = `The command could not be started: ${exit.startError ?? errorTail}`
    return { ok: false, reason: 'StartFailed', message }
  }
  const outOfMemory = kills > 0 ? describeMemory(run.command.limits.memoryBytes) : undefined
  const outOfDisk = await run.workspace.explainFull()
  return describeProcessEnd({ exit, what: 'The command', errorTail, outOfMemory, outOfDisk })
}

/**
 * Starts the command; rejects only when nothing was started. Only control groups limit memory and CPU: an
 * rlimit on address space or data ends every Node program at its start, since V8 reserves before it uses.
 */
export async function startLocalCommand(options: LocalCommandOptions, command: LocalCommand): Promise<RunningAttempt> {
  const workspace = await options.workspaces.open(command.id, command.limits)
  const tail = createOutputTail(join(options.workFolder, `${command.id}.stdout`), options.outputBytes)
  let group: ControlGroup | undefined
  let token: TokenFile | undefined
  let secrets: SecretFiles | undefined
  const removeAll = async () => {
    await group?.remove()
    await token?.remove()
    await secrets?.remove()
    await forgetProcess(options.workFolder, command.id)
    await tail.remove()
    await workspace.remove()
  }
  try {
    group = await options.groups.create(command.id)
    await group?.setLimits({ ...command.limits, processes: options.processes })
    const { workFolder } = options
    token = await writeTokenFile({ workFolder, mode: 0o400 }, command.id, command.transactionToken)
    secrets = await writeSecretFiles({ workFolder, isShared: false }, command.id, command.secrets ?? [])
    await command.checkout?.fill(workspace.folder)
    const artifacts = await makeInWorkspace(workspace.folder, command.artifactsDir)
    const running = launch(options, command, {
      workspace,
      group,
      tokenPath: token?.path,
      binds: secrets.binds,
      artifacts,
    })
    const capture = createCommandCapture(tail, command.sink)
    const captured = captureStreams(running, capture)
    captured.catch(() => void running.kill())
    workspace.guard(() => void running.kill())
    const ended = awaitEnd({ running, group, workspace, captured, capture, command })
    // Not earlier: Node discards the output of a process that ends before anybody reads it.
    if (options.bubblewrap === undefined) await recordProcess(options.workFolder, command.id, running.pid)
    const { terminate, kill } = running
    const left = artifacts && { readLeftFiles: artifacts.read }
    return { ended, terminate, kill, readOutput: tail.read, ...left, release: removeAll }
  } catch (error) {
    await removeAll()
    throw error
  }
}
