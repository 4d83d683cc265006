// Folders of repositories, by way of a checkout that ends with the reading.

import { mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { SvcError } from '../errors.ts'
import { once } from '../lib/once.ts'
import type { FolderLimits, RepositoryFolders } from '../ports/codehost/repository-folders.ts'
import type { Checkouts } from '../ports/workspaces/checkouts.ts'

/** Of the repository around the folder. */
const repositoryLimits = { bytes: 512 * 1024 ** 2, files: 65_536, timeoutMs: 60_000, history: 1 }

function refuse(message: string): SvcError {
  return new SvcError('InvalidRequest', message)
}

/** Paths of its files. Links are refused, not followed. */
async function listFiles(folder: string, max: number): Promise<string[]> {
  const found: string[] = []
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/')
    if (path === '.git' || path.startsWith('.git/') || entry.isDirectory()) continue
    if (!entry.isFile()) throw refuse(`${path} is a link: the folder must hold its files itself`)
    found.push(path)
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
  await rm(root, { recursive: true, force: true })
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
        await rm(folder, { recursive: true, force: true })
      }
    },
  }
}
