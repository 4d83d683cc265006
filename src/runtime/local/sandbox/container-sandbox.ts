// Runs untrusted commands in a container where bubblewrap is not available: no network, read-only root, limits.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type Docker from 'dockerode'
import { messageOf, SvcError } from '../../../errors.ts'
import { removeTree } from '../../../lib/tree-removal.ts'
import type { SandboxCommand, SandboxOutcome } from '../../../ports/workspaces/sandbox.ts'
import { readExit } from '../../attempts/end.ts'
import { baseEnvironment, limitProcess, workspaceInside } from '../../attempts/process-limits.ts'
import { checkFileNames, composeOutcome, createHeadBuffer, limitTime } from '../../attempts/sandbox-run.ts'
import { watchGrowth } from '../../folders/size.ts'
import { makeWorkFolder } from '../../folders/work-folder.ts'
import { StartRefused } from '../attempt.ts'
import {
  containerLabels,
  engineMessageOf,
  ensureImage,
  hardenContainer,
  removeContainer,
} from '../commands/container-command.ts'
import { readFrames } from '../commands/container-engine.ts'

export type ContainerSandboxOptions = {
  docker: Docker
  /** Must contain sh, and the languages that are to run. */
  image: string
  instance: string
  /** A folder that the engine can see too (it runs on this machine). */
  scratchRoot: string
  nextName: () => string
}

const inputInside = '/run/svc/input'

/** Files reach the container through their own folder and are put into place from inside, as in bubblewrap. */
async function writeInput(folder: string, command: SandboxCommand): Promise<void> {
  await mkdir(folder, { mode: 0o755 })
  const contents = Object.values(command.files ?? {})
  for (const [index, content] of contents.entries())
    await writeFile(join(folder, String(index)), content, { mode: 0o644 })
  for (const [index, content] of Object.values(command.readOnlyFiles ?? {}).entries())
    await writeFile(join(folder, `read-only-${index}`), content, { mode: 0o644 })
  await writeFile(join(folder, 'stdin'), command.stdin ?? '', { mode: 0o644 })
}

function composeCommand(command: SandboxCommand): string[] {
  const files = Object.keys(command.files ?? {}).map((target, index) => ({ source: `${inputInside}/${index}`, target }))
  const limits = { cpuSeconds: command.limits.cpuSeconds, fileBytes: command.limits.diskBytes, openFiles: 1024 }
  const limited = limitProcess(command.argv, limits, files)
  // Not as the first process of the container, which the kernel exempts from the signal of the CPU limit.
  return ['/bin/sh', '-c', `"$@" < ${inputInside}/stdin; exit $?`, 'sh', ...limited]
}

function describeSandbox(
  options: ContainerSandboxOptions,
  command: SandboxCommand,
  input: string,
): Docker.ContainerCreateOptions {
  const { limits } = command
  const hardened = hardenContainer({ memoryBytes: limits.memoryBytes, processes: limits.processes })
  const disk = `rw,nosuid,nodev,size=${limits.diskBytes},mode=1777`
  const workspace = command.workspace === undefined ? [] : [`${command.workspace}:${workspaceInside}:rw`]
  const readOnly = Object.keys(command.readOnlyFiles ?? {}).map(
    (path, index) => `${input}/read-only-${index}:${path}:ro`,
  )
  return {
    Image: options.image,
    Entrypoint: composeCommand(command),
    WorkingDir: workspaceInside,
    Env: Object.entries({ ...baseEnvironment(workspaceInside), ...command.env }).map(
      ([name, value]) => `${name}=${value}`,
    ),
    Labels: { [containerLabels.instance]: options.instance },
    NetworkDisabled: true,
    HostConfig: {
      ...hardened,
      NetworkMode: 'none',
      Binds: [`${input}:${inputInside}:ro`, ...readOnly, ...workspace],
      Tmpfs: { '/tmp': disk, ...(command.workspace === undefined ? { [workspaceInside]: disk } : {}) },
    },
  }
}

async function runToEnd(container: Docker.Container, command: SandboxCommand, signal: AbortSignal) {
  const { limits } = command
  const buffers = { stdout: createHeadBuffer(limits.outputBytes), stderr: createHeadBuffer(limits.outputBytes) }
  const source = await container.attach({ stream: true, stdout: true, stderr: true })
  await container.start()
  const kill = () => void container.kill().catch(() => undefined)
  const time = limitTime(limits.timeoutMs, signal, kill)
  const growth = await watchGrowth(command.workspace, limits.diskBytes, kill)
  try {
    for await (const { stream, chunk } of readFrames(source as AsyncIterable<Buffer>)) buffers[stream].write(chunk)
    const { StatusCode: code } = (await container.wait()) as { StatusCode: number }
    const exit = readExit(code, null)
    // The engine does not always report the cause: within a container only the kernel kills, and only for memory.
    const memoryKills = exit.signal === 'SIGKILL' ? 1 : 0
    const [stdout, stderr] = [buffers.stdout.read(), buffers.stderr.read()]
    return composeOutcome({
      exit,
      stdout,
      stderr,
      events: { memoryKills, refusedForks: 0 },
      timedOut: time.timedOut(),
      wasOverfull: growth.wasOver(),
    })
  } finally {
    time.stop()
    growth.stop()
  }
}

async function runWithInput(
  options: ContainerSandboxOptions,
  command: SandboxCommand,
  run: { input: string; signal: AbortSignal },
): Promise<SandboxOutcome> {
  await ensureImage(options.docker, options.image, run.signal)
  const container = await options.docker.createContainer(describeSandbox(options, command, run.input))
  try {
    const outcome = await runToEnd(container, command, run.signal)
    run.signal.throwIfAborted()
    return outcome
  } finally {
    await removeContainer(container).catch(() => undefined)
  }
}

/** NotConfigured when the image is not available: the user has to name another one, or allow it to be pulled. */
export async function runInContainer(
  options: ContainerSandboxOptions,
  command: SandboxCommand,
  signal: AbortSignal,
): Promise<SandboxOutcome> {
  checkFileNames(Object.keys(command.files ?? {}))
  signal.throwIfAborted()
  const folder = await makeWorkFolder(options.scratchRoot, options.nextName())
  try {
    const input = join(folder, 'input')
    await writeInput(input, command)
    return await runWithInput(options, command, { input, signal })
  } catch (error) {
    if (error instanceof StartRefused)
      throw new SvcError('NotConfigured', `${messageOf(error)}; install bubblewrap instead.`)
    if (signal.aborted || error instanceof SvcError) throw error
    throw new SvcError('Internal', `The sandbox container failed: ${engineMessageOf(error)}`, { cause: error })
  } finally {
    await removeTree(folder)
  }
}
