// Source trees: commits of repositories here and elsewhere, and plain folders.
import { createHash } from 'node:crypto'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cutTree } from '../../src/controllers/scans/trees.ts'
import { createEgress } from '../../src/egress/egress.ts'
import { openLocalTree } from '../../src/git/commit-tree.ts'
import { createRepositoryCache } from '../../src/git/object-cache.ts'
import { createSourceTrees } from '../../src/git/source-trees.ts'
import { listTree } from '../../src/git/tree-listing.ts'
import type { SourceTree } from '../../src/ports/scans/source-trees.ts'
import { openFolderTree } from '../../src/runtime/host/folder-tree.ts'
import { type CheckoutBed, failureOf, makeCheckoutBed, never, ownNetwork } from '../fixtures/git/checkout-bed.ts'
import { addCommit, commitTree, type Entries, git } from '../fixtures/git/repository.ts'

let bed: CheckoutBed
let home: string

beforeAll(async () => {
  bed = await makeCheckoutBed()
  home = mkdtempSync(join(tmpdir(), 'svc-trees-'))
})
afterAll(async () => {
  await bed.remove()
  rmSync(home, { recursive: true, force: true })
})

const odd: Entries = {
  'src/app.py': 'print(1)\n',
  'src/latin.py': Buffer.from('# caf\xe9\n', 'latin1'),
  'name with spaces & ünïcode.py': 'x = 1\n',
  'empty.py': '',
  'out.py': { mode: '120000', text: '/etc/passwd' },
  'up.py': { mode: '120000', text: '../../outside' },
  library: { commit: '4b825dc642cb6eb9a060e54bf8d69288fbee4904' },
  'model.bin': 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1073741824\n',
}

async function readAll(tree: SourceTree, paths: string[]): Promise<Record<string, string | undefined>> {
  const found: Record<string, string | undefined> = {}
  const keep = (path: string, content: Buffer | undefined) => {
    found[path] = content?.toString('latin1')
  }
  await tree.readEach(paths, keep, never)
  return found
}

async function openLocal(repository: string, ref?: string): Promise<SourceTree> {
  const tree = await openLocalTree(repository, ref, never)
  if (tree === undefined) throw new Error('There is no repository.')
  return tree
}

describe('the tree of a commit', () => {
  it('has files, links and submodules, and follows none of them', async () => {
    const tree = await openLocal(bed.repository('odd', odd))
    const kinds = Object.fromEntries((await tree.list(never)).map(({ path, kind }) => [path, kind]))
    expect(kinds).toMatchObject({ 'src/app.py': 'file', 'out.py': 'link', 'up.py': 'link', library: 'submodule' })
    expect(Object.keys(kinds)).toHaveLength(Object.keys(odd).length)
    const read = await readAll(tree, [
      'src/latin.py',
      'src/gone.py',
      'empty.py',
      'name with spaces & ünïcode.py',
      'library',
      'src/app.py',
    ])
    expect(read).toEqual({
      'src/latin.py': '# caf\xe9\n',
      'src/gone.py': undefined,
      'empty.py': '',
      'name with spaces & ünïcode.py': 'x = 1\n',
      library: undefined,
      'src/app.py': 'print(1)\n',
    })
  })

  it('says what changed since an earlier one, with renames and lines', async () => {
    const lines = Array.from({ length: 30 }, (_, at) => `line_${at} = ${at}`)
    const text = (list: string[]) => `${list.join('\n')}\n`
    const repository = bed.repository('changing', {
      'a.py': text(lines),
      'b.py': text(lines.slice(5)),
      'c.py': 'x\n',
      'd.py': 'd\n',
    })
    const base = git(repository, ['rev-parse', 'main'])
    const forged = ['++ b/forged.py', '@@ -1 +1 @@', ...lines.slice(1)]
    addCommit(repository, 'main', { 'a.py': text(forged), 'moved/b.py': text(lines.slice(5)), 'd.py': 'd\n' })
    const changes = await (await openLocal(repository)).changesSince(base, never)
    expect(changes).toEqual({
      changed: ['a.py', 'moved/b.py'],
      removed: ['b.py', 'c.py'],
      renamed: new Map([['moved/b.py', 'b.py']]),
      lines: [{ path: 'a.py', startLine: 1, endLine: 2 }],
    })
    const tree = await openLocal(repository)
    expect(await tree.changesSince('0'.repeat(40), never)).toBeUndefined()
    expect(await tree.changesSince('--upload-pack=evil', never)).toBeUndefined()
  })

  it('has changed lines of files whose names end in a blank, or hold a tab, a newline or quotes', async () => {
    const names = ['end ', 'tab\there', 'line\nbreak', 'quote"d', 'ü.py']
    const files = (text: string) => Object.fromEntries(names.map((name) => [name, text]))
    const repository = bed.repository('names', files('a\n'))
    const base = git(repository, ['rev-parse', 'main'])
    addCommit(repository, 'main', files('a\nb\n'))
    const changes = await (await openLocal(repository)).changesSince(base, never)
    expect(changes?.changed.toSorted()).toEqual(names.toSorted())
    expect(changes?.lines?.map(({ path, startLine }) => `${path}:${startLine}`).toSorted()).toEqual(
      names.map((name) => `${name}:2`).toSorted(),
    )
  })

  it('is found by branch, tag or commit, and says what to do when there is none', async () => {
    const repository = bed.repository('named', { 'a.py': 'a\n' })
    const first = git(repository, ['rev-parse', 'main'])
    const second = addCommit(repository, 'main', { 'a.py': 'b\n' })
    expect((await openLocal(repository)).commit).toBe(second)
    expect((await openLocal(repository, first)).commit).toBe(first)
    expect(await failureOf(openLocal(repository, 'v9'))).toMatchObject({ fault: 'RefMissing' })
    expect(await failureOf(openLocal(repository, '--all'))).toMatchObject({ fault: 'RefMissing' })
    expect(await failureOf(openLocal(bed.repository('bare')))).toMatchObject({
      fault: 'RepositoryEmpty',
      message: expect.stringContaining('Commit its files first'),
    })
  })

  it('runs nothing that the configuration of the repository names', async () => {
    const repository = bed.repository('armed', { 'a.py': 'a\n' })
    const trace = join(home, 'ran')
    for (const name of ['core.fsmonitor', 'core.pager', 'diff.external', 'core.sshCommand', 'filter.x.smudge'])
      git(repository, ['config', name, `touch ${trace}`])
    writeFileSync(join(repository, 'info', 'attributes'), '* filter=x diff=x\n')
    const base = git(repository, ['rev-parse', 'main'])
    addCommit(repository, 'main', { 'a.py': 'b\n' })
    const tree = await openLocal(repository)
    await tree.list(never)
    await readAll(tree, ['a.py'])
    await tree.changesSince(base, never)
    expect(() => rmSync(trace)).toThrow('ENOENT')
  })
})

/** A folder that holds itself ten times, and so on: `levels` objects, and 10 to that power of files. */
function addBomb(repository: string, levels: number): void {
  const blob = git(repository, ['hash-object', '-w', '--stdin'], 'x = 1\n')
  let id = git(repository, ['mktree'], `100644 blob ${blob}\ta.py\n`)
  for (let level = 0; level < levels; level += 1)
    id = git(repository, ['mktree'], Array.from({ length: 10 }, (_, at) => `040000 tree ${id}\td${at}\n`).join(''))
  commitTree(repository, 'main', id, 'bomb')
}

describe('the tree of a commit that is made to harm', () => {
  it('is refused when its folders stand for more files than anything can hold', async () => {
    const repository = bed.repository('bomb')
    addBomb(repository, 10)
    const max = { entries: 10_000, bytes: 1024 ** 3 }
    const listing = { gitDir: repository, commit: 'main', options: [], signal: never }
    const entries: Buffer[] = []
    const list = (limits: typeof max) => listTree({ ...listing, max: limits }, (entry) => entries.push(entry))
    expect(await failureOf(list(max))).toMatchObject({ fault: 'TooLarge', message: expect.stringContaining('10000') })
    expect(entries).toHaveLength(10_000)
    expect(await failureOf(list({ ...max, bytes: 1000 }))).toMatchObject({ fault: 'TooLarge' })
  })

  it('is cut with 200,000 entries in one folder, of which thousands import the same one', async () => {
    const repository = bed.repository('wide')
    const blob = git(repository, ['hash-object', '-w', '--stdin'], 'import b0\n')
    const nameOf = (at: number) => (at % 40 === 0 ? `b${at}.py` : `b${at}.txt`)
    const lines = Array.from({ length: 200_000 }, (_, at) => `100644 blob ${blob}\t${nameOf(at)}\n`)
    commitTree(repository, 'main', git(repository, ['mktree'], lines.join('')), 'wide')
    const sliced = await cutTree(await openLocal(repository), { name: 'wide', subPath: undefined, removed: [] }, never)
    expect(sliced.counts).toMatchObject({ files: 200_000, owned: 5000, leftOut: { 'not-source': 195_000 } })
  })

  it('counts files in folders that nobody can have made by hand as unreadable', async () => {
    const repository = bed.repository('deep')
    const path = (at: number) => `f${at}/${'d/'.repeat(1000)}a.ts`
    const text = Array.from({ length: 400 }, (_, at) => `import x from '@/x${at}'`).join('\n')
    const files = Array.from({ length: 9 }, (_, at) => `M 100644 :1 ${path(at)}\n`).join('')
    const head = `commit refs/heads/main\ncommitter a <a@example.com> 1700000000 +0000\ndata 1\nx\n`
    const blob = `blob\nmark :1\ndata ${text.length}\n${text}\n`
    git(repository, ['fast-import', '--quiet'], `${blob}${head}${files}M 100644 :1 near/a.ts\n`)
    const sliced = await cutTree(await openLocal(repository), { name: 'deep', subPath: undefined, removed: [] }, never)
    expect(sliced.counts).toMatchObject({ files: 10, owned: 1, leftOut: { unreadable: 9 } })
  })
})

describe('the tree of a remote repository', () => {
  const notes = () => join(home, 'private', 'objects', 'notes')
  const readNotes = () =>
    readdirSync(notes()).map((name): [string, Buffer] => [join(notes(), name), readFileSync(join(notes(), name))])
  const open = async (name: string, more: { base?: string; branch?: string } = {}) => {
    const egress = createEgress()
    const trees = createSourceTrees({ root: join(home, 'private'), egress, policy: ownNetwork })
    const { url, credentials } = bed.spec(name)
    try {
      return await trees.open({ url, ...(credentials && { credentials }), ...more }, never)
    } finally {
      await egress.close()
    }
  }

  it('is fetched at the head of the default branch, with an earlier commit to compare with', async () => {
    const repository = bed.repository('remote', { 'a.py': 'a\n' })
    git(repository, ['config', 'uploadpack.allowAnySHA1InWant', 'true'])
    const base = git(repository, ['rev-parse', 'main'])
    const head = addCommit(repository, 'main', { 'a.py': 'b\n' })
    const tree = await open('remote', { base })
    expect(tree).toMatchObject({ commit: head, branch: 'main' })
    expect(await readAll(tree, ['a.py'])).toEqual({ 'a.py': 'b\n' })
    expect((await tree.changesSince(base, never))?.changed).toEqual(['a.py'])
    await tree.close()
    await tree.close()
  })

  it('is read once: a later run reads what has changed, and all of it when what was noted is damaged or gone', async () => {
    const repository = bed.repository('noted', { 'a.py': 'a = 1\n', 'b.py': 'b = 1\n', 'c.py': 'import a\n' })
    git(repository, ['config', 'uploadpack.allowAnySHA1InWant', 'true'])
    const cut = async () => {
      const tree = await open('noted')
      const read: string[] = []
      const watched: SourceTree = {
        ...tree,
        readEach: (paths, take, signal) => tree.readEach(read.push(...paths) > 0 ? paths : [], take, signal),
      }
      const { slices } = await cutTree(watched, { name: 'noted', subPath: undefined, removed: [] }, never)
      await tree.close()
      return { slices, read }
    }
    const first = await cut()
    expect(first.read).toEqual(['a.py', 'b.py', 'c.py'])
    expect(await cut()).toEqual({ ...first, read: [] })
    addCommit(repository, 'main', { 'a.py': 'a = 2\n', 'b.py': 'b = 1\n', 'c.py': 'import a\n' })
    const changed = await cut()
    expect(changed).toEqual({ ...first, read: ['a.py'] })
    for (const [file, bytes] of readNotes()) writeFileSync(file, bytes.subarray(0, bytes.length - 9))
    expect(await cut()).toEqual({ ...first, read: ['a.py', 'b.py', 'c.py'] })
    // As a sweep does when there is no room.
    await createRepositoryCache(join(home, 'private', 'objects'), 0).clean()
    expect(readNotes()).toEqual([])
    expect(await cut()).toEqual({ ...first, read: ['a.py', 'b.py', 'c.py'] })
  })

  it('is read although nothing can be noted', async () => {
    bed.repository('unnoted', { 'a.py': 'a = 1\n' })
    rmSync(notes(), { recursive: true, force: true })
    writeFileSync(notes(), 'a file where the folder belongs')
    const tree = await open('unnoted')
    const sliced = await cutTree(tree, { name: 'unnoted', subPath: undefined, removed: [] }, never)
    expect(sliced.slices).toHaveLength(1)
    await tree.close()
    rmSync(notes())
  })

  it('opens although the earlier commit is gone after a force-push', async () => {
    bed.repository('forced', { 'a.py': 'a\n' })
    const tree = await open('forced', { base: createHash('sha1').update('gone').digest('hex') })
    expect(await tree.changesSince(createHash('sha1').update('gone').digest('hex'), never)).toBeUndefined()
    await tree.close()
  })

  it('says what is wrong with an empty repository and a branch that is gone', async () => {
    bed.repository('empty')
    bed.repository('one', { 'a.py': 'a\n' })
    expect(await failureOf(open('empty'))).toMatchObject({ fault: 'RepositoryEmpty' })
    expect(await failureOf(open('one', { branch: 'gone' }))).toMatchObject({ fault: 'RefMissing' })
  })
})

describe('the tree of a folder', () => {
  it('names links without following them, and files of any size without reading them', async () => {
    const folder = join(home, 'plain')
    mkdirSync(join(folder, 'src', '.git'), { recursive: true })
    writeFileSync(join(folder, 'src', 'a.py'), 'x = 1\n')
    writeFileSync(join(folder, 'src', '.git', 'config'), 'x')
    writeFileSync(join(folder, 'huge.py'), '')
    truncateSync(join(folder, 'huge.py'), 1024 ** 3)
    symlinkSync('/etc', join(folder, 'etc'))
    symlinkSync('/etc/passwd', join(folder, 'passwd.py'))
    writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xff]), Buffer.from('.py')]), 'x')
    const tree = openFolderTree(folder)
    const found = (await tree.list(never)).map(({ path, kind, bytes }) => [path, kind, kind === 'file' ? bytes : 0])
    expect(found.sort()).toEqual([
      ['etc', 'link', 0],
      ['huge.py', 'file', 1024 ** 3],
      ['passwd.py', 'link', 0],
      ['src/a.py', 'file', 6],
      ['\uFFFD.py', 'unreadable', 0],
    ])
    expect(await readAll(tree, ['passwd.py', 'src/a.py', 'gone.py', 'src'])).toEqual({
      'passwd.py': undefined,
      'src/a.py': 'x = 1\n',
      'gone.py': undefined,
      src: undefined,
    })
    expect(await openLocalTree(folder, undefined, never)).toBeUndefined()
  })
})
