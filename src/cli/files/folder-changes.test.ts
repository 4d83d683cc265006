import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { recordContext } from '../../../test/fixtures/cli/recording-context.ts'
import type { Colors } from '../output/terminal.ts'
import { applyChanges, describeLines, type FolderChange } from './folder-changes.ts'
import { digestOf, digestOfBytes } from './folder-files.ts'

let folder: string
let outside: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'changes-'))
  outside = await mkdtemp(join(tmpdir(), 'outside-'))
})
afterEach(() => Promise.all([folder, outside].map((path) => rm(path, { recursive: true, force: true }))))

const bytes = (text: string) => Buffer.from(text)
const read = (path: string) => readFile(join(folder, path), 'utf8').catch(() => undefined)

async function apply(changes: FolderChange[], sent: Record<string, string> = {}) {
  const digests = new Map<string, string>()
  for (const [path, text] of Object.entries(sent)) {
    await writeFile(join(folder, path), text)
    digests.set(path, (await digestOf(join(folder, path))) ?? '')
  }
  const recording = recordContext()
  const finish = async () => ({
    isWhole: await applyChanges(changes, { folder, digests }, recording.context),
    noted: recording.noted(),
  })
  return { finish }
}

it('writes, creates and removes files', async () => {
  const changes: FolderChange[] = [
    { path: 'a', mark: 'M', content: bytes('new') },
    { path: 'b', mark: 'D' },
    { path: 'deep/c', mark: 'A', content: bytes('') },
  ]
  const { finish } = await apply(changes, { a: 'old', b: 'x' })
  expect(await finish()).toEqual({ isWhole: true, noted: '' })
  expect([await read('a'), await read('b'), await read('deep/c')]).toEqual(['new', undefined, ''])
})

it('touches no file that was changed or created here meanwhile', async () => {
  const changes: FolderChange[] = [
    { path: 'a', mark: 'M', content: bytes('theirs') },
    { path: 'b', mark: 'D' },
    { path: 'c', mark: 'A', content: bytes('theirs') },
  ]
  const { finish } = await apply(changes, { a: 'old', b: 'old' })
  for (const path of ['a', 'b', 'c']) await writeFile(join(folder, path), 'mine')
  const { isWhole, noted } = await finish()
  expect(isWhole).toBe(false)
  expect(noted.match(/it was changed here while the task ran/g)).toHaveLength(3)
  expect([await read('a'), await read('b'), await read('c')]).toEqual(['mine', 'mine', 'mine'])
})

it('follows no link and no path out of the folder', async () => {
  await symlink(outside, join(folder, 'link'))
  await symlink(join(outside, 'f'), join(folder, 'file'))
  const content = bytes('x')
  const paths = ['link/f', 'file', '../f', '/tmp/f']
  const { finish } = await apply(paths.map((path) => ({ path, mark: 'A', content })))
  const { isWhole, noted } = await finish()
  expect(isWhole).toBe(false)
  for (const path of paths) expect(noted).toContain(`${path}: `)
  expect(await digestOf(join(outside, 'f'))).toBeUndefined()
})

it('writes nothing into the Git repository, however it is spelt', async () => {
  const paths = [
    '.git/hooks/post-commit',
    '.GIT/config',
    'sub/.git/config',
    'git~1/config',
    '.git./config',
    '.g\u200cit/config',
  ]
  const { finish } = await apply(paths.map((path) => ({ path, mark: 'A', content: bytes('x') })))
  const { isWhole, noted } = await finish()
  expect(isWhole).toBe(false)
  expect(noted.match(/part of the Git repository itself/g)).toHaveLength(paths.length)
  expect(await readdir(folder)).toEqual([])
  const { finish: finishOthers } = await apply(
    ['.gitignore', '.github/x', 'git'].map((path) => ({ path, mark: 'A', content: bytes('x') })),
  )
  expect(await finishOthers()).toEqual({ isWhole: true, noted: '' })
})

let checkout: string
beforeEach(async () => {
  checkout = await mkdtemp(join(tmpdir(), 'lines-'))
})
afterEach(() => rm(checkout, { recursive: true, force: true }))

const same = (text: string) => text
const plain: Colors = { bold: same, dim: same, red: same, green: same }
const colored: Colors = { ...plain, red: (text: string) => `<${text}>`, green: (text: string) => `{${text}}` }

async function describeAll(sent: Record<string, string>, changes: FolderChange[], colors = plain) {
  const digests = new Map<string, string>()
  for (const [path, text] of Object.entries(sent)) {
    await writeFile(join(checkout, path), text)
    digests.set(path, digestOfBytes(Buffer.from(text)))
  }
  return await describeLines(changes, { folder: checkout, digests }, colors)
}

const changed = (path: string, text: string): FolderChange => ({ path, mark: 'M', content: Buffer.from(text) })

it('shows the lines that differ, of files that were changed, made and removed', async () => {
  const changes: FolderChange[] = [
    changed('a.txt', 'one\nthree\n'),
    { path: 'deep/new.txt', mark: 'A', content: Buffer.from('diff --git a/1 b/1\n') },
    { path: 'gone.txt', mark: 'D' },
  ]
  expect(await describeAll({ 'a.txt': 'one\ntwo\n', 'gone.txt': 'x\n' }, changes, colored)).toBe(
    [
      ...['a.txt', '@@ -1,2 +1,2 @@', ' one', '<-two>', '{+three}'],
      ...['deep/new.txt', '@@ -0,0 +1 @@', '{+diff --git a/1 b/1}'],
      ...['gone.txt', '@@ -1 +0,0 @@', '<-x>'],
    ].join('\n'),
  )
})

it('hides nothing at the word of the files, and is silent where there are no lines', async () => {
  const attributes = changed('.gitattributes', '* -diff\n')
  expect(await describeAll({ 'a.txt': 'x\n' }, [attributes, changed('a.txt', 'y\n')])).toContain(
    'a.txt\n@@ -1 +1 @@\n-x\n+y',
  )
  expect(await describeAll({}, [{ path: 'b.bin', mark: 'A', content: Buffer.from([0, 1, 2]) }])).toBeUndefined()
  await writeFile(join(checkout, 'a.txt'), 'mine\n')
  const sentFolder = { folder: checkout, digests: new Map([['a.txt', digestOfBytes(Buffer.from('x\n'))]]) }
  expect(await describeLines([changed('a.txt', 'y\n')], sentFolder, plain)).toBeUndefined()
})

it('ends after as many lines as are read', async () => {
  const shown = (await describeAll({}, [changed('long.txt', 'x\n'.repeat(1000))]))?.split('\n') ?? []
  expect(shown).toHaveLength(401)
  expect(shown.at(-1)).toBe('... and 602 more lines')
})
