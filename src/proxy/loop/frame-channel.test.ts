import { describe, expect, it } from 'vitest'
import { createFrameChannel } from './frame-channel.ts'

const nextRound = () => new Promise<void>((resolve) => setImmediate(resolve))

describe('a channel of frames', () => {
  it('opens with the first frame, and writes all frames in order, waiting ones joined', async () => {
    const channel = createFrameChannel()
    void channel.push('a')
    await channel.opened()
    void channel.push('b')
    const written: string[] = []
    const piping = channel.pipe((text) => void written.push(text))
    void channel.push('c')
    channel.end()
    await piping
    expect(written).toEqual(['ab', 'c'])
  })

  it('rejects opened() when it ends with an error before any frame', async () => {
    const channel = createFrameChannel()
    channel.end(new Error('no'))
    await expect(channel.opened()).rejects.toThrow('no')
  })

  it('makes push() wait while the writer is blocked, and joins the frames of that time', async () => {
    const channel = createFrameChannel()
    const written: string[] = []
    const rooms: (() => void)[] = []
    const piping = channel.pipe((text) => {
      written.push(text)
      return new Promise<void>((resolve) => rooms.push(resolve))
    })
    let pushed = 0
    const writing = Array.from({ length: 300 }, async (_, index) => {
      await channel.push(String(index % 10))
      pushed += 1
    })
    await nextRound()
    expect([pushed, written]).toEqual([0, ['0']])
    rooms.shift()?.()
    await nextRound()
    expect(written[1]).toHaveLength(299)
    rooms.shift()?.()
    await Promise.all(writing)
    channel.end()
    await piping
    expect(written.join('')).toHaveLength(300)
  })

  it('resolves push() when writing fails, and writes nothing more', async () => {
    const channel = createFrameChannel()
    const writing = Array.from({ length: 100 }, () => channel.push('x'))
    let tries = 0
    const piping = channel.pipe(() => {
      tries += 1
      throw new Error('the client has gone')
    })
    await Promise.all(writing)
    expect(channel.push('y')).toBeUndefined()
    await expect(piping).rejects.toThrow('the client has gone')
    expect(tries).toBe(1)
  })

  it('resolves push() when it ends, although nobody writes', async () => {
    const channel = createFrameChannel()
    const writing = Array.from({ length: 100 }, () => channel.push('x'))
    channel.end()
    await Promise.all(writing)
  })

  it('writes frames that were waiting when it ended', async () => {
    const channel = createFrameChannel()
    const written: string[] = []
    const piping = channel.pipe((text) => {
      written.push(text)
      return new Promise<void>(() => {})
    })
    void channel.push('a')
    void channel.push('b')
    channel.end()
    await piping
    expect(written).toEqual(['a', 'b'])
  })

  it('gives a writer that comes after the end the frames from before it', async () => {
    const channel = createFrameChannel()
    void channel.push('a')
    channel.end()
    let text = ''
    await channel.pipe((part) => {
      text += part
      return undefined
    })
    expect(text).toBe('a')
  })
})
