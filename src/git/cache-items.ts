// What caches of the disk hold, and what goes first.

export type CacheItem = {
  /** Bytes. */
  size: number
  /** When it was used last, in milliseconds. */
  used: number
  /** Whether somebody works with it now. Asked again just before it would be removed. */
  isHeld(): boolean
  remove(): Promise<void>
}

/** Removes what was used least recently, until no more than `mostBytes` are left or all is held; how many. */
export async function removeOldest(items: CacheItem[], mostBytes: number): Promise<number> {
  let kept = items.reduce((sum, { size, isHeld }) => sum + (isHeld() ? size : 0), 0)
  let removed = 0
  for (const item of items.toSorted((a, b) => b.used - a.used)) {
    if (item.isHeld()) continue
    if (kept + item.size <= mostBytes) kept += item.size
    else {
      await item.remove()
      removed += 1
    }
  }
  return removed
}
