// The agent programs of this machine: where they are, and what of it a worker's sandbox must show.
import { existsSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { baseEnvironment } from '../../attempts/inside.ts'
import type { Bind } from '../confinement/root-folder.ts'
import { findEnclosingModules } from './program-folders.ts'

export type FoundPrograms = {
  /** Of the names that were asked for. */
  found: ReadonlySet<string>
  /** Where a worker looks them up. */
  path: string
  /** Read-only, at their own places. */
  binds: Bind[]
}

function findProgram(name: string, path: string): string | undefined {
  const folders = path.split(':').filter((folder) => folder.startsWith('/'))
  return folders.map((folder) => join(folder, name)).find((file) => existsSync(file))
}

/** A package is shown whole, because its program loads the rest of it; any other program as the one file that it is. */
function bindProgram(file: string): Bind[] {
  const source = realpathSync(file)
  const modules = findEnclosingModules(dirname(source))
  const whole = modules === undefined ? [] : [{ source: modules, target: modules }]
  return modules !== undefined && file.startsWith(`${modules}/`) ? whole : [...whole, { source, target: file }]
}

/** Those below /usr are seen in every sandbox. */
function isSeen({ target }: Bind): boolean {
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
