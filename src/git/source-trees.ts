// Source trees of remote repositories: fetched through the same cache as checkouts, without a work tree.
import { randomUUID } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { once } from '../lib/once.ts'
import { removeTree } from '../lib/tree-removal.ts'
import type { SourceTrees } from '../ports/scans/source-trees.ts'
import type { CheckoutLimits } from '../ports/workspaces/checkouts.ts'
import { type CheckoutsOptions, defaultCheckoutLimits, serverFor, within } from './checkouts.ts'
import { fetchTree } from './clone.ts'
import { openCommitTree } from './commit-tree.ts'
import { createRepositoryCache } from './object-cache.ts'

/** Trees that a process was killed with are removed by the next one. */
async function makeRoot(root: string): Promise<void> {
  await removeTree(root)
  await mkdir(root, { recursive: true, mode: 0o700 })
}

const defaultCacheBytes = 20 * 1024 ** 3

/** `root` as for checkouts, whose objects are shared. */
export function createSourceTrees(options: CheckoutsOptions, overrides: Partial<CheckoutLimits> = {}): SourceTrees {
  const root = resolve(options.root)
  const trees = join(root, 'trees')
  const cache = createRepositoryCache(join(root, 'objects'), options.cacheBytes ?? defaultCacheBytes)
  const limits = { ...defaultCheckoutLimits, ...overrides }
  const prepare = once(() => makeRoot(trees))
  return {
    async open({ base, ...spec }, signal) {
      await prepare()
      const gitDir = join(trees, randomUUID())
      const close = () => removeTree(gitDir)
      try {
        return await within(limits, signal, async (until) => {
          const server = serverFor(options, spec, spec.url)
          const { commit, branch } = await fetchTree({ spec, limits, gitDir, server, cache, signal: until }, base)
          return openCommitTree({ gitDir, commit, branch, notes: cache.notes.of(spec.url), close })
        })
      } catch (error) {
        await close()
        throw error
      }
    },
  }
}
