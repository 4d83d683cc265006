import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { readServiceAccountToken } from './own-token.ts'

const folder = mkdtempSync(join(tmpdir(), 'svc-own-token-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the service-account token', () => {
  it('is read from the mounted file each time, and is absent when the file is missing or empty', async () => {
    const path = join(folder, 'token')
    expect(await readServiceAccountToken(path)).toBeUndefined()
    writeFileSync(path, 'first\n')
    expect(await readServiceAccountToken(path)).toBe('first')
    writeFileSync(path, 'renewed')
    expect(await readServiceAccountToken(path)).toBe('renewed')
    writeFileSync(path, '\n')
    expect(await readServiceAccountToken(path)).toBeUndefined()
  })
})
