// The size of a workspace: its limit, what it holds now, and watching what a program writes where nothing else limits
// it.
import type { Stats } from 'node:fs'
import { type FileHandle, lstat, opendir, statfs } from 'node:fs/promises'
import { enterFolder, entryBytes, folderPath, hasHandles } from './folder-handle.ts'

export type WorkspaceSize = {
  bytes: number
  /** Files, folders and links together. */
  files: number
}

export const boundless: WorkspaceSize = { bytes: Number.POSITIVE_INFINITY, files: Number.POSITIVE_INFINITY }

/** Blocks of stat(2) have 512 bytes, whatever the block size of the file system. */
const blockBytes = 512
/** Deeper than programs build: a deeper folder counts as unreadable. */
const maxDepth = 256
/** How many entries are examined together. */
const batchSize = 64

type Count = WorkspaceSize & { max: WorkspaceSize; seen: Set<number> }

const overfull = Symbol('more than may be')

function add(count: Count, stats: Stats): void {
  // A file with several names counts once.
  if (stats.nlink > 1 && !stats.isDirectory()) {
    if (count.seen.has(stats.ino)) return
    count.seen.add(stats.ino)
  }
  count.files++
  count.bytes += stats.blocks * blockBytes
  if (count.bytes > count.max.bytes || count.files > count.max.files) throw overfull
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
  const entries = await Promise.all(names.map((name) => forgiveGone(lstat(entryBytes(folder, name)))))
  entries.forEach((stats, index) => {
    if (stats === undefined) return
    add(count, stats)
    if (stats.isDirectory()) folders.push(names[index] ?? '')
  })
  return folders
}

async function countFolder(folder: FileHandle, count: Count, depth: number): Promise<void> {
  if (depth > maxDepth) throw overfull
  const folders: string[] = []
  let names: string[] = []
  for await (const { name } of await opendir(folderPath(folder), { bufferSize: batchSize, encoding: 'latin1' })) {
    names.push(name)
    if (names.length < batchSize) continue
    folders.push(...(await countEntries(folder, names, count)))
    names = []
  }
  folders.push(...(await countEntries(folder, names, count)))
  for (const name of folders) await countBelow(entryBytes(folder, name), count, depth + 1)
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

/** The size of a folder; undefined when it exceeds `max`, or has unreadable parts, which count as too much. */
export async function measureFolder(path: string, max: WorkspaceSize): Promise<WorkspaceSize | undefined> {
  const count: Count = { bytes: 0, files: 0, max, seen: new Set() }
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

export type FolderWatch = {
  /** The last count; undefined before the first. */
  used(): WorkspaceSize | undefined
  stop(): void
}

type FolderWatchOptions = {
  folder: string
  /** Read at each check. */
  max: () => WorkspaceSize
  /** Called once, when the folder exceeds its limit. */
  onOver: () => void
  /** Time between two checks; default 100 ms. */
  intervalMs?: number
}

const defaultIntervalMs = 100
/** It is counted at least this often, however quiet the file system is. */
const maxIntervalMs = 2000
/** Counting takes at most a tenth of the time. */
const pauseFactor = 10

type Free = { bytes: number; files: number }

async function readFree(folder: string): Promise<Free> {
  const { bavail, bsize, ffree } = await statfs(folder)
  return { bytes: bavail * bsize, files: ffree }
}

type Counted = { size: WorkspaceSize; free: Free; at: number; tookMs: number }

/** Everything that the file system has lost since the last count may be in this folder. */
function mayBeOver(counted: Counted, free: Free, max: WorkspaceSize): boolean {
  const lost = { bytes: counted.free.bytes - free.bytes, files: counted.free.files - free.files }
  return counted.size.bytes + lost.bytes > max.bytes || counted.size.files + lost.files > max.files
}

function isDue(counted: Counted, free: Free, { max, now }: { max: WorkspaceSize; now: number }): boolean {
  const rest = now - counted.at
  if (rest > Math.max(maxIntervalMs, counted.tookMs * pauseFactor)) return true
  return rest > counted.tookMs && mayBeOver(counted, free, max)
}

async function count(folder: string, max: WorkspaceSize): Promise<Counted | undefined> {
  const startedAt = performance.now()
  const free = await readFree(folder)
  const size = await measureFolder(folder, max)
  const at = performance.now()
  return size && { size, free, at, tookMs: at - startedAt }
}

/** Can overshoot by what is written in one interval; does not see deleted files that are still open. */
export function watchFolder({ folder, max, onOver, intervalMs = defaultIntervalMs }: FolderWatchOptions): FolderWatch {
  let counted: Counted | undefined
  let isStopped = !hasHandles

  async function look(): Promise<boolean> {
    const now = performance.now()
    const free = await readFree(folder)
    if (counted !== undefined && !isDue(counted, free, { max: max(), now })) return false
    const found = await count(folder, max())
    counted = found ?? counted
    return found === undefined
  }

  async function run(): Promise<void> {
    while (!isStopped) {
      // A folder that no longer exists holds nothing.
      const isOver = await look().catch(() => false)
      if (isOver && !isStopped) {
        isStopped = true
        onOver()
      }
      if (!isStopped) await new Promise((resolve) => setTimeout(resolve, intervalMs).unref())
    }
  }

  void run()
  return {
    used: () => counted?.size,
    stop: () => {
      isStopped = true
    },
  }
}

type Growth = {
  /** Whether the run was stopped because of it. */
  wasOver(): boolean
  stop(): void
}

/** Files that one run may add. */
const maxFiles = 65_536

/** Ends the run with `end` when it has written more than `bytes`. Without a folder nothing is watched. */
export async function watchGrowth(folder: string | undefined, bytes: number, end: () => void): Promise<Growth> {
  let isOver = false
  if (folder === undefined) return { wasOver: () => false, stop: () => undefined }
  const before = (await measureFolder(folder, boundless)) ?? { bytes: 0, files: 0 }
  const onOver = () => {
    isOver = true
    end()
  }
  const max = { bytes: before.bytes + bytes, files: before.files + maxFiles }
  const watch = watchFolder({ folder, max: () => max, onOver })
  return { wasOver: () => isOver, stop: watch.stop }
}
