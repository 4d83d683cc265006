import { describe, expect, it } from 'vitest'
import type { Clock } from '../../lib/clock.ts'
import { createQueue } from './queue.ts'

/** A clock that the test moves; sleeps end when their time has come. */
function createTestClock() {
  let time = 0
  let setBy = 0
  const sleepers = new Map<() => void, number>()
  const clock: Clock = {
    now: () => new Date(time + setBy),
    monotonic: () => time,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        sleepers.set(resolve, time + ms)
        signal?.addEventListener('abort', () => {
          sleepers.delete(resolve)
          reject(signal.reason)
        })
      }),
  }
  async function advance(ms: number): Promise<void> {
    time += ms
    for (const [resolve, at] of sleepers) {
      if (at > time) continue
      sleepers.delete(resolve)
      resolve()
    }
    await settle()
  }
  const set = (ms: number) => {
    setBy += ms
  }
  return { clock, advance, set, sleeping: () => sleepers.size }
}

const settle = () => new Promise((resolve) => setImmediate(resolve))

/** A queue whose work the test ends by hand. */
function openQueue(options: { concurrency?: number; after?: (key: string) => number | undefined } = {}) {
  const time = createTestClock()
  const begun: string[] = []
  const open = new Map<string, () => void>()
  const overlaps: string[] = []
  const queue = createQueue({
    clock: time.clock,
    concurrency: options.concurrency ?? 10,
    async handle(key) {
      if (open.has(key)) overlaps.push(key)
      begun.push(key)
      await new Promise<void>((resolve) => open.set(key, resolve))
      open.delete(key)
      return options.after?.(key)
    },
  })
  async function end(key: string): Promise<void> {
    open.get(key)?.()
    await settle()
  }
  return { ...time, queue, begun, overlaps, end, running: () => [...open.keys()] }
}

describe('the queue', () => {
  it('works through namespaces in turns, and through each in its order', async () => {
    const { queue, begun, end } = openQueue({ concurrency: 1 })
    for (let at = 0; at < 1000; at += 1) queue.add(`many/${at}`)
    for (const key of ['few/a', 'few/b', 'timer', 'few/a']) queue.add(key)
    expect(queue.size()).toBe(1002)
    for (let at = 0; at < 7; at += 1) await end(begun.at(-1) ?? '')
    expect(begun).toEqual(['many/0', 'many/1', 'few/a', 'timer', 'many/2', 'few/b', 'many/3', 'many/4'])
    await Promise.all([queue.stop(), end('many/4')])
  })

  it.each([7_200_000, -7_200_000])('keeps its delays where the clock of the machine is set by %d ms', async (ms) => {
    const { queue, begun, advance, set } = openQueue()
    queue.addAfter('a', 5000)
    set(ms)
    queue.addAfter('b', 6000)
    await advance(4999)
    expect(begun).toEqual([])
    await advance(1)
    expect(begun).toEqual(['a'])
    await advance(1000)
    expect(begun).toEqual(['a', 'b'])
  })

  it('holds a key once however often it is added', async () => {
    const { queue, begun, end } = openQueue({ concurrency: 1 })
    for (const key of ['a', 'b', 'b', 'b']) queue.add(key)
    await end('a')
    await end('b')
    expect(begun).toEqual(['a', 'b'])
  })

  it('runs different keys in parallel up to its bound', async () => {
    const { queue, running, end } = openQueue({ concurrency: 2 })
    for (const key of ['a', 'b', 'c']) queue.add(key)
    expect(running()).toEqual(['a', 'b'])
    expect(queue.size()).toBe(1)
    await end('a')
    expect(running()).toEqual(['b', 'c'])
  })

  it('runs a key again when it was added while it ran, and never twice at a time', async () => {
    const { queue, begun, overlaps, end } = openQueue()
    queue.add('a')
    queue.add('a')
    queue.add('a')
    expect(begun).toEqual(['a'])
    await end('a')
    expect(begun).toEqual(['a', 'a'])
    await end('a')
    expect(begun).toEqual(['a', 'a'])
    expect(overlaps).toEqual([])
  })

  it('adds a delayed key when its time has come, the earliest of several', async () => {
    const { queue, begun, advance } = openQueue()
    queue.addAfter('a', 5000)
    queue.addAfter('a', 2000)
    queue.addAfter('a', 9000)
    queue.addAfter('b', 3000)
    await advance(1999)
    expect(begun).toEqual([])
    await advance(1)
    expect(begun).toEqual(['a'])
    await advance(1000)
    expect(begun).toEqual(['a', 'b'])
  })

  it('looks again after what the work asked for, counted from its last look', async () => {
    const { queue, begun, advance, end } = openQueue({ after: () => 1000 })
    queue.add('a')
    await end('a')
    await advance(500)
    queue.add('a')
    await end('a')
    await advance(500)
    expect(begun).toEqual(['a', 'a'])
    await advance(500)
    expect(begun).toEqual(['a', 'a', 'a'])
  })

  it('sleeps once for many delays', async () => {
    const { queue, sleeping, advance, begun } = openQueue({ concurrency: 2000 })
    for (let index = 1000; index > 0; index -= 1) queue.addAfter(`k${index}`, index)
    await settle()
    expect(sleeping()).toBe(1)
    await advance(1000)
    expect(begun).toHaveLength(1000)
  })

  it('stops only when nothing runs any more, and takes nothing new', async () => {
    const { queue, begun, end } = openQueue({ concurrency: 1, after: () => 0 })
    for (const key of ['a', 'b']) queue.add(key)
    queue.addAfter('c', 0)
    queue.add('a')
    let stopped = false
    const stop = queue.stop().then(() => {
      stopped = true
    })
    queue.add('d')
    await settle()
    expect(stopped).toBe(false)
    await end('a')
    await stop
    expect(begun).toEqual(['a'])
  })
})
