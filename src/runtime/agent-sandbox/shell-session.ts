// A shell that stays in a container for a while and runs one script after the other: to start a program there costs the
// cluster more than most scripts do.
import { PassThrough } from 'node:stream'
import type { ApiConnection } from '../../cluster/api/connection.ts'
import { WorkspaceError } from '../../ports/workspaces/execution-workspaces.ts'
import { execInPod } from '../code-pods/exec.ts'
import { packTurn, type SandboxPlace, type ShellAnswer, type ShellScript, sessionProgram } from './shell.ts'

export type ShellSession = {
  isBusy(): boolean
  /**
   * One at a time. Undefined when the shell has ended before it answered: it is not known how far the script came. Rejects
   * with a WorkspaceError or as `execInPod` does; the session is over then, too.
   */
  run(script: ShellScript): Promise<ShellAnswer | undefined>
  /** What is under way still ends. */
  close(): void
}

export type SessionParts = {
  connection: ApiConnection
  place: SandboxPlace
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

const longestHeader = 200
export const stderrBytes = 4096

function garbled(what: string): WorkspaceError {
  return new WorkspaceError('ProtocolError', `the workspace answers ${what}`)
}

export function describeLate({ timeoutMs }: ShellScript): WorkspaceError {
  return new WorkspaceError('ProviderUnavailable', `the workspace has not answered within ${timeoutMs / 1000} s`)
}

/** Undefined while the first line has not come. */
function readHeader({ chunks, script }: Turn): Header | undefined {
  const bytes = Buffer.concat(chunks)
  const end = bytes.indexOf('\n')
  if (end < 0 && bytes.length <= longestHeader) return undefined
  const words = /^answer (\d+) (\d+) (\d+)$/.exec(bytes.toString('latin1', 0, Math.max(end, 0)))
  if (words === null) throw garbled(`what nobody asked: ${bytes.toString('utf8', 0, longestHeader)}`)
  const [code = 0, stdout = 0, stderr = 0] = words.slice(1).map(Number)
  if (stdout > script.maxBytes) throw garbled(`with more than ${script.maxBytes} bytes`)
  return { start: end + 1, code, stdout, stderr }
}

/** Undefined while some of it has not come. */
function readAnswer(turn: Turn): ShellAnswer | undefined {
  turn.header ??= readHeader(turn)
  if (turn.header === undefined) return undefined
  const { start, code, stdout, stderr } = turn.header
  const middle = start + stdout
  if (turn.size > middle + stderr) throw garbled('with more than it says')
  if (turn.size < middle + stderr) return undefined
  const bytes = Buffer.concat(turn.chunks)
  return { code, stdout: bytes.subarray(start, middle), stderr: bytes.toString('utf8', middle).slice(0, stderrBytes) }
}

export function openSession({ connection, place, idleMs, onEnd }: SessionParts): ShellSession {
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
    ...place,
    argv,
    input,
    endsInput: true,
    onStdout(chunk: Buffer) {
      if (turn === undefined) throw garbled('without being asked')
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
