// The files of a folder that is no repository, as they lie there. Links are named, never followed.
import { isUtf8 } from 'node:buffer'
import { constants } from 'node:fs'
import { lstat, open, readdir } from 'node:fs/promises'
import type { SourceTree, TreeEntry } from '../../ports/scans/source-trees.ts'

const slash = Buffer.from('/')
const within = (folder: Buffer, name: Buffer) => (folder.length === 0 ? name : Buffer.concat([folder, slash, name]))

async function describe(root: Buffer, path: Buffer): Promise<TreeEntry | undefined> {
  const stats = await lstat(within(root, path)).catch(() => undefined)
  if (stats === undefined) return undefined
  const kind = stats.isSymbolicLink() ? 'link' : stats.isFile() && isUtf8(path) ? 'file' : 'unreadable'
  return { path: path.toString(), bytes: stats.size, kind }
}

async function* walk(root: Buffer, folder: Buffer, signal: AbortSignal): AsyncGenerator<TreeEntry> {
  signal.throwIfAborted()
  const entries = await readdir(within(root, folder), { withFileTypes: true, encoding: 'buffer' }).catch(
    () => undefined,
  )
  if (entries === undefined) return yield { path: folder.toString(), bytes: 0, kind: 'unreadable' }
  for (const entry of entries) {
    const path = within(folder, entry.name)
    if (entry.isDirectory() && !entry.isSymbolicLink()) {
      if (entry.name.toString() !== '.git') yield* walk(root, path, signal)
      continue
    }
    const found = await describe(root, path)
    if (found !== undefined) yield found
  }
}

/** Undefined: it is gone, or has become something else. */
async function readFileOf(path: Buffer): Promise<Buffer | undefined> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => undefined)
  if (file === undefined) return undefined
  try {
    return (await file.stat()).isFile() ? await file.readFile() : undefined
  } finally {
    await file.close()
  }
}

/** `folder`: absolute. */
export function openFolderTree(folder: string): SourceTree {
  const root = Buffer.from(folder)
  return {
    async list(signal) {
      const entries: TreeEntry[] = []
      for await (const entry of walk(root, Buffer.alloc(0), signal)) entries.push(entry)
      return entries
    },
    async readEach(paths, take, signal) {
      for (const path of paths) {
        signal.throwIfAborted()
        take(path, await readFileOf(within(root, Buffer.from(path))))
      }
    },
    changesSince: async () => undefined,
    close: async () => undefined,
  }
}
