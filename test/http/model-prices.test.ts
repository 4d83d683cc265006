// What a call costs by the table of its provider, whichever way it takes, and how usage tells it by model.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { UsageItem } from '../../src/contract/api/budgets/usage.ts'
import { type Proxied, startProxied } from '../fixtures/proxy/proxied.ts'
import { passBytes, runLoop, runTurn } from '../fixtures/proxy/ways.ts'
import { waitFor } from '../fixtures/time.ts'
import { aiTask } from './service.ts'

let proxied: Proxied

/** The vendor counts 10 fresh input tokens, 4 read from its cache, 1 written to it, and 5 of output. */
const cost = (10 * 3 + 4 * 0.3 + 1 * 3.75 + 5 * 15) / 1_000_000
const prices = [
  { model: '*', inputPerMillion: 1000, outputPerMillion: 1000 },
  { model: 'm', inputPerMillion: 3, outputPerMillion: 15, cachedInputPerMillion: 0.3, cacheWritePerMillion: 3.75 },
  { model: 'free-*', inputPerMillion: 0, outputPerMillion: 0 },
]

beforeAll(async () => {
  proxied = await startProxied()
})
afterAll(() => proxied.stop())

const usage = async (query: string): Promise<UsageItem[]> =>
  (await proxied.service.call(`GET /api/v1/usage?${query}`)).json().items

async function usedBy(provider: string): Promise<UsageItem | undefined> {
  await waitFor(async () => (await usage(`groupBy=provider&name=${provider}`)).length === 1, 'the call to be tallied')
  return (await usage(`groupBy=provider&name=${provider}`))[0]
}

describe('a call costs the price of its model', () => {
  it.each([
    ['passed on as bytes', 'passed', passBytes],
    ['through the tool loop', 'looped', runLoop],
    ['as a turn of chat', 'chatted', runTurn],
  ])('%s [USAGE-001]', async (_way, name, ask) => {
    await proxied.addProvider(name, { prices })
    expect((await ask(proxied, name)).status).toBe(200)
    const item = await usedBy(name)
    const tokens = { inputTokens: 15, cachedTokens: 4, cacheWriteTokens: 1, outputTokens: 5 }
    expect(item).toMatchObject({ llmCalls: 1, ...tokens, currency: 'USD' })
    expect(item?.cost).toBeCloseTo(cost, 9)
  })

  it('and what its vendor has published where the provider has no price for it, or its own says otherwise', async () => {
    await proxied.addProvider('known', {
      defaultModel: 'claude-sonnet-4-5',
      prices: [{ model: 'mine', inputPerMillion: 1 }],
    })
    const body = {
      model: 'known/claude-sonnet-4-5-20250929',
      max_tokens: 64,
      messages: [{ role: 'user', content: 'hi' }],
    }
    expect((await proxied.ask('/llma/v1/messages', body)).status).toBe(200)
    const item = await usedBy('known')
    expect(item?.cost).toBeCloseTo(cost, 9)
    const pricesOf = async (query = '') =>
      (await proxied.service.call(`GET /api/v1/providers/known/prices${query}`)).json().items
    expect(await pricesOf('?model=claude-sonnet-4-5')).toEqual([
      expect.objectContaining({ from: 'catalogue', vendor: 'Anthropic', inputPerMillion: 3, asOf: expect.any(String) }),
    ])
    expect(await pricesOf('?model=mine')).toEqual([
      { model: 'mine', inputPerMillion: 1, currency: 'USD', from: 'provider' },
    ])
    expect(await pricesOf('?model=nobodys')).toEqual([])
    expect((await pricesOf()).length).toBeGreaterThan(50)
    expect((await proxied.service.call('GET /api/v1/providers/none/prices')).statusCode).toBe(404)
  })

  it('and the same when a worker reports it, whatever the general price of the provider is [USAGE-001]', async () => {
    await proxied.addProvider('worked', { prices, price: { inputPerMillion: 7 } })
    await proxied.create('/api/v1/tasks', aiTask('job', { ai: { providerRef: { name: 'worked' }, model: 'm' } }))
    const { token } = await proxied.service.runTask('job')
    const tokens = { inputTokens: 15, cachedTokens: 4, cacheWriteTokens: 1, outputTokens: 5 }
    for (const [id, model] of ['m', 'free-1', 'other'].entries()) {
      const payload = { id: String(id), provider: { namespace: 'default', name: 'worked' }, model, ...tokens }
      const answer = await proxied.service.call('POST /internal/v1/usage/default/job', { token, payload })
      expect(answer.statusCode).toBe(204)
    }
    expect(await usedBy('worked')).toMatchObject({ cachedTokens: 12, cacheWriteTokens: 3 })
    const items = await usage('groupBy=model&namespace=default')
    const costOf = (model: string) => items.find(({ key }) => key === model)?.cost
    expect([costOf('free-1'), costOf('other')]).toEqual([0, 0.02])
  })

  it('and a model without a price has no cost [USAGE-001]', async () => {
    await proxied.addProvider('partly', { prices: [{ model: 'other', inputPerMillion: 1 }] })
    await passBytes(proxied, 'partly')
    const item = await usedBy('partly')
    expect(item).toMatchObject({ unpricedCalls: 1 })
    expect(item).not.toHaveProperty('cost')
  })

  it('and an invalid table of prices is refused with every problem', async () => {
    const spec = { type: 'llmo', prices: [{ inputPerMillion: 1 }, { model: 'a', outputPerMillion: -1, more: 1 }] }
    const answer = await proxied.service.call('POST /api/v1/providers', { payload: { name: 'odd', spec } })
    expect(answer.statusCode).toBe(400)
    const paths = (answer.json().error.details as { path: string }[]).map(({ path }) => path)
    expect(paths.sort()).toEqual(['spec.prices[0].model', 'spec.prices[1].more', 'spec.prices[1].outputPerMillion'])
  })
})
