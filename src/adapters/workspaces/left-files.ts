// Reads what a program left in its folder, by descriptors: no link that it makes or puts in between leads elsewhere.
import { constants } from 'node:fs'
import { type FileHandle, lstat, open, opendir } from 'node:fs/promises'
import { join } from 'node:path'
import { artifactLimits, recordLimit } from '../../contract/api/internal.ts'
import { ArtifactName } from '../../contract/api/tasks.ts'
import type { LeftFile } from '../../ports/left-files.ts'
import { addressOf, enterFolder, entryOf, hasHandles } from './folder-handle.ts'

const readOnly = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** Enters folder after folder; undefined where one of them is not there, or no folder. */
async function enterPath(root: string, path: string): Promise<FileHandle | undefined> {
  let folder = await enterFolder(root).catch(() => undefined)
  for (const part of path.split('/').filter((name) => name !== '')) {
    const above = folder
    if (above === undefined) return undefined
    folder = await enterFolder(entryOf(above, part)).catch(() => undefined)
    await above.close()
  }
  return folder
}

async function listNames(address: string): Promise<string[]> {
  const names: string[] = []
  for await (const { name } of await opendir(address)) {
    names.push(name)
    if (names.length === artifactLimits.entries) break
  }
  return names.sort()
}

function findSizeProblem(size: number, left: number): string | undefined {
  if (size === 0) return 'it is empty'
  if (size > recordLimit) return 'it is larger than 10 MiB'
  return size > left ? 'all artifacts together would be larger than 50 MiB' : undefined
}

/** The first `size` bytes, from the start each time. */
async function* readPart(handle: FileHandle, size: number): AsyncGenerator<Uint8Array> {
  for (let position = 0; position < size; ) {
    const buffer = Buffer.alloc(Math.min(65_536, size - position))
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, position)
    if (bytesRead === 0) return
    position += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}

async function* readFile(address: string, name: string, left: number): AsyncGenerator<LeftFile> {
  if (!ArtifactName.safeParse(name).success) return yield { name, skipped: 'its name is not a fit file name' }
  const handle = await open(address, readOnly).catch(() => undefined)
  if (handle === undefined) return yield { name, skipped: 'it is a link or cannot be read' }
  try {
    const stat = await handle.stat()
    const skipped = stat.isFile() ? findSizeProblem(stat.size, left) : 'only files directly in the folder are kept'
    yield skipped === undefined ? { name, size: stat.size, open: () => readPart(handle, stat.size) } : { name, skipped }
  } finally {
    await handle.close()
  }
}

async function* readFiles(folder: string, addressOfEntry: (name: string) => string): AsyncGenerator<LeftFile> {
  let left: number = artifactLimits.bytes
  for (const name of await listNames(folder)) {
    for await (const file of readFile(addressOfEntry(name), name, left)) {
      if ('size' in file) left -= file.size
      yield file
    }
  }
}

/** Where there are no descriptors to go by: links are not followed, but for one that is swapped in meanwhile. */
async function* readByPath(folder: string): AsyncGenerator<LeftFile> {
  const stat = await lstat(folder).catch(() => undefined)
  if (stat?.isDirectory()) yield* readFiles(folder, (name) => join(folder, name))
}

/** Fulfils `ReadLeftFiles`. */
export async function* readLeftFiles(root: string, path: string): AsyncGenerator<LeftFile> {
  if (!hasHandles) return yield* readByPath(join(root, path))
  const folder = await enterPath(root, path)
  if (folder === undefined) return
  try {
    yield* readFiles(addressOf(folder), (name) => entryOf(folder, name))
  } finally {
    await folder.close()
  }
}
