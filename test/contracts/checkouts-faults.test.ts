import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createEgress } from '../../src/egress/egress.ts'
import { createCheckouts } from '../../src/git/checkouts.ts'
import { type CheckoutBed, failureOf, makeCheckoutBed, never } from '../fixtures/git/checkout-bed.ts'
import { git } from '../fixtures/git/repository.ts'
import { startGitServer } from '../fixtures/git/server.ts'
import { absolutePaths, outerPaths } from '../fixtures/inner-paths.ts'

let bed: CheckoutBed

beforeAll(async () => {
  bed = await makeCheckoutBed()
  bed.repository('small', { 'a.txt': 'x\n', 'b.txt': 'y\n' })
})

afterEach(() => {
  bed.server.intercept = () => false
})

afterAll(() => bed.remove())

describe('a checkout that cannot be', () => {
  it('says that there is no such repository', async () => {
    const error = await bed.failure('nothing-here')
    expect(error).toMatchObject({ fault: 'RepositoryMissing', message: expect.stringContaining('/nothing-here.git') })
    bed.server.intercept = (_request, response) => {
      response.setHeader('content-type', 'text/html').end('<h1>hello</h1>')
      return true
    }
    const page = await bed.failure('small')
    expect(page).toMatchObject({ fault: 'RepositoryMissing', message: expect.stringContaining('is not a git repos') })
  })

  it('says that a login is needed, or that it was refused, without repeating it', async () => {
    const none = await failureOf(
      bed.checkouts.prepare({ url: `${bed.server.origin}/small.git` }, bed.newFolder(), never),
    )
    expect(none).toMatchObject({ fault: 'LoginNeeded', message: expect.stringContaining('needs a login') })
    const wrong = await bed.failure('small', { credentials: { username: 'user', password: 'wrong-one' } })
    expect(wrong).toMatchObject({ fault: 'LoginNeeded', message: expect.stringContaining('refused the credentials') })
    expect(wrong.message).not.toContain('wrong-one')
  })

  it('says that the repository is empty', async () => {
    bed.repository('empty')
    expect(await bed.failure('empty')).toMatchObject({ fault: 'RepositoryEmpty' })
    expect(await bed.failure('empty', { branch: 'main' })).toMatchObject({ fault: 'RefMissing' })
  })

  it('says which branch, tag, commit or folder there is not', async () => {
    const missing = { fault: 'RefMissing' }
    expect(await bed.failure('small', { branch: 'nope' })).toMatchObject({
      ...missing,
      message: expect.stringContaining('"nope"'),
    })
    expect(await bed.failure('small', { ref: 'v9' })).toMatchObject(missing)
    expect(await bed.failure('small', { ref: '1'.repeat(40) })).toMatchObject(missing)
    expect(await bed.failure('small', { prBaseBranch: 'nope' })).toMatchObject(missing)
    expect(await bed.failure('small', { subPath: 'no/folder' })).toMatchObject({ fault: 'PathMissing' })
  })

  it.each([...outerPaths, ...absolutePaths])('has no folder %j to work in', async (subPath) => {
    expect(await bed.failure('small', { subPath })).toMatchObject({ fault: 'PathMissing' })
  })

  it('says that an earlier change does not fit', async () => {
    const priorDiff = 'diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-other\n+new\n'
    expect(await bed.failure('small', { priorDiff })).toMatchObject({ fault: 'PatchRefused' })
  })

  it('says what is too large: bytes that are fetched, files, bytes of files, bytes that were changed', async () => {
    bed.repository('large', { 'noise.bin': Buffer.from(Array.from({ length: 50_000 }, (_, i) => (i * i * 31) % 251)) })
    expect(await bed.failure('large', { limits: { bytes: 300 } })).toMatchObject({
      fault: 'TooLarge',
      message: expect.stringContaining('limit of 300 bytes'),
    })
    expect(await bed.failure('small', { limits: { files: 1 } })).toMatchObject({
      fault: 'TooLarge',
      message: expect.stringContaining('2 files'),
    })
    bed.repository('zeros', { 'zeros.bin': Buffer.alloc(1_000_000) })
    expect(await bed.failure('zeros', { limits: { bytes: 100_000 } })).toMatchObject({ fault: 'TooLarge' })
    const checkout = await bed.prepare('small', { limits: { bytes: 100_000 } })
    writeFileSync(join(checkout.folder, 'huge'), Buffer.alloc(200_000))
    expect(await failureOf(checkout.diff())).toMatchObject({ fault: 'TooLarge' })
  })

  it('says that the server took too long, and that the task was stopped', async () => {
    bed.server.intercept = () => true
    expect(await bed.failure('small', { limits: { timeoutMs: 300 } })).toMatchObject({ fault: 'TooSlow' })
    let asked = 0
    const slow = bed.repository('slow', { 'a.txt': 'x\n' })
    bed.server.intercept = ({ method }) => method === 'POST' && ++asked > 1
    expect(await bed.failure('slow', { limits: { timeoutMs: 1000 } })).toMatchObject({ fault: 'TooSlow' })
    asked = 0
    const stop = new AbortController()
    const stopped = bed.checkouts.prepare(bed.spec('slow'), bed.newFolder(), stop.signal)
    await expect.poll(() => asked).toBe(2)
    stop.abort(new Error('stopped by a person'))
    expect((await failureOf(stopped)).message).toBe('stopped by a person')
    bed.server.intercept = () => false
    const checkout = await bed.prepare('slow')
    expect(checkout.baseSHA).toBe(git(slow, ['rev-parse', 'main']))
    expect(readdirSync(join(bed.home, 'private', 'objects', 'staging'))).toEqual([])
  })

  it('says that the server cannot be reached, is broken, or stops in the middle', async () => {
    const { url } = bed.spec('small')
    const gone = await startGitServer({ root: bed.home })
    await gone.stop()
    expect(await bed.failure('small', { url: `${gone.origin}/small.git` })).toMatchObject({ fault: 'Unreachable' })
    bed.server.intercept = (_request, response) => {
      response.writeHead(503).end()
      return true
    }
    expect(await bed.failure('small', { url })).toMatchObject({ fault: 'Unreachable' })
    bed.repository('torn', { 'a.txt': 'x\n' })
    let posts = 0
    bed.server.intercept = ({ method }, response) => {
      if (method !== 'POST' || ++posts < 2) return false
      response.writeHead(200).write('0011packfile\n0')
      response.destroy()
      return true
    }
    expect(['Unreachable', 'GitFailed']).toContain((await bed.failure('torn')).fault)
    bed.server.intercept = () => false
    await bed.prepare('torn')
  })

  it('says that an address cannot be used, or is not allowed', async () => {
    for (const url of ['file:///etc', 'git://host/x', 'ext::sh -c id', '/tmp/x', `http://user:pw@127.0.0.1/x`])
      expect(await bed.failure('small', { url }), url).toMatchObject({ fault: 'AddressUnsupported' })
    const egress = createEgress()
    const strict = createCheckouts({
      root: join(bed.home, 'strict'),
      egress,
      policy: { allowNetworks: [], deny: [] },
    })
    const before = bed.server.seen.length
    const refused = await failureOf(strict.prepare(bed.spec('small'), bed.newFolder(), never))
    expect(refused).toMatchObject({ fault: 'AddressRefused', message: expect.stringContaining('loopback') })
    expect(bed.server.seen.length).toBe(before)
    const credentials = { password: bed.password, allowedHosts: ['git.example'] }
    expect(await bed.failure('small', { credentials })).toMatchObject({ fault: 'AddressRefused' })
    await egress.close()
  })
})

describe('a push that cannot be', () => {
  async function prepareWork(name: string, pushBranch: string) {
    const checkout = await bed.prepare(name, { pushBranch })
    writeFileSync(join(checkout.folder, 'work.txt'), `${checkout.folder}\n`)
    await checkout.commit('work')
    return checkout
  }

  it('is refused when another pushed meanwhile, and loses nobody’s commit', async () => {
    const repository = bed.repository('race', { 'a.txt': 'x\n' })
    const [first, second] = [await prepareWork('race', 'main'), await prepareWork('race', 'main')]
    await first.push()
    const error = await failureOf(second.push())
    expect(error).toMatchObject({ fault: 'PushBehind', message: expect.stringContaining('"main"') })
    expect(git(repository, ['rev-parse', 'main'])).toBe(first.headSHA)
  })

  it('is refused when both make one branch at once: one of them wins', async () => {
    const repository = bed.repository('both', { 'a.txt': 'x\n' })
    const all = [await prepareWork('both', 'new'), await prepareWork('both', 'new')]
    const ends = await Promise.allSettled(all.map((checkout) => checkout.push()))
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    const lost = ends.find((end) => end.status === 'rejected')
    expect(lost?.reason).toMatchObject({ fault: 'PushBehind' })
    const winner = all[ends.findIndex(({ status }) => status === 'fulfilled')]
    expect(git(repository, ['rev-parse', 'new'])).toBe(winner?.headSHA)
  })

  it('is refused onto a branch with another history, but may replace the commit that the lease names', async () => {
    const repository = bed.repository('lease', { 'a.txt': 'x\n' })
    const earlier = await prepareWork('lease', 'work')
    await earlier.push()
    const later = await prepareWork('lease', 'work')
    expect(await failureOf(later.push())).toMatchObject({ fault: 'PushBehind' })
    expect(await failureOf(later.push('1'.repeat(40)))).toMatchObject({ fault: 'PushBehind' })
    await later.push(earlier.headSHA)
    expect(git(repository, ['rev-parse', 'work'])).toBe(later.headSHA)
    expect(await failureOf((await prepareWork('lease', 'work')).push(earlier.headSHA))).toMatchObject({
      fault: 'PushBehind',
    })
  })

  it('is refused when the branch was deleted meanwhile', async () => {
    const repository = bed.repository('deleted', { 'a.txt': 'x\n' })
    git(repository, ['branch', 'work', 'main'])
    const checkout = await bed.prepare('deleted', { branch: 'work', pushBranch: 'work' })
    writeFileSync(join(checkout.folder, 'a.txt'), 'y\n')
    await checkout.commit('work')
    git(repository, ['branch', '-D', 'work'])
    expect(await failureOf(checkout.push())).toMatchObject({ fault: 'PushBranchGone' })
    expect(git(repository, ['branch', '--list', 'work'])).toBe('')
    expect((await checkout.diff()).files).toHaveLength(1)
  })

  it('is refused by a protected branch, with what the server said on one line', async () => {
    const repository = bed.repository('protected', { 'a.txt': 'x\n' })
    const hook = join(repository, 'hooks', 'pre-receive')
    writeFileSync(hook, '#!/bin/sh\nprintf "this branch \\033[31mis protected\\n" >&2\nexit 1\n')
    chmodSync(hook, 0o755)
    const error = await failureOf((await prepareWork('protected', 'main')).push())
    expect(error).toMatchObject({
      fault: 'PushProtected',
      message: expect.stringContaining('this branch is protected'),
    })
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may be there
    expect(error.message).not.toMatch(/[\x00-\x1f]/)
  })

  it('is refused by a server that lets this login only read', async () => {
    const repository = bed.repository('read-only', { 'a.txt': 'x\n' })
    git(repository, ['config', 'http.receivepack', 'false'])
    const error = await failureOf((await prepareWork('read-only', 'work')).push())
    expect(error).toMatchObject({ fault: 'LoginNeeded', message: expect.stringContaining('may write to it') })
  })

  it('goes to the fork, which is another repository', async () => {
    bed.repository('upstream', { 'a.txt': 'x\n' })
    const fork = bed.repository('fork', { 'other.txt': 'x\n' })
    const { url } = bed.spec('fork')
    const checkout = await bed.prepare('upstream', { forkRepo: url, pushBranch: 'work' })
    writeFileSync(join(checkout.folder, 'a.txt'), 'y\n')
    const commit = await checkout.commit('work')
    await checkout.push()
    expect(git(fork, ['rev-parse', 'work'])).toBe(commit)
  })
})

describe('the login', () => {
  it('is sent to the origin of the repository, and to no other', async () => {
    const other = await startGitServer({ root: join(bed.home, 'server') })
    const target = bed.spec('small')
    bed.server.intercept = ({ url = '' }, response) => {
      response.writeHead(302, { location: `${other.origin}${url}` }).end()
      return true
    }
    const checkout = await bed.prepare('small', { pushBranch: 'elsewhere', forkRepo: `${other.origin}/small.git` })
    writeFileSync(join(checkout.folder, 'a.txt'), 'y\n')
    await checkout.commit('work')
    await checkout.push()
    expect(bed.server.seen.at(-1)?.authorization).toMatch(/^Basic /)
    expect(other.seen.length).toBeGreaterThan(2)
    expect(other.seen.filter(({ authorization }) => authorization !== undefined)).toEqual([])
    expect(target.url).toContain(bed.server.origin)
    await other.stop()
  })

  it('stays out of every file, argument and environment', async () => {
    const secrets = [bed.password, Buffer.from(`user:${bed.password}`).toString('base64')]
    const repository = bed.repository('secret', { 'a.txt': 'x\n' })
    const seen: string[] = []
    bed.server.intercept = () => {
      for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) seen.push(...readProcess(pid))
      return false
    }
    const checkout = await bed.prepare('secret', { pushBranch: 'work' })
    writeFileSync(join(checkout.folder, 'a.txt'), 'y\n')
    await checkout.commit('work')
    await checkout.push()
    expect(seen.some((text) => text.includes('fd::3'))).toBe(true)
    const files = readdirSync(bed.home, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    const texts = files.map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    expect(texts.length).toBeGreaterThan(20)
    for (const secret of secrets) expect([...seen, ...texts].filter((text) => text.includes(secret))).toEqual([])
    expect(git(repository, ['rev-parse', 'work'])).toBe(checkout.headSHA)
  })
})

/** What others of this user see of a process: those of git. */
function readProcess(pid: string): string[] {
  try {
    const line = readFileSync(`/proc/${pid}/cmdline`, 'latin1')
    return line.includes('git') ? [line, readFileSync(`/proc/${pid}/environ`, 'latin1')] : []
  } catch {
    return []
  }
}
