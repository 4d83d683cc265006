// Worker processes of embedded mode: what they are kept from, how they end, what is left of them.
import { cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Clock } from '../../src/lib/clock.ts'
import { systemClock } from '../../src/lib/system-clock.ts'
import type { AttemptKey, WorkloadLimits, WorkloadState } from '../../src/ports/tasks/workloads.ts'
import { probeBubblewrap } from '../../src/runtime/local/confinement/bubblewrap.ts'
import { findControlGroups } from '../../src/runtime/local/confinement/control-groups.ts'
import type { EmbeddedWorkloadsOptions } from '../../src/runtime/local/workloads.ts'
import { waitFor } from '../fixtures/time.ts'
import { findProcesses, makeFolder, removeFolder, testIds } from './embedded-bench.ts'
import { type EmbeddedBench, openEmbeddedBench } from './embedded-workloads-bench.ts'

const probe = await probeBubblewrap()
const groups = await findControlGroups()
const root = join(import.meta.dirname, '..', '..')

let bench: EmbeddedBench
const reopen = async (changed: Partial<EmbeddedWorkloadsOptions>) => {
  await bench.close()
  bench = openEmbeddedBench(changed)
}
beforeEach(() => {
  bench = openEmbeddedBench()
})
afterEach(() => bench.close())

type Work = { prompt: string; systemPrompt?: string; type?: string; limits?: WorkloadLimits }

async function start(work: Work, watch?: (assignment: object) => void): Promise<AttemptKey> {
  const key = { taskUid: testIds.next('uid'), attempt: 1 }
  const loop = { prompt: work.prompt, systemPrompt: work.systemPrompt ?? '' }
  // The fixtures read no more of an assignment than this.
  const assignment = { task: { name: 'tested', type: work.type ?? 'ai' }, loop } as never
  watch?.(assignment)
  const spec = { key, namespace: 'default', taskName: 'tested', limits: work.limits ?? {} }
  await bench.workloads.ensure({ ...spec, run: { kind: 'worker', assignment } })
  return key
}

function waitForEnd(key: AttemptKey): Promise<WorkloadState> {
  return waitFor(async () => {
    const state = await bench.workloads.observe(key)
    return (state.phase === 'Succeeded' || state.phase === 'Failed') && state
  }, 'the attempt has ended')
}

async function finish(work: Work): Promise<WorkloadState> {
  const key = await start(work)
  const state = await waitForEnd(key)
  await bench.workloads.remove(key)
  return state
}

function linesOf(key: AttemptKey): string[] {
  return bench.logs.get(key.taskUid) ?? []
}

describe('a worker process', () => {
  it('receives its work through a pipe, and its output is the log', async () => {
    const key = await start({ prompt: 'succeed' })
    expect(await waitForEnd(key)).toMatchObject({ phase: 'Succeeded' })
    expect([...linesOf(key)].sort()).toEqual(['hello from tested', 'on stderr'])
  })

  it('has what it was given for itself, once it has it: the service keeps no key and no prompt', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    let given: WeakRef<object> | undefined
    const key = await start({ prompt: 'hang' }, (assignment) => {
      given = new WeakRef(assignment)
    })
    await waitFor(() => {
      collect()
      return given?.deref() === undefined
    }, 'nothing keeps the assignment')
    expect(await bench.workloads.observe(key)).toMatchObject({ phase: 'Running' })
  })

  it('fails with its own message', async () => {
    const state = await finish({ prompt: 'fail' })
    expect(state).toMatchObject({ phase: 'Failed', reason: 'ExitCode', message: 'the provider refused the key' })
  })

  it('that crashes is reported with its exit code and last lines', async () => {
    const state = await finish({ prompt: 'crash' })
    expect(state).toMatchObject({ phase: 'Failed', reason: 'ExitCode', exitCode: 42 })
    expect(state).toHaveProperty('message', expect.stringContaining('boom: something broke'))
  })

  it('that a signal ends is reported with that signal', async () => {
    const state = await finish({ prompt: 'die' })
    expect(state).toMatchObject({ phase: 'Failed', reason: 'Signal', message: expect.stringContaining('SIGSEGV') })
  })

  it('that hangs is ended at its deadline', async () => {
    const state = await finish({ prompt: 'hang', limits: { deadlineSeconds: 0.3 } })
    expect(state).toMatchObject({ phase: 'Failed', reason: 'DeadlineExceeded' })
  })

  it('that ignores SIGTERM is killed after the grace period, and its folder is removed', async () => {
    const key = await start({ prompt: 'ignoreTerm' })
    await waitFor(() => linesOf(key).includes('deaf'), 'it runs')
    await bench.workloads.remove(key)
    expect(linesOf(key)).toContain('not now')
    await waitFor(() => readdirSync(join(bench.folder, 'data', 'work')).length === 0, 'its folder is gone')
  })

  it('that floods its output is slowed down and loses no line', async () => {
    const key = await start({ prompt: 'flood' })
    let [most, atOnce, count] = [0, 0, 0]
    bench.slowDown.take = async (_key, lines) => {
      most = Math.max(most, ++atOnce)
      count += lines.length
      await new Promise(setImmediate)
      atOnce--
    }
    expect(await waitForEnd(key)).toMatchObject({ phase: 'Succeeded' })
    expect(count).toBe(20_001)
    expect(most).toBe(1)
  })

  it('is ended together with every process that it started', async (context) => {
    context.skip(!probe.available && groups.controllers.length === 0, 'neither a sandbox nor control groups here')
    const key = await start({ prompt: 'leaveBehind', systemPrompt: testIds.next('svc-grandchild') })
    expect(await waitForEnd(key)).toMatchObject({ phase: 'Succeeded' })
    await waitFor(() => findProcesses('svc-grandchild').length === 0, 'nothing is left')
  })

  it('that uses too much memory is ended, with a reason that names the limit', async (context) => {
    context.skip(!groups.controllers.includes('memory'), 'no memory control group can be made here')
    const state = await finish({ prompt: 'hoard', limits: { memoryBytes: 200 * 1024 * 1024 } })
    expect(state).toMatchObject({ phase: 'Failed', reason: 'OutOfMemory', message: expect.stringContaining('200 MiB') })
  })

  it('whose program is damaged fails to start, with the cause', async () => {
    await reopen({ workerProgram: join(root, 'test/fixtures/workers/broken.mjs') })
    const state = await finish({ prompt: 'succeed' })
    expect(state).toMatchObject({ phase: 'Failed', reason: 'StartFailed' })
    expect(state).toHaveProperty('message', expect.stringContaining('the program is damaged'))
  })
})

describe('the compile cache', () => {
  it('is filled once, and workers can read but not write it', async () => {
    const cacheFolder = makeFolder('cache-test')
    await reopen({ cacheFolder })
    await finish({ prompt: 'succeed' })
    await waitFor(() => existsSync(cacheFolder) && readdirSync(cacheFolder).length === 1, 'the cache is there')
    expect(await finish({ prompt: 'succeed' })).toMatchObject({ phase: 'Succeeded' })
    await bench.workloads.close()
    removeFolder(cacheFolder)
  })

  it('that is still to be filled does not keep the service from its end', async () => {
    const cacheFolder = makeFolder('cache-test')
    const slept: number[] = []
    const sleep: Clock['sleep'] = (ms, signal) => {
      slept.push(ms)
      return systemClock.sleep(ms, signal)
    }
    await reopen({ cacheFolder, clock: { ...systemClock, sleep } })
    await start({ prompt: 'hang' })
    await waitFor(() => slept.includes(1000), 'the pause before the cache is made')
    await expect(bench.workloads.close()).resolves.toBeUndefined()
    removeFolder(cacheFolder)
  })
})

describe.skipIf(!probe.available)('the sandbox of a worker (skipped where there is none)', () => {
  it('gives it the network and its own folder, and hides the files and processes of the service [SAND-001, SAND-002, MODE-003]', async () => {
    let connections = 0
    const server = createServer((socket) => {
      connections++
      socket.end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    const dataFile = join(bench.folder, 'data', 'svc.db')
    const paths = [
      dataFile,
      bench.folder,
      '/root',
      '/home',
      '/sys',
      join(root, 'test', 'contracts'),
      join(root, '.git'),
    ]
    const systemPrompt = JSON.stringify({ port, paths, hostPid: process.pid })
    await waitFor(() => existsSync(join(bench.folder, 'data')), 'the data folder is made')
    writeFileSync(dataFile, 'precious')
    const key = await start({ prompt: 'look', systemPrompt })
    expect(await waitForEnd(key)).toMatchObject({ phase: 'Succeeded' })
    server.close()
    const seen = JSON.parse(linesOf(key).join(''))
    expect(Object.keys(seen.env).sort()).toEqual(['HOME', 'LANG', 'PATH', 'PWD', 'TERM', 'TMPDIR'])
    expect(seen).toMatchObject({ cwd: '/workspace', files: [], own: 'written', connected: true })
    expect(seen.hidden).toEqual(paths.map(() => false))
    expect([seen.root, seen.usr, seen.corePattern, seen.shadow]).not.toContain('written')
    expect(seen.shadow).toBe('ENOENT')
    expect(['ENOENT', 'EACCES', 'EPERM']).toContain(seen.hostEnvironment)
    expect(seen.pid).toBeLessThan(20)
    expect(connections).toBe(1)
  })

  it('hides as much from a command [SAND-001, SAND-002]', async () => {
    const key = { taskUid: testIds.next('uid'), attempt: 1 }
    const { dataDir, configDir } = bench.options
    mkdirSync(configDir, { recursive: true })
    writeFileSync(join(configDir, 'secret.key'), 'precious')
    const script = `ls ${dataDir} ${configDir}; cat ${configDir}/secret.key; echo pid $$; env | sort; ls -A`
    const run = { kind: 'command' as const, command: ['/bin/sh', '-c', script], args: [], env: { GIVEN: 'yes' } }
    await bench.workloads.ensure({ key, namespace: 'default', taskName: 'looking', limits: {}, run })
    const state = await waitForEnd(key)
    const text = state.phase === 'Succeeded' ? (state.output?.text ?? '') : ''
    expect(text).toMatch(/^pid \d\n/)
    const names = text
      .split('\n')
      .slice(1, -1)
      .map((line) => line.split('=')[0])
    expect(names.filter((name) => name !== '_')).toEqual(['GIVEN', 'HOME', 'LANG', 'PATH', 'PWD', 'TERM', 'TMPDIR'])
  })

  it('hides the data folder also when it lies below the program’s folder', async () => {
    const program = makeFolder('program-test')
    cpSync(join(root, 'test/fixtures/workers'), join(program, 'src'), { recursive: true })
    const dataDir = join(program, 'src', 'data')
    await reopen({ dataDir, programRoot: program, workerProgram: join(program, 'src', 'echo.mjs') })
    await waitFor(() => existsSync(join(dataDir, 'work')), 'the data folder is made')
    writeFileSync(join(dataDir, 'svc.db'), 'precious')
    const paths = [join(dataDir, 'svc.db'), join(dataDir, 'work'), join(program, 'src', 'echo.mjs')]
    const key = await start({ prompt: 'look', systemPrompt: JSON.stringify({ port: 1, paths, hostPid: 1 }) })
    await waitForEnd(key)
    expect(JSON.parse(linesOf(key).join('')).hidden).toEqual([false, false, true])
    await bench.workloads.close()
    removeFolder(program)
  })

  // As a plain user the service cannot change how /proc is mounted for a worker.
  it.skipIf(process.getuid?.() !== 0)('hides concurrent runs of code from each other [SAND-001]', async () => {
    const module = join(root, 'src/runtime/local/sandbox/sandbox.ts')
    const key = await start({ prompt: 'spy', systemPrompt: module })
    expect(await waitForEnd(key)).toMatchObject({ phase: 'Succeeded' })
    const { held, looked } = JSON.parse(linesOf(key).join(''))
    expect([held.exitCode, looked.exitCode]).toEqual([0, 0])
    expect(looked.stdout).toContain('-e begun ]; do sleep')
    expect(looked.stdout).toMatch(/\nown\ncat\n$/)
    expect(looked.stdout).not.toMatch(/secret-argument|touch begun;|--max-old-space/)
    expect(looked.stdout.split('\n').filter((line: string) => /^ *\d+: [0-9A-F]{8}:/.test(line))).toEqual([])
  })

  it('lets it run code in a stricter nested sandbox with limits of its own [BUILT-022, BUILT-023]', async () => {
    const module = join(root, 'src/runtime/local/sandbox/sandbox.ts')
    const key = await start({ prompt: 'nest', systemPrompt: module })
    expect(await waitForEnd(key)).toMatchObject({ phase: 'Succeeded' })
    const seen = JSON.parse(linesOf(key).join(''))
    expect(seen.check).toMatchObject({ available: true, kind: 'bubblewrap' })
    expect(seen.node).toMatchObject({ exitCode: 0, stdout: '42\n' })
    expect(seen.look.stdout).toMatch(/^of the worker/)
    expect(seen.look.stdout).not.toContain('PATH=')
    expect(seen.made).toBe('made\n')
    expect(seen.forks.exitCode).not.toBe(0)
    expect(seen.sockets).toMatchObject({ exitCode: 0, stdout: '' })
    expect(seen.mounts.stdout).toBe('')
    expect(Number(seen.forks.stdout.trim().split('\n').at(-1))).toBeLessThanOrEqual(16)
  })
})

describe('without a sandbox', () => {
  const none = Promise.resolve({
    available: false as const,
    reason: 'bubblewrap (bwrap) is not installed',
    suggestion: 'apt-get install bubblewrap',
  })

  it('runs ai tasks with a clean environment in a folder of their own', async () => {
    await reopen({ bubblewrap: none })
    const key = await start({ prompt: 'look', systemPrompt: JSON.stringify({ port: 1, paths: [], hostPid: 1 }) })
    expect(await waitForEnd(key)).toMatchObject({ phase: 'Succeeded' })
    const seen = JSON.parse(linesOf(key).join(''))
    expect(
      Object.keys(seen.env).filter((name) => !/^(HOME|LANG|PATH|PWD|TERM|TMPDIR|SHLVL|OLDPWD|_)$/.test(name)),
    ).toEqual([])
    expect(seen.cwd).toContain(join(bench.folder, 'data', 'work'))
    expect(seen.files).toEqual([])
  })

  it.each([
    ['agent tasks', { kind: 'worker' as const, assignment: { task: { name: 'a', type: 'agent' }, loop: {} } as never }],
    ['commands', { kind: 'command' as const, command: ['true'], args: [], env: {} }],
  ])('refuses %s with a message that says what to install [SAND-003]', async (_what, run) => {
    await reopen({ bubblewrap: none })
    const key = { taskUid: testIds.next('uid'), attempt: 1 }
    await bench.workloads.ensure({ key, namespace: 'default', taskName: 'refused', limits: {}, run })
    const state = await waitForEnd(key)
    expect(state).toMatchObject({ phase: 'Failed', reason: 'NoSandbox' })
    expect(state).toHaveProperty('message', expect.stringMatching(/apt-get install bubblewrap.*--allow-unsandboxed/))
  })

  it('runs ai and agent tasks when that is allowed [SAND-003]', async () => {
    await reopen({ bubblewrap: none, allowUnsandboxed: true })
    expect(await finish({ prompt: 'succeed', type: 'agent' })).toMatchObject({ phase: 'Succeeded' })
  })

  it('fails a task that needs an image, and says what to start', async () => {
    const key = { taskUid: testIds.next('uid'), attempt: 1 }
    const run = { kind: 'command' as const, image: 'debian:12', command: ['true'], args: [], env: {} }
    await bench.workloads.ensure({ key, namespace: 'default', taskName: 'refused', limits: {}, run })
    const state = await waitForEnd(key)
    expect(state).toMatchObject({
      phase: 'Failed',
      reason: 'NoEngine',
      message: expect.stringContaining('start Docker'),
    })
  })
})
