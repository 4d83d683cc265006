// Tasks that work in a git repository behind a login: what they change comes back as a diff and a pushed branch.
import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LLMock } from '@copilotkit/aimock'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { StructuredResult } from '../../src/contract/api/tasks/structured-result.ts'
import { addCommit, git } from '../fixtures/git/repository.ts'
import { type GitServer, startGitServer } from '../fixtures/git/server.ts'
import { waitFor } from '../fixtures/time.ts'
import {
  createTask,
  getTask,
  readResult,
  removeFolder,
  runSvc,
  type Service,
  startService,
  waitForPhase,
} from './service.ts'

const password = 'made-up-git-password-0001'
const author = 'Build bot <bot@example.com>'
const flags = ['--allow-network', '127.0.0.0/8', '--git-author', author]
const root = mkdtempSync(join(tmpdir(), 'svc-remotes-'))
const bare = join(root, 'tool.git')
let service: Service
let server: GitServer
let vendor: LLMock

beforeAll(async () => {
  git(root, ['init', '-q', '--bare', '-b', 'main', 'tool.git'])
  git(bare, ['config', 'http.receivepack', 'true'])
  addCommit(bare, 'main', { 'README.md': 'a tool\n', 'src/main.txt': 'one\n' })
  git(root, ['init', '-q', '--bare', '-b', 'main', 'empty.git'])
  server = await startGitServer({ root, login: `bot:${password}` })
  vendor = new LLMock({ port: 0, chunkSize: 8 })
  await vendor.start()
  service = await startService({ flags })
  const post = async (noun: string, body: object) =>
    expect((await service.call('POST', `/api/v1/${noun}`, body)).status).toBe(201)
  await post('secrets', { name: 'forge', stringData: { username: 'bot', token: password } })
  await post('providers', { name: 'default', spec: { type: 'llmo', baseURL: `${vendor.url}/v1`, defaultModel: 'm' } })
})
afterAll(async () => {
  await service.stop()
  await vendor.stop()
  await server.stop()
  removeFolder(service.folder)
  removeFolder(root)
})

const inRepository = (more: object = {}) => ({
  workspace: { gitRepo: `${server.origin}/tool.git`, gitSecretRef: { name: 'forge' }, ...more },
})
const change = (script: string, more: object = {}) => ({
  type: 'container',
  command: ['sh', '-c', script],
  ...inRepository(more),
})
const logOf = async (name: string) =>
  (await service.call<{ logs: string }>('GET', `/api/v1/tasks/${name}/logs`)).body.logs
const waitForWord = (name: string, word: string) =>
  waitFor(async () => (await logOf(name).catch(() => ''))?.includes(word), `${name} to say ${word}`)
type Wrong = { gitRepo?: () => string; branch?: string; gitSecretRef?: undefined }
const resultOf = async (name: string) => JSON.parse(await readResult(service, name)) as StructuredResult

describe('a container task in a repository', () => {
  it('brings back its output, its diff and a pushed branch [TASK-009] [TASK-049]', async () => {
    await createTask(service, 'pushes', change('cat README.md; echo two >> src/main.txt', { pushBranch: 'svc/two' }))
    await waitForPhase(service, 'pushes', 'Succeeded')
    const result = await resultOf('pushes')
    const base = git(bare, ['rev-parse', 'main'])
    expect(result).toMatchObject({ version: 1, summary: 'a tool\n', baseSHA: base, branch: 'main' })
    expect(result).toMatchObject({ files: ['src/main.txt'], pushBranch: 'svc/two' })
    expect(result.diff).toContain('+two')
    expect(git(bare, ['show', 'svc/two:src/main.txt'])).toBe('one\ntwo')
    expect(git(bare, ['rev-parse', 'svc/two'])).toBe(result.headSHA)
    expect(git(bare, ['rev-parse', 'svc/two^'])).toBe(base)
    expect(git(bare, ['log', '-1', '--format=%an <%ae>', 'svc/two'])).toBe(author)
  })

  it('cannot claim a commit or a push that there was not', async () => {
    const claims = {
      version: 1,
      summary: 'done',
      verdict: 'approved',
      headSHA: 'abc',
      pushBranch: 'main',
      branch: 'other',
    }
    await createTask(service, 'claims', change(`echo '${JSON.stringify(claims)}'`, { pushBranch: 'svc/claims' }))
    await waitForPhase(service, 'claims', 'Succeeded')
    const { headSHA, pushBranch, ...result } = await resultOf('claims')
    expect(result).toMatchObject({ summary: 'done', verdict: 'approved', branch: 'main', files: [] })
    expect([headSHA, pushBranch]).toEqual([undefined, undefined])
  })

  it('works in a folder of it, and after the changes of another task', async () => {
    await createTask(service, 'first', change('echo two >> main.txt; pwd', { subPath: 'src' }))
    await waitForPhase(service, 'first', 'Succeeded')
    expect((await resultOf('first')).summary).toBe('/workspace/src\n')
    await createTask(service, 'second', { ...change('cat src/main.txt'), priorTaskRef: { name: 'first' } })
    await waitForPhase(service, 'second', 'Succeeded')
    expect(await resultOf('second')).toMatchObject({ summary: 'one\ntwo\n', files: ['src/main.txt'] })
  })

  it.each([
    ['a branch', { branch: 'no-such-branch' }, /no branch.*"no-such-branch".*Check the name/],
    ['a repository', { gitRepo: () => `${server.origin}/none.git` }, /no repository .*none\.git.*Check the address/],
    ['a login', { gitSecretRef: undefined }, /needs a login\. Name a Secret/],
    ['a commit', { gitRepo: () => `${server.origin}/empty.git` }, /is empty\. .*first commit/],
  ])('says that there is not %s, and what to do', async (what, { gitRepo, ...more }: Wrong, said) => {
    const name = `without-${what.replace('a ', '')}`
    await createTask(service, name, change('true', { ...more, ...(gitRepo && { gitRepo: gitRepo() }) }))
    expect((await waitForPhase(service, name, 'Failed')).status?.message).toMatch(said)
  })

  it('leaves a branch to the first of two tasks, and both keep their diff', async () => {
    const names = ['one', 'other']
    for (const name of names)
      await createTask(service, name, change(`echo ${name} > ${name}.txt`, { pushBranch: 'svc/contested' }))
    for (const name of names) await waitForPhase(service, name, 'Succeeded')
    const results = await Promise.all(names.map(resultOf))
    expect(results.map(({ files }) => files)).toEqual([['one.txt'], ['other.txt']])
    const winners = results.filter(({ pushBranch }) => pushBranch === 'svc/contested')
    expect(winners.map(({ headSHA }) => headSHA)).toEqual([git(bare, ['rev-parse', 'svc/contested'])])
    const [loser] = results.filter(({ pushBranch }) => pushBranch === undefined)
    expect(loser?.pushError).toMatch(/has other commits by now.*push to another branch/)
  })

  it('keeps its diff when the branch is protected, with the words of the server', async () => {
    const hook = join(bare, 'hooks', 'update')
    writeFileSync(hook, '#!/bin/sh\n[ "$1" = refs/heads/main ] || exit 0\necho "ask for a review" >&2\nexit 1\n')
    chmodSync(hook, 0o755)
    await createTask(service, 'protected', change('echo four >> src/main.txt', { pushBranch: 'main' }))
    await waitForPhase(service, 'protected', 'Succeeded')
    const { diff, pushError } = await resultOf('protected')
    expect(diff).toContain('+four')
    expect(pushError).toMatch(/refused the push to "main".*ask for a review.*not protected/)
  })

  it('keeps its diff when the branch cannot be pushed', async () => {
    addCommit(bare, 'taken', { 'other.txt': 'of somebody else\n' })
    await createTask(service, 'refused', change('echo three >> src/main.txt', { pushBranch: 'taken' }))
    await waitForPhase(service, 'refused', 'Succeeded')
    const result = await resultOf('refused')
    expect(result.diff).toContain('+three')
    expect(result.pushBranch).toBeUndefined()
    expect(result.pushError).toContain('taken')
  })
})

describe('an attempt that does not succeed', () => {
  const diffOf = async (name: string) => {
    const shown = await runSvc(['task', 'download', name, 'changes.diff', '--to', '-'], service.env)
    return shown.stdout
  }

  it.each([
    ['fails', 'exit 3', {}, 'Failed'],
    ['runs-out-of-time', 'sleep 600', { timeout: '2s' }, 'Failed'],
  ])('keeps its diff, and pushes nothing: %s', async (name, end, more, phase) => {
    const task = change(`echo half >> src/main.txt; ${end}`, { pushBranch: `svc/${name}` })
    await createTask(service, name, { ...task, ...more })
    await waitForPhase(service, name, phase)
    expect(await diffOf(name)).toContain('+half')
    expect(await logOf(name)).toContain(`task download ${name} changes.diff`)
    expect(git(bare, ['branch', '--list', `svc/${name}`])).toBe('')
  })

  it('keeps its diff when it is cancelled, once the task has ended', async () => {
    await createTask(service, 'cancelled', change('echo half >> src/main.txt; echo begun; sleep 600'))
    await waitForWord('cancelled', 'begun')
    await service.call('POST', '/api/v1/tasks/cancelled/cancel', {})
    await waitForPhase(service, 'cancelled', 'Cancelled')
    expect(await diffOf('cancelled')).toContain('+half')
  })

  it('leaves no file when it has changed nothing', async () => {
    await createTask(service, 'idle', change('exit 3'))
    await waitForPhase(service, 'idle', 'Failed')
    expect(await diffOf('idle')).toBe('')
    expect(await logOf('idle')).not.toContain('changes.diff')
  })
})

describe('the command line', () => {
  const clone = () => {
    const folder = mkdtempSync(join(root, 'clone-'))
    git(root, ['clone', '--quiet', bare, folder])
    return folder
  }

  it('runs in a repository, shows the diff and applies it to the checkout at hand', async () => {
    const toolCalls = [{ name: 'file_write', arguments: JSON.stringify({ path: 'src/by-hand.txt', content: 'x\n' }) }]
    vendor.on({ userMessage: /write by hand/, sequenceIndex: 0 }, { toolCalls })
    vendor.on({ userMessage: /write by hand/, sequenceIndex: 1 }, { content: 'Written.' })
    await service.call('POST', '/api/v1/agents', { name: 'writer', spec: { tools: [{ name: 'file_write' }] } })
    const repository = ['--repo', `${server.origin}/tool.git`, '--branch', 'main', '--git-secret', 'forge']
    const args = ['run', '--name', 'by-hand', '--agent', 'writer', ...repository, 'write by hand']
    const run = await runSvc(args, service.env)
    expect([run.code, run.stdout]).toEqual([0, expect.stringContaining('Written.')])
    expect(run.stderr).toContain('changed: src/by-hand.txt')
    const shown = await runSvc(['task', 'diff', 'by-hand'], service.env)
    expect(shown.stdout).toContain('+x')
    const folder = clone()
    const applied = await runSvc(['task', 'apply', 'by-hand'], service.env, { cwd: join(folder, 'src') })
    expect([applied.code, applied.stderr]).toEqual([0, expect.stringContaining('changed src/by-hand.txt')])
    expect(readFileSync(join(folder, 'src/by-hand.txt'), 'utf8')).toBe('x\n')
    const again = await runSvc(['task', 'apply', 'by-hand'], service.env, { cwd: folder })
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('does not fit this checkout')])
  })

  it('says so when there is no diff, or no checkout', async () => {
    await createTask(service, 'plain', { type: 'container', command: ['echo', 'hello'] })
    await waitForPhase(service, 'plain', 'Succeeded')
    const none = await runSvc(['task', 'diff', 'plain'], service.env)
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('did not work in a git repository')])
    const nowhere = await runSvc(['task', 'apply', 'by-hand'], service.env, { cwd: service.folder })
    expect([nowhere.code, nowhere.stderr]).toEqual([2, expect.stringContaining('not a git checkout')])
  })
})

describe('an ai task in a repository', () => {
  it('changes files with its tools [TASK-049]', async () => {
    const toolCalls = [{ name: 'file_write', arguments: JSON.stringify({ path: 'src/new.txt', content: 'made\n' }) }]
    vendor.on({ userMessage: /make a file/, sequenceIndex: 0 }, { toolCalls })
    vendor.on({ userMessage: /make a file/, sequenceIndex: 1 }, { content: 'It is made.' })
    const ai = { tools: ['file_write'] }
    await createTask(service, 'writes', { type: 'ai', prompt: 'make a file', ai, ...inRepository() })
    await waitForPhase(service, 'writes', 'Succeeded')
    expect(await resultOf('writes')).toMatchObject({ summary: 'It is made.', files: ['src/new.txt'] })
    expect((await getTask(service, 'writes')).status?.attempts).toBe(1)
  })
})

describe('a service that is killed', () => {
  const killAndStart = async () => {
    await service.kill()
    service = await startService({ folder: service.folder, flags })
  }

  it('before a result is stored does the attempt again', async () => {
    // So many that reading them lasts longer than a look at the log.
    const script = 'for each in $(seq 1500); do echo $each > $each.txt; done; echo over'
    await createTask(service, 'unread', change(script, { pushBranch: 'svc/unread' }))
    await waitForWord('unread', 'over')
    await killAndStart()
    const task = await waitForPhase(service, 'unread', 'Succeeded')
    expect(task.status).toMatchObject({ attempts: 2, interruptions: 1 })
    expect((await resultOf('unread')).files).toHaveLength(1500)
    expect(git(bare, ['show', 'svc/unread:1500.txt'])).toBe('1500')
  })

  it('in the middle of a push has the result, which says so', async () => {
    let isPushing = false
    server.intercept = ({ method, url = '' }) => {
      const isHeld = method === 'POST' && url.endsWith('/git-receive-pack')
      isPushing ||= isHeld
      return isHeld
    }
    await createTask(service, 'cut-off', change('echo four >> src/main.txt', { pushBranch: 'svc/cut-off' }))
    await waitFor(() => isPushing, 'the push')
    await killAndStart()
    server.intercept = () => false
    const task = await waitForPhase(service, 'cut-off', 'Succeeded')
    expect(task.status?.attempts).toBe(1)
    const result = await resultOf('cut-off')
    expect(result.diff).toContain('+four')
    expect([result.pushBranch, result.pushError]).toEqual([undefined, expect.stringContaining('interrupted')])
    expect(git(bare, ['branch', '--list', 'svc/cut-off'])).toBe('')
  })
})
