import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { makeFolder } from './new-folder.ts'

it('a folder is made with what contains it, and may be there already', () => {
  const root = mkdtempSync(join(tmpdir(), 'svc-folders-'))
  const folder = join(root, 'a', 'b')
  makeFolder(folder, 0o700)
  makeFolder(folder, 0o700)
  expect(statSync(folder).mode & 0o777).toBe(0o700)
  writeFileSync(join(root, 'file'), '')
  expect(() => makeFolder(join(root, 'file', 'x'))).toThrow(expect.objectContaining({ code: 'ENOTDIR' }))
  expect(() => makeFolder(join(root, 'file'))).toThrow(
    expect.objectContaining({ code: 'EEXIST', path: join(root, 'file') }),
  )
  rmSync(root, { recursive: true })
})

it.runIf(process.platform === 'linux')('where the system makes none, it fails instead of trying for ever', () => {
  expect(() => makeFolder('/proc/svc-none/x')).toThrow(expect.objectContaining({ code: 'ENOENT' }))
})
