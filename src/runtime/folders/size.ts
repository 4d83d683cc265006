// The size of a workspace: its limit, and what it holds now.

import type { Stats } from 'node:fs'
import { type FileHandle, lstat, opendir } from 'node:fs/promises'
import { addressIn, addressOf, enterFolder } from './folder-handle.ts'

export type WorkspaceSize = {
  bytes: number
  /** Files, folders and links together. */
  files: number
}

export const boundless: WorkspaceSize = { bytes: Number.POSITIVE_INFINITY, files: Number.POSITIVE_INFINITY }

/** Blocks of stat(2) have 512 bytes, whatever the block size of the file system. */
const blockBytes = 512
/** Deeper than programs build: a deeper folder counts as unreadable. */
const deepest = 256
/** How many entries are examined together. */
const batchSize = 64

type Count = WorkspaceSize & { most: WorkspaceSize; seen: Set<number> }

const overfull = Symbol('more than may be')

function add(count: Count, stats: Stats): void {
  // A file with several names counts once.
  if (stats.nlink > 1 && !stats.isDirectory()) {
    if (count.seen.has(stats.ino)) return
    count.seen.add(stats.ino)
  }
  count.files++
  count.bytes += stats.blocks * blockBytes
  if (count.bytes > count.most.bytes || count.files > count.most.files) throw overfull
}

function isGone(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT'
}

/** What disappears during the count does not count. */
async function forgiveGone<T>(work: Promise<T>): Promise<T | undefined> {
  return await work.catch((error: unknown) => {
    if (isGone(error)) return undefined
    throw error
  })
}

async function countEntries(folder: FileHandle, names: string[], count: Count): Promise<string[]> {
  const folders: string[] = []
  const entries = await Promise.all(names.map((name) => forgiveGone(lstat(addressIn(folder, name)))))
  entries.forEach((stats, index) => {
    if (stats === undefined) return
    add(count, stats)
    if (stats.isDirectory()) folders.push(names[index] ?? '')
  })
  return folders
}

async function countFolder(folder: FileHandle, count: Count, depth: number): Promise<void> {
  if (depth > deepest) throw overfull
  const folders: string[] = []
  let names: string[] = []
  for await (const { name } of await opendir(addressOf(folder), { bufferSize: batchSize, encoding: 'latin1' })) {
    names.push(name)
    if (names.length < batchSize) continue
    folders.push(...(await countEntries(folder, names, count)))
    names = []
  }
  folders.push(...(await countEntries(folder, names, count)))
  for (const name of folders) await countBelow(addressIn(folder, name), count, depth + 1)
}

async function countBelow(address: string | Buffer, count: Count, depth: number): Promise<void> {
  const folder = await forgiveGone(enterFolder(address))
  if (folder === undefined) return
  try {
    await countFolder(folder, count, depth)
  } finally {
    await folder.close()
  }
}

/** The size of a folder; undefined when it exceeds `most`, or has unreadable parts, which count as too much. */
export async function measureFolder(path: string, most: WorkspaceSize): Promise<WorkspaceSize | undefined> {
  const count: Count = { bytes: 0, files: 0, most, seen: new Set() }
  try {
    await countBelow(path, count, 0)
    return { bytes: count.bytes, files: count.files }
  } catch {
    return undefined
  }
}

/** In readable form: `2 GiB`, `256 MiB`. */
export function formatBytes(bytes: number): string {
  const gibibytes = bytes / 1024 ** 3
  if (gibibytes >= 1) return `${Number(gibibytes.toFixed(1))} GiB`
  return `${Math.max(1, Math.round(bytes / 1024 ** 2))} MiB`
}

export function describeSize({ bytes, files }: WorkspaceSize): string {
  return `${formatBytes(bytes)} or ${files} files`
}
