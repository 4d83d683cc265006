import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { makeDeepTree } from '../../test/fixtures/deep-tree.ts'
import { removeOldest } from './cache-files.ts'
import { createRepositoryCache } from './object-cache.ts'

const base = mkdtempSync(join(tmpdir(), 'svc-object-cache-'))
afterAll(() => rmSync(base, { recursive: true, force: true }))

describe('the sweep of the git cache', () => {
  it('holds the limit after a repository of 3,000 levels', async () => {
    const root = join(base, 'deep')
    for (const name of ['deep', 'flat', 'newest']) {
      mkdirSync(join(root, 'trees', name, 'files'), { recursive: true })
      writeFileSync(join(root, 'trees', name, 'size'), '1000')
    }
    makeDeepTree(join(root, 'trees', 'deep', 'files'), 3000)
    const left = join(root, 'staging', 'left')
    mkdirSync(left, { recursive: true })
    makeDeepTree(left, 1000)
    for (const folder of [left, join(root, 'trees', 'deep'), join(root, 'trees', 'flat')]) utimesSync(folder, 1, 1)
    expect(await createRepositoryCache(root, 1500).clean()).toBe(3)
    expect(readdirSync(join(root, 'trees'))).toEqual(['newest'])
    expect(existsSync(left)).toBe(false)
    expect(readdirSync(join(root, 'staging'))).toEqual([])
  })

  it('goes on after what cannot be removed, and reports it once', async () => {
    const removed: number[] = []
    const items = [1, 2, 3].map((used) => ({
      size: 10,
      used,
      isLeased: () => false,
      async remove() {
        if (used === 2) throw new Error('it stays')
        removed.push(used)
      },
    }))
    await expect(removeOldest(items, 0)).rejects.toThrow('it stays')
    expect(removed).toEqual([3, 1])
  })
})
