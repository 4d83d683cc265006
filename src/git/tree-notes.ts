// What was learnt of the files of repositories: a file for each note, by repository and name.
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import type { TreeNotes } from '../ports/scans/source-trees.ts'
import type { CacheItem } from './cache-items.ts'
import { writeWhole } from './whole-file.ts'

export type NoteCache = {
  /** Of the repository at an address. */
  of(url: string): TreeNotes
  list(): Promise<CacheItem[]>
}

const largestNote = 64 * 1024 ** 2

const nameOf = (url: string, name: string) => createHash('sha256').update(`${url}\0${name}`).digest('hex').slice(0, 32)

/** The time of its last use tells what goes first. */
async function readNote(file: string): Promise<Buffer | undefined> {
  const content = await readFile(file).catch(() => undefined)
  const now = new Date()
  if (content !== undefined) await utimes(file, now, now).catch(() => undefined)
  return content
}

async function writeNote(root: string, file: string, content: Buffer): Promise<void> {
  if (content.length > largestNote) return
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
  return found && { size: found.size, used: found.mtimeMs, isHeld: () => false, remove }
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
