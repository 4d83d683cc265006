import { execFile, execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { makeDeepTree } from '../../test/fixtures/deep-tree.ts'
import { enterFolder } from './folder-handle.ts'
import { removeTree } from './tree-removal.ts'
import { walkTree } from './tree-walk.ts'

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

async function pathsIn(root: string): Promise<string[]> {
  const paths: string[] = []
  for await (const { path, stats } of walkTree(root)) paths.push(stats === undefined ? `${path}?` : path)
  return paths
}

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

  it('removes and lists names that are no text', async () => {
    const name = Buffer.from('/\xff', 'latin1')
    const inner = Buffer.concat([Buffer.from(folder), name])
    mkdirSync(inner)
    writeFileSync(Buffer.concat([inner, name]), 'x'.repeat(10_000))
    expect((await pathsIn(folder)).map((path) => Buffer.from(path, 'latin1').length)).toEqual([1, 3])
    await removeTree(folder)
    expect(existsSync(folder)).toBe(false)
  })

  it('removes a tree deeper than the longest possible path', async () => {
    makeDeepTree(folder, 25, 'd'.repeat(200))
    await removeTree(folder)
    expect(existsSync(folder)).toBe(false)
  })

  it('walks and removes a tree of 3,000 levels, with few descriptors and no deep stack', async () => {
    makeDeepTree(folder, 3000)
    const before = readdirSync('/proc/self/fd').length
    let [entries, unreadable, longest, most] = [0, 0, 0, 0]
    for await (const { path, stats } of walkTree(folder)) {
      entries++
      if (stats === undefined) unreadable++
      longest = Math.max(longest, path.length)
      if (entries % 500 === 0) most = Math.max(most, readdirSync('/proc/self/fd').length)
    }
    expect({ entries, unreadable, longest }).toEqual({ entries: 9000, unreadable: 0, longest: 2999 * 9 + 13 })
    expect(most - before).toBeLessThan(64)
    await removeTree(folder)
    expect(existsSync(folder)).toBe(false)
  })

  it('walks on after a folder that cannot be entered, and past what its caller does not want', async () => {
    for (const name of ['a', 'b', '.git']) mkdirSync(join(folder, name, 'inner'), { recursive: true })
    const paths: string[] = []
    for await (const { path, stats } of walkTree(folder, ({ name }) => name !== '.git')) {
      paths.push(stats === undefined ? `${path}?` : path)
      // Another program puts a link in its place, between its sight and its turn.
      if (path !== 'a') continue
      rmSync(join(folder, 'a'), { recursive: true })
      symlinkSync(outside, join(folder, 'a'))
    }
    expect(paths.sort()).toEqual(['.git', 'a', 'a?', 'b', 'b/inner'])
  })

  it.skipIf(process.getuid?.() !== 0)(
    'goes on after what cannot be removed, and reports it once, without its path',
    async () => {
      for (const name of ['a', 'kept', 'z']) mkdirSync(join(folder, name, 'inner', 'x'), { recursive: true })
      const program = `import { removeTree } from '${join(import.meta.dirname, 'tree-removal.ts')}'
      await removeTree('${folder}').catch((error) => console.log(error.code, error.message))`
      // A mount point cannot be removed where it is one.
      const script = `mount -t tmpfs none '${join(folder, 'kept', 'inner')}' && exec "$0" --input-type=module -e "$1"`
      const argv = ['--mount', '--propagation', 'private', 'sh', '-c', script, process.execPath, program]
      const said = execFileSync('unshare', argv, { encoding: 'utf8' })
      expect(said).toBe('EBUSY An entry of a folder could not be removed (EBUSY).\n')
      expect(readdirSync(folder)).toEqual(['kept'])
      await removeTree(folder)
      expect(existsSync(folder)).toBe(false)
    },
  )

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
    await expect(enterFolder(handle.entry('swapped'))).rejects.toMatchObject({ code: 'ENOTDIR' })
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
