// What the status of a provider tells of its calls: a vendor that refuses the key, then answers; over HTTP, with its controller.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Provider } from '../../src/contract/kinds/providers/provider.ts'
import { type ControllerRunner, createControllerRunner } from '../../src/controllers/engine/runner.ts'
import { createResourceControllers } from '../../src/controllers/resources/controllers.ts'
import { defaultResourceControllerSettings } from '../../src/controllers/resources/settings.ts'
import type { TryProvider } from '../../src/ports/providers/provider-state.ts'
import type { Leadership } from '../../src/ports/service/leadership.ts'
import { tryProvider } from '../../src/proxy/index.ts'
import { type Proxied, startProxied, vendorKey } from '../fixtures/proxy/proxied.ts'
import { answerJson, llmaAnswer, type Received } from '../fixtures/proxy/upstream.ts'
import { passBytes, runLoop, runTurn } from '../fixtures/proxy/ways.ts'
import { waitFor } from '../fixtures/time.ts'

let proxied: Proxied
let runner: ControllerRunner

const alone: Leadership = {
  acquire: async () => new AbortController().signal,
  requireTerm: () => undefined,
  release: async () => undefined,
}
const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

beforeAll(async () => {
  proxied = await startProxied()
  proxied.upstream.script.answer = answerAs
  const deps = { ...proxied.service.ports, log }
  const trials = { ports: proxied.service.ports, settings: { allowNetworks: [], ownAddresses: () => [] } }
  const tryIt: TryProvider = (provider, signal) => tryProvider(trials, provider, signal)
  const controllers = createResourceControllers({
    ...deps,
    tryProvider: tryIt,
    listMcpTools: async () => ({ tools: [], leftOut: [] }),
    settings: defaultResourceControllerSettings,
  })
  runner = createControllerRunner({ ...deps, controllers, leadership: alone })
  runner.start()
})
afterAll(async () => {
  await runner.stop()
  await proxied.stop()
})

const read = async (name: string): Promise<Provider['status']> =>
  ((await proxied.service.call(`GET /api/v1/providers/${name}`)).json() as Provider).status
const conditionOf = (status: Provider['status'], type: string) =>
  status?.conditions?.find((condition) => condition.type === type)
const answering = async (name: string) => conditionOf(await read(name), 'Answering')

type Answer = (received: Received) => void
/** What calls of each provider get, by its name; it stands first in the path. */
const answers: Record<string, Answer> = {}

/** Trials are answered whatever calls get. */
function answerAs(received: Received): void {
  const answer = received.path.includes('/models') ? undefined : answers[received.path.split('/')[1] ?? '']
  const usual = answerJson(llmaAnswer)
  ;(answer ?? usual)(received)
}

const refuse = (status: number, type: string, message: string): Answer =>
  answerJson({ type: 'error', error: { type, message } }, status)

async function addProvider(name: string): Promise<void> {
  await proxied.addProvider(name, { baseURL: `${proxied.upstream.url}/${name}` })
  await waitFor(async () => (await read(name))?.ready === true, 'the provider to be ready')
}

const viaBytes = (name: string) => passBytes(proxied, name)
const viaLoop = (name: string) => runLoop(proxied, name)
const viaChat = (name: string) => runTurn(proxied, name)

describe.concurrent.each([
  ['bytes passed on', 'passed', viaBytes],
  ['the tool loop', 'looped', viaLoop],
  ['chat', 'chatted', viaChat],
])('a provider that is called by %s', (_way, name, ask) => {
  it('is reported as failing while its key is refused, and as answering afterwards [PROV-011] [SECRET-008]', async () => {
    await addProvider(name)
    expect(await answering(name)).toBeUndefined()
    answers[name] = refuse(401, 'authentication_error', `invalid key ${vendorKey}`)
    const refused = await ask(name)
    expect(refused.status).toBe(502)
    await refused.text()
    await waitFor(async () => (await answering(name))?.status === 'False', 'the failure to be told')
    const failing = await read(name)
    expect(failing).toMatchObject({ ready: false, lastError: expect.stringContaining('HTTP 401') })
    expect(conditionOf(failing, 'Answering')?.message).toContain('refused the API key')
    expect(JSON.stringify(failing)).not.toContain(vendorKey)
    expect(Date.parse(failing?.lastErrorAt ?? '')).toBeLessThanOrEqual(Date.now())

    answers[name] = answerJson(llmaAnswer)
    const answered = await ask(name)
    expect(answered.status).toBe(200)
    await answered.text()
    await waitFor(async () => (await answering(name))?.status === 'True', 'the success to be told')
    const good = await read(name)
    expect(good?.lastError).toBeUndefined()
    expect(Date.parse(good?.lastReached ?? '')).toBeGreaterThanOrEqual(Date.parse(failing?.lastErrorAt ?? ''))
  })
})

describe.concurrent('a provider', () => {
  it('that refuses a request counts as answering, and one that is away does not', async () => {
    await addProvider('strict')
    answers.strict = refuse(400, 'invalid_request_error', 'max_tokens: too many')
    expect((await viaLoop('strict')).status).toBe(400)
    await proxied.addProvider('away', { baseURL: 'http://127.0.0.1:9' })
    expect((await viaLoop('away')).status).toBe(502)
    await waitFor(async () => (await answering('strict'))?.status === 'True', 'the answer to be told')
    await waitFor(async () => (await answering('away'))?.status === 'False', 'the failure to be told')
    expect((await answering('away'))?.message).toContain('unreachable')
  })

  it('that does not count tokens is not at fault', async () => {
    await addProvider('uncounting')
    answers.uncounting = answerJson({ detail: 'Not Found' }, 404)
    const body = { model: 'uncounting/m', messages: [{ role: 'user', content: 'hi' }] }
    expect((await proxied.ask('/llma/v1/messages/count_tokens', body)).status).toBe(200)
    await proxied.addProvider('gone', { baseURL: 'http://127.0.0.1:9' })
    expect((await viaLoop('gone')).status).toBe(502)
    await waitFor(async () => (await answering('gone'))?.status === 'False', 'the failure to be told')
    expect((await answering('uncounting'))?.status).not.toBe('False')
    expect((await read('uncounting'))?.lastError).toBeUndefined()
  })

  it('that makes no embeddings is not at fault', async () => {
    await proxied.addProvider('wordless', { type: 'llmo', baseURL: `${proxied.upstream.url}/wordless` })
    answers.wordless = answerJson({ detail: 'Not Found' }, 404)
    const body = { model: 'wordless/m', input: 'hi' }
    expect((await proxied.ask('/llmo/v1/embeddings', body)).status).toBe(502)
    await proxied.addProvider('lost', { baseURL: 'http://127.0.0.1:9' })
    expect((await viaLoop('lost')).status).toBe(502)
    await waitFor(async () => (await answering('lost'))?.status === 'False', 'the failure to be told')
    expect((await answering('wordless'))?.status).not.toBe('False')
    expect((await read('wordless'))?.lastError).toBeUndefined()
  })
})
