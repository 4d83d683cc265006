// Checkouts that show the same files, where the machine allows mounts: each in a process with mounts of its own.
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { addCommit, git, makeRepository } from '../fixtures/git/repository.ts'
import { type GitServer, startGitServer } from '../fixtures/git/server.ts'

const program = join(import.meta.dirname, '..', 'fixtures', 'git', 'shared-checkouts.ts')

async function runApart(what: string, more: Record<string, unknown>): Promise<unknown> {
  const args = ['-m', '--propagation', 'slave', process.execPath, program, JSON.stringify({ what, ...more })]
  const { stdout } = await promisify(execFile)('unshare', args, { timeout: 60_000 })
  return JSON.parse(stdout)
}

const refusal = await (async () => {
  const home = mkdtempSync(join(tmpdir(), 'svc-shared-probe-'))
  try {
    const layer = (await runApart('layer', { home })) as { kind: string; why?: string; unshared?: string }
    return layer.kind === 'image' ? layer.unshared : layer.why
  } catch (error) {
    return String(error)
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
})()

let home: string
let served: string
let server: GitServer
let url: string
const noise = 2 * 1024 ** 2

beforeAll(async () => {
  served = mkdtempSync(join(tmpdir(), 'svc-shared-server-'))
  makeRepository(served, 'plain', {
    'a.txt': 'one\n',
    'src/b.txt': 'two\n',
    'docs/c.txt': 'three\n',
    'run.sh': { mode: '100755', text: '#!/bin/sh\n' },
  })
  makeRepository(served, 'large', { 'a.txt': 'one\n', 'noise.bin': randomBytes(noise) })
  server = await startGitServer({ root: served })
  url = `${server.origin}/plain.git`
})
afterAll(async () => {
  await server.stop()
  rmSync(served, { recursive: true, force: true })
})
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'svc-shared-'))
  mkdirSync(join(home, 'work'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

describe.skipIf(refusal !== undefined)(`checkouts of one commit that share its files ${refusal ?? ''}`, () => {
  it('see nothing of each other’s changes, nor does what they share; nothing is left mounted', async () => {
    expect(await runApart('apart', { home, url })).toEqual({
      overlays: [true, true, true],
      trees: 1,
      one: ['changed a.txt', 'removed src/b.txt', 'renamed texts/c.txt'],
      two: ['changed run.sh'],
      third: [],
      status: '',
      mode: '755',
      commit: true,
      pushed: 'one',
      isUntouched: true,
      left: [],
      mounts: false,
    })
    const pushed = git(join(served, 'plain.git'), ['ls-tree', '-r', '--name-only', 'one'])
    expect(pushed.split('\n')).toEqual(['a.txt', 'run.sh', 'texts/c.txt'])
  })

  it('show a change whatever the agent does to hide it', async () => {
    expect(await runApart('hiding', { home, url })).toEqual({ isOverlay: true, files: ['changed a.txt'] })
  })

  it('are written once when ten are made at the same time', async () => {
    expect(await runApart('parallel', { home, url })).toEqual({ trees: 1, texts: ['one\n'], overlays: 10 })
  })

  it('keep their files while they are open, and make room for others afterwards', async () => {
    for (const branch of ['one', 'two', 'three'])
      addCommit(join(served, 'plain.git'), branch, { 'a.txt': `${branch}\n` })
    const size = 4096
    expect(await runApart('swept', { home, url, cacheBytes: 2.5 * size })).toEqual({
      held: { trees: 2, texts: ['one\n', 'two\n'] },
      kept: 1,
      isOverlay: false,
    })
  })

  it('get files of their own when the cache is too small for them', async () => {
    const large = { home, url: `${server.origin}/large.git`, cacheBytes: noise }
    expect(await runApart('tooLarge', large)).toEqual({ isOverlay: false, trees: 0 })
  })

  it('get files of their own when a mount fails', async () => {
    expect(await runApart('refused', { home, url })).toEqual({ isOverlay: false, files: ['changed a.txt'] })
  })

  it('are refused as any other that does not fit into the workspace', async () => {
    const large = { home, url: `${server.origin}/large.git` }
    expect(await runApart('small', large)).toEqual({ fault: 'DiskFull', trees: 0, stages: [] })
  })
})
