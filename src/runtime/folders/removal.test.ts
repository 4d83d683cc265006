import { execFile, execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { enterFolder, entryPath } from './folder-handle.ts'
import { removeTree } from './removal.ts'
import { measureFolder } from './size.ts'

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

describe('removal of the files that a program wrote', () => {
  it('removes links and not their targets, also where the folder itself is a link', async () => {
    symlinkSync(outside, join(folder, 'link'))
    symlinkSync('/nowhere', join(folder, 'broken'))
    await removeTree(folder)
    expect(existsSync(folder)).toBe(false)
    symlinkSync(outside, folder)
    await removeTree(folder)
    expect(existsSync(folder)).toBe(false)
    expect(readdirSync(outside)).toEqual(['kept'])
  })

  it('removes folders without permissions, at any depth', async () => {
    mkdirSync(join(folder, 'a', 'b', 'c'), { recursive: true })
    writeFileSync(join(folder, 'a', 'b', 'c', 'file'), 'x')
    for (const path of ['a/b/c', 'a/b', 'a']) chmodSync(join(folder, path), 0o000)
    await removeTree(folder)
    expect(existsSync(folder)).toBe(false)
  })

  it('removes and counts names that are no text', async () => {
    const name = Buffer.from('/\xff', 'latin1')
    const inner = Buffer.concat([Buffer.from(folder), name])
    mkdirSync(inner)
    writeFileSync(Buffer.concat([inner, name]), 'x'.repeat(10_000))
    expect(await measureFolder(folder, { bytes: 1e9, files: 100 })).toMatchObject({ files: 2 })
    await removeTree(folder)
    expect(existsSync(folder)).toBe(false)
  })

  it('removes a tree deeper than the longest possible path', async () => {
    const script = `for i in $(seq 25); do mkdir ${'d'.repeat(200)} && cd -P ${'d'.repeat(200)} && : > file; done`
    execFileSync('/bin/sh', ['-c', script], { cwd: folder })
    await removeTree(folder)
    expect(existsSync(folder)).toBe(false)
  })

  it('removes a file, and accepts a path that does not exist', async () => {
    writeFileSync(join(folder, 'file'), 'x')
    await removeTree(join(folder, 'file'))
    await removeTree(join(folder, 'absent'))
    expect(readdirSync(folder)).toEqual([])
  })

  it('does not follow a link that replaced a folder a moment ago', async () => {
    symlinkSync(outside, join(folder, 'swapped'))
    await expect(enterFolder(join(folder, 'swapped'))).rejects.toMatchObject({ code: 'ENOTDIR' })
    const handle = await enterFolder(folder)
    await expect(enterFolder(entryPath(handle, 'swapped'))).rejects.toMatchObject({ code: 'ENOTDIR' })
    await handle.close()
  })

  it('never leaves the folder, though links replace folders while it runs', async () => {
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
