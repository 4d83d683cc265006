// How a program that was installed in any way is started where its shims and links are not: by its real path, after the
// interpreter that it names. Links, shims of managers of versions (volta, asdf, mise, nodenv) and the scripts that pnpm writes
// are followed; a manager is asked for what its shim stands for.
import { constants } from 'node:fs'
import { access, open, realpath, stat } from 'node:fs/promises'
import { basename, delimiter, dirname, join, resolve } from 'node:path'
import { messageOf } from '../../../errors.ts'
import { chooseStarted, foldersOf } from './folders.ts'

/** A program as it is started. */
export type ProgramLaunch = {
  /** Where it was found. */
  file: string
  /** The real path of the program, after its interpreter. */
  argv: string[]
  /** What it reads, at its own path (`foldersOf`). */
  folders: string[]
  /** Folders in which its interpreters are looked up by what it starts. */
  path: string[]
}

export type ProgramLaunchOptions = {
  /** Absolute folders, as in the variable PATH. */
  path: string
  /** Of the user who installed the programs. */
  home: string
  /** For scripts of Node where `path` has none. */
  nodePath: string
  /** What a manager of versions prints; rejects when it fails. */
  ask(argv: string[], env: Record<string, string>): Promise<string>
}

const headBytes = 16_384
/** A shim that leads to a shim is fine; a circle is not. */
const maxSteps = 5

/** A program that cannot be started; the message is the end of a sentence about it. */
export class LaunchProblem extends Error {}

async function isProgram(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK)
    return (await stat(file)).isFile()
  } catch {
    return false
  }
}

/** All programs of the name, in the order of `path`. A command with a slash stands for itself. */
export async function listPrograms(command: string, path: string): Promise<string[]> {
  const folders = command.includes('/') ? [''] : path.split(delimiter).filter((folder) => folder.startsWith('/'))
  const files = [...new Set(folders.map((folder) => (folder === '' ? command : join(folder, command))))]
  const found = await Promise.all(files.map(isProgram))
  return files.filter((_file, at) => found[at])
}

async function readHead(file: string): Promise<string> {
  const handle = await open(file)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(headBytes), 0, headBytes, 0)
    return buffer.toString('latin1', 0, bytesRead)
  } finally {
    await handle.close()
  }
}

/** `#!/usr/bin/env -S node --flag` names `node` and an argument. */
function readInterpreter(head: string): string[] | undefined {
  const words = /^#!([^\n]{1,1000})/.exec(head)?.[1]?.trim().split(/\s+/)
  if (words === undefined || basename(words[0] ?? '') !== 'env') return words
  return words.slice(1).filter((word) => word !== '-S' && !/^\w+=/.test(word))
}

type Shim = { manager: string; name: string; env: Record<string, string> }

/** The variables that tell managers where their data lies, which is where their shims do. */
const dataVariables: Record<string, string> = {
  volta: 'VOLTA_HOME',
  asdf: 'ASDF_DATA_DIR',
  mise: 'MISE_DATA_DIR',
  nodenv: 'NODENV_ROOT',
}

function describeManager(file: string, manager: string, name: string): Shim {
  const variable = dataVariables[basename(manager)]
  return { manager, name, env: variable === undefined ? {} : { [variable]: dirname(dirname(file)) } }
}

const managerCall = /exec "?((?:[^"\s]{0,500}\/)?(?:asdf|mise|nodenv))"? exec /

function findShim(file: string, real: string, head: string): Shim | undefined {
  const [name, target] = [basename(file), basename(real)]
  if (target === 'volta-shim') return describeManager(file, join(dirname(real), 'volta'), name)
  if (target === 'mise' && name !== 'mise') return describeManager(file, real, name)
  const manager = head.startsWith('#!') ? managerCall.exec(head)?.[1] : undefined
  return manager === undefined ? undefined : describeManager(file, manager, name)
}

/** The script that pnpm, and npm on some systems, write in place of a link ends with this. */
const linkCall = /exec (?:"?[^"\s]{0,500}node"? {1,4})?"(?:\$basedir\/)?([^"$]{1,1000})" {1,4}"\$@"/

const nothing: Omit<ProgramLaunch, 'file'> = { argv: [], folders: [], path: [] }

export function createLauncher(options: ProgramLaunchOptions) {
  const { home, path } = options

  async function findFirst(command: string): Promise<string | undefined> {
    return (await listPrograms(command, path))[0]
  }

  /** Where a shim or a script in place of a link leads; undefined: the file is a program itself. */
  async function findTarget(file: string, real: string, head: string): Promise<string | undefined> {
    const shim = findShim(file, real, head)
    if (shim !== undefined) return await askManager(shim)
    const link = head.startsWith('#!') ? linkCall.exec(head)?.[1] : undefined
    return link && resolve(dirname(real), link)
  }

  async function follow(file: string, steps: number): Promise<ProgramLaunch> {
    if (steps === 0) throw new LaunchProblem('leads in a circle')
    const real = await realpath(file)
    const head = await readHead(real)
    const target = await findTarget(file, real, head)
    if (target !== undefined) return { ...(await follow(target, steps - 1)), file }
    const interpreter = readInterpreter(head)
    const before = interpreter === undefined ? nothing : await followInterpreter(interpreter, steps - 1)
    const folders = [...new Set([...foldersOf(real, home), ...before.folders])]
    return { file, argv: [...before.argv, chooseStarted(file, real)], folders, path: before.path }
  }

  async function followInterpreter([name = '', ...args]: string[], steps: number) {
    const fallback = basename(name) === 'node' ? options.nodePath : undefined
    const file = (await findFirst(name)) ?? fallback
    if (file === undefined) throw new LaunchProblem(`needs "${name}", which is not installed`)
    const launch = await follow(file, steps)
    const [program = ''] = launch.argv
    return { ...launch, argv: [...launch.argv, ...args], path: [dirname(program), ...launch.path] }
  }

  async function askManager({ manager, name, env }: Shim): Promise<string> {
    const program = (await findFirst(manager)) ?? (await findFirst(basename(manager)))
    if (program === undefined) throw new LaunchProblem(`is a shim of "${basename(manager)}", which is not found`)
    const output = await options.ask([program, 'which', name], env).catch((error: unknown) => {
      throw new LaunchProblem(`is a shim, and \`${basename(manager)} which ${name}\` fails`, { cause: error })
    })
    const file = output.trim().split('\n').at(-1) ?? ''
    if (await isProgram(file)) return file
    throw new LaunchProblem(`is a shim, and \`${basename(manager)} which ${name}\` names no program`)
  }

  return {
    /** LaunchProblem when it cannot be started. */
    async launch(file: string): Promise<ProgramLaunch> {
      try {
        return await follow(file, maxSteps)
      } catch (error) {
        if (error instanceof LaunchProblem) throw error
        throw new LaunchProblem(`cannot be read: ${messageOf(error)}`)
      }
    },
  }
}
