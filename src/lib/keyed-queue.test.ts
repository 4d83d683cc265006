import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createKeyedQueue } from './keyed-queue.ts'

/** Works that end when they are told to, and what has happened so far. */
function observe() {
  const queue = createKeyedQueue()
  const seen: string[] = []
  const begin = (key: string, name: string, signal?: AbortSignal) => {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    const work = () => {
      seen.push(name)
      return promise
    }
    return { answer: queue.run(key, work, signal), end: () => resolve(name), fail: reject }
  }
  return { begin, seen }
}

it('runs one after another for a key, in their order', async () => {
  const { begin, seen } = observe()
  const runs = ['one', 'two', 'three'].map((name) => begin('a', name))
  await setImmediate()
  expect(seen).toEqual(['one'])
  runs[1]?.end()
  await setImmediate()
  expect(seen).toEqual(['one'])
  runs[0]?.end()
  await setImmediate()
  expect(seen).toEqual(['one', 'two', 'three'])
  runs[2]?.end()
  expect(await Promise.all(runs.map(({ answer }) => answer))).toEqual(['one', 'two', 'three'])
})

it('does not let one key wait for another', async () => {
  const { begin, seen } = observe()
  begin('a', 'one')
  begin('b', 'two')
  await setImmediate()
  expect(seen).toEqual(['one', 'two'])
})

it('goes on after a failure, which only its own caller hears of', async () => {
  const { begin } = observe()
  const failing = begin('a', 'one')
  const next = begin('a', 'two')
  next.end()
  failing.fail(new Error('broken'))
  await expect(failing.answer).rejects.toThrow('broken')
  expect(await next.answer).toBe('two')
})

it('goes on after work that throws before it returns a promise', async () => {
  const queue = createKeyedQueue()
  const throwing = queue.run('a', () => {
    throw new Error('broken')
  })
  await expect(throwing).rejects.toThrow('broken')
  expect(await queue.run('a', async () => 1)).toBe(1)
})

it('makes room for the next when one gives up while it waits', async () => {
  const { begin, seen } = observe()
  const stop = new AbortController()
  const first = begin('a', 'one')
  const second = begin('a', 'two', stop.signal)
  const third = begin('a', 'three')
  stop.abort(new Error('enough'))
  await expect(second.answer).rejects.toThrow('enough')
  await setImmediate()
  expect(seen).toEqual(['one'])
  third.end()
  first.end()
  expect(await third.answer).toBe('three')
  expect(seen).toEqual(['one', 'three'])
})

it('starts nothing for a signal that has aborted', async () => {
  const { begin, seen } = observe()
  await expect(begin('a', 'one', AbortSignal.abort(new Error('enough'))).answer).rejects.toThrow('enough')
  expect(seen).toEqual([])
})
