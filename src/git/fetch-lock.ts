// One download of a repository at a time, over all processes of the machine. It saves work: nothing depends on it.

import { randomUUID } from 'node:crypto'
import { mkdir, rename, rm, stat, utimes } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../errors.ts'

const beatMs = 1000
/** Its holder was killed. */
const staleMs = 10_000
const lookMs = 25

async function take(lock: string): Promise<boolean> {
  try {
    await mkdir(lock)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw new Error(`The lock of a repository cannot be made: ${messageOf(error)}`, { cause: error })
  }
}

async function removeStale(lock: string): Promise<void> {
  const found = await stat(lock).catch(() => undefined)
  if (found === undefined || Date.now() - found.mtimeMs < staleMs) return
  const aside = `${lock}-${randomUUID()}`
  await rename(lock, aside).catch(() => undefined)
  await rm(aside, { recursive: true, force: true })
}

/** Runs `work` when no one else holds the lock, or as soon as `isDone`. */
export async function underFetchLock(
  lock: string,
  signal: AbortSignal,
  { isDone, work }: { isDone: () => Promise<boolean>; work: () => Promise<void> },
): Promise<void> {
  while (!(await take(lock))) {
    if (await isDone()) return
    await removeStale(lock)
    await sleep(lookMs, undefined, { signal })
  }
  const beat = setInterval(() => {
    const now = new Date()
    utimes(lock, now, now).catch(() => undefined)
  }, beatMs)
  try {
    if (!(await isDone())) await work()
  } finally {
    clearInterval(beat)
    await rm(lock, { recursive: true, force: true })
  }
}
