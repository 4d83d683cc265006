// The size of a workspace: its limit, what it holds now, and watching what a program writes where nothing else limits
// it.

import type { Stats } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { describeBytes } from '../../lib/bytes.ts'
import { hasHandles } from '../../lib/folder-handle.ts'
import { walkTree } from '../../lib/tree-walk.ts'

export type WorkspaceSize = {
  bytes: number
  /** Files, folders and links together. */
  files: number
}

export const boundless: WorkspaceSize = { bytes: Number.POSITIVE_INFINITY, files: Number.POSITIVE_INFINITY }

/** Blocks of stat(2) have 512 bytes, whatever the block size of the file system. */
const blockBytes = 512

type Count = WorkspaceSize & { max: WorkspaceSize; seen: Set<number> }

/** Whether it is still within its limit. */
function add(count: Count, stats: Stats): boolean {
  // A file with several names counts once.
  if (stats.nlink > 1 && !stats.isDirectory()) {
    if (count.seen.has(stats.ino)) return true
    count.seen.add(stats.ino)
  }
  count.files++
  count.bytes += stats.blocks * blockBytes
  return count.bytes <= count.max.bytes && count.files <= count.max.files
}

/** The size of a folder; undefined when it exceeds `max`, or has unreadable parts, which count as too much. */
export async function measureFolder(path: string, max: WorkspaceSize): Promise<WorkspaceSize | undefined> {
  const count: Count = { bytes: 0, files: 0, max, seen: new Set() }
  for await (const { stats } of walkTree(path)) {
    if (stats === undefined || !add(count, stats)) return undefined
  }
  return { bytes: count.bytes, files: count.files }
}

export function describeSize({ bytes, files }: WorkspaceSize): string {
  return `${describeBytes(bytes)} or ${files} files`
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
  let isStopped = false
  let timer: NodeJS.Timeout | undefined

  async function look(): Promise<boolean> {
    const now = performance.now()
    const free = await readFree(folder)
    if (counted !== undefined && !isDue(counted, free, { max: max(), now })) return false
    const found = await count(folder, max())
    counted = found ?? counted
    return found === undefined
  }

  // The first look is one interval away: most of what is watched has ended by then.
  function wait(): void {
    timer = setTimeout(run, intervalMs).unref()
  }

  async function run(): Promise<void> {
    // A folder that no longer exists holds nothing.
    const isOver = await look().catch(() => false)
    if (isStopped) return
    if (isOver) onOver()
    else wait()
  }

  if (hasHandles) wait()
  return {
    used: () => counted?.size,
    stop: () => {
      isStopped = true
      clearTimeout(timer)
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
