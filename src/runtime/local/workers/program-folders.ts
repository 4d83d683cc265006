// Which folders a worker needs to see: those of the installed program, and those of the agent programs of this machine.
import { existsSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { baseEnvironment } from '../../attempts/process-limits.ts'
import type { BindMount } from '../confinement/root-folder.ts'

/**
 * The outermost `node_modules` that contains the program when it was installed as a package (npm hoists, pnpm links).
 */
function findEnclosingModules(root: string): string | undefined {
  let found: string | undefined
  for (let folder = root; folder !== dirname(folder); folder = dirname(folder)) {
    if (basename(folder) === 'node_modules') found = folder
  }
  return found
}

/** The worker's folder (sources or build output), and manifest and packages at `root`; nothing else of a checkout. */
export function listProgramFolders(root: string, program: string): string[] {
  const real = realpathSync(root)
  const names = ['src', 'package.json', 'node_modules']
  const parts = [dirname(realpathSync(program)), ...names.map((name) => join(real, name))]
  const enclosing = findEnclosingModules(real)
  // Links inside node_modules may lead out of it (workspaces): those packages are not shown.
  const paths = [...parts, ...(enclosing === undefined ? [] : [enclosing])]
  return [...new Set(paths)].filter((path) => existsSync(path))
}

/** The same, read-only at their own paths. */
export function bindProgramFolders(root: string, program: string): BindMount[] {
  return listProgramFolders(root, program).map((path) => ({ source: realpathSync(path), target: path }))
}

type FoundPrograms = {
  /** Of the names that were asked for. */
  found: ReadonlySet<string>
  /** Where a worker looks them up. */
  path: string
  /** Read-only, at their own paths. */
  binds: BindMount[]
}

function findProgram(name: string, path: string): string | undefined {
  const folders = path.split(':').filter((folder) => folder.startsWith('/'))
  return folders.map((folder) => join(folder, name)).find((file) => existsSync(file))
}

/** A package is shown whole, because its program loads the rest of it; any other program as the one file that it is. */
function bindProgram(file: string): BindMount[] {
  const source = realpathSync(file)
  const modules = findEnclosingModules(dirname(source))
  const whole = modules === undefined ? [] : [{ source: modules, target: modules }]
  return modules !== undefined && file.startsWith(`${modules}/`) ? whole : [...whole, { source, target: file }]
}

/** Those below /usr are seen in every sandbox. */
function isSeen({ target }: BindMount): boolean {
  return target.startsWith('/usr/') || target.startsWith('/bin/')
}

/** `path`: the variable PATH of the service. */
export function findAgentPrograms(names: readonly string[], path: string): FoundPrograms {
  const files = names.flatMap((name) => {
    const file = findProgram(name, path)
    return file === undefined ? [] : [{ name, file }]
  })
  const binds = files.flatMap(({ file }) => bindProgram(file)).filter((bind) => !isSeen(bind))
  const folders = [...new Set(files.map(({ file }) => dirname(file)))]
  return {
    found: new Set(files.map(({ name }) => name)),
    path: [...folders, baseEnvironment('/').PATH].join(':'),
    binds: [...new Map(binds.map((bind) => [bind.target, bind])).values()],
  }
}
