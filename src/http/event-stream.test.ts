import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { type EventFrame, encodeFrame, streamEvents } from './event-stream.ts'

const calm = { heartbeatMs: 60_000, drain: new AbortController().signal }

async function* emit(...frames: EventFrame[]): AsyncGenerator<EventFrame> {
  yield* frames
}

async function readAll(stream: AsyncIterable<unknown>): Promise<string> {
  let text = ''
  for await (const chunk of stream) text += String(chunk)
  return text
}

function waitForever(signal: AbortSignal): AsyncIterable<EventFrame> {
  return {
    async *[Symbol.asyncIterator]() {
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
    },
  }
}

describe('a frame', () => {
  it('has id, event and one data line for each line of its data', () => {
    expect(encodeFrame({ id: 7, event: 'log', data: 'a\nb\r\nc' })).toBe(
      'id: 7\nevent: log\ndata: a\ndata: b\ndata: c\n\n',
    )
  })
})

describe('an event stream', () => {
  it('sends the frames of its source in order and ends with it', async () => {
    const text = await readAll(streamEvents(() => emit({ id: 1, data: 'x' }, { event: 'end', data: '' }), calm))
    expect(text).toBe(': open\n\nid: 1\ndata: x\n\nevent: end\ndata: \n\n')
  })

  it('sends heartbeats while nothing happens', async () => {
    const stream = streamEvents(waitForever, { ...calm, heartbeatMs: 1 })
    for await (const chunk of stream) if (String(chunk).includes('heartbeat')) break
    expect(stream.destroyed).toBe(true)
  })

  it('tells the client to come back when the service drains', async () => {
    const drain = new AbortController()
    const reading = readAll(streamEvents(waitForever, { ...calm, drain: drain.signal }))
    drain.abort()
    expect(await reading).toMatch(/retry: 1000\n/)
  })

  it('aborts its source when the client leaves while it waits', async () => {
    let seen: AbortSignal | undefined
    const stream = streamEvents((signal) => {
      seen = signal
      return waitForever(signal)
    }, calm)
    stream.resume()
    await once(stream, 'data')
    stream.destroy()
    await once(stream, 'close')
    expect(seen?.aborted).toBe(true)
  })

  it('pulls no more from its source than it can send', async () => {
    let made = 0
    async function* flood(): AsyncGenerator<EventFrame> {
      for (; made < 1000; made++) yield { id: made, data: 'x'.repeat(16 * 1024) }
    }
    const stream = streamEvents(flood, calm)
    await once(stream, 'readable')
    await new Promise((resolve) => setImmediate(resolve))
    expect(made).toBeLessThan(20)
    stream.destroy()
  })
})
