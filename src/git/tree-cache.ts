// Files of commits, written once for all checkouts that show them as they are. Nothing changes them here, and no program
// of an attempt reaches them; what a checkout changes lies elsewhere.
import { randomUUID } from 'node:crypto'
import { copyFile, mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type CacheItem, removeOldest } from './cache-items.ts'
import { underFetchLock } from './fetch-lock.ts'

export type TreeWish = {
  /** Of repository and commit: the same name has always the same files. */
  name: string
  size: { bytes: number; files: number }
  gitDir: string
  /** Writes the files, and the index of `gitDir` that knows them. */
  write(folder: string): Promise<void>
}

export type LentTree = { files: string; release(): void }

export type TreeCache = {
  /** The files, which stay until they are released; `gitDir` gets their index. Undefined: they are too large to keep. */
  lend(wish: TreeWish, signal: AbortSignal): Promise<LentTree | undefined>
  /** Those that nobody holds can be removed. */
  list(): Promise<CacheItem[]>
}

/** What is left is for packs, which take longer to get again. */
const largestPart = 0.5
/** What a small file takes on a disk. */
const block = 4096

const sizeOnDisk = ({ bytes, files }: TreeWish['size']) => bytes + files * block

type Trees = { root: string; mostBytes: number; held: Map<string, number> }

const folderOf = ({ root }: Trees, name: string) => join(root, 'trees', name)
/** Written before the tree gets its name. */
const sizeFile = 'size'

async function isThere(trees: Trees, name: string): Promise<boolean> {
  return (await stat(folderOf(trees, name)).catch(() => undefined)) !== undefined
}

async function list(trees: Trees): Promise<CacheItem[]> {
  const names = await readdir(join(trees.root, 'trees')).catch(() => [])
  return await Promise.all(
    names.map(async (name) => {
      const folder = folderOf(trees, name)
      const size = Number(await readFile(join(folder, sizeFile), 'utf8').catch(() => 0))
      const used = (await stat(folder).catch(() => undefined))?.mtimeMs ?? 0
      return { size, used, isHeld: () => trees.held.has(name), remove: () => moveAway(trees, name) }
    }),
  )
}

async function moveAway(trees: Trees, name: string): Promise<void> {
  const aside = join(trees.root, 'staging', randomUUID())
  await mkdir(join(trees.root, 'staging'), { recursive: true, mode: 0o700 })
  // Another sweep may have taken it.
  await rename(folderOf(trees, name), aside).catch(() => undefined)
  await rm(aside, { recursive: true, force: true })
}

async function write(trees: Trees, wish: TreeWish): Promise<void> {
  const bytes = sizeOnDisk(wish.size)
  await removeOldest(await list(trees), trees.mostBytes - bytes)
  const stage = join(trees.root, 'staging', randomUUID())
  const files = join(stage, 'files')
  try {
    await mkdir(files, { recursive: true, mode: 0o700 })
    await wish.write(files)
    await copyFile(join(wish.gitDir, 'index'), join(stage, 'index'))
    await writeFile(join(stage, sizeFile), String(bytes))
    await mkdir(join(trees.root, 'trees'), { recursive: true, mode: 0o700 })
    await rename(stage, folderOf(trees, wish.name))
  } finally {
    await rm(stage, { recursive: true, force: true })
  }
}

function hold({ held }: Trees, name: string): () => void {
  held.set(name, (held.get(name) ?? 0) + 1)
  let release = () => {
    const left = (held.get(name) ?? 1) - 1
    if (left > 0) held.set(name, left)
    else held.delete(name)
  }
  return () => {
    release()
    release = () => {}
  }
}

async function lend(trees: Trees, wish: TreeWish, signal: AbortSignal): Promise<string> {
  const folder = folderOf(trees, wish.name)
  const locks = join(trees.root, 'locks')
  await mkdir(locks, { recursive: true, mode: 0o700 })
  const isDone = () => isThere(trees, wish.name)
  if (!(await isDone())) {
    await underFetchLock(join(locks, wish.name), signal, { isDone, work: () => write(trees, wish) })
  }
  await copyFile(join(folder, 'index'), join(wish.gitDir, 'index'))
  const now = new Date()
  await utimes(folder, now, now)
  return join(folder, 'files')
}

/** `mostBytes`: of the whole cache that it is a part of. */
export function createTreeCache(root: string, mostBytes: number): TreeCache {
  const trees: Trees = { root, mostBytes: mostBytes * largestPart, held: new Map() }
  return {
    async lend(wish, signal) {
      if (sizeOnDisk(wish.size) > trees.mostBytes) return undefined
      // Before it is looked for: from now on it is not removed.
      const release = hold(trees, wish.name)
      try {
        return { files: await lend(trees, wish, signal), release }
      } catch (error) {
        release()
        throw error
      }
    },
    list: () => list(trees),
  }
}
