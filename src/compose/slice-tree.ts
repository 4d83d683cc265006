// Slices of a folder on this machine: a commit of its repository, or its files as they lie there.
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { OpenedTree, TreeOptions } from '../cli/context.ts'
import { SvcError } from '../errors.ts'
import { openLocalTree } from '../git/commit-tree.ts'
import type { SourceTree, TreeChanges } from '../ports/scans/source-trees.ts'
import { CheckoutError } from '../ports/workspaces/checkouts.ts'
import { startReading } from '../rules/scans/tree-reading.ts'
import { openFolderTree } from '../runtime/host/folder-tree.ts'

const { signal } = new AbortController()

function refuse(message: string, cause?: unknown): SvcError {
  return new SvcError('InvalidRequest', message, { cause })
}

async function openTree(folder: string, { ref, asItLies }: TreeOptions): Promise<SourceTree> {
  const found = await stat(folder).catch(() => undefined)
  if (found?.isDirectory() !== true)
    throw refuse(`${folder} is not a folder: name one that holds a repository or its files`)
  const tree = asItLies ? undefined : await openLocalTree(folder, ref, signal)
  if (tree === undefined && ref !== undefined) throw refuse(`${folder} is not a repository, and has no ${ref}`)
  return tree ?? openFolderTree(folder)
}

async function findChanges(tree: SourceTree, since: string | undefined): Promise<TreeChanges | undefined> {
  if (since === undefined) return undefined
  const changes = await tree.changesSince(since, signal)
  if (changes === undefined)
    throw refuse(`there is no commit ${since} here: give the full id of one that the repository has`)
  return changes
}

async function readAndCut(folder: string, options: TreeOptions): Promise<OpenedTree> {
  const tree = await openTree(folder, options)
  const { commit } = tree
  const reading = startReading(await tree.list(signal), options.subPath)
  const changes = await findChanges(tree, options.since)
  await tree.readEach(reading.wanted, reading.take, signal)
  return {
    ...(commit !== undefined && { commit }),
    sliced: reading.cut(options.scanName, changes?.removed),
    ...(changes && { changes }),
    async read(paths) {
      const contents = new Map<string, Uint8Array>()
      const keep = (path: string, content: Buffer | undefined) => void (content && contents.set(path, content))
      await tree.readEach(paths, keep, signal)
      return contents
    },
  }
}

export async function sliceTree(folder: string, options: TreeOptions): Promise<OpenedTree> {
  try {
    return await readAndCut(resolve(folder), options)
  } catch (error) {
    throw error instanceof CheckoutError ? refuse(error.message, error) : error
  }
}
