// Folders of repositories, by way of a checkout that ends with the reading.
import { isUtf8 } from 'node:buffer'
import { mkdir, mkdtemp, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { SvcError } from '../errors.ts'
import { once } from '../lib/once.ts'
import { removeTree } from '../lib/tree-removal.ts'
import { type WalkedEntry, walkTree } from '../lib/tree-walk.ts'
import type { FolderLimits, RepositoryFolders } from '../ports/codehost/repository-folders.ts'
import type { Checkouts } from '../ports/workspaces/checkouts.ts'

/** Of the repository around the folder. */
const repositoryLimits = { bytes: 512 * 1024 ** 2, files: 65_536, timeoutMs: 60_000, history: 1 }

function refuse(message: string): SvcError {
  return new SvcError('InvalidRequest', message)
}

/** Longer ones cannot be opened from the root of the checkout. */
const maxPathBytes = 2048

/** Undefined for what is no file of the folder: its folders, and what git keeps there. Links are refused, not followed. */
function readPath({ path: bytes, stats }: WalkedEntry): string | undefined {
  const name = Buffer.from(bytes, 'latin1')
  const path = name.toString()
  const start = path.slice(0, 200)
  if (stats === undefined) throw refuse(`${start} cannot be read`)
  if (path === '.git' || stats.isDirectory()) return undefined
  if (!stats.isFile()) throw refuse(`${start} is a link: the folder must hold its files itself`)
  if (!isUtf8(name)) throw refuse(`${start}: the name is no UTF-8 text`)
  if (name.length > maxPathBytes) throw refuse(`${start}...: the path is longer than ${maxPathBytes} bytes`)
  return path
}

async function listFiles(folder: string, max: number): Promise<string[]> {
  const found: string[] = []
  for await (const entry of walkTree(folder, ({ path }) => path !== '.git')) {
    const path = readPath(entry)
    if (path !== undefined) found.push(path)
    if (found.length > max) throw refuse(`the folder has more than ${max} files`)
  }
  return found.toSorted()
}

async function readFiles(folder: string, { files: maxFiles, bytes: maxBytes }: FolderLimits) {
  const files = new Map<string, Buffer>()
  let bytes = 0
  for (const path of await listFiles(folder, maxFiles)) {
    bytes += (await stat(join(folder, path))).size
    if (bytes > maxBytes) throw refuse(`the folder has more than ${maxBytes} bytes`)
    files.set(path, await readFile(join(folder, path)))
  }
  return files
}

/** Without what a process that was killed has left there. */
async function makeRoot(root: string): Promise<void> {
  await removeTree(root)
  await mkdir(root, { recursive: true, mode: 0o700 })
}

/** `root`: where checkouts lie while they are read; of this process alone. */
export function createRepositoryFolders(checkouts: Checkouts, root: string): RepositoryFolders {
  const prepare = once(() => makeRoot(root))
  return {
    async read({ path, ...repository }, limits, signal) {
      await prepare()
      const folder = await mkdtemp(join(root, 'reading-'))
      try {
        const subFolder = path === undefined ? {} : { subPath: path }
        const spec = { ...repository, ...subFolder, limits: repositoryLimits }
        const checkout = await checkouts.prepare(spec, join(folder, 'tree'), signal)
        try {
          return { commit: checkout.baseSHA, files: await readFiles(checkout.workFolder, limits) }
        } finally {
          await checkout.close()
        }
      } finally {
        await removeTree(folder)
      }
    },
  }
}
