import { execFileSync } from 'node:child_process'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type CheckoutBed, failureOf, makeCheckoutBed } from '../fixtures/git/checkout-bed.ts'
import { addCommit, commitTree, git, makeRawTree } from '../fixtures/git/repository.ts'

let bed: CheckoutBed
/** What an attack leaves when it ran. */
let mark: string

beforeAll(async () => {
  bed = await makeCheckoutBed()
  mark = join(bed.home, 'it-ran')
})

afterEach(() => {
  bed.server.intercept = () => false
  expect(existsSync(mark), 'a program of the repository ran').toBe(false)
})

afterAll(() => bed.remove())

/** Settings of git that each start a program. */
const traps = () => `
[core]
  fsmonitor = "touch ${mark}; false"
  hooksPath = .traps
  sshCommand = "touch ${mark}; false"
  pager = "touch ${mark}"
  alternateRefsCommand = "touch ${mark}"
[filter "trap"]
  clean = "touch ${mark}; cat"
  smudge = "touch ${mark}; cat"
  process = "touch ${mark}"
  required = true
[diff]
  external = "touch ${mark}"
[diff "trap"]
  command = "touch ${mark}"
  textconv = "touch ${mark}; cat"
[merge "trap"]
  driver = "touch ${mark}"
[credential]
  helper = "!touch ${mark}"
[gpg]
  program = "touch ${mark}"
[commit]
  gpgSign = true
[remote "origin"]
  uploadpack = "touch ${mark}"
  receivepack = "touch ${mark}"
`

const hookNames = ['pre-commit', 'post-index-change', 'post-checkout', 'pre-push', 'reference-transaction']

function layTraps(gitDir: string): void {
  mkdirSync(join(gitDir, 'hooks'), { recursive: true })
  writeFileSync(join(gitDir, 'config'), readFileSync(join(gitDir, 'config'), 'utf8') + traps())
  for (const name of hookNames)
    writeFileSync(join(gitDir, 'hooks', name), `#!/bin/sh\ntouch ${mark}\n`, { mode: 0o755 })
}

/** The traps work: whoever runs git there as a person would starts them. */
function expectTraps(folder: string): void {
  for (const args of [['status'], ['add', '--all']]) {
    try {
      git(folder, args)
    } catch {
      // Some of them fail.
    }
  }
  expect(existsSync(mark)).toBe(true)
  rmSync(mark)
}

async function finish(checkout: Awaited<ReturnType<CheckoutBed['prepare']>>) {
  const diff = await checkout.diff()
  await checkout.commit('work')
  await checkout.push()
  return diff
}

describe('a hostile repository or agent', () => {
  it('starts nothing by hooks, filters, monitors or helpers', async () => {
    const attributes = '* filter=trap diff=trap merge=trap\n'
    const hook = { mode: '100755', text: `#!/bin/sh\ntouch ${mark}\n` } as const
    bed.repository('traps', { '.gitattributes': attributes, 'a.txt': 'x\n', '.traps/post-checkout': hook })
    const checkout = await bed.prepare('traps', { pushBranch: 'work' })
    layTraps(join(checkout.folder, '.git'))
    writeFileSync(join(checkout.folder, 'a.txt'), 'y\n')
    const { text } = await finish(checkout)
    expect(text).toContain('-x\n+y')
    expectTraps(checkout.folder)
  })

  it('starts nothing in repositories below: they are named, and left out', async () => {
    const id = '1'.repeat(40)
    const modules = `[submodule "s"]\n\tpath = s\n\turl = ext::sh -c "touch ${mark}"\n`
    bed.repository('below', { '.gitmodules': modules, s: { commit: id }, 'a.txt': 'x\n', 'dir/b.txt': 'b\n' })
    const checkout = await bed.prepare('below', { pushBranch: 'work' })
    expect(readdirSync(join(checkout.folder, 's'))).toEqual([])
    for (const name of ['s', 'dir', 'own']) {
      git(checkout.folder, ['init', '--quiet', name])
      writeFileSync(join(checkout.folder, name, 'b.txt'), 'changed\n')
      git(join(checkout.folder, name), ['add', '.'])
      git(join(checkout.folder, name), ['commit', '-qm', 'inner'])
      layTraps(join(checkout.folder, name, '.git'))
    }
    const { files, nested } = await finish(checkout)
    expect(files.map(({ path }) => path)).toEqual(['dir/b.txt'])
    expect(nested).toEqual(['own'])
    expectTraps(checkout.folder)
  })

  it('gains nothing by what it makes of its own .git', async () => {
    bed.repository('other', { 'secret.txt': 'of another\n' })
    const other = await bed.prepare('other')
    for (const make of [
      (path: string) => symlinkSync(join(other.folder, '.git'), path),
      (path: string) => writeFileSync(path, `gitdir: ${join(other.folder, '.git')}\n`),
      (path: string) => mkdirSync(path),
    ]) {
      bed.repository('swap', { 'a.txt': 'x\n' })
      const checkout = await bed.prepare('swap')
      rmSync(join(checkout.folder, '.git'), { recursive: true })
      make(join(checkout.folder, '.git'))
      writeFileSync(join(checkout.folder, 'a.txt'), 'y\n')
      expect((await checkout.diff()).files.map(({ path }) => path)).toEqual(['a.txt'])
      rmSync(join(bed.home, 'server', 'swap.git'), { recursive: true })
    }
    expect(git(other.folder, ['status', '--porcelain'])).toBe('')
  })

  it('reaches nothing outside of the folder by links', async () => {
    const outside = join(bed.home, 'outside')
    mkdirSync(outside)
    writeFileSync(join(outside, 'secret.txt'), 'not for the agent\n')
    bed.repository('links', {
      out: { mode: '120000', text: outside },
      'src/secret.txt': 'a\n',
    })
    expect(await bed.failure('links', { subPath: 'out' })).toMatchObject({ fault: 'PathMissing' })
    const through =
      'diff --git a/out/new b/out/new\nnew file mode 100644\n--- /dev/null\n+++ b/out/new\n@@ -0,0 +1 @@\n+x\n'
    expect(await bed.failure('links', { priorDiff: through })).toMatchObject({ fault: 'PatchRefused' })
    const checkout = await bed.prepare('links', { pushBranch: 'work' })
    rmSync(join(checkout.folder, 'src'), { recursive: true })
    symlinkSync(outside, join(checkout.folder, 'src'))
    symlinkSync('/etc/passwd', join(checkout.folder, 'passwd'))
    const { text, files } = await finish(checkout)
    expect(files.map(({ path, change }) => `${change} ${path}`)).toEqual([
      'added passwd',
      'added src',
      'removed src/secret.txt',
    ])
    expect(text).not.toMatch(/not for the agent|root:/)
    expect(readdirSync(outside)).toEqual(['secret.txt'])
  })

  it('writes nothing into .git or above by names in its trees or in an earlier change', async () => {
    const repository = bed.repository('raw', { 'a.txt': 'x\n' })
    const id = git(repository, ['hash-object', '-w', '--stdin'], `#!/bin/sh\ntouch ${mark}\n`)
    const file = (name: string) => ({ mode: '100755', name, id })
    for (const name of ['.git', '.GIT', 'git~1', '..', '.g\u200cit']) {
      const inner = makeRawTree(repository, [file('post-checkout')])
      const hooks = makeRawTree(repository, [{ mode: '40000', name: 'hooks', id: inner }])
      commitTree(repository, 'main', makeRawTree(repository, [{ mode: '40000', name, id: hooks }]), 'evil')
      expect(await bed.failure('raw'), name).toMatchObject({ fault: 'GitFailed' })
    }
    bed.repository('patched', { 'a.txt': 'x\n' })
    for (const path of ['../up.txt', '.git/hooks/post-checkout', '/tmp/svc-up.txt']) {
      const priorDiff = `diff --git a/${path} b/${path}\nnew file mode 100755\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+x\n`
      expect(await bed.failure('patched', { priorDiff }), path).toMatchObject({ fault: 'PatchRefused' })
    }
    expect(existsSync(join(bed.home, 'up.txt'))).toBe(false)
  })

  it('may have names of any bytes, which come through as they are', async () => {
    const names = [
      '-rf',
      '--upload-pack=touch',
      'new\nline',
      'tab\there',
      '"quoted"',
      ' space ',
      'ü',
      '$(touch x)',
      '*',
    ]
    bed.repository('odd', Object.fromEntries(names.map((name) => [name, 'x\n'])))
    const checkout = await bed.prepare('odd', { pushBranch: 'work' })
    for (const name of names) writeFileSync(join(checkout.folder, name), 'y\n')
    writeFileSync(Buffer.from(`${checkout.folder}/latin-\xe9`, 'latin1'), 'z\n')
    const { files, text } = await finish(checkout)
    expect(files).toHaveLength(names.length + 1)
    expect(files.map(({ path }) => path)).toEqual(expect.arrayContaining(names))
    const again = await bed.prepare('odd', { priorDiff: text })
    for (const name of names) expect(readFileSync(join(again.folder, name), 'utf8'), name).toBe('y\n')
  })

  it('cannot name branches that are options or paths, nor can its server', async () => {
    const repository = bed.repository('branches', { 'a.txt': 'x\n' })
    for (const name of ['--upload-pack=x', '../../x', 'a..b', 'a\nb', 'a b', '@', '/x', 'x.lock', 'x/.y']) {
      expect(await bed.failure('branches', { branch: name }), name).toMatchObject({ fault: 'RefMissing' })
      expect(await bed.failure('branches', { pushBranch: name }), name).toMatchObject({ fault: 'RefMissing' })
    }
    const tip = git(repository, ['rev-parse', 'main'])
    bed.server.intercept = ({ method }, response) => {
      if (method !== 'POST') return false
      const line = `${tip} HEAD symref-target:refs/heads/../../../../up\n`
      response.end(`${(line.length + 4).toString(16).padStart(4, '0')}${line}0000`)
      return true
    }
    expect(await bed.failure('branches')).toMatchObject({ fault: 'RefMissing' })
    expect(existsSync(join(bed.home, 'up'))).toBe(false)
  })

  it('cannot hide a change from the diff by attributes', async () => {
    const attributes = '*.txt -diff\n*.dat binary\n*.utf working-tree-encoding=UTF-16\n'
    bed.repository('hiding', { '.gitattributes': attributes, 'a.txt': 'x\n', 'b.dat': 'x\n', 'c.utf': 'x\n' })
    const checkout = await bed.prepare('hiding')
    for (const name of ['a.txt', 'b.dat', 'c.utf']) writeFileSync(join(checkout.folder, name), 'seen\n')
    expect((await checkout.diff()).text.match(/^\+seen$/gm)).toHaveLength(3)
  })

  it('loses no diff by files that are no files, that are locked, or that are huge', async () => {
    bed.repository('odd-files', { 'a.txt': 'a\n', 'b.txt': 'b\n', 'c/d.txt': 'd\n' })
    const checkout = await bed.prepare('odd-files', { pushBranch: 'work' })
    const { folder } = checkout
    rmSync(join(folder, 'a.txt'))
    execFileSync('mkfifo', [join(folder, 'a.txt'), join(folder, 'pipe')])
    rmSync(join(folder, 'b.txt'))
    mkdirSync(join(folder, 'b.txt'))
    writeFileSync(join(folder, 'b.txt', 'inner.txt'), 'b\n')
    writeFileSync(join(folder, 'c', 'd.txt'), 'locked\n', { mode: 0o000 })
    const { files } = await finish(checkout)
    expect(files.map(({ path, change }) => `${change} ${path}`)).toEqual([
      'removed a.txt',
      'renamed b.txt/inner.txt',
      'changed c/d.txt',
    ])
    writeFileSync(join(folder, 'huge'), '')
    truncateSync(join(folder, 'huge'), 100 * 1024 ** 3)
    expect(await failureOf(checkout.diff())).toMatchObject({ fault: 'TooLarge' })
  })

  it('cannot make git wait: pipes under the names of files that it reads are removed', async () => {
    bed.repository('pipes', { 'a.txt': 'x\n', '.gitignore': 'old/\n', 'src/b.txt': 'y\n' })
    const checkout = await bed.prepare('pipes', { limits: { timeoutMs: 20_000 } })
    const inFolder = (path: string) => join(checkout.folder, path)
    rmSync(inFolder('.gitignore'))
    mkdirSync(inFolder('new/deep'), { recursive: true })
    for (const path of ['.gitignore', '.gitattributes', 'src/.gitattributes', 'new/deep/.gitignore'])
      execFileSync('mkfifo', [inFolder(path)])
    for (const path of ['a.txt', 'src/b.txt', 'new/deep/c.txt']) writeFileSync(inFolder(path), 'changed\n')
    const { files } = await checkout.diff()
    expect(files.map(({ path, change }) => `${change} ${path}`)).toEqual([
      'removed .gitignore',
      'changed a.txt',
      'added new/deep/c.txt',
      'changed src/b.txt',
    ])
    const large = await bed.prepare('pipes')
    writeFileSync(join(large.folder, 'src/.gitignore'), '')
    truncateSync(join(large.folder, 'src/.gitignore'), 200 * 1024 ** 2)
    expect(await failureOf(large.diff())).toMatchObject({
      fault: 'TooLarge',
      message: expect.stringContaining('smaller'),
    })
  })

  it('reaches no objects of others: neither the cache nor the private part is named in the folder', async () => {
    const repository = bed.repository('private', { 'a.txt': 'x\n' })
    addCommit(repository, 'main', { 'a.txt': 'y\n' })
    const { folder } = await bed.prepare('private')
    const entries = readdirSync(join(folder, '.git'), { recursive: true, withFileTypes: true })
    const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
    expect(files.length).toBeGreaterThan(5)
    for (const file of files) {
      expect(readFileSync(file, 'latin1')).not.toContain(join(bed.home, 'private'))
      expect(lstatSync(file).nlink, file).toBe(1)
    }
    expect(entries.filter((entry) => entry.isSymbolicLink())).toEqual([])
  })
})
