// Packs of repositories that were fetched, by address. A checkout gets links to them: what is removed here is not missed
// there, and no file here ever changes. Only this adapter's processes can reach the folder.
import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode } from '../lib/error-code.ts'
import { removeTree } from '../lib/tree-removal.ts'
import { CheckoutError } from '../ports/workspaces/checkouts.ts'
import {
  type CacheItem,
  dropStage,
  removeForgotten,
  removeOldest,
  sumOfAll,
  underFetchLock,
  writeWhole,
} from './cache-files.ts'
import { linkFile, makeGitFolder, packsOf, transferPacks } from './git-folder.ts'
import { type CommitTreeCache, createCommitTreeCache, createNoteCache, type NoteCache } from './tree-cache.ts'
import { listTree } from './tree-listing.ts'

/** What is known of a commit that is here. */
export type CommitFacts = { shallow: string[]; files: number; bytes: number }

export type FetchRequest = {
  url: string
  commits: string[]
  /** Fetches the commits into a repository; knows what that has already. */
  download(gitDir: string, signal: AbortSignal): Promise<void>
}

export type RepositoryCache = {
  /** Links what the commits need into the packs of `gitDir`; fetches it before, if it is not here. In order. */
  take(wish: FetchRequest, gitDir: string, signal: AbortSignal): Promise<CommitFacts[]>
  /** Files of commits, within the same limit. */
  trees: CommitTreeCache
  /** What was learnt of repositories, within the same limit. */
  notes: NoteCache
  /** Removes what is left of interrupted downloads, and what was used least recently beyond the limit; how many. */
  clean(): Promise<number>
}

/** With more packs, git is slow and every checkout copies much: the repository is fetched anew. */
const maxPacks = 8
/** Of commits that the server is told of, so that it sends only what is new. */
const maxKnown = 16
const attempts = 3

type Entry = { folder: string; packs: string; commits: string }

function entryOf(folder: string): Entry {
  return { folder, packs: packsOf(folder), commits: join(folder, 'commits') }
}

/** A name for what is kept of a repository. */
export const nameFor = (url: string) => createHash('sha256').update(url).digest('hex').slice(0, 32)

async function readFacts({ commits }: Entry, commit: string): Promise<CommitFacts | undefined> {
  const text = await readFile(join(commits, commit), 'utf8').catch(() => undefined)
  return text === undefined ? undefined : (JSON.parse(text) as CommitFacts)
}

/** In order; undefined when one is missing. */
async function readAll(entry: Entry, commits: string[]): Promise<CommitFacts[] | undefined> {
  const facts = await Promise.all(commits.map((commit) => readFacts(entry, commit)))
  const found = facts.filter((one) => one !== undefined)
  return found.length === commits.length ? found : undefined
}

async function listKnown({ commits }: Entry): Promise<string[]> {
  const names = (await readdir(commits).catch(() => [])).filter((name) => !name.includes('.'))
  const timed = await Promise.all(
    names.map(async (name) => ({ name, at: (await stat(join(commits, name)).catch(() => undefined))?.mtimeMs ?? 0 })),
  )
  return timed
    .sort((a, b) => b.at - a.at)
    .slice(0, maxKnown)
    .map(({ name }) => name)
}

/** More than any limit of checkouts; counting them takes seconds. */
const maxCounted = { entries: 4 * 1024 ** 2, bytes: 256 * 1024 ** 2 }

/** How many files a commit has, and how large they are together. CheckoutError `TooLarge` beyond all limits. */
async function measureTree(
  gitDir: string,
  commit: string,
  signal: AbortSignal,
): Promise<{ files: number; bytes: number }> {
  let files = 0
  let bytes = 0
  const options = ['--format=%(objectsize)']
  await listTree({ gitDir, commit, options, max: maxCounted, signal }, (size) => {
    files += 1
    bytes += Number.parseInt(size.toString('latin1'), 10) || 0
  })
  return { files, bytes }
}

async function publish(entry: Entry, stage: string, commits: string[], signal: AbortSignal): Promise<void> {
  const list = await readFile(join(stage, 'shallow'), 'utf8').catch(() => '')
  const shallow = list.split('\n').filter((line) => line !== '')
  const facts = await Promise.all(commits.map((commit) => measureTree(stage, commit, signal)))
  await mkdir(entry.packs, { recursive: true, mode: 0o700 })
  await mkdir(entry.commits, { recursive: true, mode: 0o700 })
  await transferPacks(packsOf(stage), entry.packs, linkFile)
  for (const [index, commit] of commits.entries())
    await writeWhole(join(entry.commits, commit), JSON.stringify({ shallow, ...facts[index] }))
}

async function isCrowded({ packs }: Entry): Promise<boolean> {
  const names = await readdir(packs).catch(() => [])
  return names.filter((name) => name.endsWith('.pack')).length >= maxPacks
}

/** A repository to fetch into, that has what is here. */
async function openStage(root: string, entry: Entry): Promise<string> {
  const stage = join(root, 'staging', randomUUID())
  const known = await listKnown(entry)
  const facts = (await Promise.all(known.map((commit) => readFacts(entry, commit)))).filter((one) => one !== undefined)
  const references = Object.fromEntries(known.map((commit) => [`refs/known/${commit}`, commit]))
  const shallow = [...new Set(facts.flatMap((one) => one.shallow))]
  await makeGitFolder(stage, { head: { branch: 'none' }, references, shallow })
  const isWhole = known.length === 0 || (await transferPacks(entry.packs, packsOf(stage), linkFile))
  if (isWhole) return stage
  await removeTree(stage)
  throw new CheckoutError('GitFailed', 'The objects of the repository were removed meanwhile. Try again.')
}

async function moveAway(root: string, entry: Entry): Promise<void> {
  const aside = join(root, 'staging', randomUUID())
  await mkdir(join(root, 'staging'), { recursive: true, mode: 0o700 })
  await rename(entry.folder, aside).catch((error: unknown) => {
    if (!hasCode(error, 'ENOENT')) throw error
  })
  await removeTree(aside)
  await mkdir(entry.folder, { recursive: true, mode: 0o700 })
}

async function fetchInto(root: string, entry: Entry, wish: FetchRequest, signal: AbortSignal): Promise<void> {
  if (await isCrowded(entry)) await moveAway(root, entry)
  const stage = await openStage(root, entry)
  try {
    await wish.download(stage, signal)
    await publish(entry, stage, wish.commits, signal)
  } finally {
    await dropStage(stage)
  }
}

async function sizeOf({ packs }: Entry): Promise<number> {
  const names = await readdir(packs).catch(() => [])
  const sizes = await Promise.all(
    names.map(async (name) => (await stat(join(packs, name)).catch(() => undefined))?.size),
  )
  return sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0)
}

async function listRepositories(root: string): Promise<CacheItem[]> {
  const names = await readdir(join(root, 'repositories')).catch(() => [])
  const entries = names.map((name) => entryOf(join(root, 'repositories', name)))
  return await Promise.all(
    entries.map(async (entry) => ({
      size: await sizeOf(entry),
      used: (await stat(entry.folder).catch(() => undefined))?.mtimeMs ?? 0,
      // Checkouts have links of their own.
      isLeased: () => false,
      remove: () => moveAway(root, entry),
    })),
  )
}

/** Undefined when something is not here, or no longer. */
async function takeLinks(entry: Entry, commits: string[], gitDir: string): Promise<CommitFacts[] | undefined> {
  if ((await readAll(entry, commits)) === undefined) return undefined
  if (!(await transferPacks(entry.packs, packsOf(gitDir), linkFile))) return undefined
  const now = new Date()
  await utimes(entry.folder, now, now).catch(() => undefined)
  // Again: packs of a repository that was fetched anew in between may lack them.
  return await readAll(entry, commits)
}

export function createRepositoryCache(root: string, maxBytes: number): RepositoryCache {
  const trees = createCommitTreeCache(root, maxBytes)
  const notes = createNoteCache(join(root, 'notes'))
  return {
    trees,
    notes,
    async take(wish, gitDir, signal) {
      const name = nameFor(wish.url)
      const entry = entryOf(join(root, 'repositories', name))
      const lock = join(root, 'locks', name)
      const isDone = async () => (await readAll(entry, wish.commits)) !== undefined
      const work = () => fetchInto(root, entry, wish, signal)
      for (const folder of [entry.folder, join(root, 'locks')]) await mkdir(folder, { recursive: true, mode: 0o700 })
      for (let left = attempts; left > 0; left -= 1) {
        const facts = await takeLinks(entry, wish.commits, gitDir)
        if (facts !== undefined) return facts
        await underFetchLock(lock, signal, { isDone, work })
      }
      throw new CheckoutError(
        'GitFailed',
        'The objects of the repository were removed while they were used. Try again.',
      )
    },
    async clean() {
      const items = [...(await listRepositories(root)), ...(await trees.list()), ...(await notes.list())]
      return await sumOfAll([() => removeForgotten(join(root, 'staging')), () => removeOldest(items, maxBytes)])
    },
  }
}
