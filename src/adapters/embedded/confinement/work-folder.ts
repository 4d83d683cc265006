// Folders of single attempts: made empty, removed whole whatever was done to them.
import { realpathSync } from 'node:fs'
import { chmod, mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

export async function makeWorkFolder(parent: string, id: string): Promise<string> {
  await mkdir(parent, { recursive: true, mode: 0o700 })
  const folder = join(parent, id)
  await mkdir(folder, { mode: 0o700 })
  return realpathSync(folder)
}

/** Gives folders their permissions back; never follows a symbolic link. */
async function unlockFolders(folder: string): Promise<void> {
  await chmod(folder, 0o700).catch(() => undefined)
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  for (const entry of entries) if (entry.isDirectory()) await unlockFolders(join(folder, entry.name))
}

/** Removes it with all in it, also what a program locked by `chmod 000`. */
export async function removeWorkFolder(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true })
  } catch {
    await unlockFolders(folder)
    await rm(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** Removes what earlier lives of the service left. */
export async function clearWorkFolders(parent: string): Promise<void> {
  for (const name of await readdir(parent).catch(() => [])) await removeWorkFolder(join(parent, name))
}
