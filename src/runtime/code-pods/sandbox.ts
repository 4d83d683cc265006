// The Sandbox port on a cluster: each command gets its own, unused pod (BUILT-024).

import type { ApiConnection } from '../../cluster/api/connection.ts'
import { isSvcError, messageOf, SvcError } from '../../errors.ts'
import type { Sandbox, SandboxAvailability, SandboxCommand, SandboxOutcome } from '../../ports/workspaces/sandbox.ts'
import { readExit } from '../attempts/exit.ts'
import { createHeadBuffer } from '../attempts/sandbox/captured-output.ts'
import { checkFileNames } from '../attempts/sandbox/file-names.ts'
import { composeOutcome, limitTime } from '../attempts/sandbox/outcome.ts'
import { containerName } from '../jobs/names.ts'
import { makeSandboxPolicy } from '../jobs/network-policy.ts'
import { networkPolicies, type Pod } from '../jobs/objects.ts'
import { collectChanges } from './carried-files.ts'
import { execInPod } from './exec.ts'
import { makeLaunch } from './launch.ts'
import { createSandboxPool, type SandboxPool, type SandboxPoolOptions } from './pool.ts'

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
  try {
    await api.request({ verb: 'create', collection: networkPolicies, namespace, body })
  } catch (error) {
    if (!isSvcError(error, 'AlreadyExists')) throw error
  }
}

/** The deny-all policy is created before the first pod; without it no code runs. */
async function openPool(options: KubernetesSandboxOptions & { memoryBytes: number; diskBytes: number }) {
  await createPolicy(options)
  return createSandboxPool(options)
}

function checkLimits({ limits, workspace }: SandboxCommand, most: { memoryBytes: number; diskBytes: number }): void {
  if (workspace !== undefined) {
    throw new SvcError('InvalidRequest', 'a folder of this machine cannot be used in a pod; hand over files instead')
  }
  if (limits.memoryBytes <= most.memoryBytes && limits.diskBytes <= most.diskBytes) return
  const words = `${most.memoryBytes} bytes of memory and ${most.diskBytes} of disk`
  throw new SvcError('InvalidRequest', `a sandbox has at most ${words}; ask for less`)
}

export function createKubernetesSandbox(given: KubernetesSandboxOptions): KubernetesSandbox {
  const options = { memoryBytes: gibibyte, diskBytes: gibibyte / 4, ...given }
  const { connection, languages = ['python', 'javascript', 'bash'] } = options
  let opened: Promise<SandboxPool> | undefined
  const open = () => {
    opened ??= openPool(options).catch((error: unknown) => {
      opened = undefined
      throw error
    })
    return opened
  }

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
