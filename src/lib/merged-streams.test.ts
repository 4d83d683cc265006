import { describe, expect, it } from 'vitest'
import { mergeStreams } from './merged-streams.ts'

const never = new AbortController().signal

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}

async function* give(items: string[], then: (() => Promise<void>) | undefined = undefined) {
  yield* items
  await then?.()
}

async function take(stream: AsyncIterable<string>, count: number): Promise<string[]> {
  const taken: string[] = []
  for await (const item of stream) {
    taken.push(item)
    if (taken.length === count) break
  }
  return taken
}

describe('merged streams', () => {
  it('yield every item of each stream, those of one stream in order', async () => {
    const all = await take(
      mergeStreams(never, () => [give(['a1', 'a2']), give([]), give(['b1', 'b2', 'b3'])]),
      Number.POSITIVE_INFINITY,
    )
    expect(all.filter((item) => item.startsWith('a'))).toEqual(['a1', 'a2'])
    expect(all.filter((item) => item.startsWith('b'))).toEqual(['b1', 'b2', 'b3'])
  })

  it('are not read far ahead of the consumer', async () => {
    const read: number[] = []
    async function* count() {
      for (let number = 0; number < 100; number += 1) {
        read.push(number)
        yield String(number)
      }
    }
    expect(
      await take(
        mergeStreams(never, () => [count()]),
        3,
      ),
    ).toEqual(['0', '1', '2'])
    expect(read.length).toBeLessThanOrEqual(5)
  })

  it('all end when one of them fails, when the consumer leaves, and when they are aborted', async () => {
    const ended: string[] = []
    const waiting = (name: string, signal: AbortSignal) =>
      give([name], async () => {
        await untilAborted(signal)
        ended.push(name)
      })
    const fail = async () => {
      throw new Error('cut')
    }
    const failing = mergeStreams(never, (signal) => [waiting('a', signal), give(['b'], fail)])
    await expect(take(failing, 9)).rejects.toThrow('cut')
    await take(
      mergeStreams(never, (signal) => [waiting('c', signal)]),
      1,
    )
    const outer = new AbortController()
    const told = take(
      mergeStreams(outer.signal, (signal) => [waiting('d', signal), waiting('e', signal)]),
      9,
    )
    outer.abort()
    await told
    expect(ended.sort()).toEqual(['a', 'c', 'd', 'e'])
  })
})
