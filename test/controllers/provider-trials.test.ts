// When providers are tried, and what comes of it: at once after a change, then less and less often, never many at a time.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Provider } from '../../src/contract/kinds/providers/provider.ts'
import { waitFor } from '../fixtures/time.ts'
import { type Bench, openBench } from './bench.ts'

let bench: Bench
let server: Server
let url: string
let looks: string[]
let answer: (request: IncomingMessage, response: ServerResponse) => void

const answerModels = (_request: IncomingMessage, response: ServerResponse) =>
  response.writeHead(200, { 'content-type': 'application/json' }).end('{"data":[{"id":"m"}]}')
const refuse = (_request: IncomingMessage, response: ServerResponse) =>
  response.writeHead(401).end('{"error":{"message":"your key has expired","code":"invalid_api_key"}}')

beforeEach(async () => {
  looks = []
  answer = answerModels
  server = createServer((request, response) => {
    looks.push(request.headers.authorization ?? 'no key')
    answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  bench = await openBench({ withCatalog: true, catalog: { egress: { allowNetworks: ['127.0.0.1/32'], deny: [] } } })
})
afterEach(async () => {
  await bench.dispose()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

const get = (name: string) => bench.resources.get('Provider', { namespace: 'default', name })
const when = (name: string, want: (provider: Provider) => boolean, what: string) =>
  waitFor(async () => {
    const provider = await get(name)
    return provider !== undefined && want(provider) ? provider : undefined
  }, `${name} ${what}`)
const isReady = (ready: boolean) => (provider: Provider) => provider.status?.ready === ready
const storeKey = (value: string) =>
  bench.secrets.create({ namespace: 'default', name: 'keys', stringData: { 'api-key': value } })
const keyed = () => ({ type: 'llmo', baseURL: url, secretRef: { name: 'keys' } })
const looked = (count: number) => waitFor(() => (looks.length === count ? true : undefined), `${count} trials`)

describe('a provider', () => {
  it('whose key is refused shows the vendor’s message, and is tried at once with a new key [PROV-013]', async () => {
    answer = refuse
    await storeKey('made-up-key-1')
    await bench.create('Provider', 'vendor', keyed())
    const refused = await when('vendor', isReady(false), 'is refused')
    expect(refused.status?.message).toMatch(/refused the API key.*HTTP 401.*your key has expired/)
    expect(refused.status?.conditions).toMatchObject([
      { type: 'Ready', status: 'False', reason: 'CredentialRefused' },
      { type: 'Reachable', status: 'True' },
    ])
    answer = answerModels
    await bench.secrets.remove({ namespace: 'default', name: 'keys' })
    await storeKey('made-up-key-2')
    const ready = await when('vendor', isReady(true), 'is ready')
    expect(looks).toEqual(['Bearer made-up-key-1', 'Bearer made-up-key-2'])
    expect(JSON.stringify([refused, ready])).not.toContain('made-up-key')
  })

  it('is not blamed for calls with its previous key', async () => {
    await storeKey('made-up-key-1')
    await bench.create('Provider', 'vendor', keyed())
    await when('vendor', isReady(true), 'is ready')
    const provider = { namespace: 'default', name: 'vendor' }
    const failed = { at: bench.clock.now(), reason: 'HTTP 401' }
    await bench.records.providerHealth.note([{ provider, failed, failures: 3 }])
    await when('vendor', isReady(false), 'is blamed')
    await bench.jump(1000)
    await bench.secrets.remove({ namespace: 'default', name: 'keys' })
    await storeKey('made-up-key-2')
    const ready = await when('vendor', isReady(true), 'is ready')
    expect(ready.status?.lastError).toBeUndefined()
  })

  it('is tried less and less often, without status checks in between', async () => {
    answer = refuse
    await bench.create('Provider', 'vendor', { type: 'llmo', baseURL: url })
    await looked(1)
    const pauses = [30, 60, 120, 240].map((seconds) => seconds * 1000)
    for (const [index, pause] of pauses.entries()) {
      const now = bench.clock.now().toISOString()
      await when('vendor', ({ status }) => status?.lastReached === now, 'has been tried')
      await bench.jump(pause - 1)
      await bench.create('Provider', `other-${index}`, { type: 'demo' })
      await when(`other-${index}`, isReady(true), 'is ready')
      expect(looks).toHaveLength(index + 1)
      await bench.jump(1)
      await looked(index + 2)
    }
  })

  it('that somebody has reached meanwhile is tried at once', async () => {
    answer = refuse
    await bench.create('Provider', 'vendor', { type: 'llmo', baseURL: url })
    const refused = await when('vendor', isReady(false), 'is refused')
    answer = answerModels
    await bench.jump(1000)
    const status = { ...refused.status, lastReached: bench.clock.now().toISOString() }
    await bench.resources.updateStatus('Provider', { ...refused, status })
    await when('vendor', isReady(true), 'is ready')
    expect(looks).toHaveLength(2)
  })

  it('keeps its status when another replica takes over, until it has been tried again', async () => {
    await bench.create('Provider', 'a', { type: 'llmo', baseURL: url })
    await bench.create('Provider', 'b', { type: 'llmo', baseURL: url })
    await when('a', isReady(true), 'is ready')
    const before = await when('b', isReady(true), 'is ready')
    await bench.crash()
    // One after the other, not all at once.
    await looked(3)
    await bench.create('Provider', 'other', { type: 'demo' })
    await when('other', isReady(true), 'is ready')
    expect((await get('b'))?.status).toEqual(before.status)
    expect(looks).toHaveLength(3)
    await bench.jump(100)
    await looked(4)
  })

  it('is not ready before it was tried, and of hundreds only a few are tried at a time', async () => {
    await bench.dispose()
    const released = Promise.withResolvers<void>()
    let atOnce = 0
    let most = 0
    // Not a slow vendor: a trial of one ends after some seconds, and the next provider is tried.
    bench = await openBench({
      withCatalog: true,
      async tryProvider() {
        most = Math.max(most, ++atOnce)
        await released.promise
        atOnce -= 1
        return { models: ['m'], status: 200 }
      },
    })
    const names = Array.from({ length: 40 }, (_, index) => `p${index}`)
    for (const name of names) await bench.create('Provider', name, { type: 'llmo', baseURL: url })
    const untried = await when('p39', ({ status }) => status?.conditions !== undefined, 'is looked at')
    expect(untried.status).toMatchObject({ conditions: [{ type: 'Ready', status: 'Unknown', reason: 'NotTried' }] })
    expect(untried.status?.ready).toBeUndefined()
    await waitFor(() => atOnce === 16, '16 trials at once')
    released.resolve()
    for (const name of names) await when(name, isReady(true), 'is ready')
    expect(most).toBe(16)
  })
})
