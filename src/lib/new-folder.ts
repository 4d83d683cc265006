// Folders that somebody named.
import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** Makes it with what contains it. One level after the other: under /proc, `recursive` of mkdir never ends. */
export function makeFolder(folder: string, mode = 0o777): void {
  makeLevel(resolve(folder), mode, 'EEXIST')
}

/** `refusal`: the code of the error where a file is in the way. */
function makeLevel(path: string, mode: number, refusal: 'EEXIST' | 'ENOTDIR'): void {
  if (existsSync(path)) {
    if (!statSync(path).isDirectory()) throw Object.assign(new Error('it is not a folder'), { code: refusal, path })
    return
  }
  // The root is always there, but to whom it is closed.
  if (dirname(path) !== path) makeLevel(dirname(path), mode, 'ENOTDIR')
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    // Somebody else may have made it meanwhile.
    if (!existsSync(path)) throw error
  }
}
