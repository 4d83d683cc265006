import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { readLeftFiles } from '../adapters/workspaces/left-files.ts'
import type { ArtifactUpload } from './api.ts'
import { uploadArtifacts } from './artifacts.ts'

let root: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'artifacts-'))
})
afterEach(() => rm(root, { recursive: true, force: true }))

async function upload() {
  const sent: Record<string, string> = {}
  const notes: string[] = []
  const api = {
    async uploadArtifact({ filename, contentType, open }: ArtifactUpload) {
      // Twice, as after a call that failed half-way.
      for (let round = 0; round < 2; round += 1) {
        const parts: Uint8Array[] = []
        for await (const part of open()) parts.push(part)
        sent[filename] = `${contentType} ${Buffer.concat(parts).length}`
      }
    },
  }
  await uploadArtifacts({ workspaceRoot: root, readLeftFiles }, api, (line) => notes.push(line))
  return { sent, notes: notes.join('\n') }
}

it('uploads regular files with their type, and says of the others why they are left out', async () => {
  const folder = join(root, 'artifacts')
  await mkdir(join(folder, 'sub'), { recursive: true })
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
  expect(sent).toEqual({ 'a.json': 'application/json 7', 'long.bin': 'application/octet-stream 200000' })
  for (const name of ['sub', 'empty.txt', 'break', 'link', 'fifo', 'huge.bin']) {
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
