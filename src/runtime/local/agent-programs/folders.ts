// What of this machine an agent program reads, so that it starts in a sandbox that shows nothing else.
import { existsSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { isInside } from '../../../lib/folder-path.ts'

/** Folders that hold a program and all that it loads, by the managers of packages that make them. */
function holdsPackages(folder: string): boolean {
  const name = basename(folder)
  // pnpm links packages to one another across its own folder.
  return name === 'node_modules' || name === '.pnpm' || (name === 'links' && /^v\d+$/.test(basename(dirname(folder))))
}

function* listAbove(file: string): Generator<string> {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) yield folder
}

/** A home is full of what a program must not see, and so is what homes lie in. */
function isShowable(folder: string, home: string): boolean {
  return !isInside(folder, home) && dirname(folder) !== '/' && folder !== '/'
}

/** A folder of programs of all sorts, rather than the folder of one. */
const shared = ['bin', 'sbin', 'shims']

/** Those that every sandbox shows. */
const seen = ['/usr', '/bin', '/sbin', '/lib', '/lib64', '/nix/store']

function isSeen(file: string): boolean {
  return seen.some((folder) => isInside(folder, file))
}

/** The path to start a program by. One program of the system may be many, by the name of the link. */
export function chooseStarted(file: string, real: string): string {
  return isSeen(file) && isSeen(real) ? file : real
}

/** Homebrew links its programs to libraries anywhere below its prefix. */
function findHomebrew(file: string): string | undefined {
  const at = file.lastIndexOf('/Cellar/')
  return at < 1 ? undefined : file.slice(0, at)
}

/**
 * `file`: the real path of a program. Absolute paths, shown at themselves: the outermost folder of packages, else the package,
 * else its own folder, and of a program that lies among others the file alone.
 */
export function foldersOf(file: string, home: string): string[] {
  if (isSeen(file)) return []
  const homebrew = findHomebrew(file)
  if (homebrew !== undefined) return [homebrew]
  const above = [...listAbove(file)].filter((folder) => isShowable(folder, home))
  const packages = above.findLast(holdsPackages)
  if (packages !== undefined) return [packages]
  const root = above.find((folder) => existsSync(join(folder, 'package.json')))
  if (root !== undefined) return [root]
  const own = dirname(file)
  return above.includes(own) && !shared.includes(basename(own)) ? [own] : [file]
}

/** Of a program that nobody looked up: its real path, which starts wherever `folders` are shown, and its arguments. */
export function showWhereItLies([file = '', ...args]: string[]): { argv: string[]; folders: string[] } {
  if (!isAbsolute(file) || !existsSync(file)) return { argv: [file, ...args], folders: [] }
  const real = realpathSync(file)
  return { argv: [chooseStarted(file, real), ...args], folders: foldersOf(real, homedir()) }
}
