// Watches a folder while a program writes to it, where nothing else limits it.
import { statfs } from 'node:fs/promises'
import { hasHandles } from './folder-handle.ts'
import { measureFolder, type WorkspaceSize } from './size.ts'

export type FolderWatch = {
  /** The last count; undefined before the first. */
  used(): WorkspaceSize | undefined
  stop(): void
}

export type WatchOptions = {
  folder: string
  /** Read at each check. */
  most: () => WorkspaceSize
  /** Called once, when the folder exceeds its limit. */
  onOver: () => void
  /** Time between two checks; default 100 ms. */
  intervalMs?: number
}

const usualIntervalMs = 100
/** It is counted at least this often, however quiet the file system is. */
const longestMs = 2000
/** Counting takes at most a tenth of the time. */
const restFactor = 10

type Free = { bytes: number; files: number }

async function readFree(folder: string): Promise<Free> {
  const { bavail, bsize, ffree } = await statfs(folder)
  return { bytes: bavail * bsize, files: ffree }
}

type Counted = { size: WorkspaceSize; free: Free; at: number; tookMs: number }

/** Everything that the file system has lost since the last count may be in this folder. */
function mayBeOver(counted: Counted, free: Free, most: WorkspaceSize): boolean {
  const lost = { bytes: counted.free.bytes - free.bytes, files: counted.free.files - free.files }
  return counted.size.bytes + lost.bytes > most.bytes || counted.size.files + lost.files > most.files
}

function isDue(counted: Counted, free: Free, { most, now }: { most: WorkspaceSize; now: number }): boolean {
  const rest = now - counted.at
  if (rest > Math.max(longestMs, counted.tookMs * restFactor)) return true
  return rest > counted.tookMs && mayBeOver(counted, free, most)
}

async function count(folder: string, most: WorkspaceSize): Promise<Counted | undefined> {
  const startedAt = performance.now()
  const free = await readFree(folder)
  const size = await measureFolder(folder, most)
  const at = performance.now()
  return size && { size, free, at, tookMs: at - startedAt }
}

/** Can overshoot by what is written in one interval; does not see deleted files that are still open. */
export function watchFolder({ folder, most, onOver, intervalMs = usualIntervalMs }: WatchOptions): FolderWatch {
  let counted: Counted | undefined
  let isStopped = !hasHandles

  async function look(): Promise<boolean> {
    const now = performance.now()
    const free = await readFree(folder)
    if (counted !== undefined && !isDue(counted, free, { most: most(), now })) return false
    const found = await count(folder, most())
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
