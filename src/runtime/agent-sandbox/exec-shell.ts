// The shell over the exec subresource of the API server, with the rights of the service. It stays in a container for a
// while and runs one script after the other: to start a program there costs the cluster more than most scripts do.
import { PassThrough } from 'node:stream'
import type { ApiConnection } from '../../cluster/api/connection.ts'
import { orAbsent } from '../../cluster/api/failures.ts'
import type { KubernetesApi } from '../../cluster/api.ts'
import { isSvcError, messageOf } from '../../errors.ts'
import { WorkspaceError } from '../../ports/workspaces/execution-workspaces.ts'
import { execInPod } from '../code-pods/exec.ts'
import { type Pod, pods } from '../jobs/objects.ts'
import { explainClusterFault } from './faults.ts'
import {
  createAnswerBuffer,
  packScript,
  packTurn,
  type SandboxAddress,
  type SandboxShell,
  type ShellAnswer,
  type ShellScript,
  sessionProgram,
} from './shell.ts'

/** Longer than the pauses between two looks at a command. */
const defaultIdleMs = 5000

export type ExecShellParts = {
  api: KubernetesApi
  connection: ApiConnection
  /** How long a shell that has nothing to do stays in its container; 5 s. */
  idleMs?: number
}

function isPodOver({ metadata, status }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined || status?.phase === 'Succeeded' || status?.phase === 'Failed'
}

/** Nothing was run, or its connection was lost: is there still something to connect to? */
async function explainLoss(api: KubernetesApi, { namespace, pod: name, container }: SandboxAddress, error: unknown) {
  try {
    const pod = await orAbsent(api.request<Pod>({ verb: 'get', collection: pods, namespace, name, tries: 1 }))
    const found = pod?.status?.containerStatuses?.find((each) => each.name === container)
    if (pod === undefined || isPodOver(pod) || found?.state?.running === undefined) {
      return new WorkspaceError('WorkspaceLost', `pod ${namespace}/${name} of the sandbox is gone`, { cause: error })
    }
  } catch (fault) {
    return explainClusterFault(fault)
  }
  if (isSvcError(error, 'Internal')) {
    const message = `programs cannot be run in the image of the sandbox, which needs /bin/sh: ${messageOf(error)}`
    return new WorkspaceError('TemplateIncompatible', message, { cause: error })
  }
  const message = `pod ${namespace}/${name} of the sandbox cannot be reached: ${messageOf(error)}`
  return new WorkspaceError('ProviderUnavailable', message, { cause: error })
}

async function explain(api: KubernetesApi, address: SandboxAddress, error: unknown): Promise<Error> {
  if (error instanceof WorkspaceError) return error
  if (isSvcError(error, 'Unavailable') || isSvcError(error, 'Internal')) return explainLoss(api, address, error)
  return new WorkspaceError('ProtocolError', `the API server cannot be understood: ${messageOf(error)}`)
}

async function exec(connection: ApiConnection, address: SandboxAddress, script: ShellScript) {
  const ending = new AbortController()
  const stdout = createAnswerBuffer(script.maxBytes, (error) => ending.abort(error))
  let stderr = ''
  const { argv, input } = packScript(script)
  const late = setTimeout(() => ending.abort(describeLate(script)), script.timeoutMs)
  const command = {
    ...address,
    argv: ['/bin/sh', '-c', ...argv],
    input,
    onStdout: stdout.take,
    onStderr(chunk: Buffer) {
      stderr = (stderr + chunk.toString('utf8')).slice(0, stderrBytes)
    },
  }
  try {
    const code = await execInPod(connection, command, ending.signal)
    return { code, stdout: stdout.read(), stderr }
  } finally {
    clearTimeout(late)
  }
}

export function createExecShell({ api, connection, idleMs = defaultIdleMs }: ExecShellParts): SandboxShell {
  const sessions = new Map<string, ShellSession>()

  function open(key: string, address: SandboxAddress): ShellSession {
    const onEnd = () => {
      if (sessions.get(key) === session) sessions.delete(key)
    }
    const session = openShellSession({ connection, address, idleMs, onEnd })
    sessions.set(key, session)
    return session
  }

  async function runThere(address: SandboxAddress, script: ShellScript) {
    const key = [address.namespace, address.pod, address.container].join('/')
    const known = sessions.get(key)
    if (script.isAlone) known?.close()
    const isShared = !script.isAlone && known?.isBusy() !== true
    const answer = isShared ? await (known ?? open(key, address)).run(script) : undefined
    // Programs in the container may end a shell that stays there; a script can be run again.
    return answer ?? exec(connection, address, script)
  }

  return {
    async run(address, script) {
      try {
        return await runThere(address, script)
      } catch (error) {
        throw await explain(api, address, error)
      }
    },
  }
}

type ShellSession = {
  isBusy(): boolean
  /**
   * One at a time. Undefined when the shell has ended before it answered: it is not known how far the script came. Rejects
   * with a WorkspaceError or as `execInPod` does; the session is over then, too.
   */
  run(script: ShellScript): Promise<ShellAnswer | undefined>
  /** What is under way still ends. */
  close(): void
}

type SessionParts = {
  connection: ApiConnection
  address: SandboxAddress
  idleMs: number
  /** It takes nothing more; called at least once. */
  onEnd(): void
}

type Header = { start: number; code: number; stdout: number; stderr: number }

type Turn = {
  script: ShellScript
  answer: PromiseWithResolvers<ShellAnswer | undefined>
  chunks: Buffer[]
  size: number
  header?: Header
}

const maxHeaderLength = 200
const stderrBytes = 4096

function unexpected(what: string): WorkspaceError {
  return new WorkspaceError('ProtocolError', `unexpected answer from the workspace${what}`)
}

function describeLate({ timeoutMs }: ShellScript): WorkspaceError {
  return new WorkspaceError('ProviderUnavailable', `the workspace has not answered within ${timeoutMs / 1000} s`)
}

/** Undefined while the first line has not come. */
function readHeader({ chunks, script }: Turn): Header | undefined {
  const bytes = Buffer.concat(chunks)
  const end = bytes.indexOf('\n')
  if (end < 0 && bytes.length <= maxHeaderLength) return undefined
  const words = /^answer (\d+) (\d+) (\d+)$/.exec(bytes.toString('latin1', 0, Math.max(end, 0)))
  if (words === null) throw unexpected(`: ${bytes.toString('utf8', 0, maxHeaderLength)}`)
  const [code = 0, stdout = 0, stderr = 0] = words.slice(1).map(Number)
  if (stdout > script.maxBytes) throw unexpected(` of more than ${script.maxBytes} bytes`)
  return { start: end + 1, code, stdout, stderr }
}

/** Undefined while some of it has not come. */
function readAnswer(turn: Turn): ShellAnswer | undefined {
  turn.header ??= readHeader(turn)
  if (turn.header === undefined) return undefined
  const { start, code, stdout, stderr } = turn.header
  const middle = start + stdout
  if (turn.size > middle + stderr) throw unexpected(', longer than it says')
  if (turn.size < middle + stderr) return undefined
  const bytes = Buffer.concat(turn.chunks)
  return { code, stdout: bytes.subarray(start, middle), stderr: bytes.toString('utf8', middle).slice(0, stderrBytes) }
}

function openShellSession({ connection, address, idleMs, onEnd }: SessionParts): ShellSession {
  const input = new PassThrough()
  // What is written after the end is answered by nobody.
  input.on('error', () => undefined)
  const ending = new AbortController()
  let turn: Turn | undefined
  let idle: NodeJS.Timeout | undefined

  function settle(act: (answer: Turn['answer']) => void): void {
    const settled = turn
    turn = undefined
    if (settled !== undefined) act(settled.answer)
  }

  const argv = ['/bin/sh', '-c', sessionProgram]
  const command = {
    ...address,
    argv,
    input,
    endsInput: true,
    onStdout(chunk: Buffer) {
      if (turn === undefined) throw unexpected(': nothing was asked')
      turn.chunks.push(chunk)
      turn.size += chunk.length
      const answer = readAnswer(turn)
      if (answer !== undefined) settle(({ resolve }) => resolve(answer))
    },
    onStderr: () => undefined,
  }
  function close(): void {
    onEnd()
    input.end()
  }

  execInPod(connection, command, ending.signal)
    .then(() => settle(({ resolve }) => resolve(undefined)))
    .catch((error: unknown) => settle(({ reject }) => reject(error)))
    .finally(() => {
      clearTimeout(idle)
      input.destroy()
      onEnd()
    })

  return {
    isBusy: () => turn !== undefined,
    async run(script) {
      const answer = Promise.withResolvers<ShellAnswer | undefined>()
      turn = { script, answer, chunks: [], size: 0 }
      clearTimeout(idle)
      const late = setTimeout(() => ending.abort(describeLate(script)), script.timeoutMs)
      input.write(packTurn(script))
      try {
        return await answer.promise
      } finally {
        clearTimeout(late)
        idle = setTimeout(close, idleMs).unref()
      }
    },
    close,
  }
}
