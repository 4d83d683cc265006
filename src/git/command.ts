// The one module that starts git: without a network, configuration, hooks or helpers of anybody.
import { spawn } from 'node:child_process'
import type { Duplex, Readable } from 'node:stream'
import { onAbort } from '../lib/abort.ts'
import { explainGit, missingGit } from './faults.ts'

/** Speaks git's protocol with a command; each side ends what it writes on its own. */
export type Remote = (pipe: Duplex) => Promise<void>

export type GitCommand = {
  args: string[]
  gitDir: string
  workTree?: string
  input?: Buffer | string
  env?: Record<string, string>
  /** What the command finds at the address `remoteAddress`. */
  remote?: Remote
  /** Takes the output instead of returning it. */
  onOutput?: (chunk: Buffer) => void
  /** Exit codes that are no failure; default: 0. */
  codes?: number[]
  signal: AbortSignal
}

export type GitResult = { code: number; stdout: Buffer; stderr: string }

/** git-remote-fd(1): the third descriptor, a socket that leads to `remote`. */
export const remoteAddress = 'fd::3'

/** Larger files are neither held in memory nor compared line by line. */
const bigFile = '32m'

const settings = {
  'protocol.allow': 'never',
  'protocol.fd.allow': 'always',
  'core.hooksPath': '/dev/null',
  'core.fsmonitor': 'false',
  'core.untrackedCache': 'false',
  'core.attributesFile': '/dev/null',
  'core.excludesFile': '/dev/null',
  'core.alternateRefsCommand': 'true',
  'core.protectHFS': 'true',
  'core.protectNTFS': 'true',
  'core.safecrlf': 'false',
  'core.quotePath': 'true',
  'core.bigFileThreshold': bigFile,
  'submodule.recurse': 'false',
  'fetch.recurseSubmodules': 'false',
  'push.recurseSubmodules': 'no',
  'push.gpgSign': 'false',
  'commit.gpgSign': 'false',
  'credential.helper': '',
  'gc.auto': '0',
  'maintenance.auto': 'false',
  'fetch.writeCommitGraph': 'false',
  'fetch.unpackLimit': '1',
  'diff.external': '',
  'advice.detachedHead': 'false',
}
const settingArgs = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])

/** Where git and what it starts are looked up. */
export const gitPath = '/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin'

function environment(gitDir: string, extra: Record<string, string>): Record<string, string> {
  return {
    PATH: gitPath,
    LC_ALL: 'C',
    HOME: gitDir,
    GIT_DIR: gitDir,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    ...extra,
  }
}

const maxOutputBytes = 256 * 1024 ** 2
const maxErrorBytes = 16_384

/** The end of what is read, up to a limit. */
function collect(stream: Readable, limit: number): { read(): Buffer } {
  const parts: Buffer[] = []
  let size = 0
  stream.on('data', (chunk: Buffer) => {
    if (size < limit) parts.push(chunk.subarray(0, limit - size))
    size += chunk.length
  })
  return { read: () => Buffer.concat(parts) }
}

function start(command: GitCommand) {
  const { args, gitDir, workTree, env = {}, remote } = command
  const folders: Record<string, string> = workTree === undefined ? {} : { GIT_WORK_TREE: workTree }
  const child = spawn('git', ['--no-pager', ...settingArgs, ...args], {
    cwd: workTree ?? gitDir,
    env: environment(gitDir, { ...folders, ...env }),
    // A group of its own, so that the programs it starts end with it.
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', ...(remote === undefined ? [] : ['pipe' as const])],
  })
  const [stdin, stdout, stderr, pipe] = child.stdio as unknown as [Duplex, Readable, Readable, Duplex?]
  // git ends its side of a push before it reads the answer.
  if (pipe !== undefined) pipe.allowHalfOpen = true
  // Whoever ends first closes them: the other side's error says nothing that the exit code does not.
  for (const stream of [stdin, pipe]) stream?.on('error', () => undefined)
  stdin.end(command.input)
  return { child, stdout, stderr, pipe }
}

function stopGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

/** Runs git to its end. CheckoutError when it fails; the reason of the signal; or what `remote` throws. */
export async function runGitCommand(command: GitCommand): Promise<GitResult> {
  const { signal, remote, onOutput, codes = [0] } = command
  signal.throwIfAborted()
  const { child, stdout, stderr, pipe } = start(command)
  const stop = () => stopGroup(child.pid)
  const removeListener = onAbort(signal, stop)
  const output = onOutput === undefined ? collect(stdout, maxOutputBytes) : undefined
  if (onOutput !== undefined) stdout.on('data', onOutput)
  const errors = collect(stderr, maxErrorBytes)
  let failure: unknown
  let isOver = false
  child.once('exit', () => {
    isOver = true
    // Until its other side is closed the program does not count as closed.
    pipe?.destroy()
  })
  if (remote !== undefined && pipe !== undefined) {
    remote(pipe).catch((error: unknown) => {
      if (isOver) return
      failure = error
      stop()
    })
  }
  try {
    const code = await new Promise<number>((resolve, reject) => {
      child.once('error', (error) => reject(missingGit(error)))
      child.once('close', (exit) => resolve(exit ?? -1))
    })
    if (failure !== undefined) throw failure
    signal.throwIfAborted()
    const result = { code, stdout: output?.read() ?? Buffer.alloc(0), stderr: errors.read().toString() }
    if (!codes.includes(code)) throw explainGit(command.args[0] ?? '', result.stderr)
    return result
  } finally {
    removeListener()
    pipe?.destroy()
  }
}
