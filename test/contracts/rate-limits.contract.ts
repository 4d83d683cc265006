// What every store of rate limits does.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CoolDown } from '../../src/ports/providers/provider-state.ts'
import { hardTexts, type OpenBench, useBench } from './record-bench.ts'

export function describeRateLimits(name: string, open: OpenBench): void {
  describe(`rate limits on ${name}`, () => {
    const bench = useBench(open, { beforeEach, afterEach })
    const limits = () => bench().stores().rateLimits
    const provider = { namespace: 'default', name: 'main' }
    const limit = { requestsPerMinute: 6, tokensPerMinute: 600 }
    const take = (tokens = 0, requests = 1, from = provider) => limits().take(from, { requests, tokens }, limit)
    const granted = expect.objectContaining({ granted: true })

    it('holds one minute of requests and refills continuously', async () => {
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

    it('takes requests and tokens together or not at all', async () => {
      expect(await take(500)).toEqual(granted)
      expect(await take(200)).toEqual({ granted: false, retryAfterMs: 10_000 })
      for (let count = 0; count < 5; count += 1) expect(await take(0)).toEqual(granted)
      expect((await take(0)).granted).toBe(false)
    })

    it('keeps the bucket of an agent apart from that of a provider with the same name', async () => {
      const agent = { ...provider, kind: 'Agent' as const }
      for (let count = 0; count < 6; count += 1) expect(await take(0, 1, agent)).toEqual(granted)
      expect(await take(0, 1, agent)).toEqual({ granted: false, retryAfterMs: 10_000 })
      expect(await take(600)).toEqual(granted)
      await limits().settle(agent, 700, limit)
      bench().advance(10_000)
      expect((await take(1, 1, agent)).granted).toBe(false)
      expect(await take(1)).toEqual(granted)
    })

    it('grants many concurrent requests no more than there is, also over a restart', async () => {
      const leases = await Promise.all(Array.from({ length: 30 }, () => take(1)))
      expect(leases.filter((lease) => lease.granted)).toHaveLength(6)
      await bench().reopen()
      expect((await take(1)).granted).toBe(false)
    })

    it('corrects what was taken, below zero if necessary, and returns what was not used', async () => {
      await take(100)
      await limits().settle(provider, 700, limit)
      expect(await take(1)).toEqual({ granted: false, retryAfterMs: 20_100 })
      await limits().settle(provider, -300, limit)
      expect(await take(100)).toEqual(granted)
      expect((await take(1)).granted).toBe(false)
    })

    it('grants a call that wants more than a full bucket the whole bucket, and says how much that is', async () => {
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

    it('limits nothing without a limit, and only the resources that have one', async () => {
      for (let count = 0; count < 20; count += 1) {
        expect(await limits().take(provider, { requests: 1, tokens: 1e9 }, {})).toEqual(granted)
      }
      const onlyTokens = { tokensPerMinute: 10 }
      expect(await limits().take(provider, { requests: 50, tokens: 10 }, onlyTokens)).toEqual(granted)
      expect((await limits().take(provider, { requests: 1, tokens: 1 }, onlyTokens)).granted).toBe(false)
    })

    it('applies a changed limit', async () => {
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

    it('is not emptied by a clock that is set back', async () => {
      await take(0, 3)
      bench().advance(-60_000)
      expect(await take(0, 3)).toEqual(granted)
      expect((await take(0, 1)).granted).toBe(false)
    })

    const pause = (ms: number, more: Partial<CoolDown> = {}): CoolDown => ({
      until: new Date(bench().now().getTime() + ms),
      reason: 'overloaded \0',
      failure: 'ProviderOverloaded',
      asked: true,
      ...more,
    })

    it('keeps a cool-down until it is over; of several, the latest end counts', async () => {
      const long = pause(30_000)
      expect(await limits().coolingDown(provider)).toBeUndefined()
      await limits().coolDown(provider, long)
      await limits().coolDown(provider, pause(10_000, { reason: 'sooner' }))
      expect(await limits().coolingDown(provider, 'any')).toEqual(long)
      expect(limits().peekCoolDown(provider, 'any')).toEqual(long)
      expect(await limits().coolingDown({ ...provider, namespace: 'other' })).toBeUndefined()
      expect(await take()).toEqual(granted)
      await bench().reopen()
      expect(await limits().coolingDown(provider)).toEqual(long)
      bench().advance(30_000)
      expect(await limits().coolingDown(provider)).toBeUndefined()
      expect(limits().peekCoolDown(provider, 'any')).toBeUndefined()
    })

    it('keeps cool-downs of models apart, by every character', async () => {
      const models = ['m', 'M', ...hardTexts.filter((text) => text !== '')]
      for (const [at, model] of models.entries()) await limits().coolDown(provider, pause(1000 + at, { model }))
      for (const [at, model] of models.entries()) {
        expect(await limits().coolingDown(provider, model)).toEqual(pause(1000 + at, { model }))
        expect(limits().peekCoolDown(provider, model)).toEqual(pause(1000 + at, { model }))
      }
      expect(await limits().coolingDown(provider, 'another')).toBeUndefined()
      expect(limits().peekCoolDown(provider, 'another')).toBeUndefined()
      expect((await limits().coolingDown(provider))?.model).toBe(models.at(-1))
    })

    it('loads cool-downs from before the restart into memory', async () => {
      await limits().coolDown(provider, pause(30_000, { model: 'm' }))
      await bench().reopen()
      await expect.poll(() => limits().peekCoolDown(provider, 'm')?.model).toBe('m')
    })

    it('cools a whole provider down after a hundred of its models, since callers make up model names', async () => {
      for (let at = 0; at < 101; at += 1) await limits().coolDown(provider, pause(60_000, { model: `m${at}` }))
      expect((await limits().coolingDown(provider, 'one more'))?.model).toBeUndefined()
      expect(await limits().coolingDown(provider, 'one more')).toBeDefined()
    })

    it('notifies listeners when a provider cools down for longer than before, once that can be read', async () => {
      const at = (ms: number) => new Date(bench().now().getTime() + ms)
      const told: { name: string; until: number | undefined }[] = []
      const stop = limits().onCoolDown((key) => {
        const look = async () => {
          told.push({ name: key.name, until: (await limits().coolingDown(key))?.until.getTime() })
        }
        void look()
      })
      await limits().coolDown(provider, pause(20_000))
      await limits().coolDown(provider, pause(10_000))
      await expect.poll(() => told.length).toBe(1)
      await limits().coolDown({ ...provider, name: 'x/\0' }, pause(5_000))
      await expect.poll(() => told.length).toBe(2)
      stop()
      await limits().coolDown(provider, pause(30_000))
      await take()
      expect(told).toEqual([
        { name: provider.name, until: at(20_000).getTime() },
        { name: 'x/\0', until: at(5_000).getTime() },
      ])
    })
  })
}
