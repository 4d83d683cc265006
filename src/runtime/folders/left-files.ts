// Reads what a program left in its folder, by descriptor, so that a link it creates or swaps in leads nowhere else.
import { constants } from 'node:fs'
import { type FileHandle, lstat, open, opendir } from 'node:fs/promises'
import { artifactLimits, recordLimit } from '../../contract/api/tasks/internal.ts'
import { ArtifactPath } from '../../contract/api/tasks/task-records.ts'
import { isPassedOver } from '../../contract/values/carried-folders.ts'
import { enterFolder, type Folder } from '../../lib/folder-handle.ts'
import type { LeftFile } from '../../ports/tasks/workloads.ts'

const latin1Of = (name: string) => Buffer.from(name).toString('latin1')
const readOnly = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** Undefined when it is not there or is not a folder. */
function enter(address: string | Buffer): Promise<Folder | undefined> {
  return enterFolder(address).catch(() => undefined)
}

/** Opens folder after folder; undefined when one of them does not exist or is not a folder. */
async function enterPath(root: string, path: string): Promise<Folder | undefined> {
  let folder = await enter(root)
  for (const part of path.split('/').filter((name) => name !== '')) {
    const above = folder
    if (above === undefined) return undefined
    folder = await enter(above.entry(latin1Of(part)))
    await above.close()
  }
  return folder
}

async function listNames(address: Buffer, max: number): Promise<string[]> {
  const names: string[] = []
  for await (const { name } of await opendir(address)) {
    if (names.length >= max) break
    names.push(name)
  }
  return names.sort()
}

function findSizeProblem(size: number, left: number): string | undefined {
  if (size > recordLimit) return 'it is larger than 10 MiB'
  return size > left ? 'all artifacts together would be larger than 50 MiB' : undefined
}

const unfitName = 'its name is not a valid file name'

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

async function* readFile(address: Buffer, name: string, left: number): AsyncGenerator<LeftFile> {
  const handle = await open(address, readOnly).catch(() => undefined)
  if (handle === undefined) return yield { name, skipped: 'it is a link or cannot be read' }
  try {
    const stat = await handle.stat()
    const skipped = stat.isFile() ? findSizeProblem(stat.size, left) : 'it is not a file'
    if (skipped === undefined) yield { name, size: stat.size, open: () => readPart(handle, stat.size) }
    else yield { name, skipped }
  } finally {
    await handle.close()
  }
}

/** Implements `ReadLeftFiles`. */
export async function* readLeftFiles(root: string, path: string): AsyncGenerator<LeftFile> {
  const folder = await enterPath(root, path)
  if (folder === undefined) return
  try {
    yield* walk(folder, '', { entries: artifactLimits.entries, bytes: artifactLimits.bytes, isWhole: true })
  } finally {
    await folder.close()
  }
}

/** How many entries may still be examined, and how many bytes may still be kept. */
type Budget = {
  entries: number
  bytes: number
  /** Whether folders that tools can recreate are read as well. */
  isWhole: boolean
}

async function isFolder(address: Buffer): Promise<boolean> {
  return (await lstat(address).catch(() => undefined))?.isDirectory() ?? false
}

async function* walk(folder: Folder, above: string, budget: Budget): AsyncGenerator<LeftFile> {
  const names = await listNames(folder.address, budget.entries)
  budget.entries -= names.length
  for (const name of names) {
    const path = `${above}${name}`
    const address = folder.entry(latin1Of(name))
    if (!ArtifactPath.safeParse(path).success) yield { name: path, skipped: unfitName }
    else if (!(await isFolder(address))) yield* takeFile(address, path, budget)
    else if (!budget.isWhole && isPassedOver(name, (beside) => names.includes(beside)))
      yield { name: `${path}/`, skipped: 'folders of that name are not kept' }
    else yield* walkFolder(address, `${path}/`, budget)
  }
}

async function* takeFile(address: Buffer, path: string, budget: Budget): AsyncGenerator<LeftFile> {
  for await (const file of readFile(address, path, budget.bytes)) {
    if ('size' in file) budget.bytes -= file.size
    yield file
  }
}

async function* walkFolder(address: string | Buffer, above: string, budget: Budget): AsyncGenerator<LeftFile> {
  const folder = await enter(address)
  if (folder === undefined) return yield { name: above, skipped: 'it cannot be read' }
  try {
    yield* walk(folder, above, budget)
  } finally {
    await folder.close()
  }
}

/** Implements `ReadWorkspaceFiles`. */
export async function* readWorkspaceFiles(root: string): AsyncGenerator<LeftFile> {
  // What first needs it makes it.
  if (!(await isFolder(Buffer.from(root)))) return
  yield* walkFolder(root, '', {
    entries: artifactLimits.workspaceEntries,
    bytes: Number.POSITIVE_INFINITY,
    isWhole: false,
  })
}
