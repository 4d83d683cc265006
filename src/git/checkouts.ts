// Working copies by the installed git. Two GIT_DIRs: a private one below `root`, which all is read, committed and pushed
// with, and a plain one in the folder, which belongs to the agent.
import { createHash } from 'node:crypto'
import { mkdir, readFile, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { readGitAddress } from '../contract/values/repository-url.ts'
import { removeTree } from '../lib/tree-removal.ts'
import type { Egress, EgressPolicy } from '../ports/service/egress.ts'
import {
  type Checkout,
  CheckoutError,
  type CheckoutLimits,
  type CheckoutSpec,
  type Checkouts,
} from '../ports/workspaces/checkouts.ts'
import { isForgotten, removeForgotten, sumOfAll, writeWhole } from './cache-files.ts'
import { type Cloned, cloneInto, findWorkFolder } from './clone.ts'
import { runGitCommand } from './command.ts'
import { readDiff } from './diff.ts'
import { tooSlow, underFaults } from './faults.ts'
import { createRepositoryCache } from './object-cache.ts'
import { pushCommit } from './push.ts'
import type { ServerOptions } from './server.ts'
import { createSigning, type Signing } from './signing.ts'
import { recordTree, type WorkTree } from './work-tree.ts'

export type CheckoutsOptions = {
  /** Private: no program of an attempt may reach it. */
  root: string
  egress: Egress
  policy: EgressPolicy
  /** Of commits whose checkout names none. Default: svc. */
  author?: CheckoutSpec['author'] | undefined
  /** File of the private key that commits are signed with. Absent: they are not. */
  signingKey?: string | undefined
  /** What the objects of all repositories may take. Default: 20 GiB. */
  cacheBytes?: number
}

export const defaultCheckoutLimits: CheckoutLimits = {
  bytes: 10 * 1024 ** 3,
  files: 1024 ** 2,
  timeoutMs: 600_000,
  history: 50,
  diffBytes: 1024 ** 2,
}

const defaultCacheBytes = 20 * 1024 ** 3
const defaultAuthor = { name: 'svc', email: 'svc@localhost' }
/** A pack that is pushed is held in memory. */
const maxPushedBytes = 512 * 1024 ** 2

/** What outlives the process. */
type State = Cloned & { folder: string; head: string }

type AuthoredSpec = CheckoutSpec & Required<Pick<CheckoutSpec, 'author'>>

type Opened = {
  options: CheckoutsOptions
  signing: Signing
  spec: AuthoredSpec
  stateFolder: string
  state: State
  /** Gives back what this process holds for it. */
  release(): void
}

const gitDirOf = (stateFolder: string) => join(stateFolder, 'git')

async function saveState(stateFolder: string, state: State): Promise<void> {
  await writeWhole(join(stateFolder, 'state.json'), JSON.stringify(state))
}

async function readState(stateFolder: string): Promise<State | undefined> {
  const text = await readFile(join(stateFolder, 'state.json'), 'utf8').catch(() => undefined)
  return text === undefined ? undefined : (JSON.parse(text) as State)
}

function readAddress(text: string): URL {
  const url = readGitAddress(text)
  if (url !== undefined) return url
  const message = 'The address of the repository is not one that can be used. Write it as https://host/owner/repo.'
  throw new CheckoutError('AddressUnsupported', message)
}

export function serverFor({ egress, policy }: CheckoutsOptions, spec: CheckoutSpec, url: string): ServerOptions {
  const { credentials } = spec
  const usual = { url: readAddress(url).href, egress, policy }
  if (credentials === undefined) return usual
  const { allowedHosts } = credentials
  const own = allowedHosts === undefined ? policy : { ...policy, allowedHosts }
  return { ...usual, policy: own, login: { ...credentials, origin: readAddress(spec.url).origin } }
}

/** Runs one operation under its time limit. */
export async function within<T>(
  limits: CheckoutLimits,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
) {
  const timeout = AbortSignal.timeout(limits.timeoutMs)
  return await underFaults(signal, async () => {
    try {
      return await work(AbortSignal.any([signal, timeout]))
    } catch (error) {
      throw timeout.aborted ? tooSlow(limits.timeoutMs) : error
    }
  })
}

const never = new AbortController().signal

async function commitTree(opened: Opened, tree: WorkTree, message: string): Promise<string | undefined> {
  const { signing, spec, state } = opened
  const snapshot = await recordTree(tree)
  const { gitDir, signal } = tree
  const base = await runGitCommand({ args: ['rev-parse', `${state.commit}^{tree}`], gitDir, signal })
  if (base.stdout.toString().trim() === snapshot.tree) return undefined
  const { name, email } = spec.author
  const person = {
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: email,
    GIT_COMMITTER_NAME: name,
    GIT_COMMITTER_EMAIL: email,
  }
  const args = ['commit-tree', ...signing.args, snapshot.tree, '-p', state.commit, '-F', '-']
  const made = await runGitCommand({ args, gitDir, env: { ...person, ...signing.env }, input: message, signal })
  return made.stdout.toString().trim()
}

/** Who commits: the checkout's, else the service's own. */
function withAuthor(spec: CheckoutSpec, { author }: CheckoutsOptions): AuthoredSpec {
  return { ...spec, author: spec.author ?? author ?? defaultAuthor }
}

async function openCheckout(opened: Opened): Promise<Checkout> {
  const { options, spec, stateFolder, state } = opened
  const { folder } = state
  const limits = { ...defaultCheckoutLimits, ...spec.limits }
  const gitDir = gitDirOf(stateFolder)
  const treeFor = (signal: AbortSignal): WorkTree => ({
    gitDir,
    folder,
    maxBytes: limits.bytes,
    large: state.large,
    signal,
  })
  const checkout: Checkout = {
    folder,
    workFolder: await findWorkFolder(folder, spec.subPath).catch(() => folder),
    ...(state.branch === undefined ? {} : { branch: state.branch }),
    baseSHA: state.commit,
    headSHA: state.head,
    diff: () =>
      within(limits, never, async (signal) => {
        const { tree, ...folders } = await recordTree(treeFor(signal))
        return { ...(await readDiff(treeFor(signal), [state.commit, tree], limits.diffBytes)), ...folders }
      }),
    commit: (message) =>
      within(limits, never, async (signal) => {
        const commit = await commitTree(opened, treeFor(signal), message)
        state.head = commit ?? state.commit
        checkout.headSHA = state.head
        await saveState(stateFolder, state)
        return commit
      }),
    push: (lease) =>
      within(limits, never, async (signal) => {
        const { pushBranch: branch } = spec
        if (branch === undefined) throw new Error('There is no branch to push to.')
        const push = { gitDir, commit: state.head, branch, seen: state.seen, lease, maxBytes: maxPushedBytes }
        await pushCommit(push, serverFor(options, spec, spec.forkRepo ?? spec.url), signal)
        return { branch, commit: state.head }
      }),
    close: async () => {
      opened.release()
      await removeTree(stateFolder)
    },
  }
  return checkout
}

/** A folder that is gone has no checkout; its private part may go too. One that is being prepared has no state yet. */
async function isAbandoned(stateFolder: string): Promise<boolean> {
  const state = await readState(stateFolder)
  const isThere = state !== undefined && (await stat(state.folder).catch(() => undefined)) !== undefined
  return !isThere && (await isForgotten(stateFolder))
}

export function createCheckouts(options: CheckoutsOptions): Checkouts {
  const root = resolve(options.root)
  const cache = createRepositoryCache(join(root, 'objects'), options.cacheBytes ?? defaultCacheBytes)
  const signing = createSigning(options.signingKey)
  const stateFolderOf = (folder: string) =>
    join(root, 'checkouts', createHash('sha256').update(resolve(folder)).digest('hex').slice(0, 32))

  return {
    async prepare(request, folder, signal, shared) {
      const spec = withAuthor(request, options)
      const limits = { ...defaultCheckoutLimits, ...spec.limits }
      const stateFolder = stateFolderOf(folder)
      return await within(limits, signal, async (until) => {
        await removeTree(stateFolder)
        await mkdir(stateFolder, { recursive: true, mode: 0o700 })
        const ends: (() => void)[] = []
        const release = () => {
          for (const end of ends) end()
        }
        try {
          await signing.check()
          const server = serverFor(options, spec, spec.url)
          const folders = { folder: resolve(folder), gitDir: gitDirOf(stateFolder), server, cache, shared }
          const cloned = await cloneInto({ ...folders, spec, limits, signal: until, atEnd: (end) => ends.push(end) })
          const state = { ...cloned, folder: resolve(folder), head: cloned.commit }
          await saveState(stateFolder, state)
          return await openCheckout({ options, signing, spec, stateFolder, state, release })
        } catch (error) {
          release()
          await removeTree(stateFolder)
          throw error
        }
      })
    },
    async resume(request, folder) {
      const stateFolder = stateFolderOf(folder)
      const state = await readState(stateFolder)
      return state === undefined
        ? undefined
        : await openCheckout({
            options,
            signing,
            spec: withAuthor(request, options),
            stateFolder,
            state,
            release: () => {},
          })
    },
    async clean() {
      return await sumOfAll([() => removeForgotten(join(root, 'checkouts'), isAbandoned), () => cache.clean()])
    },
  }
}
