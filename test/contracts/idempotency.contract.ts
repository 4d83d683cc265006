// What every store of idempotency keys does.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { hardTexts, type OpenBench, useBench } from './record-bench.ts'

const DAY = 86_400_000
const MINUTE = 60_000

export function describeIdempotency(name: string, open: OpenBench): void {
  describe(`idempotency keys on ${name}`, () => {
    const bench = useBench(open, { beforeEach, afterEach })
    const keys = () => bench().stores().idempotency
    const claim = (key: string, bodyHash = 'body') =>
      keys().claim(key, bodyHash, { now: bench().now(), ttlMs: DAY, staleMs: MINUTE })
    const outcome = { status: 201, kind: 'Task', namespace: 'default', name: 'made', uid: 'uid-1' }

    it('gives a free key to exactly one of many that claim it together', async () => {
      const claims = await Promise.all(Array.from({ length: 20 }, () => claim('k')))
      expect(claims.filter((entry) => entry.state === 'claimed')).toHaveLength(1)
      expect(claims.filter((entry) => entry.state === 'running')).toHaveLength(19)
      expect(await claim('other')).toEqual({ state: 'claimed' })
    })

    it('returns the first outcome again, also after a restart', async () => {
      await claim('k')
      await keys().settle('k', outcome)
      await bench().reopen()
      expect(await claim('k')).toEqual({ state: 'settled', outcome })
      await keys().settle('k', { ...outcome, name: 'second' })
      expect(await claim('k')).toEqual({ state: 'settled', outcome })
    })

    it('reports a key that was used with another body', async () => {
      await claim('k')
      expect(await claim('k', 'another body')).toEqual({ state: 'mismatch' })
      await keys().settle('k', outcome)
      expect(await claim('k', 'another body')).toEqual({ state: 'mismatch' })
    })

    it('stores only status and reference of an outcome', async () => {
      await claim('k')
      await keys().settle('k', { ...outcome, body: 'secret' } as typeof outcome)
      expect(await claim('k')).toEqual({ state: 'settled', outcome })
    })

    it('frees an unsettled key on release, but not a settled one', async () => {
      await claim('k')
      await keys().release('k')
      expect(await claim('k', 'another body')).toEqual({ state: 'claimed' })
      await keys().settle('k', outcome)
      await keys().release('k')
      expect(await claim('k', 'another body')).toEqual({ state: 'settled', outcome })
    })

    it('lets exactly one of many take over the claim of a dead process, with the same body', async () => {
      await claim('k')
      bench().advance(MINUTE - 1)
      expect(await claim('k')).toEqual({ state: 'running' })
      bench().advance(1)
      await bench().reopen()
      expect(await claim('k', 'another body')).toEqual({ state: 'mismatch' })
      const claims = await Promise.all(Array.from({ length: 10 }, () => claim('k')))
      expect(claims.filter((entry) => entry.state === 'claimed')).toHaveLength(1)
    })

    it('drops keys after their retention time', async () => {
      await claim('k')
      await keys().settle('k', outcome)
      bench().advance(DAY - 1)
      expect(await claim('k')).toEqual({ state: 'settled', outcome })
      bench().advance(1)
      expect(await claim('k', 'another body')).toEqual({ state: 'claimed' })
    })

    it('keeps any name in an outcome', async () => {
      for (const [index, name] of hardTexts.entries()) {
        await claim(`k-${index}`)
        await keys().settle(`k-${index}`, { ...outcome, name })
        expect(await claim(`k-${index}`)).toEqual({ state: 'settled', outcome: { ...outcome, name } })
      }
    })

    it('sweeps expired keys', async () => {
      await claim('old')
      bench().advance(DAY)
      await claim('new')
      expect(await keys().sweep(new Date(bench().now().getTime() + 1))).toBe(1)
      expect(await claim('new')).toEqual({ state: 'running' })
    })
  })
}
