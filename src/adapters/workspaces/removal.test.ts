import { execFile, execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { enterFolder, entryOf } from './folder-handle.ts'
import { removeTree } from './removal.ts'

const base = mkdtempSync(join(tmpdir(), 'svc-removal-'))
const outside = join(base, 'outside')
const folder = join(base, 'folder')

beforeEach(() => {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  mkdirSync(outside, { recursive: true })
  writeFileSync(join(outside, 'kept'), 'x')
})
afterAll(() => rmSync(base, { recursive: true, force: true }))

describe('removal of what a program wrote', () => {
  it('removes links, not what they lead to, also one in the place of the folder itself', async () => {
    symlinkSync(outside, join(folder, 'link'))
    symlinkSync('/nowhere', join(folder, 'broken'))
    await removeTree(folder)
    expect(existsSync(folder)).toBe(false)
    symlinkSync(outside, folder)
    await removeTree(folder)
    expect(existsSync(folder)).toBe(false)
    expect(readdirSync(outside)).toEqual(['kept'])
  })

  it('removes folders that were locked, at any level', async () => {
    mkdirSync(join(folder, 'a', 'b', 'c'), { recursive: true })
    writeFileSync(join(folder, 'a', 'b', 'c', 'file'), 'x')
    for (const path of ['a/b/c', 'a/b', 'a']) chmodSync(join(folder, path), 0o000)
    await removeTree(folder)
    expect(existsSync(folder)).toBe(false)
  })

  it('removes a tree that is deeper than any path may be long', async () => {
    const script = `for i in $(seq 25); do mkdir ${'d'.repeat(200)} && cd -P ${'d'.repeat(200)} && : > file; done`
    execFileSync('/bin/sh', ['-c', script], { cwd: folder })
    await removeTree(folder)
    expect(existsSync(folder)).toBe(false)
  })

  it('takes a file, and what is not there', async () => {
    writeFileSync(join(folder, 'file'), 'x')
    await removeTree(join(folder, 'file'))
    await removeTree(join(folder, 'absent'))
    expect(readdirSync(folder)).toEqual([])
  })

  it('enters no link that stands where a folder was a moment ago', async () => {
    symlinkSync(outside, join(folder, 'swapped'))
    await expect(enterFolder(join(folder, 'swapped'))).rejects.toMatchObject({ code: 'ENOTDIR' })
    const handle = await enterFolder(folder)
    await expect(enterFolder(entryOf(handle, 'swapped'))).rejects.toMatchObject({ code: 'ENOTDIR' })
    await handle.close()
  })

  it('never leaves the folder, whatever is swapped in while it works', async () => {
    mkdirSync(join(folder, 'work'))
    for (let number = 0; number < 60; number++) {
      writeFileSync(join(outside, `file-${number}`), 'x')
      mkdirSync(join(folder, 'work', `d${number}`, 'deep'), { recursive: true })
    }
    const swap = `while [ -d "${folder}/work" ]; do for d in "${folder}"/work/*; do rm -rf "$d"; ln -s "${outside}" "$d"; done; done 2> /dev/null`
    const swapping = new Promise((resolve) => execFile('/bin/sh', ['-c', swap], resolve))
    while (existsSync(folder)) await removeTree(folder).catch(() => undefined)
    await swapping
    expect(readdirSync(outside).length).toBe(61)
  })
})
