import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { readLeftFiles, readWorkspaceFiles } from '../runtime/folders/left-files.ts'
import type { ArtifactUpload } from './api.ts'
import { uploadArtifacts } from './artifacts.ts'
import { writeInputs } from './workspace-files.ts'

let root: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'inputs-'))
})
afterEach(() => rm(root, { recursive: true, force: true }))

const inputs: Record<string, string> = { 'a.txt': 'one', 'src/b.txt': 'two', 'src/gone.txt': 'x', none: '', full: 'y' }
const api = { readInput: async (path: string) => Buffer.from(inputs[path] ?? '') }
const paths = Object.keys(inputs)

it('keeps what is not as it was given, by its path, and tells what is gone', async () => {
  const files = await writeInputs(api, { paths, workspaceRoot: root, isFresh: true })
  expect(await readFile(join(root, 'src/b.txt'), 'utf8')).toBe('two')
  await writeFile(join(root, 'a.txt'), 'ONE')
  await writeFile(join(root, 'new.txt'), 'new')
  await writeFile(join(root, 'full'), '')
  await writeFile(join(root, 'nothing'), '')
  await rm(join(root, 'src/gone.txt'))
  const sent: Record<string, string> = {}
  const uploadArtifact = async ({ filename, open }: ArtifactUpload) => {
    const parts: Uint8Array[] = []
    for await (const part of open()) parts.push(part)
    sent[filename] = Buffer.concat(parts).toString()
  }
  const left = { workspaceRoot: root, readLeftFiles, readWorkspaceFiles }
  const keep = { files: 10, bytes: 1000 }
  await uploadArtifacts(left, { api: { uploadArtifact }, keep, inputs: files, note: () => {} })
  expect(sent).toEqual({
    'a.txt': 'ONE',
    full: '',
    'new.txt': 'new',
    nothing: '',
    '.svc-changes.json': JSON.stringify({ removed: ['src/gone.txt'] }),
  })
})

it('leaves a folder as it is that an earlier run has worked in', async () => {
  await writeFile(join(root, 'a.txt'), 'changed')
  const files = await writeInputs(api, { paths, workspaceRoot: root, isFresh: false })
  expect(await readFile(join(root, 'a.txt'), 'utf8')).toBe('changed')
  expect(await files?.listRemoved()).toEqual(['full', 'none', 'src/b.txt', 'src/gone.txt'])
  expect(await writeInputs(api, { paths: undefined, workspaceRoot: root, isFresh: true })).toBeUndefined()
})
