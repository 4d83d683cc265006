// Runners as processes: what each way to end one does to the attempts in it, and what a runner may do.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { runnerProtocol } from '../../../src/contract/api/tasks/runners.ts'
import type { AttemptKey, WorkloadState } from '../../../src/ports/tasks/workloads.ts'
import { waitFor } from '../../fixtures/time.ts'
import { openRunnerBench, type RunnerBench } from './bench.ts'

let bench: RunnerBench
afterEach(() => bench.close())

const lossOf = (state: WorkloadState) => (state.phase === 'Failed' ? state.loss : undefined)
const stateOfRunners = async () => (await bench.workloads.status()).runners

async function finish(prompt: string): Promise<WorkloadState> {
  return bench.waitForEnd(await bench.start(prompt))
}

async function endAll(keys: AttemptKey[]): Promise<WorkloadState[]> {
  return Promise.all(keys.map(bench.waitForEnd))
}

describe('attempts in a runner', () => {
  it('share one process, and each ends as it says itself', async () => {
    bench = await openRunnerBench()
    const [succeeded, failed, broken] = await Promise.all(['succeed', 'fail', 'throw'].map(finish))
    expect(succeeded).toMatchObject({ phase: 'Succeeded' })
    expect(failed).toMatchObject({ reason: 'ExitCode', cause: 'ProviderFailed', message: 'the provider failed' })
    expect(broken).toMatchObject({ cause: 'Internal', message: 'The runner broke: broken' })
    expect(await stateOfRunners()).toHaveLength(1)
  })

  it('are stopped one by one; of one that does not end nothing counts, and its runner takes nothing more', async () => {
    bench = await openRunnerBench()
    const [stopped, other] = await bench.startWaiting(2)
    await bench.workloads.remove(stopped as AttemptKey)
    expect(await bench.workloads.observe(stopped as AttemptKey)).toEqual({ phase: 'Missing' })
    const deaf = await bench.start('deaf')
    await waitFor(async () => (await stateOfRunners())[0]?.attempts === 2, 'it runs')
    await bench.workloads.remove(deaf)
    await waitFor(async () => (await stateOfRunners())[0]?.isFull, 'the runner says so')
    expect(await finish('succeed')).toMatchObject({ phase: 'Succeeded' })
    expect(await stateOfRunners()).toHaveLength(2)
    expect(await bench.workloads.observe(other as AttemptKey)).toMatchObject({ phase: 'Running' })
    await bench.workloads.remove(other as AttemptKey)
    await waitFor(async () => (await stateOfRunners()).length === 1, 'what has nothing left ends')
  })

  it('follow one another in the same runner', async () => {
    bench = await openRunnerBench()
    await finish('succeed')
    const before = await stateOfRunners()
    await finish('succeed')
    expect((await stateOfRunners()).map(({ pid }) => pid)).toEqual(before.map(({ pid }) => pid))
  })

  it('keep no runner when there is nothing to do, and get a new one', async () => {
    bench = await openRunnerBench({ idleMs: 50 })
    expect(await finish('succeed')).toMatchObject({ phase: 'Succeeded' })
    await waitFor(async () => (await stateOfRunners()).length === 0, 'it has ended')
    expect(await finish('succeed')).toMatchObject({ phase: 'Succeeded' })
  })

  it('fail to start, with the cause, where the program is damaged', async () => {
    const broken = join(import.meta.dirname, '..', '..', 'fixtures', 'workers', 'broken.mjs')
    bench = await openRunnerBench({}, { workerProgram: broken })
    const state = await finish('succeed')
    expect(state).toMatchObject({ phase: 'Failed', reason: 'StartFailed' })
    expect(state).toHaveProperty('message', expect.stringContaining('the program is damaged'))
  })
})

describe('one that ends its runner', () => {
  it.each([
    ['by a fault of the machine', 'die', 'SIGSEGV'],
    ['by an error that nobody catches', 'throwLater', 'nobody catches it'],
    ['by all the memory', 'hoard', 'memory'],
    ['by a loop without end', 'block', 'one thing for too long'],
  ])('%s goes on alone, and nothing counts against the others', async (_how, prompt, why) => {
    bench = await openRunnerBench()
    const others = await bench.startWaiting(3)
    const poison = await bench.start(prompt)
    const state = await bench.waitForEnd(poison)
    expect(state).toMatchObject({ phase: 'Failed', reason: 'Stopped', loss: 'suspect' })
    expect(state).toHaveProperty('message', expect.stringContaining(why))
    const ends = await endAll(others)
    expect(ends.map(lossOf)).toEqual(['bystander', 'bystander', 'bystander'])
    expect(await finish('succeed')).toMatchObject({ phase: 'Succeeded' })
  })

  it('by all the descriptors does not: the lease is renewed, and others go elsewhere', async () => {
    bench = await openRunnerBench()
    const others = await bench.startWaiting(2)
    await bench.start('descriptors')
    await waitFor(async () => (await stateOfRunners())[0]?.isFull, 'the runner says so')
    expect(await finish('succeed')).toMatchObject({ phase: 'Succeeded' })
    for (const key of others) expect(await bench.workloads.observe(key)).toMatchObject({ phase: 'Running' })
  })
})

describe('one that takes more than its part', () => {
  it('of the memory goes on alone, and its runner goes on with the others', async () => {
    bench = await openRunnerBench()
    const [other] = await bench.startWaiting(1)
    const state = await finish('grow')
    expect(state).toMatchObject({ loss: 'suspect', message: expect.stringContaining('it holds 100 MiB') })
    expect(await bench.workloads.observe(other as AttemptKey)).toMatchObject({ phase: 'Running' })
  })

  it('of the disk fails, and its runner goes on with the others', async () => {
    bench = await openRunnerBench({}, { workspaces: { size: { bytes: 8 * 1024 ** 2, files: 100 } } })
    const [other] = await bench.startWaiting(1)
    const state = await finish('fill')
    expect(state).toMatchObject({ reason: 'DiskFull', message: expect.stringContaining('more than 8 MiB') })
    expect(await bench.workloads.observe(other as AttemptKey)).toMatchObject({ phase: 'Running' })
  })
})

describe('a runner that is ended from outside', () => {
  it.each(['SIGKILL', 'SIGSTOP'] as const)('by %s blames one at most', async (signal) => {
    bench = await openRunnerBench()
    const keys = await bench.startWaiting(5)
    process.kill(await bench.pidOfRunner(), signal)
    const losses = (await endAll(keys)).map(lossOf)
    expect(losses).not.toContain(undefined)
    expect(losses.filter((loss) => loss === 'suspect').length).toBeLessThanOrEqual(1)
    expect(await finish('succeed')).toMatchObject({ phase: 'Succeeded' })
  })

  it('leaves nothing behind', async () => {
    bench = await openRunnerBench()
    const keys = await bench.startWaiting(2)
    const pid = await bench.pidOfRunner()
    process.kill(pid, 'SIGKILL')
    await endAll(keys)
    for (const key of keys) await bench.workloads.remove(key)
    expect(await stateOfRunners()).toEqual([])
    expect(() => readFileSync(`/proc/${pid}/status`)).toThrow()
  })
})

describe('the credential of a runner', () => {
  const registration = {
    protocol: runnerProtocol,
    version: '0',
    slots: 1,
    attemptBytes: 1,
    runs: ['ai'],
    runsCode: false,
  }

  it('is its own: nobody else has one, and it opens nothing else', async () => {
    bench = await openRunnerBench()
    const { service } = bench
    const key = await bench.start('wait')
    const token = await service.ports.workerTokens.mint({ ...key, namespace: 'default', taskName: 'task-1' })
    for (const other of ['svc_guessed', token, undefined]) {
      const answer = await service.call('POST /internal/v1/runners', {
        payload: registration,
        ...(other !== undefined && { token: other }),
      })
      expect(answer.statusCode).toBe(401)
    }
  })
})
