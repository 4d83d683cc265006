// Skills from repositories: read by a real git from a real server, pinned, refreshed, and refused with a reason.
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createRepositoryFolders } from '../../src/git/repository-folders.ts'
import { type CheckoutBed, makeCheckoutBed } from '../fixtures/git/checkout-bed.ts'
import { addCommit, commitTree, type Entries, git, makeRawTree } from '../fixtures/git/repository.ts'
import { startGitServer } from '../fixtures/git/server.ts'
import { type Service, startService } from './service.ts'

let bed: CheckoutBed
let service: Service
let shelf: string

const head = '---\nname: style\ndescription: How we write\nmetadata: { version: 1 }\n---\n'
const first: Entries = {
  'README.md': 'a shelf',
  'skills/style/SKILL.md': `${head}# Be brief\n`,
  'skills/style/one.md': 'One.',
}

beforeAll(async () => {
  bed = await makeCheckoutBed()
  shelf = bed.repository('shelf', first)
  service = await startService()
  // As if a process had been killed while it read.
  mkdirSync(join(bed.home, 'folders', 'reading-left', 'tree'), { recursive: true })
  const repositoryFolders = createRepositoryFolders(bed.checkouts, join(bed.home, 'folders'))
  Object.assign(service.ports, { repositoryFolders })
  const stringData = { username: 'user', password: bed.password }
  await service.call('POST /api/v1/secrets', { payload: { name: 'forge', stringData } })
})
afterAll(async () => {
  await service.stop()
  await bed.remove()
})

const sourceOf = (more: object = {}) => ({
  codehost: `${bed.server.origin}/shelf.git`,
  path: 'skills/style',
  secretRef: { name: 'forge' },
  ...more,
})

async function refresh(name: string, source?: object, token?: string) {
  const payload = source === undefined ? {} : { source }
  const answer = await service.call(`POST /api/v1/skills/${name}/refresh`, {
    payload,
    ...(token === undefined ? {} : { token }),
  })
  return { status: answer.statusCode, body: answer.json() }
}

const failure = async (name: string, source: object) => {
  const { status, body } = await refresh(name, source)
  return [status, body.error?.message]
}

describe('a skill from a repository', () => {
  it('is made from a folder of it, and says which commit it is', async () => {
    const { status, body } = await refresh('style', sourceOf())
    expect(status).toBe(200)
    expect(body.spec).toMatchObject({
      description: 'How we write',
      version: '1',
      content: { inline: '# Be brief\n', files: { 'one.md': 'One.' } },
      source: { ...sourceOf(), commit: expect.stringMatching(/^[0-9a-f]{40}$/), readAt: expect.any(String) },
    })
    expect(body.spec.source.contentHash).toMatch(/^sha256:/)
  })

  it('stays as it was read until it is refreshed', async () => {
    const before = (await service.call('GET /api/v1/skills/style')).json()
    const commit = addCommit(shelf, 'main', { 'skills/style/SKILL.md': `${head}# Be kind\n` })
    expect((await service.call('GET /api/v1/skills/style')).json().spec).toEqual(before.spec)
    const { body } = await refresh('style')
    expect(body.spec.content).toEqual({ inline: '# Be kind\n' })
    expect(body.spec.source.commit).toBe(commit)
    const pinned = await refresh('style', sourceOf({ ref: before.spec.source.commit }))
    expect(pinned.body.spec).toMatchObject({
      content: before.spec.content,
      source: { commit: before.spec.source.commit },
    })
    expect((await refresh('style')).body.spec.source).toMatchObject({ ref: before.spec.source.commit })
  })

  it('can be the whole repository', async () => {
    bed.repository('small', { 'SKILL.md': `${head}All of it\n`, 'more/two.md': 'Two.' })
    const source = sourceOf({ codehost: `${bed.server.origin}/small.git`, path: undefined })
    const { body } = await refresh('small', source)
    expect(body.spec.content).toEqual({ inline: 'All of it\n', files: { 'more/two.md': 'Two.' } })
  })

  it('leaves nothing of a repository behind, nor what a killed process has left, and its login in no answer', async () => {
    expect(readdirSync(join(bed.home, 'folders'))).toEqual([])
    expect(JSON.stringify(await refresh('style'))).not.toContain(bed.password)
    expect(JSON.stringify(service.logged)).not.toContain(bed.password)
  })
})

describe('a skill is refused', () => {
  const refused: [string, Entries, RegExp][] = [
    [
      'a link to a file',
      { 'SKILL.md': head, 'link.md': { mode: '120000', text: '/etc/passwd' } },
      /link\.md is a link/,
    ],
    ['a folder that is a link', { 'SKILL.md': head, sub: { mode: '120000', text: '..' } }, /sub is a link/],
    ['no SKILL.md', { 'README.md': 'x' }, /has no SKILL\.md/],
    [
      'a beginning of great length',
      { 'SKILL.md': `---\ndescription: x ${'!a '.repeat(6000)}\n---\n` },
      /more than 16384/,
    ],
    ['no description', { 'SKILL.md': '# Hello' }, /must begin with its name and description/],
    ['what is no text', { 'SKILL.md': `${head}x`, 'a.bin': Buffer.from([0, 255]) }, /a\.bin is not text/],
    ['more than it may have', { 'SKILL.md': `${head}x`, 'a.md': 'a'.repeat(1_100_000) }, /more than 1048576 bytes/],
  ]

  it.each(refused)('with %s', async (_what, entries, reason) => {
    const name = `bad-${refused.findIndex(([what]) => what === _what)}`
    bed.repository(name, { ...entries })
    const source = sourceOf({ codehost: `${bed.server.origin}/${name}.git`, path: undefined })
    expect(await failure(name, source)).toEqual([400, expect.stringMatching(reason)])
    expect((await service.call(`GET /api/v1/skills/${name}`)).statusCode).toBe(404)
  })

  it('with more files than it may have', async () => {
    const repository = bed.repository('many', first)
    const id = git(repository, ['hash-object', '-w', '--stdin'], 'x')
    const files = Array.from({ length: 502 }, (_, at) => ({ mode: '100644', name: `${at + 1000}`, id }))
    commitTree(repository, 'main', makeRawTree(repository, files), 'many')
    const source = sourceOf({ codehost: `${bed.server.origin}/many.git`, path: undefined })
    expect(await failure('many', source)).toEqual([400, expect.stringContaining('more than 501 files')])
  })

  it('when its folder is none, leads out, or is a link', async () => {
    addCommit(shelf, 'other', { ...first, 'skills/away': { mode: '120000', text: '/etc' } })
    expect(await failure('x', sourceOf({ path: 'skills/none' }))).toEqual([400, expect.stringContaining('skills/none')])
    const outside = await failure('x', sourceOf({ path: 'skills/../..' }))
    expect(outside).toEqual([400, expect.stringContaining('source.path must be a relative path')])
    const away = await failure('x', sourceOf({ path: 'skills/away', ref: 'other' }))
    expect(away).toEqual([400, expect.stringContaining('skills/away')])
  })

  it('when the repository or the commit is not there, or the login is wrong', async () => {
    expect(await failure('x', sourceOf({ ref: 'no-such-branch' }))).toEqual([
      400,
      expect.stringContaining('no-such-branch'),
    ])
    const open = await failure('x', sourceOf({ secretRef: undefined }))
    expect(open).toEqual([400, expect.stringContaining('needs a login')])
    const file = await failure('x', sourceOf({ codehost: 'file:///etc' }))
    expect(file).toEqual([400, expect.stringContaining('not one that can be used')])
    const inside = await failure('x', sourceOf({ codehost: 'http://169.254.169.254/a' }))
    expect(inside).toEqual([403, expect.stringContaining('169.254.169.254')])
    expect(await failure('x', sourceOf({ secretRef: { name: 'none' } }))).toEqual([
      404,
      expect.stringContaining('none'),
    ])
  })

  it('when there is nothing to read it from', async () => {
    expect(await refresh('nowhere')).toMatchObject({ status: 404 })
    const payload = { name: 'plain', spec: { description: 'd', content: { inline: 'x' } } }
    await service.call('POST /api/v1/skills', { payload })
    expect(await refresh('plain')).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining('codehost') } },
    })
  })

  it('where the service reads no repositories', async () => {
    const { repositoryFolders } = service.ports
    Object.assign(service.ports, { repositoryFolders: undefined })
    expect(await failure('x', sourceOf())).toEqual([501, expect.stringContaining('reads no repositories')])
    Object.assign(service.ports, { repositoryFolders })
  })

  it('to those who may not read the Secret that it names, before the Secret goes anywhere', async () => {
    const made = await service.call('POST /api/v1/tokens', { payload: { name: 'runner', role: 'runner' } })
    const { token } = made.json()
    bed.server.seen.length = 0
    expect((await refresh('theirs', sourceOf(), token)).status).toBe(403)
    expect((await refresh('style', undefined, token)).status).toBe(403)
    expect(bed.server.seen).toEqual([])
    const viewer = await service.call('POST /api/v1/tokens', { payload: { name: 'viewer', role: 'viewer' } })
    expect((await refresh('plain', undefined, viewer.json().token)).status).toBe(403)
  })

  it("to those who may not act inside a task that uses it, since they choose the task's text", async () => {
    const open = await startGitServer({ root: join(bed.home, 'server') })
    const source = { codehost: `${open.origin}/shelf.git`, path: 'skills/style' }
    expect((await refresh('shared', source)).status).toBe(200)
    const spec = { type: 'ai', ai: { prompt: 'x', skills: [{ name: 'shared' }] }, suspend: true }
    const secret = { name: 'KEY', valueFrom: { secretKeyRef: { name: 'forge', key: 'password' } } }
    const payload = { name: 'reader', spec: { ...spec, env: [secret] } }
    expect((await service.call('POST /api/v1/tasks', { payload })).statusCode).toBe(201)
    const other = await service.call('POST /api/v1/tokens', { payload: { name: 'other', role: 'runner' } })
    const { status, body } = await refresh('shared', undefined, other.json().token)
    expect([status, body.error.message]).toEqual([403, expect.stringContaining('is used by task "reader"')])
    expect((await refresh('shared')).status).toBe(200)
    await open.stop()
  })
})
