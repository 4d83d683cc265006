import { describe, expect, it } from 'vitest'
import { createManualClock } from '../../../test/fixtures/time.ts'
import { createKeepAlive } from './keep-alive.ts'

function startPulse(beat: () => Promise<void> | undefined = () => undefined) {
  const clock = createManualClock()
  const told = { beats: 0 }
  const pulse = createKeepAlive(clock, 1000, () => {
    told.beats += 1
    return beat()
  })
  pulse.start()
  return { clock, pulse, told }
}

describe('the heartbeat of a stream', () => {
  it('is sent in every pause, and not while frames are sent', async () => {
    const { clock, pulse, told } = startPulse()
    await clock.advance(3000)
    expect(told.beats).toBe(3)
    pulse.touch()
    await clock.advance(1000)
    expect(told.beats).toBe(3)
    await clock.advance(1000)
    expect(told.beats).toBe(4)
  })

  it('waits until the previous heartbeat was written', async () => {
    const taken = Promise.withResolvers<void>()
    const { clock, told } = startPulse(() => taken.promise)
    await clock.advance(5000)
    expect(told.beats).toBe(1)
    taken.resolve()
    await clock.advance(1000)
    expect(told.beats).toBe(2)
  })

  it('is not sent after stop(), even when a heartbeat was still being written', async () => {
    const taken = Promise.withResolvers<void>()
    const { clock, pulse, told } = startPulse(() => taken.promise)
    await clock.advance(1000)
    pulse.stop()
    taken.resolve()
    await clock.advance(5000)
    expect(told.beats).toBe(1)
  })
})
