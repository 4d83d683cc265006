// Folders that somebody named.
import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** Makes it with what contains it. One level after the other: under /proc, `recursive` of mkdir never ends. */
export function makeFolder(folder: string, mode = 0o777): void {
  if (existsSync(folder)) {
    if (!statSync(folder).isDirectory()) throw Object.assign(new Error('it is not a folder'), { code: 'ENOTDIR' })
    return
  }
  makeFolder(dirname(folder), mode)
  try {
    mkdirSync(folder, { mode })
  } catch (error) {
    // Somebody else may have made it meanwhile.
    if (!existsSync(folder)) throw error
  }
}
