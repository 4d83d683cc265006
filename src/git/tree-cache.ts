// Files of commits, written once for all checkouts that show them as they are. Nothing changes them here, and no
// program of an attempt reaches them; what a checkout changes lies elsewhere. What was learnt of the files of
// repositories: a file for each note, by repository and name.
import { createHash, randomUUID } from 'node:crypto'
import { copyFile, mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { removeTree } from '../lib/tree-removal.ts'
import type { TreeNotes } from '../ports/scans/source-trees.ts'
import { type CacheItem, dropStage, removeOldest, underFetchLock, writeWhole } from './cache-files.ts'

export type TreeRequest = {
  /** Of repository and commit: the same name has always the same files. */
  name: string
  size: { bytes: number; files: number }
  gitDir: string
  /** Writes the files, and the index of `gitDir` that knows them. */
  write(folder: string): Promise<void>
}

export type LentTree = { files: string; release(): void }

export type CommitTreeCache = {
  /** The files, which stay until they are released; `gitDir` gets their index. Undefined: they are too large to keep. */
  lend(wish: TreeRequest, signal: AbortSignal): Promise<LentTree | undefined>
  /** Those that nobody holds can be removed. */
  list(): Promise<CacheItem[]>
}

/** What is left is for packs, which take longer to get again. */
const maxShare = 0.5
/** What a small file takes on a disk. */
const block = 4096

const sizeOnDisk = ({ bytes, files }: TreeRequest['size']) => bytes + files * block

type Trees = { root: string; maxBytes: number; leases: Map<string, number> }

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
      return { size, used, isLeased: () => trees.leases.has(name), remove: () => moveAway(trees, name) }
    }),
  )
}

async function moveAway(trees: Trees, name: string): Promise<void> {
  const aside = join(trees.root, 'staging', randomUUID())
  await mkdir(join(trees.root, 'staging'), { recursive: true, mode: 0o700 })
  // Another sweep may have taken it.
  await rename(folderOf(trees, name), aside).catch(() => undefined)
  await removeTree(aside)
}

async function write(trees: Trees, wish: TreeRequest): Promise<void> {
  const bytes = sizeOnDisk(wish.size)
  await removeOldest(await list(trees), trees.maxBytes - bytes)
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
    await dropStage(stage)
  }
}

function lease({ leases }: Trees, name: string): () => void {
  leases.set(name, (leases.get(name) ?? 0) + 1)
  let release = () => {
    const left = (leases.get(name) ?? 1) - 1
    if (left > 0) leases.set(name, left)
    else leases.delete(name)
  }
  return () => {
    release()
    release = () => {}
  }
}

async function lend(trees: Trees, wish: TreeRequest, signal: AbortSignal): Promise<string> {
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

/** `maxBytes`: of the whole cache that it is a part of. */
export function createCommitTreeCache(root: string, maxBytes: number): CommitTreeCache {
  const trees: Trees = { root, maxBytes: maxBytes * maxShare, leases: new Map() }
  return {
    async lend(wish, signal) {
      if (sizeOnDisk(wish.size) > trees.maxBytes) return undefined
      // Before it is looked for: from now on it is not removed.
      const release = lease(trees, wish.name)
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

export type NoteCache = {
  /** Of the repository at an address. */
  of(url: string): TreeNotes
  list(): Promise<CacheItem[]>
}

const maxNoteBytes = 64 * 1024 ** 2

const nameOf = (url: string, name: string) => createHash('sha256').update(`${url}\0${name}`).digest('hex').slice(0, 32)

/** The time of its last use tells what goes first. */
async function readNote(file: string): Promise<Buffer | undefined> {
  const content = await readFile(file).catch(() => undefined)
  const now = new Date()
  if (content !== undefined) await utimes(file, now, now).catch(() => undefined)
  return content
}

async function writeNote(root: string, file: string, content: Buffer): Promise<void> {
  if (content.length > maxNoteBytes) return
  try {
    await mkdir(root, { recursive: true, mode: 0o700 })
    await writeWhole(file, content)
  } catch {
    // It is learnt again next time.
  }
}

async function describe(file: string): Promise<CacheItem | undefined> {
  const found = await stat(file).catch(() => undefined)
  const remove = () => rm(file, { force: true })
  return found && { size: found.size, used: found.mtimeMs, isLeased: () => false, remove }
}

/** `root`: a folder of its own. */
export function createNoteCache(root: string): NoteCache {
  return {
    of: (url) => ({
      read: (name) => readNote(join(root, nameOf(url, name))),
      write: (name, content) => writeNote(root, join(root, nameOf(url, name)), content),
    }),
    async list() {
      const names = await readdir(root).catch(() => [])
      const items = await Promise.all(names.map((name) => describe(join(root, name))))
      return items.filter((item) => item !== undefined)
    },
  }
}
