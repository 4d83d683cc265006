// What a person types to start this program: `svc`, `npx svc`, or the path of its launcher.
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import type { Environment } from '../config/environment.ts'
import { isInside } from '../lib/folder-path.ts'
import { quoteWord } from '../lib/shell-words.ts'

export type Started = {
  env: Environment
  /** The launcher's real path. */
  launcher: string
  /** Where the command was typed. */
  folder: string
}

/** Characters that a shell leaves unchanged. */
export function findCommandName({ env, launcher, folder }: Started): string {
  const spec = findNpxSpec(env, launcher)
  if (spec !== undefined) return spec
  if (isOnPath(env, launcher)) return 'svc'
  const isOwnFolder = [dirname(dirname(launcher)), findProject(launcher)].some((root) => root && isInside(root, folder))
  if (isOwnFolder) return 'npx svc'
  return quoteWord(launcher)
}

/** For a package that npx fetched: its cache says what was requested. */
function findNpxSpec(env: Environment, launcher: string): string | undefined {
  const cache = /^(.*[\\/]_npx[\\/][^\\/]+)[\\/]node_modules[\\/]/.exec(launcher)?.[1]
  if (cache === undefined) return undefined
  if (env.npm_config_package) return `npx --package=${quoteWord(env.npm_config_package)} svc`
  return `npx ${quoteWord(readSpec(join(cache, 'package.json')) ?? 'svc')}`
}

function readSpec(file: string): string | undefined {
  try {
    const { _npx } = JSON.parse(readFileSync(file, 'utf8')) as { _npx?: { packages?: string[] } }
    return _npx?.packages?.[0]
  } catch {
    return undefined
  }
}

/** While npm runs one of its commands, it puts folders of the project before the others. */
const ofProject = /[\\/]node_modules[\\/]\.bin[\\/]?$/

function isOnPath({ PATH = '' }: Environment, launcher: string): boolean {
  const folders = PATH.split(delimiter).filter((folder) => folder !== '' && !ofProject.test(folder))
  const found = folders.map((folder) => join(folder, 'svc')).find((path) => existsSync(path))
  if (found === undefined) return false
  // On Windows npm creates a script beside its packages instead of a link.
  const real = process.platform === 'win32' ? join(dirname(found), 'node_modules', 'svc', 'bin', 'svc') : found
  return existsSync(real) && realpathSync(real) === launcher
}

/** Where the package is installed in `node_modules`. */
function findProject(launcher: string): string | undefined {
  return /^(.*)[\\/]node_modules[\\/]svc[\\/]bin[\\/]svc$/.exec(launcher)?.[1]
}
