import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { recordContext } from '../../../test/fixtures/cli/recording-context.ts'
import { applyChanges, type FolderChange } from './folder-changes.ts'
import { digestOf } from './folder-files.ts'

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
