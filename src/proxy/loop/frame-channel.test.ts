import { describe, expect, it } from 'vitest'
import { createFrameChannel } from './frame-channel.ts'

describe('a channel of frames', () => {
  it('opens with the first frame, and gives everything in order', async () => {
    const channel = createFrameChannel(() => {})
    await channel.push('a')
    await channel.opened()
    await channel.push('b')
    channel.end()
    let text = ''
    for await (const part of channel.frames()) text += part
    expect(text).toBe('ab')
  })

  it('rejects the opening when it ends with an error before any frame', async () => {
    const channel = createFrameChannel(() => {})
    channel.end(new Error('no'))
    await expect(channel.opened()).rejects.toThrow('no')
  })

  it('holds the writer back while the reader is slow, and lets it go when the reader leaves', async () => {
    let left = false
    const channel = createFrameChannel(() => {
      left = true
    })
    let pushed = 0
    const writing = (async () => {
      for (; pushed < 200; pushed += 1) await channel.push('x')
    })()
    await new Promise((resolve) => setImmediate(resolve))
    expect(pushed).toBeLessThan(65)
    for await (const _part of channel.frames()) break
    await writing
    expect(left).toBe(true)
  })

  it('wakes every writer that waits, not only the last of them', async () => {
    const channel = createFrameChannel(() => {})
    let written = 0
    const writing = Array.from({ length: 300 }, async (_, index) => {
      await channel.push(String(index % 10))
      written += 1
    })
    let text = ''
    for await (const part of channel.frames()) {
      text += part
      await new Promise((resolve) => setImmediate(resolve))
      if (written === 300) channel.end()
    }
    await Promise.all(writing)
    expect(text.length).toBe(300)
  })

  it('lets writers go at its end, although nobody reads', async () => {
    const channel = createFrameChannel(() => {})
    const writing = Array.from({ length: 100 }, () => channel.push('x'))
    channel.end()
    await Promise.all(writing)
  })
})
