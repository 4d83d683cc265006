// The folder that a program works in.
import { realpathSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'

/** An empty folder below `parent`, which is made when it is missing; its real path. */
export async function makeWorkFolder(parent: string, id: string): Promise<string> {
  await mkdir(parent, { recursive: true, mode: 0o700 })
  const folder = join(parent, id)
  await mkdir(folder, { mode: 0o700 })
  return realpathSync(folder)
}
