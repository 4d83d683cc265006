// Removes trees that strangers shaped, whatever they contain: links, any depth, names of any bytes, locked folders. What cannot
// be removed keeps nothing else from being removed, and is reported once.
import { randomUUID } from 'node:crypto'
import { chmod, opendir, readdir, rename, rmdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf, hasCode } from './error-code.ts'
import { enterFolder, type Folder } from './folder-handle.ts'

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

/** How many entries one removal has removed or moved so far. */
type Progress = { steps: number }

/** Calls `take` for each folder in a folder, and removes the other entries; what it failed at. */
async function passThrough(folder: Folder, progress: Progress, take: (name: string) => Promise<void>) {
  const failures: unknown[] = []
  for await (const { name } of await opendir(folder.address, { encoding: 'latin1' })) {
    try {
      if (!(await removeFile(folder.entry(name)))) await take(name)
      progress.steps++
    } catch (error) {
      failures.push(error)
    }
  }
  return failures
}

/** Until nothing is left or nothing more can be removed; what the last pass failed at. */
async function removeEntries(folder: Folder, progress: Progress, take: (name: string) => Promise<void>) {
  for (;;) {
    const before = progress.steps
    const failures = await passThrough(folder, progress, take)
    if (progress.steps === before) return failures
  }
}

async function useFolder<T>(address: string | Buffer, use: (folder: Folder) => Promise<T>): Promise<T> {
  const folder = await enterFolder(address)
  try {
    // A program may have taken the rights away; of a folder of another user they may suffice as they are.
    await chmod(folder.address, 0o700).catch(() => undefined)
    return await use(folder)
  } finally {
    await folder.close()
  }
}

/** Moves subfolders up beside their parent, so that no depth needs more than three descriptors, nor recursion. */
async function flattenFolder(root: Folder, name: string, progress: Progress): Promise<void> {
  const failures = await useFolder(root.entry(name), async (folder) => {
    const hoist = async (child: string) => {
      // An unwritable folder cannot be moved, because its entry `..` changes.
      await useFolder(folder.entry(child), async () => undefined)
      await rename(folder.entry(child), root.entry(randomUUID()))
    }
    return await removeEntries(folder, progress, hoist)
  })
  if (failures.length > 0) throw failures[0]
  await rmdir(root.entry(name))
}

async function emptyFolder(root: Folder): Promise<unknown[]> {
  const progress = { steps: 0 }
  return await removeEntries(root, progress, (name) => flattenFolder(root, name, progress))
}

/** The code of the system tells why; a path would show where the service keeps its files. */
function describeFailure([first, ...others]: unknown[]): Error {
  const more = others.length > 0 ? `, nor ${others.length} more` : ''
  const message = `An entry of a folder could not be removed (${codeOf(first) || 'unknown'})${more}.`
  return Object.assign(new Error(message, { cause: first }), { code: codeOf(first) })
}

/**
 * Removes a file, or a folder with its content; a missing one is fine. Its parent folder belongs to the service. Rejects once, after
 * everything else is gone, when something could not be removed.
 */
export async function removeTree(path: string | Buffer): Promise<void> {
  try {
    if (await removeFile(path)) return
    const failures = await useFolder(path, emptyFolder)
    if (failures.length > 0) throw describeFailure(failures)
    await rmdir(path)
  } catch (error) {
    // Somebody else removed it meanwhile.
    if (!hasCode(error, 'ENOENT')) throw error
  }
}

/** Empties a folder of the service; leaves what cannot be removed. */
export async function clearFolder(path: string): Promise<void> {
  for (const name of await readdir(path).catch(() => [])) await removeTree(join(path, name)).catch(() => undefined)
}
