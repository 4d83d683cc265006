import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createManualClock, type ManualClock } from '../../../../test/fixtures/time.ts'
import type { Ids } from '../../../lib/clock.ts'
import type { WorkerEnd } from '../../attempts/worker-end.ts'
import { createWorkerPool, type WorkerPool, type WorkerPoolOptions } from './worker-pool.ts'
import type { WorkerProcess } from './worker-process.ts'

/** A worker that is not a process: it ends when told to, or when the test says that it died. */
type FakeWorker = WorkerProcess & { die(): void; hasEnded: boolean }

function makeWorker(id: string): FakeWorker {
  const ended = Promise.withResolvers<WorkerEnd>()
  const worker: FakeWorker = {
    id,
    pid: Number(id.split('-').at(-1)),
    folder: '/nowhere',
    hasEnded: false,
    isReady: () => true,
    assign: () => undefined,
    limit: async () => undefined,
    ended: ended.promise,
    released: ended.promise.then(() => undefined),
    settled: Promise.resolve(),
    terminate: async () => worker.die(),
    kill: async () => worker.die(),
    readMemory: async () => 1,
    die: () => {
      worker.hasEnded = true
      ended.resolve({
        exit: { code: 0, signal: null },
        wasReady: true,
        outcome: undefined,
        errorTail: '',
        wasOutOfMemory: false,
      })
    },
  }
  return worker
}

let count: number
let clock: ManualClock
let workers: FakeWorker[]
let failing: boolean
let attempts: number
let pool: WorkerPool
const ids: Ids = { next: (prefix) => `${prefix}-${++count}`, hex: () => '', random: () => 1 }

function open(changed: Partial<WorkerPoolOptions> = {}): WorkerPool {
  return createWorkerPool({
    launch: async (id) => {
      attempts++
      if (failing) throw new Error('no more processes')
      const worker = makeWorker(id)
      workers.push(worker)
      return worker
    },
    canServe: ({ memoryBytes = 0 }) => memoryBytes <= 100,
    clock,
    ids,
    prefix: 'w',
    ...changed,
  })
}

beforeEach(() => {
  count = 0
  attempts = 0
  failing = false
  workers = []
  clock = createManualClock()
  pool = open()
})
afterEach(() => pool.close())

const idlePids = async () => (await pool.listIdle()).map(({ pid }) => pid)
const living = () => workers.filter((worker) => !worker.hasEnded)

describe('the pool of waiting workers', () => {
  it('starts no worker before the first task', async () => {
    await clock.advance(100_000)
    expect(workers).toEqual([])
  })

  it('keeps one worker waiting after a task took one, and two after a task that found none', async () => {
    await pool.take()
    await clock.advance(1000)
    expect(await idlePids()).toHaveLength(2)
    await clock.advance(20_000)
    await pool.take()
    await clock.advance(1000)
    expect(await idlePids()).toHaveLength(1)
  })

  it('is refilled when the attempt that just started ends, or after a second, to leave it the processor', async () => {
    const first = await pool.take()
    await clock.advance(900)
    expect(await idlePids()).toEqual([])
    await first.kill()
    await clock.advance(0)
    expect(await idlePids()).not.toEqual([])
  })

  it('keeps one worker waiting before the first task once it is told to prepare', async () => {
    pool.prepare()
    await clock.advance(0)
    expect(await idlePids()).toHaveLength(1)
    await clock.advance(61_000)
    expect(await idlePids()).toEqual([])
  })

  it('never hands out the same worker twice', async () => {
    const taken = new Set<string>()
    for (let task = 0; task < 20; task++) {
      taken.add((await pool.take()).id)
      if (task % 3 === 0) await clock.advance(0)
    }
    expect(taken.size).toBe(20)
  })

  it('keeps no worker waiting after a minute without a task, and starts again with the next', async () => {
    const first = await pool.take()
    await clock.advance(59_000)
    expect((await idlePids()).length).toBeGreaterThan(0)
    await clock.advance(2_000)
    expect(await idlePids()).toEqual([])
    expect(living().map(({ id }) => id)).toEqual([first.id])
    await pool.take()
    await clock.advance(1000)
    expect((await idlePids()).length).toBeGreaterThan(0)
  })

  it('counts that minute from the last task', async () => {
    await pool.take()
    for (let task = 0; task < 5; task++) {
      await clock.advance(40_000)
      await pool.take()
    }
    await clock.advance(40_000)
    expect((await idlePids()).length).toBeGreaterThan(0)
  })

  it('replaces a waiting worker that died, after growing delays', async () => {
    await pool.take()
    await clock.advance(20_000)
    const [pid] = await idlePids()
    for (const worker of living().slice(1)) worker.die()
    await clock.advance(0)
    expect(await idlePids()).toEqual([])
    await clock.advance(2_000)
    expect(await idlePids()).not.toContain(pid)
    expect((await idlePids()).length).toBeGreaterThan(0)
  })

  it('limits its tries when no worker can be started, and the task gets the error', async () => {
    failing = true
    await expect(pool.take()).rejects.toThrow('no more processes')
    await clock.advance(55_000)
    expect(attempts).toBeLessThan(12)
    failing = false
    expect((await pool.take()).id).toMatch(/^w-/)
  })

  it('starts a separate worker for a memory limit that a waiting one cannot be held to', async () => {
    await pool.take()
    await clock.advance(20_000)
    const waiting = await idlePids()
    expect((await pool.take({ memoryBytes: 200 })).pid).not.toBe(waiting[0])
    expect(await idlePids()).toEqual(expect.arrayContaining(waiting.slice(0, 1)))
    expect((await pool.take({ memoryBytes: 50 })).pid).toBe(waiting[0])
  })

  it('stops the waiting workers when it closes, and leaves those in use alone', async () => {
    const taken = await pool.take()
    await clock.advance(0)
    await pool.close()
    expect(living().map(({ id }) => id)).toEqual([taken.id])
  })

  it('stops a worker that is still starting when it closes', async () => {
    const slow = Promise.withResolvers<void>()
    pool = open({
      launch: async (id) => {
        if (workers.length > 0) await slow.promise
        const worker = makeWorker(id)
        workers.push(worker)
        return worker
      },
    })
    await pool.take()
    const closing = pool.close()
    slow.resolve()
    await closing
    expect(living()).toHaveLength(1)
  })
})
