import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createWriteHealth, type WriteHealth } from './write-health.ts'

let folder: string
let now: number
let health: WriteHealth
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-write-health-'))
  writeFileSync(join(folder, 'svc.db'), '')
  now = 0
  health = createWriteHealth(join(folder, 'svc.db'), () => now)
})
afterEach(() => rmSync(folder, { recursive: true }))

const refuse = async () => {
  const error = new Error('read-only')
  health.note(error)
  throw error
}
const accept = async () => health.note(undefined)

describe('the health of writes', () => {
  it('fails as long as a write fails, and passes once one succeeds', async () => {
    health.note(new Error('disk I/O error'))
    await expect(health.check(refuse)).rejects.toThrow('read-only')
    await expect(health.check(refuse)).rejects.toThrow('read-only')
    await health.check(accept)
    await health.check(refuse)
  })

  it('is found by a write of its own where nobody has written for a while', async () => {
    await expect(health.check(refuse)).rejects.toThrow('read-only')
    await health.check(accept)
    now = 4000
    await health.check(refuse)
    now = 5001
    await expect(health.check(refuse)).rejects.toThrow('read-only')
  })
})
