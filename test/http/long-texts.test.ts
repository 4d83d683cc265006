// No text holds the event loop: long runs of one character at every place of every public route, and in every reader.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { redactText } from '../../src/observability/redaction.ts'
import { runCampaign } from '../fuzz/campaign.ts'
import { type Service, startService } from './service.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.stop())

describe('a long text', () => {
  it.each([
    ['after the name of a header', `authorization:${' '.repeat(200_000)}x`],
    ['after a scheme', `authorization: bearer${' '.repeat(200_000)};`],
    ['of names of headers', 'authorization:'.repeat(20_000)],
    ['of unfinished keys', '-----BEGIN PRIVATE KEY-----'.repeat(8000)],
    ['of names of secrets', 'password="'.repeat(20_000)],
  ])('%s is redacted in one look', (_, text) => expect(redactText(text).length).toBeGreaterThan(0))

  it('in a refused address is refused for its length', async () => {
    const spec = { type: 'ai', prompt: 'x', workspace: { gitRepo: `https://github.com${'/'.repeat(200_000)}x` } }
    const answer = await service.call('POST /api/v1/tasks', { payload: { name: 'long', spec } })
    expect(answer.statusCode).toBe(400)
  })

  it('holds the loop nowhere', async () => {
    const { faults, sent, reads } = await runCampaign({
      seed: 1,
      maxSeconds: 40,
      textsPerPlace: 1,
      sizes: [10_000, 50_000],
    })
    expect(faults).toEqual([])
    expect(sent).toBeGreaterThan(1000)
    expect(reads).toBeGreaterThan(400)
  }, 60_000)
})
