// The tree that a run reviews, opened once and kept while the run is active.
import type { RepositoryScan } from '../../contract/kinds/scans/repository-scan.ts'
import { readGitAddress } from '../../contract/values/repository-url.ts'
import { isSvcError, messageOf } from '../../errors.ts'
import { dropUndefined } from '../../lib/json.ts'
import { readGitLogin } from '../../lookup/logins.ts'
import type { ScanRun } from '../../ports/scans/scans.ts'
import type { SourceTree } from '../../ports/scans/source-trees.ts'
import { CheckoutError } from '../../ports/workspaces/checkouts.ts'
import { makeSourceText, type SourceText } from '../../rules/scans/finding-evidence.ts'
import { decodeSource } from '../../rules/scans/left-out.ts'
import type { SlicedTree } from '../../rules/scans/slices.ts'
import { decodeFacts, encodeFacts, startReading } from '../../rules/scans/tree-reading.ts'
import { type ScanContext, type ScanControllerDeps, ScanRunFailure, type TreeCache } from './context.ts'

type Commits = Partial<Pick<ScanRun, 'headCommit' | 'baseCommit'>>

async function openTree(deps: ScanControllerDeps, scan: RepositoryScan, run: Commits, signal: AbortSignal) {
  const { sourceTrees, secrets } = deps
  const { repoURL: url, branch, ref, gitSecretRef } = scan.spec
  if (sourceTrees === undefined) throw new ScanRunFailure('NotConfigured', 'this service cannot read repositories')
  const key = gitSecretRef && { namespace: scan.metadata.namespace, name: gitSecretRef.name }
  const where = { owner: 'spec.gitSecretRef', url: readGitAddress(url) }
  const credentials = key && (await readGitLogin(secrets, key, where))
  // A run goes on with the commit that it began with, whatever becomes of the branch.
  const revision = run.headCommit === undefined ? { branch, ref } : { ref: run.headCommit }
  return sourceTrees.open(dropUndefined({ url, ...revision, base: run.baseCommit, credentials }), signal)
}

/** Faults of repositories and logins end the run; others are tried again. */
function explain(error: unknown): unknown {
  if (error instanceof CheckoutError) return new ScanRunFailure(error.fault, error.message, { cause: error })
  const isLogin = isSvcError(error, 'NotFound') || isSvcError(error, 'InvalidRequest')
  return isLogin ? new ScanRunFailure('LoginUnusable', messageOf(error), { cause: error }) : error
}

/** A tree that whoever opens it closes. RunFailure for what the repository, or its login, is at fault for. */
export async function openScanTree(
  deps: ScanControllerDeps,
  scan: RepositoryScan,
  commits: Commits,
  signal: AbortSignal,
): Promise<SourceTree> {
  return openTree(deps, scan, commits, signal).catch((error) => {
    throw explain(error)
  })
}

export function createTreeCache(): TreeCache {
  const trees = new Map<string, { run: string; tree: Promise<SourceTree> }>()
  async function close(uid: string): Promise<void> {
    const open = trees.get(uid)
    trees.delete(uid)
    await open?.tree.then((tree) => tree.close()).catch(() => undefined)
  }
  return {
    async open(deps, scan, run, signal) {
      const { uid } = scan.metadata
      if (trees.get(uid)?.run !== run.id) {
        await close(uid)
        trees.set(uid, { run: run.id, tree: openTree(deps, scan, run, signal) })
      }
      try {
        return await (trees.get(uid)?.tree as Promise<SourceTree>)
      } catch (error) {
        trees.delete(uid)
        throw explain(error)
      }
    },
    close,
    clear() {
      for (const uid of trees.keys()) void close(uid)
    },
  }
}

/** Cuts the slices of the tree; `removed`: files that are gone since the base. Reads what no earlier run has read. */
export async function cutTree(
  tree: SourceTree,
  { name, subPath, removed }: { name: string; subPath: string | undefined; removed: readonly string[] },
  signal: AbortSignal,
): Promise<SlicedTree> {
  const note = `facts ${subPath ?? ''}`
  const known = decodeFacts(await tree.notes?.read(note))
  const reading = startReading(await tree.list(signal), subPath, known)
  await tree.readEach(reading.wanted, reading.take, signal)
  if (reading.wanted.length > 0) await tree.notes?.write(note, encodeFacts(reading.learnt()))
  return reading.cut(name, removed)
}

/** The content of some files. */
export async function readFiles(tree: SourceTree, paths: readonly string[], signal: AbortSignal) {
  const contents = new Map<string, Buffer>()
  await tree.readEach(paths, (path, content) => void (content && contents.set(path, content)), signal)
  return contents
}

/** Files at the commit, each with what it declares; `files`: those that are here already. */
export function readSources(
  { outlines, log, signal }: Pick<ScanContext, 'outlines' | 'log' | 'signal'>,
  tree: SourceTree,
  files: ReadonlyMap<string, Buffer>,
): (path: string) => Promise<SourceText | undefined> {
  async function readOutline(path: string, content: Buffer) {
    try {
      return await outlines?.read(path, decodeSource(content))
    } catch (error) {
      // The text of a repository may be more than a parser survives.
      log.warn({ err: error, path }, 'a source file cannot be parsed: its declarations are guessed by its lines')
      return undefined
    }
  }
  return async (path) => {
    const content = files.get(path) ?? (await readFiles(tree, [path], signal)).get(path)
    return content && makeSourceText(content, await readOutline(path, content))
  }
}
