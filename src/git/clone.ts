// From an address to a folder with files: which commit, its objects, the two GIT_DIRs, the work tree.
import { copyFile, lstat, mkdir, readdir, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { normalizeInnerPath } from '../lib/inner-path.ts'
import {
  CheckoutError,
  type CheckoutLimits,
  type CheckoutSpec,
  type SharedFiles,
} from '../ports/workspaces/checkouts.ts'
import { remoteAddress, runGitCommand } from './command.ts'
import { diskFull, explainGit, saysFull, toOneLine } from './faults.ts'
import { copyPack, makeGitFolder, packsOf, transferPacks } from './git-folder.ts'
import { fetchLargeFiles, type LargeFiles } from './lfs.ts'
import { type CommitFacts, nameFor, type RepositoryCache } from './object-cache.ts'
import {
  checkName,
  findTargetCommit,
  isCommitId,
  listRemoteReferences,
  namesOf,
  type RemoteReferences,
} from './references.ts'
import { bridgeFetch, type Greeting, greetServer, type ServerOptions } from './server.ts'

export type Clone = {
  spec: CheckoutSpec
  limits: CheckoutLimits
  folder: string
  /** GIT_DIR of the checkout, which nothing in `folder` leads to. */
  gitDir: string
  server: ServerOptions
  cache: RepositoryCache
  shared: SharedFiles | undefined
  signal: AbortSignal
  /** Takes what is to be called when the checkout ends, however it does. */
  atEnd(release: () => void): void
}

export type Cloned = { commit: string; branch?: string; seen?: string | null; large?: LargeFiles }

/** Full names of what is asked for, and of the branches that are worked with. */
function listNames({ branch, ref, pushBranch, prBaseBranch }: CheckoutSpec): string[] {
  const others = [pushBranch, prBaseBranch].filter((name) => name !== undefined)
  const wanted = { ...(branch === undefined ? {} : { branch }), ...(ref === undefined ? {} : { ref }) }
  return [...namesOf(wanted), ...others.map((name) => `refs/heads/${checkName(name)}`)]
}

function findBase({ commits }: RemoteReferences, name: string | undefined): string[] {
  const base = name === undefined ? undefined : commits.get(`refs/heads/${name}`)
  if (name !== undefined && base === undefined)
    throw new CheckoutError('RefMissing', `The repository has no branch "${name}" to compare with. Check the name.`)
  return base === undefined ? [] : [base]
}

/** Asks for commits by id: a branch that moves meanwhile changes nothing. */
async function download(
  clone: Fetch,
  greeting: Greeting,
  commits: string[],
  target: Parameters<Download>,
): Promise<void> {
  const [gitDir, signal] = target
  const { limits } = clone
  const wishes = commits.map((commit) => `+${commit}:refs/known/${commit}`)
  const usual = ['--no-tags', '--no-auto-maintenance', '--no-write-fetch-head', '--quiet', '--update-shallow']
  const args = ['fetch', ...usual, `--depth=${limits.history}`, remoteAddress, ...wishes]
  const remote = bridgeFetch(greeting, limits.bytes, signal)
  const { code, stderr } = await runGitCommand({ args, gitDir, remote, codes: [0, 1, 128], signal })
  if (code === 0) return
  if (!/not our ref|upload-pack: not|no such remote ref|couldn't find remote ref/i.test(stderr))
    throw explainGit('fetch', stderr)
  throw new CheckoutError('RefMissing', `The repository has no commit ${commits.join(' or ')}. Push it first.`)
}

type Download = (gitDir: string, signal: AbortSignal) => Promise<void>

function checkSize(facts: CommitFacts | undefined, limits: CheckoutLimits): void {
  const { files = 0, bytes = 0 } = facts ?? {}
  if (files <= limits.files && bytes <= limits.bytes) return
  const message = `The repository has ${files} files of ${bytes} bytes, more than the limit of ${limits.files} files or ${limits.bytes} bytes. Raise the limit.`
  throw new CheckoutError('TooLarge', message)
}

async function checkEmpty(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  if ((await readdir(folder)).length > 0) throw new Error(`The folder of a checkout must be empty: ${folder}`)
}

/** Every part of the path must be a folder: a link leads wherever the repository likes. */
export async function findWorkFolder(folder: string, subPath: string | undefined): Promise<string> {
  const missing = new CheckoutError('PathMissing', `The repository has no folder "${subPath}". Check the path.`)
  const inner = normalizeInnerPath(subPath ?? '')
  if (inner === undefined) throw missing
  let here = folder
  for (const name of inner.split('/').filter((part) => part !== '')) {
    here = join(here, name)
    const stats = await lstat(here).catch(() => undefined)
    if (!stats?.isDirectory() || name.toLowerCase() === '.git') throw missing
  }
  return here
}

const quoteConfig = (text: string) => `"${text.replace(/[\\"]/g, '\\$&').replace(/[\n\0]/g, ' ')}"`

type RepositoryFacts = { shallow: string[]; base: string[]; commit: CommitFacts | undefined }

/** The repository that the agent finds: a plain one of its own, without a way back to anything of ours. */
async function makeAgentFolder(clone: Clone, cloned: Cloned, facts: RepositoryFacts): Promise<void> {
  const { spec, folder, gitDir } = clone
  const { commit, branch } = cloned
  const own = join(folder, '.git')
  const head = branch === undefined ? { commit } : { branch }
  const { prBaseBranch, author } = spec
  const [base] = facts.base
  const references = {
    ...(branch === undefined ? {} : { [`refs/heads/${branch}`]: commit, [`refs/remotes/origin/${branch}`]: commit }),
    ...(base === undefined ? {} : { [`refs/remotes/origin/${prBaseBranch}`]: base }),
  }
  const config = [
    '[remote "origin"]',
    `\turl = ${quoteConfig(spec.url)}`,
    '\tfetch = +refs/heads/*:refs/remotes/origin/*',
  ]
  if (branch !== undefined)
    config.push(
      `[branch ${quoteConfig(branch)}]`,
      '\tremote = origin',
      `\tmerge = ${quoteConfig(`refs/heads/${branch}`)}`,
    )
  if (author !== undefined)
    config.push('[user]', `\tname = ${quoteConfig(author.name)}`, `\temail = ${quoteConfig(author.email)}`)
  await makeGitFolder(own, { head, references, shallow: facts.shallow, config })
  await transferPacks(packsOf(gitDir), packsOf(own), copyPack)
}

/** Of a file that it cannot write git does not say why. */
async function explainFiles(folder: string, facts: CommitFacts | undefined, stderr: string): Promise<CheckoutError> {
  const { bavail, bsize, files, ffree } = await statfs(folder)
  const isFull = bavail * bsize < (facts?.bytes ?? 0) || (files > 0 && ffree < (facts?.files ?? 0))
  return isFull ? diskFull() : explainGit('read-tree', stderr)
}

async function writeFiles(
  target: { folder: string; gitDir: string; signal: AbortSignal },
  commit: string,
  facts: CommitFacts | undefined,
) {
  const { folder, gitDir, signal } = target
  const args = ['read-tree', '-m', '-u', commit]
  const { code, stderr } = await runGitCommand({ args, gitDir, workTree: folder, codes: [0, 128], signal })
  if (code !== 0) throw await explainFiles(folder, facts, stderr)
}

/** Shows files that other checkouts of the commit show as well; false: this one needs its own. */
async function shareFiles(clone: Clone, commit: string, facts: CommitFacts | undefined): Promise<boolean> {
  const { shared, folder, gitDir, cache, server, signal, atEnd } = clone
  if (shared === undefined || facts === undefined || !(await shared.canShow(folder, facts))) return false
  const write = (files: string) => writeFiles({ folder: files, gitDir, signal }, commit, facts)
  const name = `${nameFor(server.url)}-${commit}`
  const tree = await cache.trees.lend({ name, size: facts, gitDir, write }, signal)
  if (tree === undefined) return false
  atEnd(tree.release)
  try {
    await shared.show(tree.files, folder)
    return true
  } catch {
    // As where it is not possible at all. The index is of files that are not there.
    await rm(join(gitDir, 'index'))
    return false
  }
}

/** The files, and meanwhile the agent's repository beside them: its copies take as long. */
async function fillFolder(clone: Clone, cloned: Cloned, facts: RepositoryFacts): Promise<void> {
  const { folder, gitDir } = clone
  const isShared = await shareFiles(clone, cloned.commit, facts.commit)
  const [files, own] = await Promise.allSettled([
    isShared ? undefined : writeFiles(clone, cloned.commit, facts.commit),
    makeAgentFolder(clone, cloned, facts),
  ])
  for (const end of [files, own]) if (end.status === 'rejected') throw end.reason
  await copyFile(join(gitDir, 'index'), join(folder, '.git', 'index'))
}

type Prior = { priorDiff: string; priorPaths: string[] | undefined }

/** Paths are patterns there (git-apply(1)). */
const includePath = (path: string) => `--include=${path.replace(/[\\*?[]/g, '\\$&')}`

async function applyPatch(clone: Clone, { priorDiff: patch, priorPaths = [] }: Prior): Promise<void> {
  const { gitDir, folder, signal } = clone
  const args = ['apply', '--whitespace=nowarn', '--binary', ...priorPaths.map(includePath), '-']
  const { code, stderr } = await runGitCommand({
    args,
    gitDir,
    workTree: folder,
    input: patch,
    codes: [0, 1, 128],
    signal,
  })
  if (code === 0) return
  if (saysFull(stderr)) throw diskFull()
  const why = toOneLine(stderr)
  throw new CheckoutError(
    'PatchRefused',
    `The earlier change does not fit this commit: ${why}. Use the branch it was made on.`,
  )
}

/** Where commits are fetched from, and the GIT_DIR that gets their objects. */
export type Fetch = Omit<Clone, 'folder' | 'shared' | 'atEnd'>

/** Puts the objects of commits into `gitDir`; in order, what is known of each. */
async function takeObjects(fetch: Fetch, greeting: Greeting, commits: string[]): Promise<CommitFacts[]> {
  const { gitDir, server, cache, signal } = fetch
  await mkdir(packsOf(gitDir), { recursive: true })
  const wish = {
    url: server.url,
    commits,
    download: (...target: Parameters<Download>) => download(fetch, greeting, commits, target),
  }
  return await cache.take(wish, gitDir, signal)
}

async function askServer({ spec, server, signal }: Fetch) {
  const names = listNames(spec)
  const greeting = await greetServer(server, 'git-upload-pack', signal)
  const references = await listRemoteReferences(greeting, names, signal)
  const { branch, ref } = spec
  const target = findTargetCommit(references, { ...(branch && { branch }), ...(ref && { ref }) })
  return { greeting, references, target }
}

/** The commit that is meant, without a work tree; and an earlier one, unless the server no longer has it. */
export async function fetchTree(fetch: Fetch, earlier: string | undefined): Promise<Cloned> {
  const { greeting, target } = await askServer(fetch)
  const facts = await takeObjects(fetch, greeting, [target.commit])
  checkSize(facts[0], fetch.limits)
  if (earlier !== undefined && earlier !== target.commit && isCommitId(earlier)) {
    const added = await takeObjects(fetch, greeting, [earlier]).catch((error: unknown) => {
      if (error instanceof CheckoutError && error.fault === 'RefMissing') return []
      throw error
    })
    facts.push(...added)
  }
  const shallow = [...new Set(facts.flatMap((one) => one.shallow))]
  await makeGitFolder(fetch.gitDir, { head: { commit: target.commit }, shallow })
  return target
}

export async function cloneInto(clone: Clone): Promise<Cloned> {
  const { spec, limits, folder, gitDir } = clone
  await checkEmpty(folder)
  const { greeting, references, target } = await askServer(clone)
  const { pushBranch } = spec
  const base = findBase(references, spec.prBaseBranch)
  const commits = [...new Set([target.commit, ...base])]
  const facts = await takeObjects(clone, greeting, commits)
  checkSize(facts[0], limits)
  const shallow = [...new Set(facts.flatMap((one) => one.shallow))]
  await makeGitFolder(gitDir, { head: { commit: target.commit }, shallow })
  const seen = pushBranch === undefined ? undefined : (references.commits.get(`refs/heads/${pushBranch}`) ?? null)
  const isSeen = spec.forkRepo === undefined && seen !== undefined
  const cloned: Cloned = { ...target, ...(isSeen ? { seen } : {}) }
  await fillFolder(clone, cloned, { shallow, base, commit: facts[0] })
  await findWorkFolder(folder, spec.subPath)
  if (spec.lfs) cloned.large = await fetchLargeFiles({ ...clone, maxBytes: limits.bytes }, cloned.commit)
  if (spec.priorDiff) await applyPatch(clone, { priorDiff: spec.priorDiff, priorPaths: spec.priorPaths })
  return cloned
}
