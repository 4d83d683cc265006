// The tree of a commit in a repository on this machine.
import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import type { SourceTree } from '../ports/scans/source-trees.ts'
import { CheckoutError } from '../ports/workspaces/checkouts.ts'
import { runGit } from './command.ts'
import { openCommitTree } from './commit-tree.ts'
import { checkName, isCommitId } from './references.ts'

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
  const { stdout } = await runGit({ args: ['rev-parse', '--resolve-git-dir', found], gitDir: folder, signal })
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
  const { code, stdout } = await runGit({ args, gitDir, codes: [0, 1, 128], signal })
  if (code === 0) return openCommitTree({ gitDir, commit: stdout.toString().trim() })
  if (ref !== undefined)
    throw new CheckoutError('RefMissing', `The repository has no branch, tag or commit "${ref}". Check the name.`)
  throw new CheckoutError(
    'RepositoryEmpty',
    'The repository has no commit. Commit its files first, or name --files to take the folder as it is.',
  )
}
