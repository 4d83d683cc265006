// What every store of the health of providers does.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ProviderContact, ProviderNote } from '../../src/ports/providers/provider-state.ts'
import { hardTexts, type OpenBench, useBench } from './record-bench.ts'

const start = Date.parse('2026-01-01T00:00:00.000Z')
const provider = { namespace: 'default', name: 'main' }
const at = (ms: number) => new Date(start + ms)
const goodAt = (ms: number, more: Partial<ProviderNote> = {}): ProviderNote => ({
  provider,
  goodAt: at(ms),
  failures: 0,
  ...more,
})
const failedAt = (ms: number, reason: string, more: Partial<ProviderNote> = {}): ProviderNote => ({
  provider,
  failed: { at: at(ms), reason },
  failures: 1,
  ...more,
})

export function describeProviderHealth(name: string, open: OpenBench): void {
  describe(`the health of providers on ${name}`, () => {
    const bench = useBench(open, { beforeEach, afterEach })
    const health = () => bench().stores().providerHealth
    const read = () => health().read(provider)

    it('returns undefined for a provider that was never called', async () => {
      await health().note([])
      expect(await read()).toBeUndefined()
    })

    it('returns the last good and the last failed call and the failures since, also after a restart', async () => {
      await health().note([failedAt(1000, 'HTTP 500')])
      expect(await read()).toEqual({ failed: { at: at(1000), reason: 'HTTP 500' }, failures: 1 })
      await health().note([goodAt(2000)])
      await health().note([failedAt(3000, 'HTTP 401', { failures: 4 })])
      await health().note([failedAt(4000, 'HTTP 403', { failures: 2 })])
      await bench().reopen()
      const known: ProviderContact = { goodAt: at(2000), failed: { at: at(4000), reason: 'HTTP 403' }, failures: 6 }
      expect(await read()).toEqual(known)
      await health().note([goodAt(5000)])
      expect(await read()).toEqual({ ...known, goodAt: at(5000), failures: 0 })
    })

    it('stores both the good and the failed call of one note', async () => {
      await health().note([goodAt(2000, { failed: { at: at(1000), reason: 'before' } })])
      expect(await read()).toMatchObject({ goodAt: at(2000), failed: { reason: 'before' }, failures: 0 })
      await health().note([goodAt(3000, { failed: { at: at(4000), reason: 'after' }, failures: 3 })])
      expect(await read()).toMatchObject({ goodAt: at(3000), failed: { reason: 'after' }, failures: 3 })
    })

    it.each([
      ['in order', [0, 1, 2, 3]],
      ['turned round', [3, 2, 1, 0]],
      ['mixed', [2, 0, 3, 1]],
    ])('keeps the newest good and the newest failed call when replicas note %s', async (_order, order) => {
      const notes = [goodAt(1000), failedAt(2000, 'older'), goodAt(3000), failedAt(4000, 'newest')]
      for (const index of order) await health().note(notes.slice(index, index + 1))
      expect(await read()).toEqual({ goodAt: at(3000), failed: { at: at(4000), reason: 'newest' }, failures: 1 })
    })

    it('does not count failures from before the last good call', async () => {
      await health().note([goodAt(5000)])
      await health().note([failedAt(4000, 'late to be told', { failures: 7 })])
      expect(await read()).toMatchObject({ failed: { reason: 'late to be told' }, failures: 0 })
    })

    it('loses no note of many at the same time', async () => {
      await health().note([goodAt(0)])
      const notes = Array.from({ length: 30 }, (_, index) => failedAt(1000 + index, `number ${index}`))
      await Promise.all(notes.map((note) => health().note([note])))
      expect(await read()).toMatchObject({ failed: { at: at(1029), reason: 'number 29' }, failures: 30 })
    })

    it('adds a batch completely or not at all', async () => {
      const broken = failedAt(1000, 'x', { provider: { namespace: 'default', name: null as never } })
      await expect(health().note([goodAt(1000), broken])).rejects.toThrow()
      expect(await read()).toBeUndefined()
    })

    it('keeps providers apart by namespace, by case and by any other character, and any reason as it is', async () => {
      const names = ['main', 'Main', ...hardTexts]
      const providers = names.flatMap((name) => ['default', 'other'].map((namespace) => ({ namespace, name })))
      const notes = providers.map((key, index) => failedAt(index + 1, `${key.name} of ${key.namespace}`))
      await health().note(notes.map((note, index) => ({ ...note, provider: providers[index] ?? provider })))
      for (const [index, key] of providers.entries()) {
        const reason = `${key.name} of ${key.namespace}`
        expect(await health().read(key)).toEqual({ failed: { at: at(index + 1), reason }, failures: 1 })
      }
    })

    it('notifies listeners when a provider begins to fail or answers again, once that can be read', async () => {
      const told: [string, number | undefined][] = []
      const readings: Promise<void>[] = []
      const stop = health().onChange((key) => {
        const look = async () => void told.push([key.name, (await health().read(key))?.failures])
        readings.push(look())
      })
      const settle = async (note: ProviderNote) => {
        await health().note([note])
        await Promise.all(readings)
      }
      await settle(goodAt(1000))
      await settle(goodAt(2000))
      await settle(failedAt(3000, 'first'))
      await settle(failedAt(4000, 'second'))
      await settle(goodAt(5000))
      await settle(failedAt(6000, 'of another', { provider: { ...provider, name: 'x/\0' } }))
      stop()
      await settle(failedAt(7000, 'unheard'))
      expect(told).toEqual([
        ['main', 0],
        ['main', 1],
        ['main', 0],
        ['x/\0', 1],
      ])
    })

    it('sweeps providers that were not called since a given time, good or bad', async () => {
      const of = (name: string) => ({ provider: { ...provider, name } })
      await health().note([goodAt(1000, of('old')), failedAt(1000, 'x', of('old-bad'))])
      await health().note([
        goodAt(3000, of('new')),
        goodAt(1000, of('lately-bad')),
        failedAt(3000, 'x', of('lately-bad')),
      ])
      expect(await health().sweep(at(2000))).toBe(2)
      expect(await health().sweep(at(2000))).toBe(0)
      const left = await Promise.all(
        ['old', 'old-bad', 'new', 'lately-bad'].map((name) => health().read({ ...provider, name })),
      )
      expect(left.map((contact) => contact !== undefined)).toEqual([false, false, true, true])
    })
  })
}
