// What the attempts of a runner write: each no more than a workspace may hold.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type FolderWatch, measureFolder, type WorkspaceSize, watchFolder } from './size.ts'

type DiskWatchOptions = {
  /** In which each attempt has a folder, if it has any. */
  root: string
  /** That one may hold. */
  size: WorkspaceSize
  onOver(folder: string): void
}

/**
 * Counts all together, and each by itself only when they hold more than one may beyond what they total before: one is found before it
 * holds twice what it may.
 */
export function watchAttempts({ root, size, onOver }: DiskWatchOptions): { stop(): void } {
  let isStopped = false
  let watch: FolderWatch | undefined

  async function look(): Promise<void> {
    const total = { bytes: 0, files: 0 }
    for (const folder of await readdir(root)) {
      const used = await measureFolder(join(root, folder), size)
      if (used === undefined) onOver(folder)
      total.bytes += used?.bytes ?? 0
      total.files += used?.files ?? 0
    }
    follow({ bytes: total.bytes + size.bytes, files: total.files + size.files })
  }

  function follow(max: WorkspaceSize): void {
    if (isStopped) return
    // A folder that is gone holds nothing.
    watch = watchFolder({ folder: root, max: () => max, onOver: () => void look().catch(() => undefined) })
  }

  follow(size)
  return {
    stop() {
      isStopped = true
      watch?.stop()
    },
  }
}
