// Runs a user's command in an image on a Docker-compatible engine: read-only root, no capabilities, limits.
import { join, posix } from 'node:path'
import type { Readable } from 'node:stream'
import type Docker from 'dockerode'
import { gateVariables } from '../../../contract/values/proxy-variables.ts'
import { messageOf } from '../../../errors.ts'
import { onAbort } from '../../../lib/abort.ts'
import { tryParseJson } from '../../../lib/json.ts'
import { type CommandCapture, createCommandCapture, createLineFeed, feedLines } from '../../../lib/line-reader.ts'
import { createOutputTail, type OutputTail } from '../../../lib/output-tail.ts'
import type { AttemptKey, MountedSecret, WorkloadLimits } from '../../../ports/tasks/workloads.ts'
import type { NetworkGate } from '../../../ports/workspaces/network-gates.ts'
import { type AttemptEnd, describeMemory, describeProcessEnd } from '../../attempts/end.ts'
import { workspaceInside } from '../../attempts/process-limits.ts'
import type { AttemptWorkspace, Workspaces } from '../../folders/workspaces.ts'
import type { CheckoutFolder } from '../attempt.ts'
import { type AttemptSink, type RunningAttempt, StartRefused } from '../attempt.ts'
import {
  type ArtifactsFolder,
  makeForContainer,
  nameTokenFile,
  type SecretFiles,
  type TokenFile,
  tokenInside,
  writeSecretFiles,
  writeTokenFile,
} from './command-files.ts'
import type { ContainerEngine } from './container-engine.ts'
import { readFrames } from './container-engine.ts'
import { describeGateContainer, startGateContainer } from './container-gate.ts'

export type ContainerCommandOptions = {
  engine: ContainerEngine
  /** Identifies the service that owns the containers: leftovers of an earlier run of it are found by this label. */
  instance: string
  workFolder: string
  outputBytes: number
  processes: number
  /** Network mode of the containers; default: the engine's. */
  network: string | undefined
}

export type ContainerCommand = {
  id: string
  key: AttemptKey
  image: string
  /** Empty: the image's own. */
  command: string[]
  args: string[]
  env: Record<string, string>
  limits: WorkloadLimits
  sink: AttemptSink
  /** Aborts a running pull. */
  signal: AbortSignal
  /** In addition to the service's own variables. */
  labels?: Record<string, string> | undefined
  /** The task's token; the command finds it in a file. */
  transactionToken?: string | undefined
  /** Absent: that of the options. */
  network?: 'none' | undefined
  /** Present: its only way out. */
  gate?: Pick<NetworkGate, 'socket'> | undefined
  /** Folders of files that it can only read. */
  secrets?: MountedSecret[] | undefined
  /** Its path inside the container. */
  artifactsDir?: string | undefined
  /** What is in /workspace; it begins in the folder `subPath` of it. Absent: there is no such folder. */
  checkout?: Pick<CheckoutFolder, 'fill' | 'subPath'> | undefined
  workspaces: Pick<Workspaces, 'openForOthers'>
}

export const containerLabels = { taskUid: 'svc.ai/task-uid', attempt: 'svc.ai/attempt', instance: 'svc.ai/instance' }

/** HTTP status of the engine's answer. */
function statusOf(error: unknown): number | undefined {
  return (error as { statusCode?: number }).statusCode
}

/** The engine's own message, without what dockerode adds. */
export function engineMessageOf(error: unknown): string {
  const json = (error as { json?: { message?: string } }).json
  return json?.message ?? messageOf(error)
}

async function isPresent(docker: Docker, image: string): Promise<boolean> {
  try {
    await docker.getImage(image).inspect()
    return true
  } catch (error) {
    if (statusOf(error) !== 404) throw error
    return false
  }
}

/** A pull answers 200 at once; its outcome follows line by line. */
function readPullError(line: string): string | undefined {
  return (tryParseJson(line) as { error?: string } | null | undefined)?.error
}

async function pullImage(docker: Docker, image: string, signal: AbortSignal): Promise<void> {
  const progress = (await docker.pull(image, { abortSignal: signal })) as Readable
  const removeListener = onAbort(signal, () => void progress.destroy())
  let problem: string | undefined
  const take = (lines: string[]) => {
    for (const line of lines) problem = readPullError(line) ?? problem
  }
  await feedLines(progress, createLineFeed(take)).finally(removeListener)
  signal.throwIfAborted()
  if (problem !== undefined) throw new Error(problem)
}

/** Pulls the image when it is missing. */
export async function ensureImage(docker: Docker, image: string, signal: AbortSignal): Promise<void> {
  if (await isPresent(docker, image)) return
  try {
    await pullImage(docker, image, signal)
  } catch (error) {
    throw new StartRefused('ImageUnavailable', `The image ${image} could not be pulled: ${engineMessageOf(error)}`)
  }
}

/** Options of every container, whatever it runs. */
export function hardenContainer(limits: { memoryBytes?: number; cpu?: number; processes: number }): Docker.HostConfig {
  return {
    ReadonlyRootfs: true,
    CapDrop: ['ALL'],
    SecurityOpt: ['no-new-privileges'],
    PidsLimit: limits.processes,
    Ulimits: [
      { Name: 'nofile', Soft: 1024, Hard: 1024 },
      { Name: 'nproc', Soft: 1024, Hard: 1024 },
    ],
    Tmpfs: { '/tmp': 'rw,nosuid,nodev,size=256m,mode=1777' },
    // The output is read as it arrives: a second copy in the engine would have no limit.
    LogConfig: { Type: 'none', Config: {} },
    Memory: limits.memoryBytes,
    MemorySwap: limits.memoryBytes,
    NanoCpus: limits.cpu && Math.round(limits.cpu * 1e9),
  }
}

/** Its files on this machine. */
type ContainerFiles = {
  /** A git repository. */
  workspace: AttemptWorkspace | undefined
  token: TokenFile | undefined
  secrets: SecretFiles
  artifacts: ArtifactsFolder | undefined
}

/** What each container of the attempt has. */
function describeAttempt(
  options: ContainerCommandOptions,
  { image, labels, key }: ContainerCommand,
): Pick<Docker.ContainerCreateOptions, 'Image' | 'Labels'> {
  return {
    Image: image,
    Labels: {
      ...labels,
      [containerLabels.taskUid]: key.taskUid,
      [containerLabels.attempt]: String(key.attempt),
      [containerLabels.instance]: options.instance,
    },
  }
}

type ContainerNetwork = { mode: string | undefined; variables: Readonly<Record<string, string>> }

function describeContainer(
  options: ContainerCommandOptions,
  command: ContainerCommand,
  {
    token,
    secrets,
    artifacts,
    workspace,
    network: { mode, variables },
  }: ContainerFiles & { network: ContainerNetwork },
): Docker.ContainerCreateOptions {
  const network = mode === undefined ? {} : { NetworkMode: mode }
  const shown = [...(token === undefined ? [] : [{ source: token.path, target: tokenInside }]), ...secrets.binds]
  const binds = [
    ...shown.map(({ source, target }) => `${source}:${target}:ro`),
    ...(workspace === undefined ? [] : [`${workspace.folder}:${workspaceInside}:rw`]),
    ...(artifacts === undefined ? [] : [`${artifacts.path}:${command.artifactsDir}:rw`]),
  ]
  const env = { ...variables, ...command.env, ...nameTokenFile(token && tokenInside) }
  return {
    ...describeAttempt(options, command),
    name: command.id,
    ...(workspace === undefined ? {} : { WorkingDir: posix.join(workspaceInside, command.checkout?.subPath ?? '') }),
    ...(command.command.length > 0 ? { Entrypoint: command.command } : {}),
    ...(command.args.length > 0 ? { Cmd: command.args } : {}),
    Env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
    HostConfig: { ...hardenContainer({ ...command.limits, processes: options.processes }), ...network, Binds: binds },
  }
}

async function captureFrames(source: NodeJS.ReadableStream, capture: CommandCapture): Promise<void> {
  for await (const frame of readFrames(source as AsyncIterable<Buffer>)) await capture[frame.stream].write(frame.chunk)
  await capture.stdout.end()
  await capture.stderr.end()
}

type Run = {
  container: Docker.Container
  captured: Promise<void>
  capture: CommandCapture
  command: ContainerCommand
  workspace: AttemptWorkspace | undefined
}

async function awaitEnd(run: Run, exited: Promise<{ StatusCode: number }>): Promise<AttemptEnd> {
  const { StatusCode: code } = await exited
  await run.captured
  const { State: state } = await run.container.inspect()
  const { memoryBytes } = run.command.limits
  // Podman with cgroup v1 does not always report it; only the kernel kills here, or a stop, which has its own reason.
  const wasKilled = code === 137 && memoryBytes !== undefined
  const outOfMemory = state.OOMKilled || wasKilled ? describeMemory(memoryBytes) : undefined
  return describeProcessEnd({
    exit: { code, signal: null },
    what: 'The container',
    errorTail: run.capture.errorTail(),
    outOfMemory,
    outOfDisk: await run.workspace?.explainFull(),
  })
}

/** A container that is gone or has ended is the desired state. */
async function ignoreAbsence(work: Promise<unknown>): Promise<void> {
  try {
    await work
  } catch (error) {
    // Podman answers 500 where Docker answers 409.
    const isOver =
      [304, 404, 409].includes(statusOf(error) ?? 0) || /container state improper/.test(engineMessageOf(error))
    if (!isOver) throw error
  }
}

/** Killed first: Podman's forced removal waits ten seconds after TERM. */
export async function removeContainer(container: Docker.Container): Promise<void> {
  await ignoreAbsence(container.kill())
  await ignoreAbsence(container.remove({ force: true, v: true }))
}

async function runContainer(
  container: Docker.Container,
  command: ContainerCommand,
  { tail, workspace }: { tail: OutputTail; workspace: AttemptWorkspace | undefined },
): Promise<Omit<RunningAttempt, 'release'>> {
  const capture = createCommandCapture(tail, command.sink)
  // Attached and awaited before the start, so that nothing of a quick command is missed.
  const source = await container.attach({ stream: true, stdout: true, stderr: true })
  const captured = captureFrames(source, capture)
  captured.catch(() => void ignoreAbsence(container.kill()))
  await container.start()
  workspace?.guard(() => void ignoreAbsence(container.kill()))
  const ended = awaitEnd({ container, captured, capture, command, workspace }, container.wait()).catch(
    (error: unknown): AttemptEnd => ({
      ok: false,
      reason: 'NoEngine',
      message: `The container was lost to the service: ${engineMessageOf(error)}`,
    }),
  )
  return {
    ended,
    terminate: () => ignoreAbsence(container.kill({ signal: 'SIGTERM' })),
    kill: () => ignoreAbsence(container.kill({ signal: 'SIGKILL' })),
    readOutput: tail.read,
  }
}

const forwarderLimits = { memoryBytes: 256 * 1024 * 1024, processes: 64 }

/** Leads the container to its gate, where it has one; what removes that again is added to `left`. */
async function openNetwork(
  options: ContainerCommandOptions,
  command: ContainerCommand,
  { docker, left }: { docker: Docker; left: AsyncDisposableStack },
): Promise<ContainerNetwork> {
  const { gate } = command
  if (gate === undefined) return { mode: command.network ?? options.network, variables: {} }
  const name = `${command.id}-gate`
  const container = { ...describeAttempt(options, command), name, HostConfig: hardenContainer(forwarderLimits) }
  const created = await docker.createContainer(await describeGateContainer(gate, container))
  left.defer(() => removeContainer(created))
  await startGateContainer(created)
  return { mode: `container:${created.id}`, variables: gateVariables }
}

async function createAndRun(
  options: ContainerCommandOptions,
  command: ContainerCommand,
  docker: Docker,
): Promise<RunningAttempt> {
  await ensureImage(docker, command.image, command.signal)
  const { workFolder } = options
  // All that it leaves, the last made removed first.
  const left = new AsyncDisposableStack()
  const removeLater = <T extends { remove(): Promise<void> } | undefined>(made: T): T => {
    left.defer(async () => made?.remove())
    return made
  }
  try {
    const { id, checkout } = command
    const tail = removeLater(createOutputTail(join(workFolder, `${id}.stdout`), options.outputBytes))
    const token = removeLater(await writeTokenFile({ workFolder, mode: 0o444 }, id, command.transactionToken))
    const secrets = removeLater(await writeSecretFiles({ workFolder, isShared: true }, id, command.secrets ?? []))
    const artifacts = removeLater(await makeForContainer(workFolder, id, command.artifactsDir))
    const workspace = removeLater(
      checkout && (await command.workspaces.openForOthers(`${id}.checkout`, command.limits)),
    )
    if (workspace !== undefined) await checkout?.fill(workspace.folder)
    const network = await openNetwork(options, command, { docker, left })
    const description = describeContainer(options, command, { token, secrets, artifacts, workspace, network })
    const container = await docker.createContainer(description)
    left.defer(() => removeContainer(container))
    const running = await runContainer(container, command, { tail, workspace })
    return { ...running, readLeftFiles: artifacts?.read, release: () => left.disposeAsync() }
  } catch (error) {
    await left.disposeAsync().catch(() => undefined)
    throw error
  }
}

/** Starts the container. Rejects with StartRefused: NoEngine, ImageUnavailable, StartFailed. */
export async function startContainerCommand(
  options: ContainerCommandOptions,
  command: ContainerCommand,
): Promise<RunningAttempt> {
  const engine = await options.engine.find()
  if (!engine.available) {
    throw new StartRefused(
      'NoEngine',
      `The image ${command.image} needs a container engine. ${engine.reason}: ${engine.suggestion}.`,
    )
  }
  try {
    return await createAndRun(options, command, engine.docker)
  } catch (error) {
    if (error instanceof StartRefused) throw error
    if (statusOf(error) === undefined) options.engine.forget()
    throw new StartRefused('StartFailed', `The container could not be started: ${engineMessageOf(error)}`)
  }
}

/** Removes the containers that an earlier run of this service left. Does nothing without an engine. */
export async function reapContainers(options: Pick<ContainerCommandOptions, 'engine' | 'instance'>): Promise<number> {
  const engine = await options.engine.find()
  if (!engine.available) return 0
  const filters = { label: [`${containerLabels.instance}=${options.instance}`] }
  const left = await engine.docker.listContainers({ all: true, filters })
  for (const { Id: id } of left) await removeContainer(engine.docker.getContainer(id))
  return left.length
}
