import { describe, expect, it } from 'vitest'
import { createManualClock } from '../../../test/fixtures/time.ts'
import { createKeepAlive } from './keep-alive.ts'

function startKeepAlive(send: () => Promise<void> | undefined = () => undefined) {
  const clock = createManualClock()
  const sent = { count: 0 }
  const keepAlive = createKeepAlive(clock, 1000, () => {
    sent.count += 1
    return send()
  })
  keepAlive.start()
  return { clock, keepAlive, sent }
}

describe('the heartbeat of a stream', () => {
  it('is sent in every pause, and not while frames are sent', async () => {
    const { clock, keepAlive, sent } = startKeepAlive()
    await clock.advance(3000)
    expect(sent.count).toBe(3)
    keepAlive.touch()
    await clock.advance(1000)
    expect(sent.count).toBe(3)
    await clock.advance(1000)
    expect(sent.count).toBe(4)
  })

  it('waits until the previous heartbeat was written', async () => {
    const taken = Promise.withResolvers<void>()
    const { clock, sent } = startKeepAlive(() => taken.promise)
    await clock.advance(5000)
    expect(sent.count).toBe(1)
    taken.resolve()
    await clock.advance(1000)
    expect(sent.count).toBe(2)
  })

  it('is not sent after stop(), even when a heartbeat was still being written', async () => {
    const taken = Promise.withResolvers<void>()
    const { clock, keepAlive, sent } = startKeepAlive(() => taken.promise)
    await clock.advance(1000)
    keepAlive.stop()
    taken.resolve()
    await clock.advance(5000)
    expect(sent.count).toBe(1)
  })
})
