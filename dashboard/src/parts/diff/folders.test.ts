import { expect, it } from 'vitest'
import type { DiffFile } from './diff.ts'
import { buildFolders, type Folder } from './folders.ts'

const file = (path: string): DiffFile => ({ path, change: 'changed', isBinary: false, added: 1, removed: 0, hunks: [] })
const write = ({ name, folders, files }: Folder): object => ({
  [name]: [...folders.map(write), ...files.map((one) => `${one.name} ${one.at}`)],
})
const build = (...paths: string[]) => write(buildFolders(paths.map(file)))

it('makes a tree of paths, in which folders with one folder alone are one line', () => {
  expect(build('src/lib/a.ts', 'src/lib/b.ts', 'README.md', 'src/deep/er/c.ts')).toEqual({
    '': [{ src: [{ lib: ['a.ts 0', 'b.ts 1'] }, { 'deep/er': ['c.ts 3'] }] }, 'README.md 2'],
  })
  expect(build('one/two/a', 'one/two/b')).toEqual({ 'one/two': ['a 0', 'b 1'] })
  expect(build('a')).toEqual({ '': ['a 0'] })
})

it('shows what lies very deep in one line', () => {
  const deep = `${'x/'.repeat(3000)}a`
  expect(JSON.stringify(build(deep, 'b')).length).toBeLessThan(7000)
})
