// How much a task may write: more than its workspace holds ends it with a reason, early, and leaves nothing behind.
import { execFile, execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { AttemptKey, WorkloadLimits, WorkloadState } from '../../../src/ports/tasks/workloads.ts'
import { probeBubblewrap } from '../../../src/runtime/local/confinement/bubblewrap.ts'
import { createSandbox } from '../../../src/runtime/local/sandbox/sandbox.ts'
import { makeFolder, removeFolder, testIds } from '../../contracts/embedded-bench.ts'
import { type EmbeddedBench, openEmbeddedBench, workerFixture } from '../../contracts/embedded-workloads-bench.ts'
import { openSmallDisk, type SmallDisk, smallDiskRefusal } from '../../fixtures/small-disk.ts'
import { waitFor } from '../../fixtures/time.ts'

const probe = await probeBubblewrap()
const mebibyte = 1024 ** 2
const size = { bytes: 16 * mebibyte, files: 400 }
const watched = { kind: 'watch' as const, why: 'this test watches' }

/** Writes files of 2 MiB each, which no limit of a single file stops, up to 3 GiB; then it succeeds. */
const flood = 'for i in $(seq 1536); do head -c 2097152 /dev/zero > f$i || exit 7; done'
const litter = 'for i in $(seq 200000); do : > f$i || exit 7; done'

const open = () => openEmbeddedBench({ workspaces: { size, layer: watched } })
let bench: EmbeddedBench
beforeEach(() => {
  bench = open()
})
afterEach(() => bench.close())

async function start(script: string, limits: WorkloadLimits = {}): Promise<AttemptKey> {
  const key = { taskUid: testIds.next('uid'), attempt: 1 }
  const run = { kind: 'command' as const, command: ['/bin/bash', '-c', script], args: [], env: {} }
  await bench.workloads.ensure({ key, namespace: 'default', taskName: 'sized', run, limits })
  return key
}

function waitForEnd(key: AttemptKey): Promise<WorkloadState> {
  return waitFor(async () => {
    const state = await bench.workloads.observe(key)
    return (state.phase === 'Succeeded' || state.phase === 'Failed') && state
  }, 'the attempt has ended')
}

/** Bytes that lie in the workspaces now. */
function readUsed(): number {
  const out = execFileSync('du', ['-s', '--block-size=1', join(bench.folder, 'data', 'work')], { encoding: 'utf8' })
  return Number(out.split('\t')[0])
}

const full = { phase: 'Failed', reason: 'DiskFull', message: expect.stringContaining('in its workspace') }

describe.skipIf(!probe.available)('a command that writes more than its workspace holds', () => {
  it('is ended long before it has written everything', async () => {
    const key = await start(flood)
    expect(await waitForEnd(key)).toMatchObject(full)
    expect(readUsed()).toBeLessThan(1024 * mebibyte)
    await bench.workloads.remove(key)
    expect(readdirSync(join(bench.folder, 'data', 'work'))).toEqual([])
  })

  it('is ended for too many files', async () => {
    expect(await waitForEnd(await start(litter))).toMatchObject(full)
  })

  it('is ended by the first file that is larger', async () => {
    const state = await waitForEnd(await start('exec head -c 3000000000 /dev/zero > big'))
    expect(state).toMatchObject({ phase: 'Failed', reason: 'DiskFull' })
    expect(readUsed()).toBeLessThanOrEqual(size.bytes + mebibyte)
  })

  it('is ended when it makes what it wrote unreadable for its own user', async () => {
    const write = (place: string) => `for i in 1 2 3 4 5; do head -c 2097152 /dev/zero > ${place}$i || exit 7; done`
    const hide = `mkdir d; ${write('d/f')}; chmod 000 d; ${write('f')}; sleep 60`
    expect(await waitForEnd(await start(hide))).toMatchObject(full)
  })

  it('may write as much as its own task allows', async () => {
    const write = 'for i in 1 2 3 4 5; do head -c 5000000 /dev/zero > f$i || exit 7; done'
    expect(await waitForEnd(await start(`${write}; sleep 60`))).toMatchObject(full)
    const more = { diskBytes: 64 * mebibyte }
    expect(await waitForEnd(await start(`${write}; sleep 0.5`, more))).toMatchObject({ phase: 'Succeeded' })
  })

  it('is charged once for a file with many names, and not for removed files', async () => {
    const script = [
      'head -c 5000000 /dev/zero > one; for i in $(seq 20); do ln one l$i; done',
      'for i in $(seq 10); do head -c 5000000 /dev/zero > two; rm two; sleep 0.1; done',
    ].join('; ')
    expect(await waitForEnd(await start(script))).toMatchObject({ phase: 'Succeeded' })
  })
})

describe.skipIf(!probe.available)('code that shares a folder', () => {
  it('is ended for the files it adds, not for those that were there', async () => {
    const folder = makeFolder('growth-test')
    const sandbox = createSandbox({ ids: testIds, bubblewrap: Promise.resolve(probe) })
    const limits = {
      timeoutMs: 60_000,
      memoryBytes: 512 * mebibyte,
      cpuSeconds: 60,
      processes: 32,
      outputBytes: 1000,
      diskBytes: 16 * mebibyte,
    }
    const run = (script: string) =>
      sandbox.run({ argv: ['bash', '-c', script], workspace: folder, limits }, new AbortController().signal)
    try {
      writeFileSync(join(folder, 'before'), Buffer.alloc(64 * mebibyte))
      expect(await run('head -c 4000000 /dev/zero > more; sleep 0.3')).toMatchObject({ exitCode: 0 })
      expect(await run(flood)).toMatchObject({ exceeded: 'disk', timedOut: false })
      const used = Number(execFileSync('du', ['-s', '--block-size=1', folder], { encoding: 'utf8' }).split('\t')[0])
      expect(used).toBeLessThan(1024 * mebibyte)
    } finally {
      removeFolder(folder)
    }
  })
})

const noDisk = probe.available ? smallDiskRefusal : probe.reason

describe.skipIf(noDisk !== undefined)(`a disk that is nearly full ${noDisk ?? ''}`, () => {
  let disk: SmallDisk
  let small: EmbeddedBench
  beforeEach(() => {
    // At least 3.2 MiB are to be free, and in danger are the last 1.6.
    disk = openSmallDisk(64)
    const workspaces = { size: { bytes: 1024 * mebibyte, files: 400 }, layer: watched }
    small = openEmbeddedBench({ dataDir: join(disk.folder, 'data'), workspaces })
  })
  afterEach(async () => {
    await small.close()
    disk.remove()
  })

  const submit = async (taskUid: string, script: string) => {
    const run = { kind: 'command' as const, command: ['/bin/bash', '-c', script], args: [], env: {} }
    const key = { taskUid, attempt: 1 }
    await small.workloads.ensure({ key, namespace: 'default', taskName: taskUid, run, limits: {} })
    return key
  }

  const waitForPhase = (key: AttemptKey, phase: WorkloadState['phase']) =>
    waitFor(async () => {
      const state = await small.workloads.observe(key)
      return state.phase === phase && state
    }, `${key.taskUid} is ${phase}`)

  it('starts nothing below its reserve, and starts again when there is room', async () => {
    disk.leaveFree(2.4 * mebibyte)
    expect(small.workloads.capacity()).toBe(0)
    await expect(submit('a', 'true')).rejects.toMatchObject({
      reason: 'Unavailable',
      message: expect.stringMatching(/too little free space/),
    })
    disk.makeRoom()
    expect(small.workloads.capacity()).toBeGreaterThan(0)
    await waitForPhase(await submit('a', 'true'), 'Succeeded')
  })

  it('ends the attempt that wrote most when space is critical, and only that one', async () => {
    const wait = 'touch written; while true; do sleep 0.1; done'
    const few = await submit('few', `head -c 4000000 /dev/zero > f; ${wait}`)
    await waitForPhase(few, 'Running')
    const most = await submit('most', `head -c 30000000 /dev/zero > f; ${wait}`)
    const isWritten = () =>
      execFileSync('find', [disk.folder, '-name', 'written'], { encoding: 'utf8' }).trim().split('\n')
    await waitFor(async () => isWritten().length === 2, 'both have written')
    disk.leaveFree(mebibyte)
    const state = await waitForPhase(most, 'Failed')
    expect(state).toMatchObject({ reason: 'DiskFull', message: expect.stringContaining('had written the most') })
    expect(await small.workloads.observe(few)).toMatchObject({ phase: 'Running' })
    await small.workloads.remove(most)
    expect(readdirSync(join(disk.folder, 'data', 'work'))).toHaveLength(1)
  })
})

const root = join(import.meta.dirname, '..', '..', '..')
const program = join(root, 'test', 'fixtures', 'workspaces-run.ts')
type Told = { sizes: { kind: string; why?: string }; state: WorkloadState }

async function runApart(script: string, folder: string): Promise<Told> {
  const options = JSON.stringify({ folder, root, worker: workerFixture, script, size })
  const args = ['-m', '--propagation', 'private', process.execPath, program, options]
  const { stdout } = await promisify(execFile)('unshare', args, { timeout: 60_000 })
  return JSON.parse(stdout) as Told
}

const apart = await (async () => {
  const folder = makeFolder('sizes-test')
  try {
    const { sizes } = await runApart('true', folder)
    return sizes.kind === 'image' ? undefined : sizes.why
  } catch (error) {
    return String(error)
  } finally {
    removeFolder(folder)
  }
})()

describe.skipIf(apart !== undefined)(`a workspace that is a file system of its own ${apart ?? ''}`, () => {
  it('holds no byte more than its size, and the reason names the limit', async () => {
    const { state } = await runApart(flood, bench.folder)
    expect(state).toMatchObject(full)
    expect(state).toMatchObject({ exitCode: 7 })
  })

  it('holds no more files than its limit', async () => {
    expect((await runApart(litter, bench.folder)).state).toMatchObject(full)
  })

  it('offers all of its size, is empty at first, and leaves neither mount nor file', async () => {
    const folder = join(bench.folder, 'apart')
    const { state } = await runApart(`ls -A; head -c ${size.bytes} /dev/zero > most && echo held`, folder)
    expect(state).toMatchObject({ phase: 'Succeeded', output: { text: 'held\n' } })
    expect(readdirSync(join(folder, 'work'))).toEqual([])
    expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(folder)
  })
})
