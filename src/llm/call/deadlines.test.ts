import { describe, expect, it } from 'vitest'
import type { Clock } from '../../lib/clock.ts'
import { startDeadline } from './deadlines.ts'

/** Time that goes on when it is told to. */
function createStepClock() {
  let now = 0
  let setBy = 0
  const sleepers: { until: number; wake: () => void }[] = []
  const clock: Clock = {
    now: () => new Date(now + setBy),
    monotonic: () => now,
    sleep: (ms) => new Promise((wake) => void sleepers.push({ until: now + ms, wake })),
  }
  return {
    clock,
    sleeping: () => sleepers.length,
    set: (ms: number) => {
      setBy += ms
    },
    async advance(ms: number) {
      now += ms
      const due = sleepers.filter(({ until }) => until <= now)
      for (const sleeper of due) {
        sleepers.splice(sleepers.indexOf(sleeper), 1)
        sleeper.wake()
      }
      // The watch goes on in steps of its own.
      for (let turn = 0; turn < 10; turn++) await Promise.resolve()
    },
  }
}

describe('a deadline', () => {
  it('is told once, when its time is over and not before [LIM-017]', async () => {
    const { clock, advance } = createStepClock()
    const late: string[] = []
    startDeadline(clock, 1000, () => late.push('one'))
    await advance(999)
    expect(late).toEqual([])
    await advance(1)
    await advance(5000)
    expect(late).toEqual(['one'])
  })

  it.each([7_200_000, -7_200_000])(
    'is told at its time although the clock of the machine was set by %d ms',
    async (ms) => {
      const { clock, advance, set } = createStepClock()
      const late: string[] = []
      const renewed = startDeadline(clock, 1000, () => late.push('renewed'))
      startDeadline(clock, 1000, () => late.push('one'))
      await advance(400)
      set(ms)
      renewed.renew()
      await advance(599)
      expect(late).toEqual([])
      await advance(1)
      expect(late).toEqual(['one'])
      await advance(400)
      expect(late).toEqual(['one', 'renewed'])
    },
  )

  it('is told of each one in order, with one sleep for all of the same time', async () => {
    const { clock, advance, sleeping } = createStepClock()
    const late: string[] = []
    startDeadline(clock, 1000, () => late.push('one'))
    await advance(400)
    startDeadline(clock, 1000, () => late.push('two'))
    startDeadline(clock, 1000, () => late.push('three'))
    expect(sleeping()).toBe(1)
    await advance(600)
    expect(late).toEqual(['one'])
    await advance(400)
    expect(late).toEqual(['one', 'two', 'three'])
    expect(sleeping()).toBe(0)
  })

  it('that was cancelled is not told, whatever its place', async () => {
    const { clock, advance } = createStepClock()
    const late: number[] = []
    const all = [0, 1, 2, 3].map((index) => startDeadline(clock, 1000, () => late.push(index)))
    for (const index of [0, 2, 2]) all[index]?.cancel()
    await advance(1000)
    expect(late).toEqual([1, 3])
    all[1]?.cancel()
  })

  it('that was renewed begins anew, and one that is over stays over', async () => {
    const { clock, advance } = createStepClock()
    const late: string[] = []
    const renewed = startDeadline(clock, 1000, () => late.push('renewed'))
    const other = startDeadline(clock, 1000, () => late.push('other'))
    await advance(600)
    renewed.renew()
    await advance(400)
    expect(late).toEqual(['other'])
    other.renew()
    await advance(600)
    expect(late).toEqual(['other', 'renewed'])
    await advance(5000)
    expect(late).toEqual(['other', 'renewed'])
  })

  it('is watched again after a time without any', async () => {
    const { clock, advance, sleeping } = createStepClock()
    startDeadline(clock, 1000, () => {}).cancel()
    await advance(1000)
    expect(sleeping()).toBe(0)
    const late: string[] = []
    startDeadline(clock, 1000, () => late.push('later'))
    await advance(1000)
    expect(late).toEqual(['later'])
  })

  it('can start the next one when it is told', async () => {
    const { clock, advance } = createStepClock()
    const late: string[] = []
    startDeadline(clock, 1000, () => startDeadline(clock, 1000, () => late.push('next')))
    await advance(1000)
    await advance(1000)
    expect(late).toEqual(['next'])
  })
})
