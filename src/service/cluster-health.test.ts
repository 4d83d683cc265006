import { describe, expect, it } from 'vitest'
import { createManualClock } from '../../test/fixtures/time.ts'
import { createClusterHealth } from './cluster-health.ts'

describe("the health of a replica's view of the cluster", () => {
  function open() {
    const clock = createManualClock()
    const stale: string[] = []
    const { check } = createClusterHealth({ listStale: () => stale, clock })
    return {
      clock,
      stale,
      isGood: () =>
        check(new AbortController().signal).then(
          () => true,
          () => false,
        ),
    }
  }

  it('is good while a watch is down for a short time, when reads still come from memory', async () => {
    const { clock, stale, isGood } = open()
    expect(await isGood()).toBe(true)
    stale.push('Task')
    expect(await isGood()).toBe(true)
    clock.jump(119_999)
    expect(await isGood()).toBe(true)
  })

  it('is bad once a watch is down for longer than callers are cached, and good again when it is back', async () => {
    const { clock, stale, isGood } = open()
    stale.push('Task', 'Agent')
    await isGood()
    clock.jump(120_000)
    expect(await isGood()).toBe(false)
    stale.length = 0
    expect(await isGood()).toBe(true)
    stale.push('Task')
    clock.jump(1000)
    expect(await isGood()).toBe(true)
  })
})
