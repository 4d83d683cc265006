import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type ErrorReason, SvcError } from '../errors.ts'
import { readLeftFiles, readWorkspaceFiles } from '../runtime/folders/left-files.ts'
import type { ArtifactUpload } from './api.ts'
import { uploadArtifacts } from './artifacts.ts'

let root: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'artifacts-'))
})
afterEach(() => rm(root, { recursive: true, force: true }))

async function upload(keep?: { files: number; bytes: number }, refuse: (name: string) => void = () => {}) {
  const sent: Record<string, string> = {}
  const notes: string[] = []
  const api = {
    async uploadArtifact({ filename, contentType, open }: ArtifactUpload) {
      refuse(filename)
      // Twice, as after a call that failed half-way.
      for (let round = 0; round < 2; round += 1) {
        const parts: Uint8Array[] = []
        for await (const part of open()) parts.push(part)
        sent[filename] = `${contentType} ${Buffer.concat(parts).length}`
      }
    },
  }
  const left = { workspaceRoot: root, readLeftFiles, readWorkspaceFiles }
  await uploadArtifacts(left, { api, keep, note: (line) => notes.push(line) })
  return { sent, notes: notes.join('\n') }
}

it('says nothing of a workspace that nobody has made', async () => {
  await rm(root, { recursive: true })
  expect(await upload({ files: 10, bytes: 1000 })).toEqual({ sent: {}, notes: '' })
})

it('uploads regular files with their type, and says of the others why they are left out', async () => {
  const folder = join(root, 'artifacts')
  await mkdir(join(folder, 'sub/deep'), { recursive: true })
  await writeFile(join(folder, 'sub/deep/b.txt'), 'b')
  await writeFile(join(folder, 'a.json'), '{"a":1}')
  await writeFile(join(folder, 'long.bin'), Buffer.alloc(200_000, 1))
  await writeFile(join(folder, 'empty.txt'), '')
  await writeFile(join(folder, 'line\nbreak'), 'x')
  await symlink('/etc/passwd', join(folder, 'link'))
  execFileSync('mkfifo', [join(folder, 'fifo')])
  await truncate(join(folder, 'a.json'), 7)
  await writeFile(join(folder, 'huge.bin'), '')
  await truncate(join(folder, 'huge.bin'), 10 * 1_048_576 + 1)
  const { sent, notes } = await upload()
  expect(sent).toEqual({
    'a.json': 'application/json 7',
    'empty.txt': 'text/plain; charset=utf-8 0',
    'long.bin': 'application/octet-stream 200000',
    'sub/deep/b.txt': 'text/plain; charset=utf-8 1',
  })
  for (const name of ['break', 'link', 'fifo', 'huge.bin']) {
    expect(notes).toMatch(new RegExp(`${name}.*left out`))
  }
})

it('stops at 50 MiB of all files together', async () => {
  await mkdir(join(root, 'artifacts'))
  for (let index = 0; index < 6; index += 1) {
    const file = join(root, 'artifacts', `f${index}`)
    await writeFile(file, '')
    await truncate(file, 10 * 1_048_576)
  }
  const { sent, notes } = await upload()
  expect(Object.keys(sent)).toHaveLength(5)
  expect(notes).toContain('50 MiB')
})

it('does nothing without the folder, or when a link is in its place', async () => {
  expect((await upload()).sent).toEqual({})
  await symlink('/etc', join(root, 'artifacts'))
  expect((await upload()).sent).toEqual({})
})

const plenty = { files: 200, bytes: 50 * 1_048_576 }

async function write(path: string, text = path) {
  await mkdir(join(root, path, '..'), { recursive: true })
  await writeFile(join(root, path), text)
}

it('keeps what lies anywhere in the workspace by its path, but not what tools make again', async () => {
  const kept = ['notes.txt', 'src/main.py', 'a/b/c d/e.md', '.config.yaml', '.svc/x']
  for (const path of [...kept, 'node_modules/m/index.js', 'src/__pycache__/main.pyc', '.git/HEAD']) await write(path)
  await write('artifacts/report.md')
  await write('artifacts/deep/too.md')
  await symlink('/etc', join(root, 'etc'))
  await symlink('/etc/passwd', join(root, 'src/passwd'))
  const { sent, notes } = await upload(plenty)
  expect(Object.keys(sent).sort()).toEqual([...kept, 'deep/too.md', 'report.md'].sort())
  for (const name of ['node_modules/', 'src/__pycache__/', '.git/', 'etc', 'src/passwd'])
    expect(notes).toContain(`[artifact "${name}" is left out: `)
  expect(Object.keys((await upload()).sent)).toEqual(['deep/too.md', 'report.md'])
})

it('bounds them in number and bytes, and names what is left out', async () => {
  for (let index = 0; index < 30; index += 1) await write(`f${String(index).padStart(2, '0')}`, '0123456789')
  const few = await upload({ files: 3, bytes: 1000 })
  expect(Object.keys(few.sent)).toEqual(['f00', 'f01', 'f02'])
  expect(few.notes).toContain(
    '[artifact "f03" is left out: more than 3 files of a workspace are not kept (--keep-files)]',
  )
  expect(few.notes).toContain('[7 more files are left out]')
  const small = await upload({ files: 100, bytes: 25 })
  expect(Object.keys(small.sent)).toEqual(['f00', 'f01'])
  expect(small.notes).toContain(
    '[artifact "f02" is left out: all files together would be larger than 25 bytes (--keep-size)]',
  )
})

it('goes on after a file that cannot be stored, but not when the attempt is over', async () => {
  await write('a')
  await write('b')
  const refuse = (reason: ErrorReason) => (name: string) => {
    if (name === 'a') throw new SvcError(reason, 'no room')
  }
  const { sent, notes } = await upload(plenty, refuse('StorageFull'))
  expect(Object.keys(sent)).toEqual(['b'])
  expect(notes).toContain('[artifact "a" is left out: no room]')
  await expect(upload(plenty, refuse('Conflict'))).rejects.toThrow('no room')
})
