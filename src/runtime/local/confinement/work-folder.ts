// Folders of single attempts: created empty, removed completely whatever was done to them.
import { realpathSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'

export { removeTree as removeWorkFolder } from '../../folders/removal.ts'

export async function makeWorkFolder(parent: string, id: string): Promise<string> {
  await mkdir(parent, { recursive: true, mode: 0o700 })
  const folder = join(parent, id)
  await mkdir(folder, { mode: 0o700 })
  return realpathSync(folder)
}
