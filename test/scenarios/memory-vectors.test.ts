// The real program with a provider of vectors: what a person finds, and what they are told when the provider is away.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { answerJson, type Received, startUpstream, type Upstream } from '../fixtures/proxy/upstream.ts'
import { waitFor } from '../fixtures/time.ts'
import { removeFolder, runSvc, type Service, startService } from './service.ts'

let service: Service
let vendor: Upstream

/** Ships and boats are alike, all else is not. */
function answerVectors(request: Received): void {
  const { input = [] } = JSON.parse(request.body.toString() || '{}') as { input?: string[] }
  const data = input.map((text, index) => ({ index, embedding: /ship|boat/.test(text) ? [1, 0.1, 0] : [0, 0.1, 1] }))
  answerJson({ data })(request)
}

beforeAll(async () => {
  vendor = await startUpstream()
  vendor.script.answer = answerVectors
  service = await startService({ flags: ['--memory-embedding', 'default/main/embed-small'] })
  const secret = { name: 'vendor', stringData: { 'api-key': 'made-up-key-0123456789' } }
  await service.call('POST', '/api/v1/secrets', secret)
  const spec = { type: 'llmo', baseURL: vendor.url, secretRef: { name: 'vendor', key: 'api-key' } }
  expect((await service.call('POST', '/api/v1/providers', { name: 'main', spec })).status).toBe(201)
})
afterAll(async () => {
  await service.stop()
  removeFolder(service.folder)
  await vendor.stop()
})

it('finds a memory in other words, and says when it searches by words alone [MEM-021]', async () => {
  await runSvc(['memory', 'add', 'The boat leaves at noon.'], service.env)
  await runSvc(['memory', 'add', 'Tea is served at four.'], service.env)
  const search = () => runSvc(['memory', 'search', 'ship', '--limit', '1'], service.env)
  const found = await waitFor(async () => {
    const outcome = await search()
    return outcome.stdout.includes('boat') && !outcome.stderr.includes('anew') && outcome
  }, 'the boat is found')
  expect(found.stderr).toBe('')
  const asked = vendor.received.filter(({ path }) => path === '/v1/embeddings')
  expect(asked[0]?.headers.authorization).toBe('Bearer made-up-key-0123456789')
  vendor.script.answer = answerJson({ error: { message: 'overloaded' } }, 503)
  const alone = await search()
  expect(alone.stdout).not.toContain('boat')
  expect(alone.stderr).toContain('searched by words alone: default/main/embed-small made no vector')
  expect((await runSvc(['memory', 'search', 'boats'], service.env)).stdout).toContain('boat')
})
