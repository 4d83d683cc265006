// Caches on disk: what is evicted first, files that several read while one writes, and one download of a repository at
// a time over all processes of the machine, which only saves work.
import { randomUUID } from 'node:crypto'
import { mkdir, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../errors.ts'
import { hasCode } from '../lib/error-code.ts'
import { removeTree } from '../lib/tree-removal.ts'

export type CacheItem = {
  /** Bytes. */
  size: number
  /** When it was used last, in milliseconds. */
  used: number
  /** Whether somebody works with it now. Asked again just before it would be removed. */
  isLeased(): boolean
  remove(): Promise<void>
}

/** The outcome of the work in it stands; what stays is swept later. */
export const dropStage = (stage: string) => removeTree(stage).catch(() => undefined)

/** Does all of it, however much of it fails, and sums up; the first failure is thrown at the end. */
export async function sumOfAll(works: Iterable<() => Promise<number>>): Promise<number> {
  let sum = 0
  const failures: unknown[] = []
  for (const work of works) {
    try {
      sum += await work()
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
  return sum
}

/** Longer than any download may take. */
const forgottenMs = 24 * 3600_000

/** Whether it is there and was left alone for a day: one that is being prepared looks as if nobody used it. */
export async function isForgotten(folder: string): Promise<boolean> {
  const found = await stat(folder).catch(() => undefined)
  return found !== undefined && Date.now() - found.mtimeMs >= forgottenMs
}

/** Removes what `parent` has of which it is true; how many. */
export async function removeForgotten(parent: string, isUnused = isForgotten): Promise<number> {
  const remove = (folder: string) => async () => {
    if (!(await isUnused(folder))) return 0
    await removeTree(folder)
    return 1
  }
  const names = await readdir(parent).catch(() => [])
  return await sumOfAll(names.map((name) => remove(join(parent, name))))
}

const removeItem = (item: CacheItem) => async () => {
  if (item.isLeased()) return 0
  await item.remove()
  return 1
}

/** Removes what was used least recently, until no more than `maxBytes` are left or all is held; how many. */
export async function removeOldest(items: CacheItem[], maxBytes: number): Promise<number> {
  let total = items.reduce((sum, { size, isLeased }) => sum + (isLeased() ? size : 0), 0)
  const beyond: CacheItem[] = []
  for (const item of items.toSorted((a, b) => b.used - a.used)) {
    if (item.isLeased()) continue
    if (total + item.size <= maxBytes) total += item.size
    else beyond.push(item)
  }
  return await sumOfAll(beyond.map(removeItem))
}

/** Written beside its path first, for its owner alone: a reader finds all of it or nothing. */
export async function writeWhole(file: string, content: string | Buffer): Promise<void> {
  const draft = `${file}.${randomUUID()}`
  try {
    await writeFile(draft, content, { mode: 0o600 })
    await rename(draft, file)
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined)
    throw error
  }
}

const keepAliveMs = 1000
const staleMs = 10_000
const lookMs = 25

async function take(lock: string): Promise<boolean> {
  try {
    await mkdir(lock)
    return true
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false
    throw new Error(`The lock of a repository cannot be made: ${messageOf(error)}`, { cause: error })
  }
}

/**
 * Whether nobody has touched it over looks of `staleMs`: its holder was killed. Its times are only compared with each other, since the
 * clock of the machine may be set meanwhile, and a disk over the network has a clock of its own.
 */
function watchLock(lock: string): () => Promise<boolean> {
  let touched: number | undefined
  let since = 0
  return async () => {
    const found = await stat(lock).catch(() => undefined)
    if (found?.mtimeMs !== touched) {
      touched = found?.mtimeMs
      since = performance.now()
    }
    return found !== undefined && performance.now() - since >= staleMs
  }
}

async function breakLock(lock: string): Promise<void> {
  const aside = `${lock}-${randomUUID()}`
  await rename(lock, aside).catch(() => undefined)
  await removeTree(aside)
}

/** Runs `work` when no one else holds the lock, or as soon as `isDone`. */
export async function underFetchLock(
  lock: string,
  signal: AbortSignal,
  { isDone, work }: { isDone: () => Promise<boolean>; work: () => Promise<void> },
): Promise<void> {
  const isStale = watchLock(lock)
  while (!(await take(lock))) {
    if (await isDone()) return
    if (await isStale()) await breakLock(lock)
    await sleep(lookMs, undefined, { signal })
  }
  const keepAlive = setInterval(() => {
    const now = new Date()
    utimes(lock, now, now).catch(() => undefined)
  }, keepAliveMs)
  try {
    if (!(await isDone())) await work()
  } finally {
    clearInterval(keepAlive)
    await removeTree(lock)
  }
}
