// What every store of rate limits does.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { hardTexts, type OpenBench, useBench } from './record-bench.ts'

export function describeRateLimits(name: string, open: OpenBench): void {
  describe(`rate limits on ${name}`, () => {
    const bench = useBench(open, { beforeEach, afterEach })
    const limits = () => bench().stores().rateLimits
    const provider = { namespace: 'default', name: 'main' }
    const limit = { requestsPerMinute: 6, tokensPerMinute: 600 }
    const take = (tokens = 0, requests = 1, from = provider) => limits().take(from, { requests, tokens }, limit)
    const granted = expect.objectContaining({ granted: true })

    it('holds one minute of requests and refills without steps', async () => {
      for (let count = 0; count < 6; count += 1) expect(await take()).toEqual(granted)
      expect(await take()).toEqual({ granted: false, retryAfterMs: 10_000 })
      bench().advance(4_000)
      expect(await take()).toEqual({ granted: false, retryAfterMs: 6_000 })
      bench().advance(6_000)
      expect(await take()).toEqual(granted)
      bench().advance(3_600_000)
      for (let count = 0; count < 6; count += 1) expect(await take()).toEqual(granted)
      expect((await take()).granted).toBe(false)
    })

    it('takes all or nothing', async () => {
      expect(await take(500)).toEqual(granted)
      expect(await take(200)).toEqual({ granted: false, retryAfterMs: 10_000 })
      for (let count = 0; count < 5; count += 1) expect(await take(0)).toEqual(granted)
      expect((await take(0)).granted).toBe(false)
    })

    it('grants no more than there is to many that ask together, over a restart too', async () => {
      const leases = await Promise.all(Array.from({ length: 30 }, () => take(1)))
      expect(leases.filter((lease) => lease.granted)).toHaveLength(6)
      await bench().reopen()
      expect((await take(1)).granted).toBe(false)
    })

    it('corrects what was taken, below nothing if need be, and gives back what was not used', async () => {
      await take(100)
      await limits().settle(provider, 700, limit)
      expect(await take(1)).toEqual({ granted: false, retryAfterMs: 20_100 })
      await limits().settle(provider, -300, limit)
      expect(await take(100)).toEqual(granted)
      expect((await take(1)).granted).toBe(false)
    })

    it('gives a call that wants more than a minute holds so much once the bucket is full, and says so', async () => {
      expect(await take(100)).toEqual({ granted: true, tokens: 100 })
      expect(await take(1_000)).toEqual({ granted: false, retryAfterMs: 10_000 })
      bench().advance(10_000)
      expect(await take(1_000)).toEqual({ granted: true, tokens: 600 })
      expect(await take(1)).toEqual({ granted: false, retryAfterMs: 100 })
      expect(await limits().take(provider, { requests: 1, tokens: 1_000 }, {})).toEqual({
        granted: true,
        tokens: 1_000,
      })
    })

    it('limits nothing without a limit, and only what is limited', async () => {
      for (let count = 0; count < 20; count += 1) {
        expect(await limits().take(provider, { requests: 1, tokens: 1e9 }, {})).toEqual(granted)
      }
      const onlyTokens = { tokensPerMinute: 10 }
      expect(await limits().take(provider, { requests: 50, tokens: 10 }, onlyTokens)).toEqual(granted)
      expect((await limits().take(provider, { requests: 1, tokens: 1 }, onlyTokens)).granted).toBe(false)
    })

    it('follows a limit that was changed', async () => {
      await take(0, 1)
      const lower = { requestsPerMinute: 2 }
      const takeLower = () => limits().take(provider, { requests: 1, tokens: 0 }, lower)
      expect([await takeLower(), await takeLower()]).toEqual([granted, granted])
      expect(await takeLower()).toEqual({ granted: false, retryAfterMs: 30_000 })
    })

    it('keeps providers apart, by namespace, case and any other character', async () => {
      const names = ['main', 'Main', ...hardTexts]
      const providers = names.flatMap((name) => ['default', 'other'].map((namespace) => ({ namespace, name })))
      for (const from of providers) {
        expect(await take(600, 6, from)).toEqual(granted)
        expect((await take(0, 1, from)).granted).toBe(false)
      }
    })

    it('is not emptied by a clock that goes back', async () => {
      await take(0, 3)
      bench().advance(-60_000)
      expect(await take(0, 3)).toEqual(granted)
      expect((await take(0, 1)).granted).toBe(false)
    })

    it('sends nothing while a provider cools down, and the later moment wins', async () => {
      const at = (ms: number) => new Date(bench().now().getTime() + ms)
      const until = at(30_000)
      expect(await limits().coolingDown(provider)).toBeUndefined()
      await limits().coolDown(provider, until, 'overloaded \0')
      await limits().coolDown(provider, at(10_000), 'sooner')
      expect(await limits().coolingDown(provider)).toEqual({ until, reason: 'overloaded \0' })
      expect(await limits().coolingDown({ ...provider, namespace: 'other' })).toBeUndefined()
      expect(await take()).toEqual({ granted: false, retryAfterMs: 30_000 })
      expect(await limits().take(provider, { requests: 1, tokens: 0 }, {})).toEqual({
        granted: false,
        retryAfterMs: 30_000,
      })
      await bench().reopen()
      expect((await limits().coolingDown(provider))?.until).toEqual(until)
      bench().advance(30_000)
      expect(await limits().coolingDown(provider)).toBeUndefined()
      expect(await take()).toEqual(granted)
    })

    it('tells those who listen which provider cools down for longer than before, once that can be read', async () => {
      const at = (ms: number) => new Date(bench().now().getTime() + ms)
      const told: { name: string; until: number | undefined }[] = []
      const readings: Promise<void>[] = []
      const stop = limits().onCoolDown((key) => {
        const look = async () => {
          told.push({ name: key.name, until: (await limits().coolingDown(key))?.until.getTime() })
        }
        readings.push(look())
      })
      await limits().coolDown(provider, at(20_000), 'first')
      await limits().coolDown(provider, at(10_000), 'sooner')
      await limits().coolDown({ ...provider, name: 'x/\0' }, at(5_000), 'another')
      await take()
      stop()
      await limits().coolDown(provider, at(30_000), 'unheard')
      await Promise.all(readings)
      expect(told).toEqual([
        { name: provider.name, until: at(20_000).getTime() },
        { name: 'x/\0', until: at(5_000).getTime() },
      ])
    })
  })
}
