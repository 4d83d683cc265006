import { describe, expect, it } from 'vitest'
import { waitFor } from '../../test/fixtures/time.ts'
import { ThreadLimitError, ThreadPool } from './thread-pool.ts'

/** A thread that answers with its own number; it may be told to run on, to fill its memory, or to break. */
const module = `data:text/javascript,${encodeURIComponent(`
  import { parentPort, threadId } from 'node:worker_threads'
  parentPort.on('message', (what) => {
    if (what === 'hang') while (true);
    if (what === 'fill') for (const all = []; ; ) all.push(new Array(100_000).fill(0.5))
    if (what === 'break') throw new Error('broken')
    if (what === 'break later') setImmediate(() => process.exit())
    parentPort.postMessage(threadId)
    if (what === 'break at once') process.exit()
  })
  parentPort.postMessage('ready')
`)}`
const usual = { threads: 2, timeoutMs: 60_000, memoryMegabytes: 64, idleMs: 60_000 }
const openPool = (limits = {}) => new ThreadPool<string, number>(module, { ...usual, ...limits })
const a = { holder: 'a', signal: new AbortController().signal }

describe('a pool of threads', () => {
  it('uses a thread again, and another where one is taken', async () => {
    const pool = openPool()
    const first = await pool.ask('', a)
    expect(await pool.ask('', a)).toBe(first)
    const both = await Promise.all([pool.ask('', a), pool.ask('', { ...a, holder: 'b' })])
    expect(new Set(both).size).toBe(2)
  })

  it.each([
    ['hang', { timeoutMs: 50 }, 'it takes longer than 0.05 s'],
    ['fill', {}, 'it takes more than 64 MiB of memory'],
  ])('ends a thread that exceeds its limits, and goes on with another: %s', async (what, limits, message) => {
    const pool = openPool(limits)
    await expect(pool.ask(what, a)).rejects.toThrow(new ThreadLimitError(message))
    await expect(pool.ask(what, a)).rejects.toThrow(ThreadLimitError)
  })

  it('tells what breaks a thread, and gives its place back', async () => {
    const pool = openPool({ threads: 1 })
    await expect(pool.ask('break', a)).rejects.toThrow('broken')
    expect(await pool.ask('', a)).toEqual(expect.any(Number))
  })

  it('ends what nobody waits for any more, also before its turn', async () => {
    const pool = openPool({ threads: 1 })
    const over = new AbortController()
    const asked = ['hang', ''].map((what) => pool.ask(what, { holder: 'a', signal: over.signal }))
    over.abort(new Error('enough'))
    const rejected = { status: 'rejected', reason: new Error('enough') }
    expect(await Promise.allSettled(asked)).toEqual([rejected, rejected])
    expect(await pool.ask('', a)).toEqual(expect.any(Number))
  })

  it('starts anew once an idle thread has ended', async () => {
    const pool = openPool({ idleMs: 0 })
    const first = await pool.ask('', a)
    await waitFor(async () => (await pool.ask('', a)) !== first, 'another thread answers')
  })

  it('keeps no thread that has ended with its answer', async () => {
    const pool = openPool({ timeoutMs: 1000 })
    for (let time = 0; time < 5; time += 1) {
      // Whether its answer still comes is a matter of the moment.
      await pool.ask('break at once', a).catch(() => undefined)
      expect(await pool.ask('', a)).toEqual(expect.any(Number))
    }
  })

  it('starts anew once an idle thread has broken', async () => {
    const pool = openPool()
    const first = await pool.ask('break later', a)
    await waitFor(async () => (await pool.ask('', a)) !== first, 'another thread answers')
  })
})
