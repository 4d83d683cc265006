// Removes folders that untrusted code wrote to, whatever they contain: links, trees of any depth, locked folders.
import { randomUUID } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { chmod, type FileHandle, mkdir, opendir, readdir, rename, rm, rmdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { enterFolder, entryBytes, folderPath, hasHandles, unlockFolder } from './folder-handle.ts'

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code
}

/** Removes an entry that is not a folder, never what it points to; false when it is a folder. */
async function removeFile(address: string | Buffer): Promise<boolean> {
  try {
    await unlink(address)
    return true
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOENT') return true
    // EISDIR on Linux, EPERM elsewhere (unlink(2)).
    if (code === 'EISDIR' || code === 'EPERM') return false
    throw error
  }
}

/** Calls `take` for each folder in a folder, and removes the other entries. */
async function clearFiles(folder: FileHandle, take: (name: string) => Promise<void>): Promise<number> {
  let count = 0
  for await (const { name } of await opendir(folderPath(folder), { encoding: 'latin1' })) {
    count++
    if (!(await removeFile(entryBytes(folder, name)))) await take(name)
  }
  return count
}

async function useFolder<T>(address: string | Buffer, use: (folder: FileHandle) => Promise<T>): Promise<T> {
  const folder = await enterFolder(address)
  try {
    await unlockFolder(folder)
    return await use(folder)
  } finally {
    await folder.close()
  }
}

/** Moves subfolders up beside their parent, so that no depth needs more than three descriptors, nor recursion. */
async function flattenFolder(root: FileHandle, name: string): Promise<void> {
  await useFolder(entryBytes(root, name), async (folder) => {
    const hoist = async (child: string) => {
      // An unwritable folder cannot be moved, because its entry `..` changes.
      await useFolder(entryBytes(folder, child), async () => undefined)
      await rename(entryBytes(folder, child), entryBytes(root, randomUUID()))
    }
    while ((await clearFiles(folder, hoist)) > 0);
  })
  await rmdir(entryBytes(root, name))
}

async function emptyFolder(root: FileHandle): Promise<void> {
  while ((await clearFiles(root, (name) => flattenFolder(root, name))) > 0);
}

/** Without descriptors: links are not followed, except one that is swapped in meanwhile. */
async function removeByPath(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true }).catch(async () => {
    await unlockByPath(path)
    await rm(path, { recursive: true, force: true, maxRetries: 3 })
  })
}

async function unlockByPath(path: string): Promise<void> {
  await chmod(path, 0o700).catch(() => undefined)
  const entries = await readdir(path, { withFileTypes: true }).catch(() => [])
  for (const entry of entries) if (entry.isDirectory()) await unlockByPath(join(path, entry.name))
}

/** Removes a file, or a folder with its content; a missing one is fine. Its parent folder belongs to the service. */
export async function removeTree(path: string): Promise<void> {
  if (!hasHandles) return await removeByPath(path)
  if (await removeFile(path)) return
  await useFolder(path, emptyFolder)
  await rmdir(path)
}

/** Empties a folder of the service; leaves what cannot be removed. */
export async function clearFolder(path: string): Promise<void> {
  for (const name of await readdir(path).catch(() => [])) await removeTree(join(path, name)).catch(() => undefined)
}

/** An empty folder below `parent`, which is made when it is missing; its real path. */
export async function makeWorkFolder(parent: string, id: string): Promise<string> {
  await mkdir(parent, { recursive: true, mode: 0o700 })
  const folder = join(parent, id)
  await mkdir(folder, { mode: 0o700 })
  return realpathSync(folder)
}
