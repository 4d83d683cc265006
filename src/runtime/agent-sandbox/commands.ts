// Commands and files in a sandbox, by scripts that a shell runs there.
import { quoteWord } from '../../lib/shell-words.ts'
import {
  type CommandState,
  type StagedFile,
  type WorkspaceCommand,
  WorkspaceError,
} from '../../ports/workspaces/execution-workspaces.ts'
import { requireInside } from '../workspaces/inside.ts'
import { chooseContainer, findLastingFolder, type SandboxObject } from './objects.ts'
import {
  observeScript,
  prepareScript,
  runnerScript,
  scrubScript,
  stageScript,
  startScript,
  stopScript,
} from './scripts.ts'
import type { SandboxAddress, SandboxShell, ShellScript } from './shell.ts'

const shortMs = 30_000
/** Of answers that are one line. */
const lineBytes = 8192
/** Beside the time from TERM to KILL. */
const stopMs = 60_000
/** `ulimit -f` counts blocks of 512 bytes. */
const blockBytes = 512

type Script = Omit<ShellScript, 'timeoutMs' | 'maxBytes'> & Partial<ShellScript>

/** Comes before a script: nothing of it is in what the cluster logs. */
function assign(values: Record<string, string | number>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}=${quoteWord(String(value))}\n`)
    .join('')
}

const lines = (texts: readonly string[]) => Buffer.from(texts.map((text) => `${text}\n`).join(''))

/** The words of the first line. Scripts that fail say why on their standard error. */
async function ask(
  shell: SandboxShell,
  address: SandboxAddress,
  script: Script,
): Promise<{ words: string[]; rest: string }> {
  const { code, stdout, stderr } = await shell.run(address, { timeoutMs: shortMs, maxBytes: lineBytes, ...script })
  const text = stdout.toString('utf8')
  const end = text.indexOf('\n')
  const words = text.slice(0, Math.max(end, 0)).split(' ')
  if (code === 0 && end > 0) return { words, rest: text.slice(end + 1) }
  const output = (stderr.trim() || text.trim()).slice(0, 300)
  throw new WorkspaceError('ProtocolError', `a script of the service failed in the workspace (${code}): ${output}`)
}

function unexpectedAnswer(words: string[]): WorkspaceError {
  return new WorkspaceError('ProtocolError', `unexpected answer from the workspace: ${words.join(' ').slice(0, 200)}`)
}

function lost(): WorkspaceError {
  return new WorkspaceError('WorkspaceLost', 'the container of the sandbox is not the one that was made ready')
}

async function expectWord(shell: SandboxShell, address: SandboxAddress, script: Script, word: string): Promise<void> {
  const { words } = await ask(shell, address, script)
  if (words[0] === 'lost') throw lost()
  if (words[0] !== word) throw unexpectedAnswer(words)
}

/** Folders that its files may be in, best first: what lasts longer than a pod and no other, or what the image is made for. */
function listRoots({ spec = {} }: SandboxObject): string[] {
  const lasting = findLastingFolder(spec)
  if (lasting !== undefined) return [lasting]
  const folders = [chooseContainer(spec)?.workingDir, '/workspace', '/tmp/workspace']
  return folders.filter((folder) => folder !== undefined && folder !== '/') as string[]
}

function describeMissing(what: string, roots: string[]): string {
  if (!what.startsWith('a folder')) return `the image of the sandbox lacks ${what}`
  return `the user of the sandbox may write to none of ${roots.join(', ')}: a volume needs a securityContext.fsGroup in the pod of its template`
}

/** Absolute path of the root, in a container that can be worked in. Idempotent. */
export async function prepare(shell: SandboxShell, address: SandboxAddress, sandbox: SandboxObject): Promise<string> {
  const roots = listRoots(sandbox)
  const { words } = await ask(shell, address, { text: assign({ folders: roots.join('\n') }) + prepareScript })
  const [word, ...rest] = words
  if (word === 'root' && rest.join(' ').startsWith('/')) return rest.join(' ')
  if (word !== 'missing') throw unexpectedAnswer(words)
  throw new WorkspaceError('TemplateIncompatible', describeMissing(rest.join(' '), roots))
}

/** What is not to be asked for: nothing of it reaches the workspace. */
function refuse(what: string): WorkspaceError {
  return new WorkspaceError('ProtocolError', what)
}

/** With `./` before it: no name is taken for an option. */
function checkPath(path: string): string {
  return `./${requireInside(path)}`
}

export async function stage(shell: SandboxShell, address: SandboxAddress, files: readonly StagedFile[]): Promise<void> {
  const names = files.map(({ path, mode }) => `${(mode & 0o777).toString(8)} ${checkPath(path)}`)
  const parts = [lines(names), ...files.map(({ bytes }) => bytes)]
  await expectWord(shell, address, { text: stageScript, parts }, 'staged')
}

function printVariable([name, value]: [string, string]): string {
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return `export ${name}=${quoteWord(value)}`
  throw refuse(`${JSON.stringify(name)} is not a name of an environment variable`)
}

/** It removes itself: the shell has read it. */
function printCommand({ id, command, env, workDir = '.' }: WorkspaceCommand): string {
  const folder = quoteWord(workDir)
  return [
    'rm -f -- "$0"',
    ...Object.entries(env).map(printVariable),
    `export SVC_WORKSPACE_COMMAND=/${id}/`,
    `mkdir -p -- ${folder} && cd -- ${folder} || exit 126`,
    `exec ${command.map(quoteWord).join(' ')}`,
    '',
  ].join('\n')
}

function checkId(id: string): string {
  if (/^[a-z0-9-]{1,63}$/.test(id)) return id
  throw refuse(`${JSON.stringify(id)} is not an id of a command`)
}

/** From TERM to KILL. */
type Grace = { graceSeconds: number }

export async function start(
  shell: SandboxShell,
  address: SandboxAddress,
  command: WorkspaceCommand & Grace,
): Promise<void> {
  const { graceSeconds, stdin, timeoutSeconds, maxOutputBytes } = command
  const blocks = Math.floor(maxOutputBytes / blockBytes) + 1
  const seconds = Math.ceil(timeoutSeconds)
  const limits = { seconds, grace: graceSeconds, blocks, bytes: maxOutputBytes }
  const assignments = assign({
    id: checkId(command.id),
    ...limits,
    command: printCommand(command),
    runner: runnerScript,
  })
  await expectWord(
    shell,
    address,
    { text: assignments + startScript, parts: stdin === undefined ? [] : [stdin] },
    'started',
  )
}

/** Base64 of two outputs. */
function boundAnswer(maxOutputBytes: number): number {
  return Math.ceil((maxOutputBytes * 4) / 3) * 2 + lineBytes
}

function readEnd(words: string[], rest: string): CommandState {
  const [code, limit, ...sizes] = words.slice(1).map(Number)
  const outputs = rest.split('\n').slice(0, 2)
  const isWhole = [code, limit, ...sizes].every((each) => Number.isInteger(each)) && outputs.length === 2
  if (!isWhole || code === undefined || limit === undefined) throw unexpectedAnswer(words)
  const [stdout = '', stderr = ''] = outputs.map((text) => Buffer.from(text, 'base64').toString('utf8'))
  return { phase: 'Ended', exitCode: code, stdout, stderr, truncated: Math.max(...sizes) > limit }
}

/** The most that a command may be asked to keep. */
const maxOutputBytes = 16 * 1024 ** 2

export async function observe(shell: SandboxShell, address: SandboxAddress, id: string): Promise<CommandState> {
  const script = { text: assign({ id: checkId(id) }) + observeScript, maxBytes: boundAnswer(maxOutputBytes) }
  const { words, rest } = await ask(shell, address, script)
  if (words[0] === 'missing') return { phase: 'Missing' }
  if (words[0] === 'running') return { phase: 'Running' }
  if (words[0] !== 'ended') throw unexpectedAnswer(words)
  return readEnd(words, rest)
}

export async function stop(
  shell: SandboxShell,
  address: SandboxAddress,
  assignments: { id: string } & Grace,
): Promise<void> {
  const { id, graceSeconds } = assignments
  const text = assign({ id: checkId(id), grace: graceSeconds * 10 }) + stopScript
  await expectWord(shell, address, { text, timeoutMs: stopMs + graceSeconds * 1000, isAlone: true }, 'stopped')
}

export async function scrub(shell: SandboxShell, address: SandboxAddress, paths: readonly string[]): Promise<void> {
  const parts = [lines(paths.map(checkPath))]
  await expectWord(shell, address, { text: scrubScript, parts, timeoutMs: stopMs, isAlone: true }, 'scrubbed')
}
