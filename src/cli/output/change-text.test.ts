import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { FolderChange } from '../files/folder-changes.ts'
import { digestOfBytes } from '../files/folder-files.ts'
import { describeLines } from './change-text.ts'
import type { Colors } from './terminal.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lines-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const same = (text: string) => text
const plain: Colors = { bold: same, dim: same, red: same, green: same }
const colored: Colors = { ...plain, red: (text: string) => `<${text}>`, green: (text: string) => `{${text}}` }

async function describeAll(sent: Record<string, string>, changes: FolderChange[], colors = plain) {
  const digests = new Map<string, string>()
  for (const [path, text] of Object.entries(sent)) {
    await writeFile(join(folder, path), text)
    digests.set(path, digestOfBytes(Buffer.from(text)))
  }
  return await describeLines(changes, { folder, digests }, colors)
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
  await writeFile(join(folder, 'a.txt'), 'mine\n')
  const given = { folder, digests: new Map([['a.txt', digestOfBytes(Buffer.from('x\n'))]]) }
  expect(await describeLines([changed('a.txt', 'y\n')], given, plain)).toBeUndefined()
})

it('ends after as many lines as are read', async () => {
  const shown = (await describeAll({}, [changed('long.txt', 'x\n'.repeat(1000))]))?.split('\n') ?? []
  expect(shown).toHaveLength(401)
  expect(shown.at(-1)).toBe('... and 602 more lines')
})
