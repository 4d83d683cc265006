// Vectors of texts from a vendor on a real socket: what is sent, what is taken, and what becomes of a vendor that fails.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type UsageItem, usageGroups } from '../../src/contract/api/budgets/usage.ts'
import { createEgress } from '../../src/egress/egress.ts'
import type { Egress } from '../../src/ports/service/egress.ts'
import { createEmbedder, embedderLimits } from '../../src/proxy/embedder.ts'
import { type Proxied, startProxied, vendorKey } from '../fixtures/proxy/proxied.ts'
import { answerJson, type Received } from '../fixtures/proxy/upstream.ts'

let proxied: Proxied
let egress: Egress

beforeAll(async () => {
  proxied = await startProxied()
  egress = createEgress()
  await proxied.addProvider('main', { type: 'llmo' })
  await proxied.addProvider('other', { type: 'llma' })
})
afterAll(async () => {
  await egress.close()
  await proxied.stop()
})
beforeEach(() => proxied.upstream.reset())

const makeEmbedder = (name = 'main') =>
  createEmbedder(
    {
      ports: { ...proxied.service.ports, egress },
      settings: { allowNetworks: [], ownAddresses: () => [] },
    },
    { namespace: 'default', name, model: 'embed' },
  )
const embed = (texts: string[], name?: string, signal = new AbortController().signal) =>
  makeEmbedder(name).embed(texts, signal)

/** Answers with one vector for each text; `make` says which. */
const answerVectors = (make: (text: string, at: number) => number[]) => (request: Received) => {
  const { input } = JSON.parse(request.body.toString()) as { input: string[] }
  const data = input.map((text, index) => ({ object: 'embedding', index, embedding: make(text, index) }))
  answerJson({ object: 'list', data: data.toReversed(), model: 'embed' })(request)
}

const readUsage = async (groupBy: string): Promise<UsageItem[]> =>
  (await proxied.service.call(`GET /api/v1/usage?groupBy=${groupBy}`)).json().items

describe('an embedder', () => {
  it('counts what it uses for the namespace whose texts they are, with cost, and estimates what is not counted', async () => {
    await proxied.addProvider('priced', { type: 'llmo', price: { inputPerMillion: 1_000_000, currency: 'EUR' } })
    const { signal } = new AbortController()
    const answer = (usage: object) => (request: Received) => {
      const data = [{ object: 'embedding', index: 0, embedding: [1] }]
      answerJson({ object: 'list', data, model: 'embed', ...usage })(request)
    }
    proxied.upstream.script.answer = answer({ usage: { prompt_tokens: 7, total_tokens: 7 } })
    await makeEmbedder('priced').embed(['seven'], signal, 'elsewhere')
    proxied.upstream.script.answer = answer({})
    await makeEmbedder('priced').embed(['x'.repeat(40)], signal, 'elsewhere')
    const [own] = (await readUsage('namespace')).filter(({ key }) => key === 'elsewhere')
    expect(own).toMatchObject({ inputTokens: 7, llmCalls: 2, cost: 7, currency: 'EUR', estimatedInputTokens: 10 })
    expect(own?.estimatedCost).toBe(10)
    const total = (items: UsageItem[]) => items.reduce((sum, { cost = 0 }) => sum + cost, 0)
    for (const groupBy of usageGroups.filter((group) => group !== 'label'))
      expect([groupBy, total(await readUsage(groupBy))]).toEqual([groupBy, 7])
  })

  it('asks the provider with its key, and gives vectors of length 1 in the order of the texts', async () => {
    proxied.upstream.script.answer = answerVectors((text) =>
      text === 'none' ? [0, 0] : [text.length * 3, text.length * 4],
    )
    const vectors = await embed(['a', 'none', 'bcd'])
    expect(vectors.map((vector) => vector && Array.from(vector, (value) => value.toFixed(3)))).toEqual([
      ['0.600', '0.800'],
      undefined,
      ['0.600', '0.800'],
    ])
    const { method, path, headers, body } = proxied.upstream.last()
    expect([method, path, headers.authorization]).toEqual(['POST', '/v1/embeddings', `Bearer ${vendorKey}`])
    expect(JSON.parse(body.toString())).toEqual({
      model: 'embed',
      input: ['a', 'none', 'bcd'],
      encoding_format: 'float',
    })
    expect(makeEmbedder().model).toBe('default/main/embed')
  })

  it('sends the beginning of a long text, and text that is well-formed', async () => {
    proxied.upstream.script.answer = answerVectors(() => [1])
    await embed(['x'.repeat(50_000), '\ud800', ''])
    const { input } = JSON.parse(proxied.upstream.last().body.toString())
    expect(input).toEqual(['x'.repeat(embedderLimits.textLength), '\ufffd', ' '])
  })

  it.each([
    ['too few vectors', answerJson({ data: [{ index: 0, embedding: [1] }] })],
    ['two dimensions', answerVectors((_text, at) => Array.from({ length: at + 1 }, () => 1))],
    ['no numbers', answerVectors(() => ['x' as never])],
    ['no JSON', answerJson('nothing of the kind' as never)],
  ])('refuses %s', async (_what, answer) => {
    proxied.upstream.script.answer = answer
    await expect(embed(['a', 'b'])).rejects.toMatchObject({
      reason: 'UpstreamFailed',
      message: expect.stringContaining('did not answer with 2 embeddings'),
    })
  })

  it('says why the vendor refuses, without its key', async () => {
    proxied.upstream.script.answer = answerJson({ error: { message: `the key ${vendorKey} has expired` } }, 401)
    const refusal = await embed(['a']).catch((error: Error) => error)
    expect(refusal).toMatchObject({ reason: 'UpstreamFailed', message: expect.stringContaining('has expired') })
    expect(String(refusal)).not.toContain(vendorKey)
  })

  it('fails when the vendor breaks off, and when it is told to stop', async () => {
    proxied.upstream.script.answer = ({ response }) => void response.destroy()
    await expect(embed(['a'])).rejects.toMatchObject({ reason: 'UpstreamFailed' })
    const stop = new AbortController()
    proxied.upstream.script.answer = () => stop.abort()
    await expect(embed(['a'], 'main', stop.signal)).rejects.toThrow()
  })

  it('needs a provider that exists and has embeddings', async () => {
    await expect(embed(['a'], 'nobody')).rejects.toMatchObject({ reason: 'NotFound' })
    await expect(embed(['a'], 'other')).rejects.toThrow('is of type llma, which has no embeddings')
    expect(proxied.upstream.received).toEqual([])
  })
})
