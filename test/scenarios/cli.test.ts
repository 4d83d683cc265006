// The command line as a person and a script use it, against the real service.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Task } from '../../src/contract/kinds/tasks/task.ts'
import { git } from '../fixtures/git/repository.ts'
import { waitFor } from '../fixtures/time.ts'
import {
  environmentOf,
  getTask,
  launcher,
  launchSvc,
  makeFolder,
  removeFolder,
  root,
  runProgram,
  runSvc,
  type Service,
  startService,
  waitForPhase,
} from './service.ts'

let service: Service
let place: string
beforeAll(async () => {
  service = await startService()
  place = join(service.folder, 'place')
  mkdirSync(place)
})
afterAll(async () => {
  await service.stop()
  removeFolder(service.folder)
})

type Given = { input?: string; env?: NodeJS.ProcessEnv }

const svc = (args: string[], { input = '', env = {} }: Given = {}) =>
  runSvc(args, { ...service.env, ...env }, { cwd: place, input })

/** In a process of its own. */
const launched = (args: string[], { input = '', env = {} }: Given = {}) =>
  launchSvc(args, { ...service.env, ...env }, { cwd: place, input })

async function readJson<T>(args: string[]): Promise<T> {
  const outcome = await svc([...args, '-o', 'json'])
  expect(outcome.code, outcome.stderr).toBe(0)
  return JSON.parse(outcome.stdout) as T
}

function write(name: string, text: string): string {
  const file = join(place, name)
  writeFileSync(file, text)
  return file
}

/** Starts `svc ...`, sends Ctrl-C once `ready` holds, and waits for the end. */
async function interrupt(
  args: string[],
  ready: () => Promise<boolean>,
): Promise<{ code: number | null; stderr: string }> {
  const child = spawn(process.execPath, [launcher, ...args], { env: service.env, stdio: ['ignore', 'pipe', 'pipe'] })
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  await waitFor(async () => stderr.includes('is running') && (await ready()), `${args.join(' ')} to follow`)
  child.kill('SIGINT')
  return { code: await ended, stderr }
}

const phaseOf = async (name: string) => (await getTask(service, name)).status?.phase

describe('svc run', () => {
  it('takes the prompt from standard input and prints the result alone when quiet', async () => {
    // Some programs begin what they write with a byte order mark.
    const outcome = await launched(['run', '-q'], { input: '\uFEFFsay first\nsay second\n' })
    expect(outcome.stdout).toMatch(/^\[demo provider.*1\. say first\n {3}first\n2\. say second\n {3}second\n$/s)
    expect(outcome.stderr).not.toContain('running')
    expect(outcome.code).toBe(0)
  })

  it('takes a prompt that begins with a dash after two', async () => {
    const outcome = await svc(['run', '-q', '--name', 'dash', '--', '-n', 'is a prompt'])
    expect([outcome.code, outcome.stderr]).toEqual([1, expect.stringContaining('Not understood: "-n is a prompt"')])
    expect((await getTask(service, 'dash')).spec).toMatchObject({ prompt: '-n is a prompt' })
  })

  it('keeps progress off standard output, and colours and spinners out of pipes', async () => {
    // What is over at once is only told to be over.
    const outcome = await launched(['run', 'wait 1 seconds'], { env: { FORCE_COLOR: '1' } })
    expect(outcome.stderr).toContain('is running: attempt 1 was started')
    expect(outcome.stdout).not.toContain('running')
    expect(outcome.stdout + outcome.stderr).not.toContain('\u001b')
  })

  it('answers a program with the task and its result', async () => {
    const answer = await readJson<{ task: { status: object }; result: string }>(['run', '-q', 'say hello'])
    expect(answer).toMatchObject({ task: { status: { phase: 'Succeeded' } }, result: expect.stringContaining('hello') })
  })

  it('refuses to run without a prompt, before anything is started', async () => {
    const empty = makeFolder()
    const outcome = await launchSvc(['run'], environmentOf(empty))
    expect(outcome.code).toBe(2)
    expect(outcome.stderr).toContain('svc run "')
    expect(existsSync(join(empty, 'share'))).toBe(false)
    removeFolder(empty)
  })

  it('refuses a model that no provider can serve, and a provider that is not there', async () => {
    const model = await svc(['run', '--model', 'some-model', 'say hello'])
    expect(model).toMatchObject({ code: 2, stderr: expect.stringContaining('svc provider create main') })
    const provider = await svc(['run', '--provider', 'nobody', 'say hello'])
    expect(provider).toMatchObject({ code: 2, stderr: expect.stringContaining('there is no provider "nobody"') })
  })

  it('cancels its task on Ctrl-C and ends with 4', async () => {
    const running = async () => (await phaseOf('stopped')) === 'Running'
    const outcome = await interrupt(['run', '--name', 'stopped', 'wait 120 seconds'], running)
    expect(outcome.code, outcome.stderr).toBe(4)
    expect(outcome.stderr).toContain('cancelling stopped')
    expect(await phaseOf('stopped')).toBe('Cancelled')
  })

  it('asks for a model when the provider has none, and takes SVC_DEFAULT_MODEL', async () => {
    const folder = makeFolder()
    const keyed = await startService({ folder, env: { OPENAI_API_KEY: 'made-up-key-0000000000' } })
    const refused = await runSvc(['run', 'hello'], keyed.env)
    expect(refused.code).toBe(2)
    expect(refused.stderr).toMatch(/name one with --model, or for good: .*provider update default --model/)
    const taken = await runSvc(['run', '-d', '--name', 'x', 'hello'], { ...keyed.env, SVC_DEFAULT_MODEL: 'some-model' })
    expect(taken.code, taken.stderr).toBe(0)
    expect((await getTask(keyed, 'x')).spec).toMatchObject({ ai: { model: 'some-model' } })
    await keyed.stop()
    const later = await startService({
      folder,
      env: { SVC_DEFAULT_MODEL: 'kept', OPENAI_API_KEY: 'made-up-key-0000000000' },
    })
    const provider = await later.call('GET', '/api/v1/providers/default')
    expect(provider.body).toMatchObject({ spec: { defaultModel: 'kept' } })
    await later.stop()
    removeFolder(folder)
  })
})

describe('svc task', () => {
  beforeAll(async () => {
    const script = 'mkdir -p artifacts; printf kept > artifacts/kept.txt; printf "one\\ntwo\\nthree\\n"'
    const task = { name: 'made', type: 'container', command: ['sh', '-c', script] }
    expect((await service.call('POST', '/api/v1/tasks', task)).status).toBe(201)
    await service.call('POST', '/api/v1/tasks', { name: 'fails', type: 'container', command: ['false'] })
    await waitForPhase(service, 'made', 'Succeeded')
  })

  it('lists newest first, by phase and type, and says when there is nothing', async () => {
    const names = async (...flags: string[]) =>
      (await readJson<{ metadata: { name: string } }[]>(['task', 'list', ...flags])).map((task) => task.metadata.name)
    expect((await names('--type', 'container')).slice(0, 2)).toEqual(['fails', 'made'])
    expect(await names('--limit', '1', '--type', 'container')).toEqual(['fails'])
    const flags = ['--limit', '2', '--type', 'container']
    expect((await svc(['task', 'list', ...flags, '-o', 'name'])).stdout).toBe('task/fails\ntask/made\n')
    const path = 'jsonpath={.items[*].metadata.name}{"\\n"}'
    expect((await svc(['task', 'list', ...flags, '-o', path])).stdout).toBe('fails made\n')
    expect(await names('--phase', 'Succeeded', '--type', 'container')).toEqual(['made'])
    const none = await svc(['-n', 'empty', 'task', 'list'])
    expect(none).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('in namespace empty') })
    expect(await svc(['-n', 'empty', 'task', 'list', '-o', 'json'])).toMatchObject({ stdout: '[]\n' })
  })

  it('shows a task, its events, its log and its result', async () => {
    expect((await svc(['task', 'get', 'made'])).stdout).toMatch(/phase: +Succeeded/)
    expect((await svc(['task', 'events', 'made'])).stdout).toMatch(/Pending.*Running.*Succeeded/s)
    expect((await svc(['task', 'events', 'made', '-f'])).stdout).toMatch(/Pending.*\n.*Running.*\n.*Succeeded/s)
    expect((await svc(['task', 'logs', 'made', '--tail', '2'])).stdout).toBe('two\nthree\n')
    expect((await svc(['task', 'logs', '-f', 'made'])).stdout).toBe('one\ntwo\nthree\n')
    expect((await svc(['task', 'result', 'made'])).stdout).toBe('one\ntwo\nthree\n')
    expect((await svc(['task', 'get', 'made', '-o', 'yaml'])).stdout).toContain('kind: Task\n')
    expect((await svc(['describe', 'task', 'made'])).stdout).toMatch(
      /phase: Succeeded.*last events:.*Running.*Succeeded/s,
    )
    expect((await svc(['get', 'all', '-o', 'name'])).stdout).toContain('task/made\n')
  })

  it('ends with the code of the phase that a task ended in', async () => {
    expect((await svc(['task', 'wait', 'made'])).code).toBe(0)
    const failed = await launched(['task', 'wait', 'fails'])
    expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining('Failed:') })
    await svc(['run', '-d', '--name', 'halted', 'wait 120 seconds'])
    await svc(['task', 'cancel', 'halted'])
    expect((await svc(['task', 'wait', 'halted'])).code).toBe(4)
    expect(await svc(['task', 'get', 'nobody'])).toMatchObject({ code: 1, stderr: expect.stringContaining('nobody') })
  })

  it('leaves a task running when Ctrl-C ends the waiting', async () => {
    await svc(['run', '-d', '--name', 'going', 'wait 120 seconds'])
    await waitForPhase(service, 'going', 'Running')
    const outcome = await interrupt(['task', 'wait', 'going'], async () => true)
    expect(outcome.code).toBe(130)
    expect(outcome.stderr).toContain('svc task cancel going')
    expect(await phaseOf('going')).toBe('Running')
    expect((await svc(['task', 'cancel', 'going', '--reason', 'enough'])).code).toBe(0)
    expect((await waitForPhase(service, 'going', 'Cancelled')).status?.message).toContain('enough')
  })

  it('runs a finished task again and deletes it', async () => {
    const again = (await svc(['task', 'retry', 'made'])).stdout.trim()
    expect(again).toMatch(/^made-/)
    await waitForPhase(service, again, 'Succeeded')
    expect((await svc(['task', 'delete', again])).code).toBe(0)
    await waitFor(async () => (await service.call('GET', `/api/v1/tasks/${again}`)).status === 404, 'the task to go')
  })

  it('keeps what a run wrote, wherever it lies, and says how to fetch it', async () => {
    const one = await svc(['run', '--name', 'wrote', 'write hello to notes/today.txt'])
    expect(one.stderr).toMatch(
      /files \(5 B\): notes\/today.txt\nfetch them: .*svc task download wrote notes\/today.txt\n/,
    )
    expect((await svc(['task', 'download', 'wrote', 'notes/today.txt', '--to', '-'])).stdout).toBe('hello')
    const all = await svc(['task', 'download', 'wrote', '--all'])
    expect(all).toMatchObject({ code: 0, stderr: 'wrote wrote/notes/today.txt\n' })
    expect(readFileSync(join(place, 'wrote/notes/today.txt'), 'utf8')).toBe('hello')
    expect((await svc(['task', 'download', 'wrote', '--all'])).code).toBe(2)
    expect((await svc(['task', 'download', 'wrote'])).code).toBe(2)
  })

  it('downloads nothing that would be part of a Git repository', async () => {
    await svc(['run', '-q', '--name', 'tricks', 'write x to .GIT/config, then write y to notes.txt'])
    const all = await svc(['task', 'download', 'tricks', '--all'])
    expect(all).toMatchObject({ code: 0, stderr: expect.stringContaining('left out: .GIT/config: ') })
    expect(readdirSync(join(place, 'tricks'))).toEqual(['notes.txt'])
  })

  it('gives a run the files of this folder, and does here what it changed, on a yes', async () => {
    const folder = join(place, 'project')
    mkdirSync(join(folder, 'src/node_modules'), { recursive: true })
    const files = { 'a.txt': 'one', 'src/b.txt': 'two', 'src/empty.py': '', '.env': 'x', 'src/node_modules/m.js': 'x' }
    for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text)
    const prompt = 'write 1 to a.txt, then write new to deep/c.txt, then read src/b.txt'
    const run = (...args: string[]) => runSvc(['run', '--here', ...args], service.env, { cwd: folder })
    const asked = await run('--name', 'asked', prompt)
    expect(asked.code).toBe(0)
    expect(asked.stderr).toContain('giving the task 3 files (6 B); left out: ')
    expect(asked.stderr).toMatch(/left out: .*src\/node_modules\//)
    expect(asked.stderr).toMatch(/left out: .*\.env \(may contain secrets; --file sends it anyway\)/)
    expect(asked.stdout).toContain('"content":"two"')
    expect(asked.stderr).toContain(
      'changes to this folder:\n  M a.txt (1 B)\n  A deep/c.txt (3 B)\nnothing was changed here',
    )
    expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toBe('one')
    const done = await run('--yes', prompt)
    expect(done.code).toBe(0)
    expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toBe('1')
    expect(readFileSync(join(folder, 'deep/c.txt'), 'utf8')).toBe('new')
    expect(readFileSync(join(folder, 'src/b.txt'), 'utf8')).toBe('two')
    const named = await runSvc(['run', '--file', '.env', '--file', 'a.txt', 'read .env'], service.env, { cwd: folder })
    expect(named.stdout).toContain('"content":"x"')
    // Nothing above ran with more than it was given.
    expect(existsSync(join(folder, '.svc-changes.json'))).toBe(false)
  })

  it('gives a run what a checkout has, shows what it changed in it, and does that on a yes', async () => {
    const folder = join(place, 'checkout')
    mkdirSync(join(folder, 'dist'), { recursive: true })
    git(place, ['init', '-q', '-b', 'main', folder])
    const files = {
      'a.txt': 'one\n',
      'b.txt': 'two\n',
      '.gitignore': 'dist/\n*.log\n',
      'dist/old.js': 'x',
      'own.log': 'x',
    }
    for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text)
    git(folder, ['add', '.'])
    git(folder, ['commit', '-q', '-m', 'first'])
    writeFileSync(join(folder, 'b.txt'), 'not committed\n')
    const prompt = 'write 1 to a.txt, then write 2 to dist/new.js, then read b.txt, then read own.log'
    const run = (...args: string[]) => runSvc(['run', '--here', ...args], service.env, { cwd: folder })
    const asked = await run('--name', 'in-checkout', prompt)
    expect([asked.code, asked.stderr]).toEqual([0, expect.stringContaining('giving the task 3 files (')])
    expect(asked.stdout).toContain('not committed')
    expect(asked.stdout).toMatch(/own\.log/)
    expect(asked.stderr).toContain('not offered, because .gitignore excludes it: dist/new.js; ')
    expect(asked.stderr).toContain('a.txt\n@@ -1 +1 @@\n-one\n+1\n')
    expect(asked.stderr).toContain('changes to this folder:\n  M a.txt (1 B)\nnothing was changed here')
    expect(git(folder, ['status', '--porcelain'])).toBe('M b.txt')
    expect((await run('--yes', prompt)).code).toBe(0)
    expect(git(folder, ['status', '--porcelain'])).toBe('M a.txt\n M b.txt')
    expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toBe('1')
    const both = await run('--repo', 'https://example.com/a/b', prompt)
    expect([both.code, both.stderr]).toEqual([2, expect.stringContaining('--here and --repo exclude each other')])
  })

  it('downloads a file under its last name only, never over another', async () => {
    await svc(['run', '-q', '--name', 'files', 'write hello to artifacts/note.txt'])
    const listed = await readJson<{ filename: string }[]>(['task', 'artifacts', 'files'])
    expect(listed.map(({ filename }) => filename)).toEqual(['note.txt'])
    expect((await svc(['task', 'download', 'files', 'note.txt'])).code).toBe(0)
    expect(readFileSync(join(place, 'note.txt'), 'utf8')).toBe('hello')
    writeFileSync(join(place, 'note.txt'), 'mine')
    const second = await svc(['task', 'download', 'files', 'note.txt'])
    expect(second).toMatchObject({ code: 2, stderr: expect.stringContaining('--to') })
    expect(readFileSync(join(place, 'note.txt'), 'utf8')).toBe('mine')
    expect((await svc(['task', 'download', 'files', 'note.txt', '--to', 'other.txt'])).code).toBe(0)
    expect(readFileSync(join(place, 'other.txt'), 'utf8')).toBe('hello')
    expect((await svc(['task', 'download', 'files', 'note.txt', '--to', '-'])).stdout).toBe('hello')
    const trick = await svc(['task', 'download', 'files', '../trick.txt'])
    expect(trick.code).toBe(2)
    expect(existsSync(join(service.folder, 'trick.txt'))).toBe(false)
  })
})

describe('changing a task', () => {
  const specOf = async (name: string) => (await getTask(service, name)).spec
  const manifest = (spec: string) => `kind: Task\nmetadata: { name: later }\nspec: { type: container, ${spec} }\n`

  it('suspends it, resumes it, and applies a file over it, as long as it has not started', async () => {
    const apply = (spec: string) => svc(['apply', '-f', '-'], { input: manifest(spec) })
    expect((await apply('suspend: true, command: [echo, one]')).stdout).toBe('task/later created\n')
    expect((await apply('suspend: true, command: [echo, two]')).stdout).toBe('task/later configured\n')
    expect((await apply('suspend: true, command: [echo, two]')).stdout).toBe('task/later unchanged\n')
    await waitFor(async () => (await getTask(service, 'later')).status?.queuedReason === 'Suspended', 'suspended')
    expect((await svc(['task', 'resume', 'later'])).stderr).toContain('task later is resumed')
    await waitForPhase(service, 'later', 'Succeeded')
    expect((await svc(['task', 'result', 'later'])).stdout).toBe('two\n')
    const late = await apply('command: [echo, three]')
    expect([late.code, late.stderr]).toEqual([1, expect.stringMatching(/spec\.command .* is Succeeded/)])
    expect((await svc(['task', 'suspend', 'later'])).stderr).toMatch(/spec\.suspend .* is Succeeded/)
  })

  it('edits a schedule in the editor of the environment', async () => {
    const input =
      'kind: Task\nmetadata: { name: cron }\nspec: { type: container, command: ["true"], schedule: "@yearly" }\n'
    await svc(['apply', '-f', '-'], { input })
    await waitForPhase(service, 'cron', 'Scheduled')
    const edit = (editor: string) => svc(['task', 'edit', 'cron'], { env: { EDITOR: editor, VISUAL: undefined } })
    expect((await edit('sed -i s/@yearly/@monthly/')).stderr).toContain('task cron was changed')
    expect(await specOf('cron')).toMatchObject({ schedule: '@monthly' })
    expect((await edit('true')).stderr).toContain('task cron is unchanged')
    expect((await edit('false')).stderr).toContain('the editor (false) ended with 1')
    expect((await edit('echo "{" >')).code).toBe(2)
    expect(await specOf('cron')).toMatchObject({ schedule: '@monthly' })
    await svc(['task', 'suspend', 'cron'])
    const message = async () => (await getTask(service, 'cron')).status?.message ?? ''
    await waitFor(async () => (await message()).startsWith('suspended; set spec.suspend to false'), 'suspended')
    await svc(['task', 'resume', 'cron'])
    await waitFor(async () => (await message()).startsWith('next run at'), 'resumed')
  })
})

describe('svc task prune', () => {
  it('deletes what has ended long enough ago, and only that', async () => {
    const input = ['done-a', 'done-b', 'held']
      .map((name) => {
        const spec = `{ type: container, command: [echo, x], suspend: ${name === 'held'} }`
        return `kind: Task\nmetadata: { name: ${name}, namespace: pruned }\nspec: ${spec}\n`
      })
      .join('---\n')
    await svc(['apply', '-f', '-'], { input })
    const names = async () => {
      const tasks = await readJson<{ metadata: { name: string }; status?: { phase?: string } }[]>([
        'task',
        'list',
        '-n',
        'pruned',
      ])
      return tasks.map(({ metadata, status }) => `${metadata.name} ${status?.phase}`).toSorted()
    }
    await waitFor(async () => (await names()).filter((name) => name.endsWith('Succeeded')).length === 2, 'both to end')
    expect((await svc(['task', 'prune', '-n', 'pruned'])).stderr).toContain('0 tasks deleted')
    expect((await svc(['task', 'prune', '-n', 'pruned', '--older-than', '0s', '--dry-run'])).stdout).toContain('done-a')
    expect(await names()).toHaveLength(3)
    expect((await svc(['task', 'prune', '-n', 'pruned', '--older-than', '0s'])).stderr).toContain('2 tasks deleted')
    await waitFor(async () => (await names()).join() === 'held Pending', 'both to go')
    expect((await svc(['task', 'prune', '--older-than', 'long'])).code).toBe(2)
    expect((await svc(['task', 'prune', '--phase', 'Running'])).code).toBe(2)
  })
})

describe('what a schedule and a file have', () => {
  it('shows the runs of a schedule as a tree, once where there is no terminal', async () => {
    const spec = '{ type: container, command: [echo, now], schedule: "@yearly" }'
    await svc(['apply', '-f', '-'], { input: `kind: Task\nmetadata: { name: planted }\nspec: ${spec}\n` })
    await waitForPhase(service, 'planted', 'Scheduled')
    const run = (await svc(['task', 'run', 'planted'])).stdout.trim()
    await waitForPhase(service, run, 'Succeeded')
    const tree = await svc(['task', 'tree', 'planted'])
    expect(tree.stdout.trimEnd().split('\n')).toEqual([
      expect.stringMatching(/^NAME +AGENT +PHASE +TIME/),
      expect.stringMatching(/^planted +Scheduled/),
      expect.stringMatching(`^└─ ${run} +Succeeded +\\d+m?s?`),
      expect.stringMatching(/^2 tasks: 1 scheduled, 1 succeeded, 0 tokens$/),
    ])
    const data = JSON.parse((await svc(['-o', 'json', 'task', 'tree', run])).stdout) as { items: Task[] }
    expect(data.items.map(({ metadata }) => metadata.name)).toEqual([run])
    expect((await svc(['task', 'tree', 'nobody'])).code).toBe(1)
  })

  it('makes a run of a schedule now, also while it is suspended', async () => {
    const spec = '{ type: container, command: [echo, now], schedule: "@yearly", suspend: true }'
    await svc(['apply', '-f', '-'], { input: `kind: Task\nmetadata: { name: yearly }\nspec: ${spec}\n` })
    await waitForPhase(service, 'yearly', 'Scheduled')
    const made = await svc(['task', 'run', 'yearly'])
    expect(made.stdout).toMatch(/^yearly-\d+\n$/)
    await waitFor(
      async () => (await service.call('GET', `/api/v1/tasks/${made.stdout.trim()}`)).status === 200,
      'the run to be there',
    )
    await waitForPhase(service, made.stdout.trim(), 'Succeeded')
    expect((await svc(['task', 'run', made.stdout.trim()])).code).toBe(2)
  })

  it('applies what was read any number of times, shows what differs, and removes what is in no file', async () => {
    const text = (names: string[], prompt: string) =>
      names
        .map(
          (name) =>
            `kind: Agent\nmetadata: {name: ${name}, labels: {app: p}}\nspec: {systemPrompt: {inline: ${prompt}}}\n`,
        )
        .join('---\n')
    await svc(['apply', '-f', '-'], { input: text(['kept', 'gone'], 'one') })
    const read = (await svc(['get', 'agent', 'kept', '-o', 'yaml'])).stdout
    const changed = read.replace('inline: one', 'inline: two')
    const dry = await svc(['apply', '--dry-run', '-f', '-'], { input: changed })
    expect([dry.code, dry.stdout]).toEqual([0, 'agent/kept would be configured\n'])
    expect(dry.stderr).toBe('  spec.systemPrompt.inline: "one" -> "two"\n')
    const first = await svc(['apply', '-f', '-'], { input: changed })
    expect([first.code, first.stdout, first.stderr]).toEqual([0, 'agent/kept configured\n', dry.stderr])
    // What was read before is applied over what was written since.
    const again = await svc(['apply', '-f', '-'], { input: changed })
    expect([again.code, again.stdout]).toEqual([0, 'agent/kept unchanged\n'])
    expect((await svc(['apply', '-f', '-'], { input: read })).stdout).toBe('agent/kept configured\n')
    expect((await svc(['apply', '--prune', '-f', '-'], { input: read })).code).toBe(2)
    const prune = (...more: string[]) => svc(['apply', '--prune', '-l', 'app=p', ...more, '-f', '-'], { input: read })
    expect((await prune('--dry-run')).stderr).toBe('agent/gone would be deleted\n')
    expect((await svc(['get', 'agent', 'gone'])).code).toBe(0)
    expect((await prune()).stderr).toBe('agent/gone deleted\n')
    expect((await svc(['get', 'agent', 'gone'])).code).toBe(1)
  })

  it('shows several at once as one list or as documents, which can be applied', async () => {
    const list = JSON.parse((await svc(['get', 'agents', 'kept', 'kept', '-o', 'json'])).stdout)
    expect([list.kind, list.items.length]).toEqual(['List', 2])
    const documents = (await svc(['agent', 'get', 'kept', 'kept'])).stdout
    expect(documents.split('\n---\n')).toHaveLength(2)
    const applied = await svc(['apply', '-f', '-'], { input: documents })
    expect(applied.stdout).toBe('agent/kept unchanged\nagent/kept unchanged\n')
  })

  it('edits what tasks refer to in the editor as well', async () => {
    const env = { EDITOR: 'sed -i s/one/three/', VISUAL: undefined }
    expect((await svc(['agent', 'edit', 'kept'], { env })).stderr).toContain('agent kept was changed')
    expect((await svc(['get', 'agent', 'kept', '-o', 'yaml'])).stdout).toContain('inline: three')
  })
})

describe('svc apply, get and delete', () => {
  const agent = (name: string, more = '') =>
    `apiVersion: core.svc.ai/v1alpha1\nkind: Agent\nmetadata: {name: ${name}}\nspec: {systemPrompt: {inline: hi}${more}}\n`

  it('make, change and remove what files, folders and standard input describe', async () => {
    const two = write('two.yaml', `${agent('first')}---\n${agent('second')}`)
    expect((await svc(['apply', '-f', two])).stdout).toBe('agent/first created\nagent/second created\n')
    expect((await svc(['apply', '-f', '-'], { input: readFileSync(two, 'utf8') })).stdout).toBe(
      'agent/first unchanged\nagent/second unchanged\n',
    )
    write('two.yaml', `${agent('first')}---\n${agent('second', ', model: {name: m}')}`)
    expect((await svc(['apply', '-f', two])).stdout).toContain('agent/second configured')
    expect((await svc(['delete', '-f', two])).stdout).toBe('agent/second deleted\nagent/first deleted\n')
    expect((await svc(['delete', '-f', two])).code).toBe(1)
    expect((await svc(['delete', '-f', two, '--ignore-not-found'])).code).toBe(0)
  })

  it('take back what `get` gave, one or many [HTTP-016]', async () => {
    await svc(['apply', '-f', '-'], { input: agent('back') })
    const one = await svc(['get', 'agent/back'])
    expect((await svc(['apply', '-f', '-'], { input: one.stdout })).stdout).toBe('agent/back unchanged\n')
    const many = await svc(['get', 'agents', '-o', 'json'])
    expect((await svc(['apply', '-f', '-'], { input: many.stdout })).stdout).toContain('agent/back unchanged')
    expect((await svc(['delete', 'agent', 'back'])).code).toBe(0)
  })

  it('name every unknown field, and go on with the other documents [HTTP-004, HTTP-015]', async () => {
    const file = write('wrong.yaml', `${agent('wrong', ', colour: red, size: 2')}---\n${agent('right')}`)
    const outcome = await svc(['apply', '-f', file])
    expect(outcome.code).toBe(2)
    expect(outcome.stderr).toContain('agent/wrong')
    expect(outcome.stderr).toContain('document 1')
    expect(outcome.stderr).toMatch(/spec\.colour.*spec\.size/s)
    expect(outcome.stdout).toBe('agent/right created\n')
  })

  it('do nothing at all when a document cannot be meant', async () => {
    const outcome = await launched(['apply', '-f', '-'], {
      input: `${agent('never')}---\nkind: Widget\nmetadata: {name: w}\n`,
    })
    expect(outcome).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('`Widget` is not a kind') })
    expect((await svc(['get', 'agent', 'never'])).code).toBe(1)
    expect((await svc(['apply', '-f', join(place, 'missing.yaml')])).code).toBe(2)
  })

  it('work on the examples that come with it', async () => {
    const outcome = await svc(['-n', 'examples', 'apply', '-f', join(root, 'examples')])
    expect(outcome.stderr).toBe('')
    for (const label of [
      'agent/example-reviewer',
      'skill/example-plain-words',
      'task/example-hello',
      'task/example-flaky',
    ])
      expect(outcome.stdout).toContain(`${label} created`)
    expect((await svc(['-n', 'examples', 'get', 'tasks'])).stdout).not.toContain('Scheduled')
    expect((await svc(['-n', 'examples', 'apply', '-f', join(root, 'examples', 'schedules')])).code).toBe(0)
    const isScheduled = async () =>
      /example-nightly +container +Scheduled/.test((await svc(['-n', 'examples', 'get', 'tasks'])).stdout)
    await waitFor(isScheduled, 'the schedule')
  })
})

describe('svc secret', () => {
  it('takes values from the environment, files and standard input, and shows none', async () => {
    const file = write('value.txt', 'from-a-file\n')
    const from = ['--from-env', 'a=VALUE', '--from-file', `b=${file}`, '--from-file', 'c=-']
    const made = await svc(['secret', 'create', ...from, 'mixed'], { input: 'from-input', env: { VALUE: 'from-env' } })
    expect(made.code, made.stderr).toBe(0)
    const listed = await launched(['secret', 'list', '-o', 'json'])
    expect(JSON.parse(listed.stdout)).toContainEqual(expect.objectContaining({ name: 'mixed', keys: ['a', 'b', 'c'] }))
    expect(made.stdout + made.stderr + listed.stdout).not.toMatch(/from-(env|a-file|input)/)
    expect((await svc(['secret', 'delete', 'mixed'])).code).toBe(0)
    expect(JSON.parse((await svc(['secret', 'list', '-o', 'json'])).stdout)).toEqual([])
  })

  it('rotates the key of a stopped service, and every value stays readable [MODE-015]', async () => {
    const folder = makeFolder()
    const first = await startService({ folder })
    await runSvc(['secret', 'create', 's', '--from-env', 'k=VALUE'], { ...first.env, VALUE: 'the value' })
    const busy = await launchSvc(['secret', 'rotate-key'], first.env)
    expect(busy).toMatchObject({ code: 1, stderr: expect.stringContaining('in use') })
    await first.stop()
    const keyFile = join(folder, 'config', 'svc', 'secret.key')
    const before = readFileSync(keyFile, 'utf8')
    const rotated = await launchSvc(['secret', 'rotate-key'], first.env)
    expect(rotated).toMatchObject({ code: 0, stderr: '1 secret is encrypted under a new key\n' })
    expect(readFileSync(keyFile, 'utf8')).not.toBe(before)
    expect(statSync(keyFile).mode & 0o777).toBe(0o600)
    const second = await startService({ folder })
    const env = [{ name: 'K', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }]
    const command = ['sh', '-c', 'printf %s "$K" | sha256sum']
    await second.call('POST', '/api/v1/tasks', { name: 'sum', spec: { type: 'container', command, env } })
    await waitForPhase(second, 'sum', 'Succeeded')
    const result = await runSvc(['task', 'result', 'sum'], second.env)
    // The value itself would be cut from the output.
    expect(result.stdout).toContain(createHash('sha256').update('the value').digest('hex'))
    await second.stop()
    removeFolder(folder)
  })
})

describe('svc against a service that is named', () => {
  it('uses --server and --token, SVC_SERVER and SVC_TOKEN, with or without a slash', async () => {
    const stranger = environmentOf(makeFolder())
    const named = ['--server', `${service.url}/`, '--token', service.token, 'task', 'list']
    expect((await runSvc(named, stranger)).code).toBe(0)
    const env = { ...stranger, SVC_SERVER: service.url, SVC_TOKEN: service.token }
    expect((await runSvc(['status'], env)).stdout).toContain(service.url)
    expect((await runSvc(['run', '-q', 'say remote'], env)).stdout).toContain('remote')
    removeFolder(stranger.HOME ?? '')
  })

  it('says what is wrong with the address or the token', async () => {
    const stranger = environmentOf(makeFolder())
    const list = (...flags: string[]) => runSvc([...flags, 'task', 'list'], stranger)
    const none = await launchSvc(['status'], stranger)
    expect(none).toMatchObject({ code: 3, stderr: expect.stringContaining('svc up') })
    expect(await list('--server', 'nonsense', '--token', 't')).toMatchObject({ code: 2 })
    const unnamed = await list('--server', service.url)
    expect(unnamed).toMatchObject({ code: 2, stderr: expect.stringContaining('SVC_TOKEN') })
    const wrong = await list('--server', service.url, '--token', 'wrong')
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('token create NAME') })
    expect(await list('--server', 'http://127.0.0.1:9', '--token', 't')).toMatchObject({ code: 3 })
    removeFolder(stranger.HOME ?? '')
  })

  it('takes a service that was killed for none', async () => {
    const killed = await startService()
    await killed.kill()
    const outcome = await runSvc(['status'], killed.env)
    expect(outcome).toMatchObject({ code: 3, stderr: expect.stringContaining('no service runs here') })
    removeFolder(killed.folder)
  })
})

describe('svc up', () => {
  it('names the port that is taken', async () => {
    const folder = makeFolder()
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    const { port } = taken.address() as { port: number }
    const outcome = await launchSvc(['up', '--port', String(port)], environmentOf(folder))
    expect(outcome).toMatchObject({ code: 1, stderr: expect.stringContaining(`port ${port} of 127.0.0.1 is taken`) })
    await new Promise((resolve) => taken.close(resolve))
    removeFolder(folder)
  })

  it('names the folder that cannot be used, and ends', async () => {
    const folder = makeFolder()
    const file = join(folder, 'file')
    writeFileSync(file, '')
    for (const [flag, value] of [
      ['--data-dir', file],
      ['--config-dir', join(file, 'below')],
      ['--ready-file', join(file, 'ready.json')],
    ]) {
      const outcome = await launchSvc(['up', '--port', '0', flag ?? '', value ?? ''], environmentOf(folder))
      expect(outcome.code, outcome.stderr).toBe(2)
      expect(outcome.stderr).toContain(`Choose another one with ${flag}`)
    }
    removeFolder(folder)
  })

  it('drains when one Ctrl-C reaches it twice, from the terminal and from a launcher', async () => {
    const twice = await startService()
    const ended = new Promise((resolve) => twice.process.once('close', resolve))
    twice.process.kill('SIGINT')
    twice.process.kill('SIGINT')
    await ended
    expect(twice.process.exitCode).toBe(0)
    expect(twice.output()).toContain('"message":"stopped"')
    removeFolder(twice.folder)
  })

  it('ends by itself when it was idle for --idle-exit', async () => {
    const idle = await startService({ flags: ['--idle-exit', '1s'] })
    await waitFor(() => idle.process.exitCode !== null, 'the idle service to end')
    expect(idle.process.exitCode).toBe(0)
    expect(existsSync(join(idle.folder, 'ready.json'))).toBe(true)
    removeFolder(idle.folder)
  })

  it('takes settings from flags, then the environment, then the file [CLI-005, CLI-007]', async () => {
    const file = write('settings.yaml', 'port: 1\nlogLevel: debug\nmaxIterations: 7\n')
    const env = { SVC_PORT: '2', SVC_LOG_LEVEL: 'warn', SVC_PROT: '9' }
    const networks = ['--allow-network', '10.0.0.0/8', '--allow-network', '127.0.0.1,::1']
    const outcome = await svc(['config', 'print', '--config', file, '--port', '3', ...networks, '-o', 'json'], { env })
    const values = JSON.parse(outcome.stdout) as object[]
    expect(values).toContainEqual({ name: 'port', value: '3', source: 'flag' })
    expect(values).toContainEqual({ name: 'allowNetwork', value: '10.0.0.0/8,127.0.0.1,::1', source: 'flag' })
    expect(values).toContainEqual({ name: 'logLevel', value: 'warn', source: 'environment' })
    expect(values).toContainEqual({ name: 'maxIterations', value: '7', source: 'file' })
    expect(outcome.stderr).toContain('SVC_PROT')
    write('settings.yaml', 'prot: 1\n')
    const wrong = await launched(['up', '--config', file])
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('prot is not a setting') })
  })
})

describe('svc in a pipe', () => {
  it('ends quietly when its reader has enough', async () => {
    const line = `"${process.execPath}" "${launcher}" get tools -o json | head -c 10; echo " \${PIPESTATUS[0]}"`
    const outcome = await runProgram('bash', ['-c', line], { env: service.env })
    expect(outcome.stderr).toBe('')
    expect(outcome.stdout).toMatch(/^\[\n.* (0|141)\n$/s)
  })
})
