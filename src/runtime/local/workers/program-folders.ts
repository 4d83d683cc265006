// Which folders of the installed program a worker needs to see.
import { existsSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
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
