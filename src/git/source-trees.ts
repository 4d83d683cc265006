// Source trees of remote repositories: fetched through the same cache as checkouts, without a work tree.
import { randomUUID } from 'node:crypto'
import { mkdir, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { SourceTrees } from '../ports/scans/source-trees.ts'
import type { CheckoutLimits } from '../ports/workspaces/checkouts.ts'
import { type CheckoutsOptions, serverFor, usualLimits, within } from './checkouts.ts'
import { fetchTree } from './clone.ts'
import { openCommitTree } from './commit-tree.ts'
import { createObjectCache } from './object-cache.ts'

/** Trees that a process was killed with are removed by the next one. */
async function makeRoot(root: string): Promise<void> {
  await rm(root, { recursive: true, force: true })
  await mkdir(root, { recursive: true, mode: 0o700 })
}

const usualCacheBytes = 20 * 1024 ** 3

/** `root` as for checkouts, whose objects are shared. */
export function createSourceTrees(options: CheckoutsOptions, given: Partial<CheckoutLimits> = {}): SourceTrees {
  const root = resolve(options.root)
  const trees = join(root, 'trees')
  const cache = createObjectCache(join(root, 'objects'), options.cacheBytes ?? usualCacheBytes)
  const limits = { ...usualLimits, ...given }
  let making: Promise<void> | undefined
  return {
    async open({ base, ...spec }, signal) {
      making ??= makeRoot(trees).catch((error) => {
        making = undefined
        throw error
      })
      await making
      const gitDir = join(trees, randomUUID())
      const close = () => rm(gitDir, { recursive: true, force: true })
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
