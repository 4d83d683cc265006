// The files of one commit, read from the objects of a repository on this machine: no work tree, so no link leads
// anywhere, nothing can change meanwhile, and no filter of the repository runs (git-ls-tree(1), git-cat-file(1)).
import { isUtf8 } from 'node:buffer'
import { lstat } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import type { SourceTree, TreeChanges, TreeEntry, TreeNotes } from '../ports/scans/source-trees.ts'
import { CheckoutError } from '../ports/workspaces/checkouts.ts'
import { runGitCommand } from './command.ts'
import { readTreeChanges } from './diff.ts'
import { checkName, isCommitId } from './references.ts'
import { BlobStream, listTree } from './tree-listing.ts'

type Blob = TreeEntry & { id: string }

const kinds: Record<string, TreeEntry['kind']> = { '120000': 'link', '160000': 'submodule' }

/** `MODE TYPE ID SIZE\tPATH` (git-ls-tree(1), `-l`). */
function readEntry(line: Buffer): Blob {
  const tab = line.indexOf(9)
  const [mode = '', , id = '', size = ''] = line.subarray(0, tab).toString('latin1').split(/ +/)
  const name = line.subarray(tab + 1)
  const kind = kinds[mode] ?? (isUtf8(name) ? 'file' : 'unreadable')
  return { path: name.toString(), bytes: Number.parseInt(size, 10) || 0, kind, id }
}

/** Of partial clones: an object that is missing is not fetched by whatever the repository names. */
const env = { GIT_NO_LAZY_FETCH: '1' }

/** They are held in memory. */
const maxListed = { entries: 1024 ** 2, bytes: 256 * 1024 ** 2 }

async function listBlobs(gitDir: string, commit: string, signal: AbortSignal): Promise<Map<string, Blob>> {
  const blobs = new Map<string, Blob>()
  await listTree({ gitDir, commit, options: ['-l', '--full-tree'], max: maxListed, env, signal }, (record) => {
    const blob = readEntry(record)
    blobs.set(blob.path, blob)
  })
  return blobs
}

type Wanted = { path: string; id: string }
type Take = (path: string, content: Buffer | undefined) => void

async function readPart(gitDir: string, wanted: readonly Wanted[], take: Take, signal: AbortSignal): Promise<void> {
  const stream = new BlobStream((at, content) => take(wanted[at]?.path ?? '', content))
  const input = wanted.map(({ id }) => `${id}\n`).join('')
  const onOutput = (chunk: Buffer) => stream.add(chunk)
  await runGitCommand({ args: ['cat-file', '--batch', '--buffer'], gitDir, env, input, onOutput, signal })
}

/** A program that starts for fewer files costs more than it saves. */
const minPart = 500
const maxParts = 4

/** Inflating objects is most of the work, and git does it on one processor. */
async function readBlobs(gitDir: string, wanted: readonly Wanted[], take: Take, signal: AbortSignal): Promise<void> {
  const parts = Math.min(maxParts, availableParallelism(), Math.ceil(wanted.length / minPart))
  const size = Math.ceil(wanted.length / parts)
  const stop = new AbortController()
  const until = AbortSignal.any([signal, stop.signal])
  const reading = Array.from({ length: parts }, (_, part) =>
    readPart(gitDir, wanted.slice(part * size, (part + 1) * size), take, until),
  )
  try {
    await Promise.all(reading)
  } catch (error) {
    stop.abort(error)
    await Promise.allSettled(reading)
    throw error
  }
}

type CommitTreeOptions = {
  gitDir: string
  commit: string
  branch?: string | undefined
  notes?: TreeNotes | undefined
  close?(): Promise<void>
}

/** Asked once; again after a failure. */
function askOnce<T>(ask: (signal: AbortSignal) => Promise<T>): (signal: AbortSignal) => Promise<T> {
  let running: Promise<T> | undefined
  return (signal) => {
    running ??= ask(signal).catch((error) => {
      running = undefined
      throw error
    })
    return running
  }
}

/** `gitDir`: of a repository that has the commit. */
export function openCommitTree({ gitDir, commit, branch, notes, close }: CommitTreeOptions): SourceTree {
  const list = askOnce((signal) => listBlobs(gitDir, commit, signal))
  const changes = new Map<string, (signal: AbortSignal) => Promise<TreeChanges | undefined>>()
  return {
    commit,
    ...(branch === undefined ? {} : { branch }),
    ...(notes === undefined ? {} : { notes }),
    async list(signal) {
      return [...(await list(signal)).values()]
    },
    async readEach(paths, take, signal) {
      const blobs = await list(signal)
      const wanted: Wanted[] = []
      for (const path of paths) {
        const blob = blobs.get(path)
        if (blob?.kind === 'file') wanted.push({ path, id: blob.id })
        else take(path, undefined)
      }
      if (wanted.length > 0) await readBlobs(gitDir, wanted, take, signal)
    },
    changesSince(base, signal) {
      const ask = changes.get(base) ?? askOnce((until) => readTreeChanges({ gitDir, base, commit, signal: until }))
      changes.set(base, ask)
      return ask(signal)
    },
    close: async () => close?.(),
  }
}

const isThere = async (path: string) => (await lstat(path).catch(() => undefined)) !== undefined

/** Where git keeps a repository: below its folder, or the folder itself when it is bare. */
async function findGitDir(folder: string): Promise<string | undefined> {
  const own = join(folder, '.git')
  if (await isThere(own)) return own
  const isBare = (await isThere(join(folder, 'HEAD'))) && (await isThere(join(folder, 'objects')))
  return isBare ? folder : undefined
}

/** Git also takes a `.git` that is a file and names the folder, as submodules and linked work trees have. */
async function readGitDir(folder: string, signal: AbortSignal): Promise<string | undefined> {
  const found = await findGitDir(folder)
  if (found === undefined || (await lstat(found)).isDirectory()) return found
  const { stdout } = await runGitCommand({ args: ['rev-parse', '--resolve-git-dir', found], gitDir: folder, signal })
  return stdout.toString().trim()
}

/** `ref`: branch, tag or commit; absent: HEAD. Undefined: the folder is no repository. CheckoutError when it has no such commit. */
export async function openLocalTree(
  folder: string,
  ref: string | undefined,
  signal: AbortSignal,
): Promise<SourceTree | undefined> {
  const gitDir = await readGitDir(folder, signal)
  if (gitDir === undefined) return undefined
  const name = ref === undefined || isCommitId(ref) || ref === 'HEAD' ? (ref ?? 'HEAD') : checkName(ref)
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`]
  const { code, stdout } = await runGitCommand({ args, gitDir, codes: [0, 1, 128], signal })
  if (code === 0) return openCommitTree({ gitDir, commit: stdout.toString().trim() })
  if (ref !== undefined)
    throw new CheckoutError('RefMissing', `The repository has no branch, tag or commit "${ref}". Check the name.`)
  throw new CheckoutError(
    'RepositoryEmpty',
    'The repository has no commit. Commit its files first, or name --files to take the folder as it is.',
  )
}
