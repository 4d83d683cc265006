// The Sandbox port on a cluster: each command gets its own, unused pod (BUILT-024), into which the files of the
// workspace are sent and from which its changes are read.
import type { ApiConnection } from '../../cluster/api/connection.ts'
import { unlessExists } from '../../cluster/api/failures.ts'
import { workspaceLimits } from '../../contract/api/workspaces/code-runs.ts'
import { messageOf, SvcError } from '../../errors.ts'
import { once } from '../../lib/once.ts'
import type {
  Sandbox,
  SandboxAvailability,
  SandboxChanges,
  SandboxCommand,
  SandboxOutcome,
  WorkspaceFile,
} from '../../ports/workspaces/sandbox.ts'
import { readExit } from '../attempts/end.ts'
import { checkFileNames, composeOutcome, createHeadBuffer, limitTime } from '../attempts/sandbox-run.ts'
import { makeSandboxPolicy } from '../jobs/network-policies.ts'
import { containerName, networkPolicies, type Pod } from '../jobs/objects.ts'
import { captureInPod, execInPod } from './exec.ts'
import { makeLaunch } from './pod.ts'
import { createSandboxPool, type SandboxPool, type SandboxPoolOptions } from './pool.ts'
import { unpackFiles } from './tar.ts'

export type KubernetesSandboxOptions = Omit<SandboxPoolOptions, 'memoryBytes' | 'diskBytes'> & {
  connection: ApiConnection
  /** Languages of the image; python, javascript and bash. */
  languages?: string[]
  /** The most that a command may ask for; 1 GiB and 256 MiB. */
  memoryBytes?: number
  diskBytes?: number
}

export type KubernetesSandbox = Sandbox & { close(): Promise<void> }

const gibibyte = 1024 ** 3

const stopped = Symbol('stopped')

async function runInPod(
  connection: ApiConnection,
  pod: Pod,
  command: SandboxCommand,
  signal: AbortSignal,
): Promise<SandboxOutcome> {
  const { limits } = command
  const { argv, input } = makeLaunch(command)
  const buffers = { stdout: createHeadBuffer(limits.outputBytes), stderr: createHeadBuffer(limits.outputBytes) }
  const ending = new AbortController()
  const time = limitTime(limits.timeoutMs, signal, () => ending.abort(stopped))
  const { namespace, name } = pod.metadata
  const program = { namespace, pod: name, container: containerName, argv, input }
  const streams = { onStdout: buffers.stdout.write, onStderr: buffers.stderr.write }
  const exit = await execInPod(connection, { ...program, ...streams }, ending.signal)
    .then((code) => readExit(code, null))
    .catch((error: unknown) => {
      if (error === stopped) return { code: null, signal: 'SIGKILL' }
      throw error
    })
    .finally(time.stop)
  signal.throwIfAborted()
  // Within a sandbox that was not stopped only the kernel kills, and only for memory.
  const memoryKills = exit.signal === 'SIGKILL' ? 1 : 0
  const [stdout, stderr] = [buffers.stdout.read(), buffers.stderr.read()]
  const events = { memoryKills, refusedForks: 0 }
  const outcome = composeOutcome({ exit, stdout, stderr, events, timedOut: time.timedOut(), wasOverfull: false })
  if (command.workspaceFiles === undefined) return outcome
  return { ...outcome, ...(await collectChanges(connection, pod, command.workspaceFiles, signal)) }
}

async function createPolicy({ api, namespace, instance }: KubernetesSandboxOptions): Promise<void> {
  const body = makeSandboxPolicy(namespace, instance)
  await unlessExists(api.request({ verb: 'create', collection: networkPolicies, namespace, body }))
}

/** The deny-all policy is created before the first pod; without it no code runs. */
async function openPool(options: KubernetesSandboxOptions & { memoryBytes: number; diskBytes: number }) {
  await createPolicy(options)
  return createSandboxPool(options)
}

function checkLimits({ limits, workspace }: SandboxCommand, max: { memoryBytes: number; diskBytes: number }): void {
  if (workspace !== undefined) {
    throw new SvcError('InvalidRequest', 'a folder of this machine cannot be used in a pod; hand over files instead')
  }
  if (limits.memoryBytes <= max.memoryBytes && limits.diskBytes <= max.diskBytes) return
  const words = `${max.memoryBytes} bytes of memory and ${max.diskBytes} of disk`
  throw new SvcError('InvalidRequest', `a sandbox has at max ${words}; ask for less`)
}

export function createKubernetesSandbox(settings: KubernetesSandboxOptions): KubernetesSandbox {
  const options = { memoryBytes: gibibyte, diskBytes: gibibyte / 4, ...settings }
  const { connection, languages = ['python', 'javascript', 'bash'] } = options
  let opened: Promise<SandboxPool> | undefined
  const open = once(() => {
    opened = openPool(options)
    return opened
  })

  async function check(): Promise<SandboxAvailability> {
    try {
      await open()
      return { available: true, kind: 'pod', languages }
    } catch (error) {
      const suggestion = 'let the service make pods and network policies in its sandbox namespace'
      return { available: false, reason: `no sandbox can be created: ${messageOf(error)}`, suggestion }
    }
  }

  return {
    check,
    async run(command, signal) {
      checkFileNames(Object.keys(command.files ?? {}))
      checkLimits(command, options)
      signal.throwIfAborted()
      const pool = await open()
      const pod = await pool.take(signal)
      try {
        return await runInPod(connection, pod, command, signal)
      } finally {
        await pool.giveBack(pod)
      }
    },
    close: async () => (await opened?.catch(() => undefined))?.close(),
  }
}

const collectTimeoutMs = 10_000
/** Headers of the archive, for files and folders. */
const archiveLimit = workspaceLimits.bytes + 2 * workspaceLimits.files * 1024

/** Ends whatever still runs there first, so that nothing is interrupted in the middle of a write. */
const collectScript =
  'kill -9 -1 2> /dev/null; exec tar -c -C /workspace --format=ustar --hard-dereference --owner=0 --group=0 .'

type Collected = { changes: SandboxChanges } | { changesLost: string }

function lose(cause: string): Collected {
  return { changesLost: cause }
}

function compare(before: WorkspaceFile[], after: WorkspaceFile[]): SandboxChanges {
  const present = new Set(after.map(({ path }) => path))
  const sent = new Map(before.map(({ path, bytes }) => [path, bytes]))
  return {
    written: after.filter(({ path, bytes }) => !Buffer.from(sent.get(path) ?? []).equals(bytes) || !sent.has(path)),
    removed: before.map(({ path }) => path).filter((path) => !present.has(path)),
  }
}

function judge(before: WorkspaceFile[], archive: Buffer): Collected {
  const after = unpackFiles(archive)
  const size = after.reduce((sum, { bytes }) => sum + bytes.length, 0)
  if (size <= workspaceLimits.bytes && after.length <= workspaceLimits.files) return { changes: compare(before, after) }
  return lose(tooMuch)
}

const tooMuch = `afterwards there were more than ${workspaceLimits.files} files or ${workspaceLimits.bytes / 1024 ** 2} MiB`
const full = Symbol('more than the limit')

/** The command's changes to the files; only rejects when the caller's signal aborts. */
async function collectChanges(
  connection: ApiConnection,
  pod: Pod,
  before: WorkspaceFile[],
  signal: AbortSignal,
): Promise<Collected> {
  const { namespace, name } = pod.metadata
  const program = { namespace, pod: name, container: containerName, argv: ['/bin/sh', '-c', collectScript] }
  const until = AbortSignal.any([signal, AbortSignal.timeout(collectTimeoutMs)])
  try {
    const captured = await captureInPod(connection, program, { maxBytes: archiveLimit, tooMuch: full, signal: until })
    if (captured.code !== 0) return lose(`they could not be read: ${captured.complaint}`)
    return judge(before, captured.stdout)
  } catch (error) {
    signal.throwIfAborted()
    return lose(error === full ? tooMuch : `they could not be read: ${messageOf(error)}`)
  }
}
