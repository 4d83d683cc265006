// Scratch roots of conversations that the service itself runs tools for: one folder each, made when it is first needed (BUILT-027).
import { createHash } from 'node:crypto'
import { mkdir, readdir, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../ports/clock.ts'

export type ScratchFolders = {
  /** The folder of this conversation; `parts` are who it belongs to and its own word. The same parts give the same folder. */
  open(parts: readonly string[]): Promise<string>
}

type ScratchOptions = {
  /** Where the folders lie; made when it is missing. */
  root: string
  clock: Clock
  /** A folder that nobody opened for so long is removed. Default one hour. */
  idleMs?: number
}

const defaultIdleMs = 3_600_000

export function createScratchFolders({ root, clock, idleMs = defaultIdleMs }: ScratchOptions): ScratchFolders {
  let swept = Number.NEGATIVE_INFINITY

  async function sweep(now: number): Promise<void> {
    for (const name of await readdir(root)) {
      const folder = join(root, name)
      const { mtimeMs } = await stat(folder)
      if (mtimeMs < now - idleMs) await rm(folder, { recursive: true, force: true })
    }
  }

  return {
    async open(parts) {
      const name = createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)
      const folder = join(root, name)
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const now = clock.now()
      await utimes(folder, now, now)
      if (now.getTime() - swept > idleMs / 4) {
        swept = now.getTime()
        // Another process may remove the same folders; what is left is for the next time.
        await sweep(swept).catch(() => {})
      }
      return folder
    },
  }
}
