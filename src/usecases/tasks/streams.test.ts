import { describe, expect, it } from 'vitest'
import { followRecords } from './streams.ts'

type Item = { seq: number }

async function collect(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = []
  for await (const item of items) all.push(item)
  return all
}

function makeSource() {
  const items: Item[] = []
  const listeners = new Set<() => void>()
  const state = { isOver: false }
  return {
    items,
    listeners,
    state,
    append(seq: number) {
      items.push({ seq })
      for (const listener of listeners) listener()
    },
    finish() {
      state.isOver = true
      for (const listener of listeners) listener()
    },
    follow(afterSeq: number, signal = new AbortController().signal) {
      return followRecords<Item>({
        read: (after) => items.filter((item) => item.seq > after),
        subscribe(listener) {
          listeners.add(listener)
          return () => listeners.delete(listener)
        },
        isOver: async () => state.isOver,
        afterSeq,
        signal,
      })
    },
  }
}

describe('following a task', () => {
  it('yields the stored events, then new ones, each once, and ends with the task', async () => {
    const source = makeSource()
    source.append(1)
    source.append(2)
    const seen: number[] = []
    for await (const { seq } of source.follow(0)) {
      seen.push(seq)
      if (seq === 2) source.append(3)
      if (seq === 3) {
        source.append(4)
        source.finish()
      }
    }
    expect(seen).toEqual([1, 2, 3, 4])
  })

  it('goes on after the given number', async () => {
    const source = makeSource()
    source.append(1)
    source.append(2)
    source.finish()
    expect(await collect(source.follow(1))).toEqual([{ seq: 2 }])
  })

  it('ends when its reader leaves, and keeps no listener', async () => {
    const source = makeSource()
    const gone = new AbortController()
    const reading = collect(source.follow(0, gone.signal))
    while (source.listeners.size === 0) await new Promise((resolve) => setImmediate(resolve))
    expect(source.listeners.size).toBe(1)
    gone.abort()
    expect(await reading).toEqual([])
    expect(source.listeners.size).toBe(0)
  })
})
