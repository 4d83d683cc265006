// Repositories in execution workspaces: brought in, kept from one task of a session to the next, read back and pushed.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock as clock } from '../../../src/lib/system-clock.ts'
import type { CheckoutChanges, WorkloadSpec } from '../../../src/ports/tasks/workloads.ts'
import type { CheckoutSpec } from '../../../src/ports/workspaces/checkouts.ts'
import type { LocalWorkspaces } from '../../../src/runtime/local/execution-workspaces/workspaces.ts'
import { findProcesses, makeFolder, removeFolder } from '../../contracts/embedded-bench.ts'
import { openLocalWorkspaces } from '../../contracts/local-workspaces-bench.ts'
import type { RecordBench } from '../../contracts/record-bench.ts'
import { openSqliteBench } from '../../contracts/sqlite-bench.ts'
import { type CheckoutBed, makeCheckoutBed } from '../../fixtures/git/checkout-bed.ts'
import { addCommit, git } from '../../fixtures/git/repository.ts'
import { bindFakeTar, type ForgedEntry, forgeArchive } from '../../fixtures/workspaces/forged-archive.ts'
import { openWorkspaceService, specOf } from '../../fixtures/workspaces/service.ts'

/** It does what its assignment says, in the folder of the agent. */
const worker = `script=$(gzip -dc | sed 's/.*"script":"\\([^"]*\\)".*/\\1/' | base64 -d)
mkdir -p work && cd work && eval "$script" && echo '{"ok":true}'`

const root = makeFolder('workspace-checkouts')
const usual = {
  worker: ['/bin/sh', '-c', worker, 'worker'],
  size: { bytes: 2 * 1024 ** 3, files: 100_000 },
}
const workspaces = openLocalWorkspaces(root, usual)
/** Whose own tar is forged. */
const forging = openLocalWorkspaces(join(root, 'forging'), { ...usual, binds: bindFakeTar(root) })
let bed: CheckoutBed
let store: RecordBench
/** Where the private sides of checkouts are while their attempts run. */
let privateFolder: string

beforeAll(async () => {
  bed = await makeCheckoutBed()
  store = await openSqliteBench()
  privateFolder = join(bed.home, 'private-sides')
})
afterAll(async () => {
  await Promise.all([workspaces.close(), forging.close()])
  await store.close()
  await bed.remove()
  removeFolder(root)
})

type Ended = { phase: string; message: string; changes?: CheckoutChanges; keptDiff?: string; log: string }
type Asked = { session?: string; checkout: CheckoutSpec; script: string; within?: LocalWorkspaces }

let count = 0

/** One task from its beginning to its end, by a service of its own. */
async function run({ session, checkout, script, within = workspaces }: Asked): Promise<Ended> {
  count += 1
  const key = { taskUid: `uid-${count}`, attempt: 1 }
  const asked = { spec: checkout, message: `change ${count}` }
  const told: Pick<Ended, 'changes' | 'keptDiff'> = {}
  const log: string[] = []
  const workloads = openWorkspaceService({
    providers: { 'agent-sandbox': within },
    records: store.stores().workspaces,
    endsOnClose: true,
    findSecrets: async () => [],
    onLog: (_holder, lines) => void log.push(...lines),
    checkouts: {
      checkouts: bed.checkouts,
      folder: privateFolder,
      find: async () => asked,
      saveChanges: async (_key, { changes }) => {
        told.changes = changes
      },
      saveDiff: async (_key, _name, diff) => {
        told.keptDiff = diff
      },
    },
  })
  const spec = specOf({
    provider: 'agent-sandbox',
    taskUid: key.taskUid,
    taskName: `task-${count}`,
    namespace: 'team',
    token: `made-up-token-${count}`,
    claim: { namespace: 'default', name: `svc-ws-${session ?? count}` },
    template: { namespace: 'default', name: 'default' },
    checkout: asked,
    ...(session && { session }),
  })
  await workloads.ensure(withScript(spec, script))
  for (;;) {
    const state = await workloads.observe(key)
    if (state.phase !== 'Pending' && state.phase !== 'Running') {
      await workloads.remove(key)
      const message = state.phase === 'Failed' ? state.message : ''
      return { phase: state.phase, message, log: log.join('\n'), ...told }
    }
    await clock.sleep(20)
  }
}

function withScript(spec: WorkloadSpec, script: string): WorkloadSpec {
  if (spec.run.kind !== 'worker') return spec
  const more = { script: Buffer.from(script).toString('base64') }
  return { ...spec, run: { ...spec.run, assignment: { ...spec.run.assignment, ...more } } }
}

/** Nothing of any attempt stays with the service. */
const listPrivate = () => (existsSync(privateFolder) ? readdirSync(privateFolder) : [])

const succeed = async (asked: Asked) => {
  const ended = await run(asked)
  expect([ended.phase, ended.message]).toEqual(['Succeeded', ''])
  expect(listPrivate()).toEqual([])
  return ended
}

const pathsOf = ({ changes }: Ended) => changes?.diff.files.map(({ path }) => path)

describe('a repository in a workspace', () => {
  it('comes as it is, at the branch, tag or commit that is asked for; what is changed is told', async () => {
    const bare = bed.repository('refs', {
      'a.txt': 'one\n',
      run: { mode: '100755', text: '#!/bin/sh\necho ran\n' },
      link: { mode: '120000', text: 'a.txt' },
      'sub/b ü.txt': 'b\n',
    })
    const first = git(bare, ['rev-parse', 'main'])
    git(bare, ['tag', 'v1', first])
    addCommit(bare, 'other', { 'a.txt': 'other\n' })
    const script = 'cat a.txt; ./run; readlink link; cat "sub/b ü.txt"; git log --oneline | wc -l >count; cp a.txt seen'
    const byTag = await succeed({ checkout: bed.spec('refs', { ref: 'v1' }), script })
    expect(byTag.changes).toMatchObject({ baseSHA: first })
    expect(pathsOf(byTag)).toEqual(['count', 'seen'])
    const byBranch = await succeed({
      checkout: bed.spec('refs', { branch: 'other' }),
      script: 'cat a.txt a.txt >seen; rm -f a.txt; echo new >a.txt',
    })
    expect(byBranch.changes?.diff.text).toContain('-other\n+new')
    expect(pathsOf(byBranch)).toEqual(['a.txt', 'seen'])
    const byCommit = await succeed({ checkout: bed.spec('refs', { ref: first }), script: 'true' })
    expect(byCommit.changes).toMatchObject({ baseSHA: first, diff: { files: [] } })
    expect(byCommit.changes?.headSHA).toBeUndefined()
  })

  it('is found by the next task of the session as it was left, with what nobody has committed', async () => {
    const bare = bed.repository('kept', { 'a.txt': 'one\n', 'gone.txt': 'x\n', '.gitignore': 'node_modules\n' })
    const asked = { session: 'kept', checkout: bed.spec('kept', { subPath: '.' }) }
    const dirty =
      'echo two >>a.txt; rm gone.txt; mkdir node_modules; echo kept >node_modules/x; git checkout -q -b mine'
    const one = await succeed({ ...asked, script: dirty })
    expect(pathsOf(one)).toEqual(['a.txt', 'gone.txt'])
    addCommit(bare, 'main', { 'a.txt': 'moved\n' })
    const two = await succeed({ ...asked, script: 'cat a.txt node_modules/x >seen; git branch --show-current >>seen' })
    expect(two.log).toContain('the checkout of the session is there')
    expect(two.changes?.diff.text).toContain('+kept\n+mine')
    expect(pathsOf(two)).toEqual(['a.txt', 'gone.txt', 'seen'])
    expect(two.changes?.baseSHA).toBe(one.changes?.baseSHA)
  })

  it('is another one when the next task names another branch', async () => {
    const bare = bed.repository('moves', { 'a.txt': 'main\n' })
    addCommit(bare, 'next', { 'a.txt': 'next\n' })
    await succeed({ session: 'moves', checkout: bed.spec('moves'), script: 'echo left >left' })
    const two = await succeed({
      session: 'moves',
      checkout: bed.spec('moves', { branch: 'next' }),
      script: 'cat a.txt >seen; ls >>seen',
    })
    expect(two.changes?.diff.text).toContain('+next\n+a.txt\n+seen')
    expect(pathsOf(two)).toEqual(['seen'])
  })

  it('is read back, and searched, while a program goes on that writes in it; another repository ends that', async () => {
    bed.repository('busy', { 'a.txt': 'one\n' })
    const asked = { session: 'busy', checkout: bed.spec('busy') }
    const mark = `mark-${process.pid}-${Date.now()}`
    const busy = 'i=0; while :; do i=$((i+1)); echo $i >>log; echo $i >tmp.$i; rm -f tmp.$((i-3)); done'
    await succeed({
      ...asked,
      script: `setsid sh -c '${busy}' ${mark} >/dev/null 2>&1 & until [ -e log ]; do sleep 0.05; done`,
    })
    const two = await succeed({
      ...asked,
      script: 'cp log one; until ! cmp -s log one; do sleep 0.05; done; echo more >seen',
    })
    expect(pathsOf(two)).toEqual(expect.arrayContaining(['log', 'one', 'seen']))
    expect(findProcesses(mark)).not.toEqual([])
    bed.repository('busy-next', { 'b.txt': 'two\n' })
    const next = await succeed({ session: 'busy', checkout: bed.spec('busy-next'), script: 'ls >seen' })
    expect(next.changes?.diff.text).toContain('+b.txt\n+seen')
    expect(findProcesses(mark)).toEqual([])
  }, 120_000)

  it('is pushed; the next task of the session tells what came after that', async () => {
    const bare = bed.repository('pushed', { 'a.txt': 'one\n' })
    const asked = { session: 'pushed', checkout: bed.spec('pushed', { pushBranch: 'svc/work' }) }
    const one = await succeed({ ...asked, script: 'echo two >>a.txt' })
    expect(one.changes).toMatchObject({ pushBranch: 'svc/work', headSHA: git(bare, ['rev-parse', 'svc/work']) })
    const two = await succeed({ ...asked, script: 'echo three >>a.txt' })
    expect(two.changes?.baseSHA).toBe(one.changes?.headSHA)
    expect(two.changes?.diff.text).toContain('+three')
    expect(two.changes?.diff.text).not.toContain('+two')
    expect(git(bare, ['show', 'svc/work:a.txt'])).toBe('one\ntwo\nthree')
    expect(git(bare, ['rev-list', '--count', 'svc/work'])).toBe('3')
  })

  it('keeps what was changed when its branch has vanished meanwhile', async () => {
    const bare = bed.repository('vanished', { 'a.txt': 'main\n' })
    addCommit(bare, 'feature', { 'a.txt': 'feature\n' })
    const asked = { session: 'vanished', checkout: bed.spec('vanished', { branch: 'feature' }) }
    await succeed({ ...asked, script: 'echo one >>a.txt' })
    git(bare, ['branch', '-D', 'feature'])
    const two = await run({ ...asked, script: 'echo two >>a.txt' })
    expect([two.phase, two.message]).toEqual(['Succeeded', ''])
    expect(two.changes?.diff.text).toContain('+one\n+two')
    const fresh = await run({ session: 'fresh', checkout: asked.checkout, script: 'true' })
    expect(fresh).toMatchObject({ phase: 'Failed', message: expect.stringMatching(/no branch.*"feature"/) })
    expect(listPrivate()).toEqual([])
  })

  it('keeps the diff of a task that fails, and the files for the next one', async () => {
    bed.repository('fails', { 'a.txt': 'one\n' })
    const asked = { session: 'fails', checkout: bed.spec('fails') }
    const one = await run({ ...asked, script: 'echo two >>a.txt; false' })
    expect(one.phase).toBe('Failed')
    expect(one.keptDiff).toContain('+two')
    const two = await succeed({ ...asked, script: 'cat a.txt >seen' })
    expect(two.changes?.diff.text).toContain('+one\n+two')
  })

  it('has one line for a repository that needs another login', async () => {
    bed.repository('closed', { 'a.txt': 'one\n' })
    const { credentials: _none, ...checkout } = bed.spec('closed')
    expect(await run({ checkout, script: 'true' })).toMatchObject({
      phase: 'Failed',
      message: expect.stringContaining('needs a login'),
    })
    expect(listPrivate()).toEqual([])
  })
})

describe('what a hostile agent leaves in its folder', () => {
  const outside = () => join(bed.home, 'outside')

  it.each([
    ['links that lead out', 'ln -s /etc/passwd out; ln -s ../../../../../etc up; ln -s / rootlink; echo x >rootlink2'],
    [
      'another .git with hooks',
      'rm -rf .git; git init -q .; printf "[core]\\nfsmonitor=touch ../ran\\n" >>.git/config; echo n >n',
    ],
    ['folders that nobody may enter', 'mkdir -p locked/in; echo x >locked/in/f; chmod 000 locked/in locked; echo n >n'],
    ['pipes and sockets', 'mkfifo pipe; echo n >n'],
    [
      'names that are options, or no text',
      'echo x >--checkpoint-action=exec=ls; echo x >"$(printf "a\\nb\\377")"; echo n >-n',
    ],
  ])('%s are read as what they are', async (_what, script) => {
    const name = `hostile-${count}`
    bed.repository(name, { 'a.txt': 'one\n' })
    const ended = await succeed({ checkout: bed.spec(name), script })
    expect(ended.changes?.diff.files.length).toBeGreaterThan(0)
    expect(ended.changes?.diff.text).not.toContain('root:x:0')
    expect(existsSync(outside())).toBe(false)
  })

  it('more than the limit is said, and what there was before is not lost', async () => {
    bed.repository('large', { 'a.txt': 'one\n' })
    const limits = { bytes: 1024 ** 2 }
    const checkout = bed.spec('large', { limits })
    const wrote = await run({ checkout, script: 'head -c 3000000 /dev/urandom >big' })
    expect(wrote).toMatchObject({ phase: 'Failed', message: expect.stringContaining('more than 1 MiB') })
    const sparse = await run({ checkout, script: 'truncate -s 1T hole 2>/dev/null || truncate -s 1G hole' })
    expect(sparse).toMatchObject({ phase: 'Failed', message: expect.stringMatching(/more than/) })
    expect(listPrivate()).toEqual([])
  })

  it('more files than the limit are not unpacked', async () => {
    bed.repository('many', { 'a.txt': 'one\n' })
    const checkout = bed.spec('many', { limits: { files: 100 } })
    const ended = await run({ checkout, script: 'for i in $(seq 2000); do : >f$i; done' })
    expect(ended).toMatchObject({ phase: 'Failed', message: expect.stringContaining('more than 100 files') })
    expect(listPrivate()).toEqual([])
  })

  it('folders deeper than a path may be long are said, and nothing of them stays', async () => {
    bed.repository('deep', { 'a.txt': 'one\n' })
    const dig = 'n=$(printf "d%.0s" $(seq 200)); for i in $(seq 40); do mkdir $n && cd $n || exit 1; done; echo x >deep'
    const ended = await run({ checkout: bed.spec('deep'), script: `(${dig})` })
    expect(['Succeeded', 'Failed']).toContain(ended.phase)
    expect(listPrivate()).toEqual([])
  })
})

describe('an archive that a workspace forges', () => {
  /** What a program that the archive names would leave. */
  const ran = () => join(bed.home, 'ran')
  const escaped = () => join(bed.home, 'escaped')
  /** Nothing of the archive is anywhere but in the folder that it was unpacked to, which is gone. */
  const expectKept = () => {
    for (const file of [ran(), escaped(), join(privateFolder, 'escaped')]) expect(existsSync(file)).toBe(false)
    expect(listPrivate()).toEqual([])
    expect(readFileSync(secretFile(), 'utf8')).toBe('made-up-secret\n')
  }
  const secretFile = () => join(bed.home, 'kept-secret')

  async function forge(entries: ForgedEntry[]): Promise<Ended> {
    writeFileSync(secretFile(), 'made-up-secret\n', { mode: 0o600 })
    const name = `forged-${count}`
    bed.repository(name, { 'a.txt': 'one\n' })
    const script = `echo ${forgeArchive(entries)} >../forged`
    const ended = await run({ checkout: bed.spec(name), script, within: forging })
    expectKept()
    expect(JSON.stringify(ended)).not.toContain('made-up-secret')
    expect(JSON.stringify(ended)).not.toContain('root:x:0')
    return ended
  }

  const honest: ForgedEntry = { name: './a.txt', text: 'two\n' }

  it('is read like any other when there is nothing wrong with it', async () => {
    const ended = await forge([honest])
    expect([ended.phase, ended.message]).toEqual(['Succeeded', ''])
    expect(ended.changes?.diff.text).toContain('+two')
  })

  it.each<[what: string, entries: () => ForgedEntry[]]>([
    [
      'paths that lead up',
      () => [
        { name: '../escaped', text: 'x' },
        { name: './b/../../escaped', text: 'x' },
      ],
    ],
    ['absolute paths', () => [{ name: escaped(), text: 'x' }]],
    [
      'files beneath a link that leads up',
      () => [
        { name: './up', type: '2', target: '..' },
        { name: './up/escaped', text: 'x' },
      ],
    ],
    [
      'files beneath an absolute link',
      () => [
        { name: './out', type: '2', target: bed.home },
        { name: './out/escaped', text: 'x' },
      ],
    ],
    [
      'files beneath links of links',
      () => [
        { name: './d', type: '5', mode: 0o755 },
        { name: './d/one', type: '2', target: '.' },
        { name: './d/one/two', type: '2', target: '../..' },
        { name: './d/two/escaped', text: 'x' },
      ],
    ],
    ['hard links to files outside', () => [{ name: './hard', type: '1', target: secretFile() }]],
    [
      'hard links that lead up',
      () => [
        { name: './hard', type: '1', target: '../../kept-secret' },
        { name: './hard', text: 'overwritten' },
      ],
    ],
    [
      'a hard link to a link, and writing to it',
      () => [
        { name: './link', type: '2', target: secretFile() },
        { name: './hard', type: '1', target: './link' },
        { name: './hard', text: 'overwritten' },
      ],
    ],
    [
      'a folder that becomes a link',
      () => [
        { name: './d', type: '5' },
        { name: './d', type: '2', target: bed.home },
        { name: './d/escaped', text: 'x' },
      ],
    ],
    ['a size that is not there', () => [{ name: './big', text: 'x', size: 8 ** 11 - 1 }]],
  ])('has no effect elsewhere with %s', async (_what, entries) => {
    const ended = await forge([...entries(), honest])
    expect(['Succeeded', 'Failed']).toContain(ended.phase)
  })

  it('is no place from which devices or pipes are read', async () => {
    const types = ['3', '4', '6'].map((type) => ({ name: `./special-${type}`, type, mode: 0o666 }))
    const ended = await forge([...types, honest])
    expect([ended.phase, ended.message]).toEqual(['Succeeded', ''])
    expect(pathsOf(ended)).toEqual(['a.txt'])
  })

  it('may have names that are no text, and the same name twice: the last one counts', async () => {
    const ended = await forge([
      { name: Buffer.from([0x2e, 0x2f, 0x6e, 0xff, 0x0a]), text: 'x' },
      { name: './twice', type: '5' },
      { name: './twice', text: 'first\n' },
      { name: './twice', text: 'last\n' },
      honest,
    ])
    expect([ended.phase, ended.message]).toEqual(['Succeeded', ''])
    expect(ended.changes?.diff.text).toContain('+last')
    expect(ended.changes?.diff.text).not.toContain('+first')
  })

  it.each(['.', 'sub'])('starts nothing by a .git in %s', async (at) => {
    const start = `touch ${ran()}`
    const config = [
      `[core]\n\trepositoryformatversion = 0\n\tfsmonitor = "${start}"\n\thooksPath = hooks\n\tsshCommand = "${start}"`,
      `[filter "run"]\n\tclean = "${start}; cat"\n\tsmudge = "${start}; cat"\n\trequired = true`,
      `[diff "run"]\n\tcommand = "${start}"\n\ttextconv = "${start}; cat"`,
      `[include]\n\tpath = ${secretFile()}\n[includeIf "gitdir:/"]\n\tpath = ${secretFile()}`,
    ].join('\n')
    const hooks = ['pre-commit', 'post-index-change', 'post-checkout', 'reference-transaction', 'fsmonitor-watchman']
    const ended = await forge([
      { name: `./${at}/.git`, type: '5', mode: 0o755 },
      ...['objects', 'objects/info', 'refs', 'refs/heads', 'hooks'].map((name) => ({
        name: `./${at}/.git/${name}`,
        type: '5',
        mode: 0o755,
      })),
      { name: `./${at}/.git/HEAD`, text: 'ref: refs/heads/main\n' },
      { name: `./${at}/.git/config`, text: config },
      { name: `./${at}/.git/objects/info/alternates`, text: `${join(bed.home, 'server', 'refs.git', 'objects')}\n` },
      ...hooks.map((name) => ({ name: `./${at}/.git/hooks/${name}`, text: `#!/bin/sh\n${start}\n`, mode: 0o755 })),
      { name: `./${at}/.gitattributes`, text: '* filter=run diff=run\n' },
      { name: `./${at}/file`, text: 'x\n' },
      honest,
    ])
    expect([ended.phase, ended.message]).toEqual(['Succeeded', ''])
    expect(ended.changes?.diff.text).toContain('+two')
    expect(pathsOf(ended)?.filter((path) => path.split('/').includes('.git'))).toEqual([])
  })

  it('is read no further than the limit, whatever the workspace says of its size', async () => {
    bed.repository('endless', { 'a.txt': 'one\n' })
    const checkout = bed.spec('endless', { limits: { bytes: 8 * 1024 ** 2, files: 1000 } })
    const endless = '#!/bin/sh\n/opt/real/tar -c --owner=0 --group=0 -z -f - /workspace/zeros'
    const script = `head -c 60000000 /dev/zero >../zeros; printf '${endless.replaceAll('\n', '\\n')}' >../forge; chmod +x ../forge`
    const ended = await run({ checkout, script, within: forging })
    expect(ended).toMatchObject({ phase: 'Failed', message: expect.stringContaining('more than 8 MiB') })
    const noise = await run({
      checkout,
      script: `printf '#!/bin/sh\\nhead -c 1000000 /dev/urandom' >../forge; chmod +x ../forge`,
      within: forging,
    })
    expect(noise.phase).toBe('Failed')
    expect(listPrivate()).toEqual([])
  })
})
