// Agent tasks from end to end: the built program, the real Claude Code with a double of its vendor, and a git server with a
// login behind it.
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LLMock } from '@copilotkit/aimock'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ApprovalItem } from '../../../src/contract/api/tasks/approvals.ts'
import type { StructuredResult } from '../../../src/contract/api/tasks/structured-result.ts'
import type { TraceStep } from '../../../src/contract/api/tasks/trace.ts'
import type { Task } from '../../../src/contract/kinds/tasks/task.ts'
import { isParked } from '../../../src/rules/tasks/parking.ts'
import { findControlGroups } from '../../../src/runtime/local/confinement/control-groups.ts'
import { git, makeRepository } from '../../fixtures/git/repository.ts'
import { type GitServer, startGitServer } from '../../fixtures/git/server.ts'
import { waitFor } from '../../fixtures/time.ts'
import {
  createTask,
  findProcesses,
  getTask,
  readResult,
  removeFolder,
  runSvc,
  type Service,
  startService,
  waitForPhase,
} from '../../scenarios/service.ts'

const usage = { prompt_tokens: 21, completion_tokens: 9, input_tokens: 21, output_tokens: 9 }
const programs = join(import.meta.dirname, '..', '..', 'clients', 'node_modules', '.bin')
const needed = [join(programs, 'claude'), join(programs, '..', '@agentclientprotocol', 'sdk')]
const isMissing = !needed.every((path) => existsSync(path))
const title = `an agent task${isMissing ? ' (sh scripts/install-clients.sh installs the program)' : ''}`

const password = 'made-up-git-password-0002'
const vendorKey = 'made-up-vendor-key-0002'
const root = mkdtempSync(join(tmpdir(), 'svc-remotes-'))
const bare = makeRepository(root, 'tool', { 'greeting.txt': 'hello\n', 'docs/notes.txt': 'one\n' })
const mark = 'the-instructions-of-a-stranger'
const hook = { hooks: [{ type: 'command', command: 'echo x > /workspace/hook-ran.txt' }] }
makeRepository(root, 'instructing', {
  'CLAUDE.md': `${mark}\n`,
  '.claude/settings.json': JSON.stringify({ hooks: { UserPromptSubmit: [hook] } }),
})
let service: Service
let server: GitServer
let vendor: LLMock

/** A program of one file, as people bring their own. */
async function makeAcpAgent(file: string): Promise<void> {
  const sources = await rolldown({
    input: join(programs, '..', '..', 'acp-agent.mjs'),
    platform: 'node',
    logLevel: 'warn',
  })
  await sources.write({ file, format: 'esm', banner: '#!/usr/bin/env node' })
  await sources.close()
  chmodSync(file, 0o755)
}

async function post(noun: string, body: object): Promise<void> {
  const answer = await service.call('POST', `/api/v1/${noun}`, body)
  expect([answer.status, answer.body]).toEqual([201, expect.anything()])
}

beforeAll(async () => {
  server = await startGitServer({ root, login: `bot:${password}` })
  vendor = new LLMock({ port: 0, chunkSize: 64 })
  await vendor.start()
  const PATH = [programs, process.env.PATH].join(':')
  await makeAcpAgent(join(root, 'bin', 'acp-agent'))
  copyFileSync(
    join(import.meta.dirname, '..', '..', 'fixtures', 'agents', 'rogue.mjs'),
    join(root, 'bin', 'rogue-agent'),
  )
  const flags = ['--allow-network', '127.0.0.0/8', '--agent-program', 'own=acp-agent --quiet,rogue=rogue-agent']
  service = await startService({ flags, env: { PATH: `${join(root, 'bin')}:${PATH}` } })
  await post('secrets', { name: 'forge', stringData: { username: 'bot', token: password } })
  await post('secrets', {
    name: 'keys',
    stringData: { VENDOR_FOUNDRY_API_KEY: vendorKey, VENDOR_FOUNDRY_BASE_URL: vendor.url },
  })
  const runtime = { type: 'llma-cli' }
  await post('secrets', { name: 'vendor', stringData: { 'api-key': vendorKey } })
  await post('providers', {
    name: 'main',
    spec: { type: 'llma', baseURL: vendor.url, secretRef: { name: 'vendor', key: 'api-key' } },
  })
  await post('agents', { name: 'coder', spec: { runtime, model: { name: 'main/test-model' } } })
  for (const trustRepository of [true, false]) {
    const spec = { runtime: { ...runtime, trustRepository }, model: { name: 'main/test-model' } }
    await post('agents', { name: trustRepository ? 'trusting' : 'wary', spec })
  }
  await post('agents', {
    name: 'brought',
    spec: { runtime: { runtimeRef: { name: 'own' } }, model: { name: 'main/test-model' } },
  })
  await post('agents', {
    name: 'asking',
    spec: {
      runtime: { runtimeRef: { name: 'own' } },
      model: { name: 'main/test-model' },
      coordination: { approvalRequiredTools: ['edit'] },
    },
  })
  await post('agents', {
    name: 'rogue',
    spec: { runtime: { runtimeRef: { name: 'rogue' } }, model: { name: 'main/test-model' } },
  })
  await post('skills', {
    name: 'greetings',
    spec: { description: 'How we greet.', content: { inline: 'Greet.', files: { 'short.md': 'End with a stop.' } } },
  })
  await post('agents', {
    name: 'own-key',
    spec: { skills: [{ name: 'greetings' }], runtime, model: { name: 'test-model' }, secretRef: { name: 'keys' } },
  })
})
afterAll(async () => {
  await service?.stop()
  await vendor?.stop()
  await server?.stop()
  removeFolder(service?.folder)
  removeFolder(root)
})
beforeEach(() => {
  vendor.clearFixtures()
  vendor.clearRequests()
  vendor.resetMatchCounts()
})

const write = (path: string, content: string) => ({
  name: 'Write',
  arguments: JSON.stringify({ file_path: `/workspace/${path}`, content }),
})
const bash = (command: string) => ({ name: 'Bash', arguments: JSON.stringify({ command, description: 'runs it' }) })

function script(about: RegExp, calls: { name: string; arguments: string }[], answer: string): void {
  calls.forEach((each, turn) => void vendor.on({ userMessage: about, turnIndex: turn }, { toolCalls: [each], usage }))
  vendor.on({ userMessage: about, turnIndex: calls.length }, { content: answer, usage })
  vendor.on({ userMessage: /.*/ }, { content: 'ok', usage })
}

const agentTask = (prompt: string, more: object = {}) => ({
  type: 'agent',
  prompt,
  agentRef: { name: 'coder' },
  workspace: { gitRepo: `${server.origin}/tool.git`, gitSecretRef: { name: 'forge' } },
  ...more,
})
const workspace = (more: object) => ({
  workspace: { gitRepo: `${server.origin}/tool.git`, gitSecretRef: { name: 'forge' }, ...more },
})
const resultOf = async (name: string) => JSON.parse(await readResult(service, name)) as StructuredResult
const logOf = async (name: string) =>
  (await service.call<{ logs: string }>('GET', `/api/v1/tasks/${name}/logs?level=debug`)).body.logs

type Step = { type: string; message: string }

/** Newest first. */
async function listSteps(name: string): Promise<string[]> {
  const { body } = await service.call<{ items: Step[] }>('GET', `/api/v1/tasks/${name}/events?limit=500`)
  return body.items.map(({ type, message }) => `${type}: ${message}`)
}

/** What it prints goes into the task's log and the transcript, what it writes into the diff. */
const lookAround = bash(`cat /proc/*/environ /proc/*/cmdline | tr '\\0' '\\n' | tee seen.txt; touch started; sleep 1`)

function* listFiles(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) yield* listFiles(path)
    else if (entry.isFile()) yield path
  }
}

/** Processes that have one of the texts in their environment or on their command line. */
function findHolders(texts: readonly string[]): string[] {
  const files = readdirSync('/proc').flatMap((pid) => (/^\d+$/.test(pid) ? [`${pid}/environ`, `${pid}/cmdline`] : []))
  return files.filter((file) => {
    try {
      const content = readFileSync(join('/proc', file), 'latin1')
      return texts.some((text) => content.includes(text))
    } catch {
      return false
    }
  })
}

describe.skipIf(isMissing && process.env.SVC_TEST_REPORT === undefined)(title, () => {
  it('edits a repository: result, diff, usage, pushed branch; no key or password is left anywhere [TASK-001, TASK-049, NAME-014, AUTH-013]', async () => {
    script(/greet the world/, [lookAround, write('greeting.txt', 'hello world\n')], 'It greets the world.')
    const sessionRef = { name: 'greets', create: true }
    const greets = { ...workspace({ pushBranch: 'svc/greets' }), sessionRef }
    await createTask(service, 'greets', agentTask('greet the world', greets))
    await waitFor(async () => (await logOf('greets').catch(() => ''))?.includes('[Bash '), 'the command to run')
    expect(findHolders([password, vendorKey])).toEqual([])
    const task = await waitForPhase(service, 'greets', 'Succeeded')
    const result = await resultOf('greets')
    const base = git(bare, ['rev-parse', 'main'])
    expect(result).toMatchObject({
      version: 1,
      summary: 'It greets the world.',
      baseSHA: base,
      pushBranch: 'svc/greets',
    })
    expect(result.pushError).toBeUndefined()
    expect(result.files).toContain('greeting.txt')
    expect(result.diff).toContain('+hello world')
    expect(git(bare, ['show', 'svc/greets:greeting.txt'])).toBe('hello world')
    expect(git(bare, ['rev-parse', 'svc/greets'])).toBe(result.headSHA)
    expect(task.status?.usage).toMatchObject({ llmCalls: 3, inputTokens: 63, outputTokens: 27 })
    expect(await logOf('greets')).toContain('It greets the world.')
    const steps = (await listSteps('greets')).toReversed().filter((step) => /^(Turn|Tool|Files)/.test(step))
    expect(steps).toEqual([
      'TurnStarted: turn 1 of 50 at most',
      expect.stringMatching(/^ToolCalled: Bash cat /),
      'TurnStarted: turn 2 of 50 at most',
      'ToolCalled: Write greeting.txt',
      'FilesEdited: greeting.txt',
      'TurnStarted: turn 3 of 50 at most',
    ])
    const { items } = (await service.call<{ items: TraceStep[] }>('GET', '/api/v1/tasks/greets/trace')).body
    const trace = items.toSorted((a, b) => a.startedAt.localeCompare(b.startedAt))
    expect(trace.filter(({ kind }) => kind === 'model')).toHaveLength(3)
    expect(trace.filter(({ kind }) => kind !== 'model')).toMatchObject([
      { kind: 'attempt', outcome: 'ok' },
      { kind: 'tool', name: 'Bash', outcome: 'ok' },
      { kind: 'tool', name: 'Write', outcome: 'ok', edits: [expect.stringContaining('greeting.txt')] },
      { kind: 'text', output: 'It greets the world.' },
    ])
    expect(items.find(({ kind }) => kind === 'model')).toMatchObject({
      parent: '0',
      outcome: 'ok',
      model: { provider: 'default/main', name: 'test-model', inputTokens: 21, outputTokens: 9 },
    })
    // The agent saw its own token, and no other credential.
    expect(result.diff).toContain('ANTHROPIC_AUTH_TOKEN=')
    for (const secret of [password, vendorKey, service.token]) {
      expect(JSON.stringify(result)).not.toContain(secret)
      expect(JSON.stringify(vendor.getRequests().map(({ body }) => body))).not.toContain(secret)
    }
    const texts = [password, vendorKey].flatMap((text) => [text, Buffer.from(`bot:${text}`).toString('base64')])
    const holding = [...listFiles(service.folder)].filter((path) => {
      const content = statSync(path).size < 64 * 1024 ** 2 ? readFileSync(path, 'latin1') : ''
      return texts.some((text) => content.includes(text))
    })
    expect(holding).toEqual([])
    expect(texts.some((text) => service.output().includes(text))).toBe(false)
  })

  it('neither sees nor ends its worker', async () => {
    // Two quotes keep the command from finding itself.
    const attack = `for each in /proc/[0-9]*; do
        tr '\\0' ' ' < "$each/cmdline" | tee -a seen.txt | grep -q 'work''er\\.' && kill -9 "\${each#/proc/}"; echo >> seen.txt
      done; echo went on >> seen.txt`
    script(/end the worker/, [bash(attack)], 'It goes on.')
    await createTask(service, 'attacks', agentTask('end the worker'))
    await waitForPhase(service, 'attacks', 'Succeeded')
    const { diff = '' } = await resultOf('attacks')
    expect(diff).toContain('went on')
    expect(diff).toContain('claude')
    expect(diff).not.toMatch(/worker\.(ts|js)/)
    expect(((await getTask(service, 'attacks')) as Task).status?.attempts).toBe(1)
  })

  it('has a token that is for its model, and ends with it [AUTH-013]', async () => {
    script(/show the token/, [bash('printenv ANTHROPIC_AUTH_TOKEN > token.txt')], 'It is shown.')
    await createTask(service, 'shows', agentTask('show the token'))
    await waitForPhase(service, 'shows', 'Succeeded')
    const token = /^\+(svc\S+)$/m.exec((await resultOf('shows')).diff ?? '')?.[1] ?? ''
    const body = JSON.stringify({ model: 'main/test-model', max_tokens: 5, messages: [{ role: 'user', content: 'x' }] })
    const headers = { 'x-api-key': token, 'content-type': 'application/json' }
    expect((await fetch(`${service.url}/llma/v1/messages`, { method: 'POST', headers, body })).status).toBe(403)
  })

  it('takes the keys of the agent’s Secret where its model names no provider, reads its skills, and keeps its files without a repository [NAME-016]', async () => {
    const read = bash('cat "$HOME/skills/greetings/short.md"')
    script(/say where/, [read, write('note.txt', 'kept\n')], 'By the key of the agent.')
    await createTask(service, 'by-key', { type: 'agent', prompt: 'say where', agentRef: { name: 'own-key' } })
    await waitForPhase(service, 'by-key', 'Succeeded')
    expect(await readResult(service, 'by-key')).toBe('By the key of the agent.')
    expect(JSON.stringify(vendor.getRequests())).toContain('- greetings: How we greet.')
    expect(JSON.stringify(vendor.getRequests())).toContain('End with a stop.')
    const { body } = await service.call<{ items: { filename: string }[] }>('GET', '/api/v1/tasks/by-key/artifacts')
    expect(body.items.map(({ filename }) => filename)).toEqual(['note.txt'])
    const provider = await service.call<{ spec: object }>('GET', '/api/v1/providers/agent-own-key')
    expect(provider.body.spec).toMatchObject({
      type: 'llma',
      secretRef: { name: 'keys', key: 'VENDOR_FOUNDRY_API_KEY' },
    })
  })

  it('runs a program that the owner of the service has added', async () => {
    const call = { name: 'write_file', arguments: JSON.stringify({ path: '/workspace/own.txt', content: 'mine\n' }) }
    script(/use your own/, [call], 'My own wrote it.')
    await createTask(service, 'own', agentTask('use your own', { agentRef: { name: 'brought' } }))
    await waitForPhase(service, 'own', 'Succeeded')
    expect(await resultOf('own')).toMatchObject({ summary: 'My own wrote it.', files: ['own.txt'] })
  })

  const writeOwn = (content: string) => ({
    name: 'write_file',
    arguments: JSON.stringify({ path: '/workspace/own.txt', content }),
  })
  const waitForQuestion = (taskName: string) =>
    waitFor(async () => {
      const path = `/api/v1/approvals?taskName=${taskName}&status=pending`
      const { items } = (await service.call<{ items: ApprovalItem[] }>('GET', path)).body
      return items.length > 0 && isParked((await getTask(service, taskName)) as Task) ? items[0] : undefined
    }, 'a question, and its task to be parked')

  it('asks a person where its agent says so: without a process until the answer, which counts for this call alone', async () => {
    script(/ask before you write/, [writeOwn('one\n'), writeOwn('two\n')], 'I have asked.')
    await createTask(service, 'asks', agentTask('ask before you write', { agentRef: { name: 'asking' } }))
    const first = await waitForQuestion('asks')
    expect(first).toMatchObject({
      agentName: 'asking',
      tool: 'write_file',
      arguments: { title: 'write_file', kind: 'edit', rawInput: { path: '/workspace/own.txt', content: 'one\n' } },
    })
    expect(findProcesses(join(root, 'bin', 'acp-agent'))).toEqual([])
    const approved = await runSvc(['approvals', 'approve', first.id], service.env)
    expect(approved.code).toBe(0)
    const second = await waitForQuestion('asks')
    expect(second.arguments).toMatchObject({ rawInput: { content: 'two\n' } })
    const declined = await runSvc(['approvals', 'decline', second.id, '--reason', 'one is enough'], service.env)
    expect(declined.code).toBe(0)
    const task = await waitForPhase(service, 'asks', 'Succeeded', 'Failed')
    expect(task.status).toMatchObject({ phase: 'Succeeded', attempts: 3, parkings: 2 })
    const result = await resultOf('asks')
    expect(result).toMatchObject({ summary: 'I have asked.', files: ['own.txt'] })
    expect(result.diff).toContain('+one')
    expect(result.diff).not.toContain('+two')
    const [step] = (await listSteps('asks')).filter((line) => line.startsWith('ToolRefused'))
    expect(step).toContain('declined it (one is enough)')
    // A model that begins again is told what was answered.
    expect(JSON.stringify(vendor.getRequests().at(-1))).toContain('one is enough')
  })

  const rogueTask = (prompt: string, more: object = {}) => ({
    type: 'agent',
    prompt,
    agentRef: { name: 'rogue' },
    ...more,
  })

  it('is not harmed by a flood of events, a line without an end, half a line and a flood of errors', async () => {
    await createTask(service, 'flooded', rogueTask('flood'))
    await waitForPhase(service, 'flooded', 'Succeeded')
    expect(await readResult(service, 'flooded')).toBe('The flood is over.')
    const log = await logOf('flooded')
    expect(log).toContain('[done: ')
    expect(log.length).toBeLessThan(11 * 1024 ** 2)
    const steps = await listSteps('flooded')
    expect(steps.slice(0, 2)).toEqual([
      expect.stringMatching(/^PhaseChanged: /),
      expect.stringMatching(/^StepsLeftOut: \d+ more steps are in the log alone$/),
    ])
    expect(steps.length).toBeLessThan(1100)
  })

  it.each([
    ['trusting', true],
    ['wary', false],
    ['coder', false],
  ])(
    'of the agent "%s": what lies in its repository starts programs and instructs the model: %s',
    async (name, isHeard) => {
      script(/follow your instructions/, [bash('echo y > done.txt')], 'It is done.')
      const more = {
        agentRef: { name },
        workspace: { ...workspace({}).workspace, gitRepo: `${server.origin}/instructing.git` },
      }
      await createTask(service, `follows-${name}`, agentTask('follow your instructions', more))
      await waitForPhase(service, `follows-${name}`, 'Succeeded')
      const { files } = await resultOf(`follows-${name}`)
      expect(files).toContain('done.txt')
      expect(files?.includes('hook-ran.txt')).toBe(isHeard)
      expect(JSON.stringify(vendor.getRequests().map(({ body }) => body)).includes(mark)).toBe(isHeard)
    },
  )

  it('writes nothing outside of its workspace and its home', async () => {
    await createTask(service, 'wanders', rogueTask('wander'))
    await waitForPhase(service, 'wanders', 'Succeeded')
    const folders = ['/', '/etc', '/usr', '/home', '/root', '/var/tmp', service.folder]
    expect(folders.filter((folder) => existsSync(join(folder, 'svc-rogue-was-here')))).toEqual([])
  })

  it('has a bounded number of processes, of which none goes on after it', async (context) => {
    const { controllers } = await findControlGroups()
    context.skip(!controllers.includes('pids'), 'no control group for processes can be made here')
    await createTask(service, 'forks', rogueTask('fork'))
    await waitForPhase(service, 'forks', 'Succeeded')
    const [, started] = /^(\d+) processes$/.exec(await readResult(service, 'forks')) ?? []
    expect(Number(started)).toBeLessThan(512)
    await waitFor(() => findProcesses('47110').length === 0, 'its processes to be gone')
  })

  it('whose program uses too much memory fails with a reason that says so', async (context) => {
    const { controllers } = await findControlGroups()
    context.skip(!controllers.includes('memory'), 'no memory control group can be made here')
    const limits = { memory: '400Mi' }
    await createTask(service, 'hungry', rogueTask('hoard', { resources: { limits } }))
    const { status } = await waitForPhase(service, 'hungry', 'Failed')
    expect(status?.message).toMatch(/program of the agent used more than .* 400 MiB/)
  })

  it('goes on after the changes of another task, and with its session', async () => {
    script(/write the first/, [write('docs/notes.txt', 'one\ntwo\n')], 'Two is there.')
    const sessionRef = { name: 'notes', create: true }
    await createTask(service, 'first', agentTask('write the first', { sessionRef }))
    await waitForPhase(service, 'first', 'Succeeded')
    script(/write the second/, [bash('cat docs/notes.txt')], 'It has two lines.')
    const priorTaskRef = { name: 'first' }
    await createTask(service, 'second', agentTask('write the second', { sessionRef, priorTaskRef }))
    await waitForPhase(service, 'second', 'Succeeded')
    expect((await resultOf('second')).diff).toContain('+two')
    expect(await logOf('second')).toContain('[goes on with its own session]')
    // The program's own conversation, with the calls that no transcript has.
    const requests = vendor.getRequests().map((request) => JSON.stringify(request))
    const asked = requests.filter((text) => text.includes('write the second'))
    expect(asked.length).toBeGreaterThan(0)
    for (const text of asked)
      for (const part of ['Two is there.', '/workspace/docs/notes.txt']) expect(text).toContain(part)
  })

  it('ends when it is cancelled, and when its time is up; nothing is pushed', async () => {
    // A sleep alone is refused by the program itself.
    script(/wait for long/, [bash('tail -f /dev/null')], 'never')
    await createTask(service, 'cancelled', agentTask('wait for long', workspace({ pushBranch: 'svc/cancelled' })))
    await waitFor(async () => (await logOf('cancelled').catch(() => ''))?.includes('[Bash '), 'the command to run')
    await service.call('POST', '/api/v1/tasks/cancelled/cancel', {})
    await waitForPhase(service, 'cancelled', 'Cancelled')
    await createTask(service, 'late', agentTask('wait for long', { timeout: '3s' }))
    const late = await waitForPhase(service, 'late', 'Failed')
    expect(late.status?.message).toContain('timed out after 3s')
    expect(git(bare, ['branch', '--list', 'svc/cancelled'])).toBe('')
  })

  it('goes on when the vendor asks for time or is overloaded in the middle', async () => {
    const about = { userMessage: /work through it/ }
    const error = (status: number, type: string) => ({ error: { message: 'not now', type }, status })
    vendor.on({ ...about, turnIndex: 0 }, { toolCalls: [write('through.txt', 'done\n')], usage })
    vendor.on({ ...about, turnIndex: 1, sequenceIndex: 0 }, error(429, 'rate_limit_error'))
    vendor.on({ ...about, turnIndex: 1, sequenceIndex: 1 }, error(529, 'overloaded_error'))
    vendor.on({ ...about, turnIndex: 1 }, { content: 'I am through.', usage })
    vendor.on({ userMessage: /.*/ }, { content: 'ok', usage })
    await createTask(service, 'patient', agentTask('work through it', workspace({})))
    await waitForPhase(service, 'patient', 'Succeeded')
    expect(await resultOf('patient')).toMatchObject({ summary: 'I am through.', files: ['through.txt'] })
    expect(await listSteps('patient')).toEqual(
      expect.arrayContaining(['ModelRetried: rate_limit; try 1 of 10', 'ModelRetried: overloaded; try 2 of 10']),
    )
  })

  it('is done again when the service is killed under it [TASK-043]', async () => {
    script(/survive this/, [bash('touch made; sleep 2')], 'It is done.')
    await createTask(service, 'survives', agentTask('survive this'))
    await waitFor(async () => (await logOf('survives').catch(() => ''))?.includes('[Bash '), 'the command to run')
    await service.kill()
    const { folder } = service
    const PATH = [programs, process.env.PATH].join(':')
    service = await startService({ folder, flags: ['--allow-network', '127.0.0.0/8'], env: { PATH } })
    await waitForPhase(service, 'survives', 'Succeeded')
    expect(await resultOf('survives')).toMatchObject({ summary: 'It is done.', files: ['made'] })
    expect(((await getTask(service, 'survives')) as Task).status?.attempts).toBe(2)
  })

  it('works on the files of a folder, and its changes are done there on a yes', async () => {
    const folder = mkdtempSync(join(root, 'here-'))
    writeFileSync(join(folder, 'greeting.txt'), 'hello\n')
    script(
      /greet everybody/,
      [bash('cat greeting.txt'), write('greeting.txt', 'hello everybody\n')],
      'All are greeted.',
    )
    const args = ['run', '--here', '--yes', '--agent', 'coder', 'greet everybody']
    const run = await runSvc(args, service.env, { cwd: folder })
    expect([run.code, run.stdout]).toEqual([0, expect.stringContaining('All are greeted.')])
    expect(run.stderr).toContain('-hello\n+hello everybody\n')
    expect(readFileSync(join(folder, 'greeting.txt'), 'utf8')).toBe('hello everybody\n')
  })
})
