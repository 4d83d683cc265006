// The files of one commit, read from the objects of a repository: no work tree, so no link leads anywhere, nothing can
// change meanwhile, and no filter of the repository runs (git-ls-tree(1), git-cat-file(1)).
import { isUtf8 } from 'node:buffer'
import type { SourceTree, TreeEntry } from '../../ports/source-trees.ts'
import { BlobStream } from './blob-stream.ts'
import { runGit } from './command.ts'
import { readTreeChanges } from './tree-changes.ts'

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

function splitLines(output: Buffer): Buffer[] {
  const lines: Buffer[] = []
  for (let from = 0; from < output.length; ) {
    const end = output.indexOf(0, from)
    lines.push(output.subarray(from, end))
    from = end + 1
  }
  return lines
}

/** Of partial clones: an object that is missing is not fetched by whatever the repository names. */
const env = { GIT_NO_LAZY_FETCH: '1' }

async function listBlobs(gitDir: string, commit: string, signal: AbortSignal): Promise<Map<string, Blob>> {
  const { stdout } = await runGit({ args: ['ls-tree', '-r', '-l', '-z', '--full-tree', commit], gitDir, env, signal })
  return new Map(
    splitLines(stdout)
      .map((line) => readEntry(line))
      .map((blob) => [blob.path, blob]),
  )
}

type Place = { gitDir: string; commit: string; branch?: string | undefined; close?(): Promise<void> }

/** `gitDir`: of a repository that has the commit. */
export function openCommitTree({ gitDir, commit, branch, close }: Place): SourceTree {
  let listed: Promise<Map<string, Blob>> | undefined
  const list = (signal: AbortSignal) => {
    listed ??= listBlobs(gitDir, commit, signal).catch((error) => {
      listed = undefined
      throw error
    })
    return listed
  }
  return {
    commit,
    ...(branch === undefined ? {} : { branch }),
    async list(signal) {
      return [...(await list(signal)).values()].map(({ id: _, ...entry }) => entry)
    },
    async readEach(paths, take, signal) {
      const blobs = await list(signal)
      const idOf = (blob: Blob | undefined) => (blob?.kind === 'file' ? blob.id : undefined)
      const found = paths.map((path) => ({ path, id: idOf(blobs.get(path)) }))
      for (const { path } of found.filter(({ id }) => id === undefined)) take(path, undefined)
      const there = found.filter((one): one is { path: string; id: string } => one.id !== undefined)
      if (there.length === 0) return
      const stream = new BlobStream((at, content) => take(there[at]?.path ?? '', content))
      const input = there.map(({ id }) => `${id}\n`).join('')
      await runGit({
        args: ['cat-file', '--batch'],
        gitDir,
        env,
        input,
        onOutput: (chunk) => stream.add(chunk),
        signal,
      })
    },
    changesSince: (base, signal) => readTreeChanges({ gitDir, base, commit, signal }),
    close: async () => close?.(),
  }
}
