import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it, vi } from 'vitest'
import { underFetchLock } from './cache-files.ts'

const root = mkdtempSync(join(tmpdir(), 'svc-locks-'))
afterEach(() => {
  vi.restoreAllMocks()
  rmSync(root, { recursive: true, force: true })
})

it('a lock holds while the clock of the machine is set two days on', async () => {
  const lock = join(root, 'repository')
  const { signal } = new AbortController()
  const order: string[] = []
  const release = Promise.withResolvers<void>()
  const hasLock = Promise.withResolvers<void>()
  const first = underFetchLock(lock, signal, {
    isDone: async () => false,
    work: async () => {
      hasLock.resolve()
      await release.promise
      order.push('first')
    },
  })
  await hasLock.promise
  const now = Date.now()
  vi.spyOn(Date, 'now').mockReturnValue(now + 2 * 24 * 3_600_000)
  let looks = 0
  const isDone = async () => {
    looks += 1
    return false
  }
  const second = underFetchLock(lock, signal, { isDone, work: async () => void order.push('second') })
  await vi.waitUntil(() => looks > 2)
  release.resolve()
  await Promise.all([first, second])
  expect(order).toEqual(['first', 'second'])
})
