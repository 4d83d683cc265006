// The total size of one owner's scratch folders, and how much is left for one of them.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { boundless, measureFolder, type WorkspaceSize } from './size.ts'

type SharesOptions = {
  /** The folder of records, whose names start with their owner's. */
  root: string
  /** Limit for all folders of one owner. */
  quota: WorkspaceSize
  /** The size assumed for an unreadable folder. */
  unreadable: WorkspaceSize
  isHeld(name: string): boolean
}

export type Shares = {
  /** Counts the owner's folders of unknown size. */
  look(owner: string): Promise<void>
  /** What the owner's other folders leave to this one, as far as they have been counted. */
  leftFor(name: string): WorkspaceSize
  /** From now on `used` gives the folder's size. */
  follow(name: string, used: () => WorkspaceSize): void
  /** Nobody watches it there any more: it is counted again when needed. */
  leave(name: string): void
}

export function ownerOf(name: string): string {
  return name.slice(0, name.indexOf('-') + 1)
}

export function createShares({ root, quota, unreadable, isHeld }: SharesOptions): Shares {
  const sizes = new Map<string, () => WorkspaceSize>()
  const stale = new Set<string>()

  async function count(name: string): Promise<void> {
    const size = (await measureFolder(join(root, name, 'files'), boundless)) ?? unreadable
    sizes.set(name, () => size)
    if (!isHeld(name)) stale.delete(name)
  }

  function forget(name: string): void {
    sizes.delete(name)
    stale.delete(name)
  }

  return {
    async look(owner) {
      const present = new Set(await readdir(root))
      for (const name of sizes.keys()) if (!present.has(name)) forget(name)
      const isUnknown = (name: string) => !sizes.has(name) || stale.has(name)
      const names = [...present].filter((name) => ownerOf(name) === owner && isUnknown(name))
      for (const name of names) await count(name)
    },
    leftFor(name) {
      const left = { ...quota }
      for (const [other, used] of sizes) {
        if (other === name || ownerOf(other) !== ownerOf(name)) continue
        const { bytes, files } = used()
        left.bytes -= bytes
        left.files -= files
      }
      return left
    },
    follow: (name, used) => void sizes.set(name, used),
    leave: (name) => void stale.add(name),
  }
}
