import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createEgress } from '../../src/egress/egress.ts'
import { createCheckouts } from '../../src/git/checkouts.ts'
import { type CheckoutBed, makeCheckoutBed, never, ownNetwork } from '../fixtures/git/checkout-bed.ts'
import { addCommit, git } from '../fixtures/git/repository.ts'

let bed: CheckoutBed

beforeAll(async () => {
  bed = await makeCheckoutBed()
})

afterAll(() => bed.remove())

describe('a checkout', () => {
  it('has the files of the default branch, and a repository that the agent can use', async () => {
    const repository = bed.repository('plain', { 'a.txt': 'one\n', 'src/b.txt': 'two\n' })
    const tip = addCommit(repository, 'main', { 'a.txt': 'one more\n', 'src/b.txt': 'two\n' }, 'second')
    const checkout = await bed.prepare('plain')
    expect(checkout).toMatchObject({ baseSHA: tip, headSHA: tip, branch: 'main', workFolder: checkout.folder })
    expect(readFileSync(join(checkout.folder, 'a.txt'), 'utf8')).toBe('one more\n')
    expect(git(checkout.folder, ['status', '--porcelain', '--branch'])).toBe('## main...origin/main')
    expect(git(checkout.folder, ['log', '--format=%s']).split('\n')).toEqual(['second', 'first'])
    writeFileSync(join(checkout.folder, 'a.txt'), 'changed\n')
    expect(git(checkout.folder, ['diff', '--stat'])).toContain('a.txt')
    git(checkout.folder, ['commit', '-qam', 'of the agent'])
    expect((await checkout.diff()).files).toMatchObject([{ path: 'a.txt', change: 'changed', added: 1, removed: 1 }])
  })

  it('shows, commits and pushes what differs, also when the agent deleted .git', async () => {
    const repository = bed.repository('push', {
      'gone.txt': 'x\n',
      'old/name.txt': 'line\n'.repeat(20),
      'picture.bin': Buffer.from([0, 1, 2]),
      '.gitignore': 'ignored/\n',
    })
    const checkout = await bed.prepare('push', { pushBranch: 'work/of-agent' })
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
    expect(await checkout.push()).toEqual({ branch: 'work/of-agent', commit })
    expect(git(repository, ['rev-parse', 'work/of-agent', 'work/of-agent~1'])).toBe(`${commit}\n${checkout.baseSHA}`)
    const written = git(repository, ['log', '-1', '--format=%an <%ae> %B', 'work/of-agent'])
    expect(written).toBe('Ada <ada@example.com> the work\n\nwith a body')
    const again = await bed.prepare('push', { priorDiff: diff.text })
    expect(readFileSync(join(again.folder, 'picture.bin'))).toEqual(Buffer.from([0, 3, 4, 5]))
    expect((await again.diff()).text).toBe(diff.text)
  })

  it('commits nothing that builds leave, unless the repository tracks it', async () => {
    bed.repository('built', { 'pom.xml': '<project/>\n', 'vendored/node_modules/own.js': 'one\n' })
    const checkout = await bed.prepare('built')
    for (const path of [
      'node_modules/left/index.js',
      'api/__pycache__/a.pyc',
      '.venv/bin/python',
      'target/classes/A.class',
      'src/target/mine.java',
      'vendored/node_modules/more.js',
    ]) {
      mkdirSync(join(checkout.folder, path, '..'), { recursive: true })
      writeFileSync(join(checkout.folder, path), 'x\n')
    }
    writeFileSync(join(checkout.folder, 'vendored/node_modules/own.js'), 'two\n')
    const diff = await checkout.diff()
    expect(diff.files.map(({ path }) => path)).toEqual([
      'src/target/mine.java',
      'vendored/node_modules/more.js',
      'vendored/node_modules/own.js',
    ])
    expect(diff.leftOut).toEqual(['.venv', 'api/__pycache__', 'node_modules', 'target'])
    const commit = await checkout.commit('work')
    expect(commit).toBeDefined()
    expect((await checkout.diff()).files).toHaveLength(3)
  })

  it('is committed by the service when nobody else is named, and the agent can commit in its own', async () => {
    const repository = bed.repository('author', { 'a.txt': 'x\n' })
    const egress = createEgress()
    const author = { name: 'Build "the" bot', email: 'bot@example.com' }
    const own = createCheckouts({ root: join(bed.home, 'own'), egress, policy: ownNetwork, author })
    for (const [checkouts, written] of [
      [bed.checkouts, 'svc <svc@localhost>'],
      [own, 'Build "the" bot <bot@example.com>'],
    ] as const) {
      const { author: _named, ...spec } = bed.spec('author', { pushBranch: `work-${written.length}` })
      const checkout = await checkouts.prepare(spec, bed.newFolder(), never)
      writeFileSync(join(checkout.folder, 'a.txt'), 'y\n')
      expect(git(checkout.folder, ['config', 'user.email'])).toBe(written.match(/<(.*)>/)?.[1])
      await (await checkouts.resume(spec, checkout.folder))?.commit('work')
      const commit = (await (await checkouts.resume(spec, checkout.folder))?.push())?.commit ?? ''
      expect(git(repository, ['log', '-1', '--format=%an <%ae>, %cn <%ce>', commit])).toBe(`${written}, ${written}`)
    }
    await egress.close()
  })

  it('has nothing to commit when nothing differs', async () => {
    bed.repository('same', { 'a.txt': 'x\n' })
    const checkout = await bed.prepare('same')
    expect(await checkout.diff()).toEqual({ text: '', files: [], truncated: false, nested: [], leftOut: [] })
    expect(await checkout.commit('nothing')).toBeUndefined()
    expect(checkout.headSHA).toBe(checkout.baseSHA)
  })

  it('is of the branch, tag or commit that was asked for, or of a branch at a commit', async () => {
    const repository = bed.repository('names', { 'a.txt': '1\n' })
    const first = git(repository, ['rev-parse', 'main'])
    git(repository, ['tag', '-a', '-m', 'a tag', 'v1', first])
    git(repository, ['branch', 'work/side', first])
    const side = addCommit(repository, 'work/side', { 'a.txt': '2\n', 'docs/b.txt': 'b\n' })
    const tip = addCommit(repository, 'main', { 'a.txt': '3\n' })
    const base = await bed.prepare('names', { branch: 'work/side', prBaseBranch: 'main', subPath: 'docs' })
    expect(base).toMatchObject({ baseSHA: side, branch: 'work/side', workFolder: join(base.folder, 'docs') })
    expect(git(base.folder, ['rev-parse', 'origin/main', 'HEAD'])).toBe(`${tip}\n${side}`)
    const tag = await bed.prepare('names', { ref: 'v1' })
    expect([tag.baseSHA, tag.branch]).toEqual([first, undefined])
    expect(git(tag.folder, ['status', '--porcelain', '--branch'])).toBe('## HEAD (no branch)')
    expect(await bed.prepare('names', { ref: 'work/side' })).toMatchObject({ baseSHA: side, branch: 'work/side' })
    expect((await bed.prepare('names', { ref: first })).baseSHA).toBe(first)
    expect(await bed.prepare('names', { branch: 'main', ref: first })).toMatchObject({ baseSHA: first, branch: 'main' })
  })

  it('keeps the diff within its limit: whole files, and the names of all', async () => {
    bed.repository('long', { 'a.txt': 'a\n' })
    const checkout = await bed.prepare('long', { limits: { diffBytes: 2000 } })
    writeFileSync(join(checkout.folder, 'a.txt'), 'b\n')
    writeFileSync(join(checkout.folder, 'large.txt'), 'diff --git a/x b/x\n'.repeat(1000))
    writeFileSync(join(checkout.folder, 'z.txt'), 'z\n')
    writeFileSync(join(checkout.folder, 'latin.txt'), Buffer.from('caf\xe9\n', 'latin1'))
    const { text, files, truncated } = await checkout.diff()
    expect(truncated).toBe(true)
    expect(files.map(({ path, omitted }) => [path, omitted === undefined])).toEqual([
      ['a.txt', true],
      ['large.txt', false],
      ['latin.txt', true],
      ['z.txt', true],
    ])
    const other = await bed.prepare('long', { priorDiff: text })
    expect(readFileSync(join(other.folder, 'z.txt'), 'utf8')).toBe('z\n')
    expect(readFileSync(join(other.folder, 'latin.txt'))).toEqual(Buffer.from('caf\xe9\n', 'latin1'))
  })

  it('is found again by another process, with its changes', async () => {
    const repository = bed.repository('again', { 'a.txt': 'x\n' })
    const spec = bed.spec('again', { pushBranch: 'work' })
    const first = await bed.checkouts.prepare(spec, bed.newFolder(), never)
    writeFileSync(join(first.folder, 'a.txt'), 'kept\n')
    const egress = createEgress()
    const others = createCheckouts({ root: join(bed.home, 'private'), egress, policy: ownNetwork })
    const found = await others.resume(spec, first.folder)
    const commit = await found?.commit('after a restart')
    expect(await found?.push()).toEqual({ branch: 'work', commit })
    expect(git(repository, ['show', 'work:a.txt'])).toBe('kept')
    await found?.close()
    expect(await others.resume(spec, first.folder)).toBeUndefined()
    await egress.close()
  })

  it('leaves pointers of large files alone', async () => {
    const pointer = 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n'
    bed.repository('large-files', { '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n', 'a.bin': pointer })
    const checkout = await bed.prepare('large-files')
    expect(readFileSync(join(checkout.folder, 'a.bin'), 'utf8')).toBe(pointer)
    expect((await checkout.diff()).files).toEqual([])
  })
})

describe('the objects of a repository', () => {
  const fetches = () => bed.server.seen.filter(({ method }) => method === 'POST').length

  it('are fetched once: the second checkout only asks where the branch is', async () => {
    bed.repository('cached', { 'a.txt': 'x\n' })
    await bed.prepare('cached')
    const before = fetches()
    const second = await bed.prepare('cached')
    expect(fetches() - before).toBe(1)
    expect(readFileSync(join(second.folder, 'a.txt'), 'utf8')).toBe('x\n')
  })

  it('are fetched once by ten at the same time, and each has its own', async () => {
    const repository = bed.repository('ten', { 'a.txt': 'x\n' })
    const before = fetches()
    const all = await Promise.all(Array.from({ length: 10 }, (_, i) => bed.prepare('ten', { pushBranch: `work-${i}` })))
    expect(fetches() - before).toBe(11)
    for (const [index, checkout] of all.entries()) writeFileSync(join(checkout.folder, 'a.txt'), `${index}\n`)
    await Promise.all(
      all.map(async (checkout) => {
        await checkout.commit('mine')
        await checkout.push()
      }),
    )
    for (const index of all.keys()) expect(git(repository, ['show', `work-${index}:a.txt`])).toBe(`${index}`)
    git(repository, ['fsck', '--strict'])
  })

  it('follow a branch that moves, and stay right over many moves', async () => {
    const repository = bed.repository('moving', { 'a.txt': '0\n' })
    for (let move = 1; move <= 10; move += 1) {
      const tip = addCommit(repository, 'main', { 'a.txt': `${move}\n` })
      const checkout = await bed.prepare('moving', { limits: { history: 5 } })
      expect([checkout.baseSHA, readFileSync(join(checkout.folder, 'a.txt'), 'utf8')]).toEqual([tip, `${move}\n`])
      if (move % 5 === 0) git(checkout.folder, ['fsck', '--strict'])
    }
  })

  it('cannot be changed by an agent: its packs are copies', async () => {
    bed.repository('copies', { 'a.txt': 'x\n' })
    const first = await bed.prepare('copies')
    const packs = join(first.folder, '.git', 'objects', 'pack')
    expect(readdirSync(join(first.folder, '.git', 'objects', 'info'))).toEqual([])
    for (const name of readdirSync(packs)) {
      chmodSync(join(packs, name), 0o600)
      writeFileSync(join(packs, name), 'spoilt')
    }
    const second = await bed.prepare('copies')
    git(second.folder, ['fsck', '--strict'])
    writeFileSync(join(first.folder, 'a.txt'), 'y\n')
    expect((await first.diff()).files).toHaveLength(1)
  })

  it('may be cleaned away at any time: checkouts that there are keep theirs', async () => {
    bed.repository('cleaned', { 'a.txt': 'x\n' })
    const egress = createEgress()
    const root = join(bed.home, 'small')
    const small = createCheckouts({ root, egress, policy: ownNetwork, cacheBytes: 1 })
    const checkout = await small.prepare(bed.spec('cleaned'), bed.newFolder(), never)
    expect(await small.clean()).toBe(1)
    expect(await small.clean()).toBe(0)
    writeFileSync(join(checkout.folder, 'a.txt'), 'y\n')
    expect((await checkout.diff()).files).toHaveLength(1)
    const packs = join(root, 'objects', 'repositories')
    const left = readdirSync(packs, { recursive: true }).filter((name) => String(name).endsWith('.pack'))
    expect(left).toEqual([])
    await small.prepare(bed.spec('cleaned'), bed.newFolder(), never)
    await egress.close()
  })
})
