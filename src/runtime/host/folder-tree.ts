// The files of a folder that is no repository, as they lie there. Links are named, never followed.
import { isUtf8 } from 'node:buffer'
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { type WalkedEntry, walkTree } from '../../lib/tree-walk.ts'
import type { SourceTree, TreeEntry } from '../../ports/scans/source-trees.ts'

function describe({ path, stats }: WalkedEntry): TreeEntry {
  const name = Buffer.from(path, 'latin1')
  const kind = stats?.isSymbolicLink() ? 'link' : stats?.isFile() && isUtf8(name) ? 'file' : 'unreadable'
  return { path: name.toString(), bytes: stats?.size ?? 0, kind }
}

/** Undefined: it is gone, or has become something else. */
async function readFileOf(path: string): Promise<Buffer | undefined> {
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
  return {
    async list(signal) {
      const entries: TreeEntry[] = []
      for await (const found of walkTree(folder, ({ name }) => name !== '.git')) {
        signal.throwIfAborted()
        if (!found.stats?.isDirectory()) entries.push(describe(found))
      }
      return entries
    },
    async readEach(paths, take, signal) {
      for (const path of paths) {
        signal.throwIfAborted()
        take(path, await readFileOf(join(folder, path)))
      }
    },
    changesSince: async () => undefined,
    close: async () => undefined,
  }
}
