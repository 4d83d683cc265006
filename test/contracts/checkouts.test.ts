import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createCheckouts } from '../../src/adapters/git/checkouts.ts'
import { createEgress } from '../../src/egress/egress.ts'
import type { CheckoutSpec, Checkouts } from '../../src/ports/checkouts.ts'
import { addCommit, git, makeRepository } from '../fixtures/git/repository.ts'
import { type GitServer, startGitServer } from '../fixtures/git/server.ts'

const home = mkdtempSync(join(tmpdir(), 'svc-checkouts-'))
const password = `password-${Math.random().toString(36).slice(2)}`
const egress = createEgress()
const policy = { allowNetworks: ['127.0.0.0/8'], deny: [] }
const never = new AbortController().signal
const author = { name: 'Ada', email: 'ada@example.com' }

let server: GitServer
let checkouts: Checkouts
let folders = 0

beforeAll(async () => {
  mkdirSync(join(home, 'server'))
  server = await startGitServer({ root: join(home, 'server'), login: `user:${password}` })
  checkouts = createCheckouts({ root: join(home, 'private'), egress, policy })
})

afterAll(async () => {
  await server.stop()
  await egress.close()
  rmSync(home, { recursive: true, force: true })
})

function specFor(name: string, more: Partial<CheckoutSpec> = {}): CheckoutSpec {
  const credentials = { username: 'user', password }
  return { url: `${server.origin}/${name}.git`, credentials, author, ...more }
}

const newFolder = () => join(home, `work-${folders++}`)

const prepare = (name: string, more: Partial<CheckoutSpec> = {}) =>
  checkouts.prepare(specFor(name, more), newFolder(), never)

describe('a checkout', () => {
  it('has the files of the default branch, and a repository that the agent can use', async () => {
    const repository = makeRepository(join(home, 'server'), 'plain', { 'a.txt': 'one\n', 'src/b.txt': 'two\n' })
    const tip = addCommit(repository, 'main', { 'a.txt': 'one more\n', 'src/b.txt': 'two\n' }, 'second')
    const checkout = await prepare('plain')
    expect(checkout).toMatchObject({ baseSHA: tip, headSHA: tip, branch: 'main', workFolder: checkout.folder })
    expect(readFileSync(join(checkout.folder, 'a.txt'), 'utf8')).toBe('one more\n')
    expect(git(checkout.folder, ['status', '--porcelain', '--branch'])).toBe('## main...origin/main')
    expect(git(checkout.folder, ['log', '--format=%s']).split('\n')).toEqual(['second', 'first'])
    writeFileSync(join(checkout.folder, 'a.txt'), 'changed\n')
    expect(git(checkout.folder, ['diff', '--stat'])).toContain('a.txt')
    git(checkout.folder, ['commit', '-qam', 'of the agent'])
    expect((await checkout.diff()).files).toMatchObject([{ path: 'a.txt', change: 'changed', added: 1, removed: 1 }])
  })

  it('shows, commits and pushes what differs, whatever became of the agent’s .git', async () => {
    const repository = makeRepository(join(home, 'server'), 'push', {
      'keep.txt': 'same\n',
      'gone.txt': 'x\n',
      'old/name.txt': `${'line\n'.repeat(20)}`,
      'picture.bin': Buffer.from([0, 1, 2]),
      '.gitignore': 'ignored/\n',
    })
    const checkout = await prepare('push', { pushBranch: 'work/of-agent' })
    const { folder } = checkout
    rmSync(join(folder, 'gone.txt'))
    mkdirSync(join(folder, 'new'))
    execFileSync('mv', ['old/name.txt', 'new/name.txt'], { cwd: folder })
    writeFileSync(join(folder, 'picture.bin'), Buffer.from([0, 3, 4, 5]))
    writeFileSync(join(folder, 'added ü.txt'), 'new\n')
    mkdirSync(join(folder, 'ignored'))
    writeFileSync(join(folder, 'ignored', 'x'), 'not shown')
    rmSync(join(folder, '.git'), { recursive: true })
    const diff = await checkout.diff()
    expect(diff).toMatchObject({ truncated: false, nested: [] })
    expect(diff.files).toEqual([
      { path: 'added ü.txt', change: 'added', added: 1, removed: 0, binary: false },
      { path: 'gone.txt', change: 'removed', added: 0, removed: 1, binary: false },
      { path: 'new/name.txt', from: 'old/name.txt', change: 'renamed', added: 0, removed: 0, binary: false },
      { path: 'picture.bin', change: 'changed', added: 0, removed: 0, binary: true },
    ])
    const commit = await checkout.commit('the work\n\nwith a body')
    expect(await checkout.push()).toEqual({ branch: 'work/of-agent', commit })
    expect(git(repository, ['rev-parse', 'work/of-agent', 'work/of-agent~1'])).toBe(`${commit}\n${checkout.baseSHA}`)
    expect(git(repository, ['log', '-1', '--format=%an <%ae> %B', 'work/of-agent'])).toBe(
      'Ada <ada@example.com> the work\n\nwith a body',
    )
    const again = await prepare('push', { priorDiff: diff.text })
    expect(readFileSync(join(again.folder, 'picture.bin'))).toEqual(Buffer.from([0, 3, 4, 5]))
    expect((await again.diff()).text).toBe(diff.text)
  })
})
