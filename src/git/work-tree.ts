// The files in the folder of a checkout, compared with and committed on what was checked out. Reads only the files: the
// `.git` that the agent has is not looked at, nor any repository below. Reports what a program left under the names of
// the files that git itself reads in a work tree, and that cannot be read.
import { lstat, unlink } from 'node:fs/promises'
import { keepNewPaths } from '../contract/values/carried-folders.ts'
import { type WalkedEntry, walkTree } from '../lib/tree-walk.ts'
import { CheckoutError } from '../ports/workspaces/checkouts.ts'
import { type GitCommand, runGitCommand } from './command.ts'
import { isAsFetched, type LargeFiles } from './lfs.ts'

export type WorkTree = {
  gitDir: string
  folder: string
  /** Of all files that are new or changed. */
  maxBytes: number
  /** Files that stand where the commit has pointers. */
  large?: LargeFiles | undefined
  signal: AbortSignal
}

export function runInTree(tree: WorkTree, args: string[], more: Partial<GitCommand> = {}) {
  return runGitCommand({ args, gitDir: tree.gitDir, workTree: tree.folder, signal: tree.signal, ...more })
}

async function listPaths(tree: WorkTree, args: string[]): Promise<string[]> {
  const { stdout } = await runInTree(tree, args)
  // latin1: names need not be UTF-8, and go back to git as they came.
  return stdout
    .toString('latin1')
    .split('\0')
    .filter((path) => path !== '')
}

type Found = { path: string; kind: 'file' | 'gone'; bytes: number }

/** What is neither a file nor a link counts as gone. */
async function lookAt(folder: string, path: string): Promise<Found> {
  const stats = await lstat(Buffer.from(`${folder}/${path}`, 'latin1')).catch(() => undefined)
  if (stats?.isFile()) return { path, kind: 'file', bytes: stats.size }
  return { path, kind: stats?.isSymbolicLink() ? 'file' : 'gone', bytes: 0 }
}

const batch = 256

async function lookAtAll(tree: WorkTree, paths: string[]): Promise<Found[]> {
  const folder = Buffer.from(tree.folder).toString('latin1')
  const found: Found[] = []
  for (let start = 0; start < paths.length; start += batch)
    found.push(...(await Promise.all(paths.slice(start, start + batch).map((path) => lookAt(folder, path)))))
  return found
}

function checkBytes(found: Found[], max: number): void {
  const bytes = found.reduce((sum, one) => sum + one.bytes, 0)
  if (bytes <= max) return
  throw new CheckoutError('TooLarge', `The changed files have ${bytes} bytes, more than the limit of ${max}.`)
}

const joinPaths = (found: Found[]) => Buffer.from(found.map(({ path }) => `${path}\0`).join(''), 'latin1')

/** Removes first: a file may be where a folder was. */
async function updateIndex(tree: WorkTree, found: Found[]): Promise<void> {
  for (const [kind, how] of [
    ['gone', '--force-remove'],
    ['file', '--add'],
  ] as const) {
    const input = joinPaths(found.filter((one) => one.kind === kind))
    if (input.length > 0) await runInTree(tree, ['update-index', how, '-z', '--stdin'], { input })
  }
}

/** Files that git knows, by what became of them. One below a link is gone: what the link leads to is not looked at. */
async function listKnown(tree: WorkTree): Promise<{ changed: string[]; gone: Found[] }> {
  const words = await listPaths(tree, ['diff-files', '--name-status', '--no-renames', '--ignore-submodules=all', '-z'])
  const changed: string[] = []
  const gone: Found[] = []
  for (let at = 0; at + 1 < words.length; at += 2) {
    const path = words[at + 1] ?? ''
    if (words[at] === 'D') gone.push({ path, kind: 'gone', bytes: 0 })
    else if (!(await isAsFetched(tree.folder, path, tree.large?.[path]))) changed.push(path)
  }
  return { changed, gone }
}

/** `nested` and `leftOut`: folders. */
export type Snapshot = { tree: string; nested: string[]; leftOut: string[] }

const readName = (path: string) => Buffer.from(path, 'latin1').toString()

/** Files that git does not know and nothing excludes. */
async function listNew(tree: WorkTree): Promise<{ files: string[]; nested: string[]; leftOut: string[] }> {
  const others = await listPaths(tree, ['ls-files', '--others', '--exclude-standard', '-z'])
  const nested = others.filter((path) => path.endsWith('/')).map((path) => readName(path).slice(0, -1))
  const files = others.filter((path) => !path.endsWith('/'))
  const tracked = files.length === 0 ? [] : await listPaths(tree, ['ls-files', '-z'])
  const { paths, leftOut } = keepNewPaths(files, tracked)
  return { files: paths, nested, leftOut: leftOut.map(readName) }
}

/**
 * Records the files as a tree of git. Not by `git add`: that runs git inside of repositories that it finds below, under
 * their configuration.
 */
export async function recordTree(tree: WorkTree): Promise<Snapshot> {
  await removeUnreadableFiles(tree.folder, tree.signal)
  const { changed, gone } = await listKnown(tree)
  const { files, nested, leftOut } = await listNew(tree)
  const found = [...gone, ...(await lookAtAll(tree, [...changed, ...files]))]
  checkBytes(found, tree.maxBytes)
  await updateIndex(tree, found)
  const { stdout } = await runInTree(tree, ['write-tree'])
  return { tree: stdout.toString().trim(), nested, leftOut }
}

const namesRead = new Set(['.gitignore', '.gitattributes'])
/** Git holds them in memory. Attributes beyond this size it passes over itself. */
const maxBytes = 100 * 1024 ** 2

async function clearFile({ address, stats }: WalkedEntry): Promise<void> {
  // Git does not follow a link of these names.
  if (stats === undefined || stats.isSymbolicLink() || stats.isDirectory()) return
  if (!stats.isFile()) return await unlink(address)
  if (stats.size <= maxBytes) return
  const message = `A .gitignore or .gitattributes has ${stats.size} bytes, more than the ${maxBytes} that are read. Make it smaller.`
  throw new CheckoutError('TooLarge', message)
}

/** Removes pipes, sockets and devices of these names: git would wait at a pipe for ever, and commits none of them. */
async function removeUnreadableFiles(folder: string, signal: AbortSignal): Promise<void> {
  // What cannot be listed git cannot read either.
  for await (const entry of walkTree(folder, ({ name }) => name !== '.git')) {
    signal.throwIfAborted()
    if (namesRead.has(entry.name.toLowerCase())) await clearFile(entry)
  }
}
