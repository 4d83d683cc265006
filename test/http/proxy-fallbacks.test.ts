// Providers that take over from one another, as long as no byte of an answer has gone out.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Proxied, simpleMessage, startProxied } from '../fixtures/proxy/proxied.ts'
import { answerJson, llmaAnswer, type Received } from '../fixtures/proxy/upstream.ts'
import { waitFor } from '../fixtures/time.ts'

let proxied: Proxied
const messages = '/llma/v1/messages'
const spare = { providerRef: { name: 'spare' }, model: 'm-spare' }

/** Statuses by the first part of the path: who is asked. */
let failing: Record<string, number>

const answerAs = (received: Received): void => {
  const status = failing[received.path.split('/')[1] ?? '']
  const error = { type: 'error', error: { type: 'api_error', message: 'not now' } }
  const answer = status === undefined ? answerJson(llmaAnswer) : answerJson(error, status)
  answer(received)
}
const asked = () => proxied.upstream.received.map(({ path }) => path.split('/')[1])
const modelAsked = () => JSON.parse(proxied.upstream.last().body.toString()).model

const at = (name: string) => ({ baseURL: `${proxied.upstream.url}/${name}` })

/** A provider with others behind it. What failed in one test rests in the next: each has its own. */
async function addFamily(suffix: string): Promise<void> {
  await proxied.addProvider(`spare${suffix}`, at(`spare${suffix}`))
  await proxied.addProvider(`last${suffix}`, at(`last${suffix}`))
  const fallbacks = [
    { providerRef: { name: 'other-family' }, model: 'x' },
    { providerRef: { name: `spare${suffix}` }, model: 'm-spare' },
    { providerRef: { name: `last${suffix}` }, model: 'm-last' },
  ]
  await proxied.addProvider(`main${suffix}`, { ...at(`main${suffix}`), fallbacks })
}

beforeAll(async () => {
  proxied = await startProxied()
  await proxied.addProvider('other-family', { ...at('other'), type: 'llmo' })
  await addFamily('')
  await proxied.addProvider('away', { baseURL: 'http://127.0.0.1:9', fallbacks: [spare] })
})
afterAll(() => proxied.stop())
beforeEach(() => {
  proxied.upstream.reset()
  proxied.upstream.script.answer = answerAs
  failing = {}
})

describe('a provider with fallbacks', () => {
  it('is the only one called while it answers', async () => {
    expect((await proxied.ask(messages, simpleMessage('main/m'))).status).toBe(200)
    expect([asked(), modelAsked()]).toEqual([['main'], 'm'])
  })

  it.each([529, 500, 503, 401, 402])(
    'hands over after %i, in order, to providers of its family with their own models',
    async (status) => {
      await addFamily(`-${status}`)
      failing = { [`main-${status}`]: status, [`spare-${status}`]: status }
      const answer = await proxied.ask(messages, simpleMessage(`main-${status}/m`))
      expect([answer.status, await answer.json()]).toEqual([200, llmaAnswer])
      const names = ['main', 'spare', 'last'].map((name) => `${name}-${status}`)
      expect([asked(), modelAsked()]).toEqual([names, 'm-last'])
    },
  )

  it('hands over when it cannot be reached', async () => {
    expect((await proxied.ask(messages, simpleMessage('away/m'))).status).toBe(200)
    expect([asked(), modelAsked()]).toEqual([['spare'], 'm-spare'])
  })

  it('returns an error caused by the request', async () => {
    failing = { main: 400 }
    expect((await proxied.ask(messages, simpleMessage('main/m'))).status).toBe(400)
    expect(asked()).toEqual(['main'])
  })

  it('returns the error of the last one when none can answer, and frees the caller’s slot', async () => {
    await addFamily('-all')
    failing = { 'main-all': 529, 'spare-all': 529, 'last-all': 529 }
    for (let round = 0; round < 3; round += 1) {
      expect((await proxied.ask(messages, simpleMessage('main-all/m'))).status).toBe(529)
    }
    expect(asked()).toHaveLength(9)
  })

  it('is not replaced once a byte was sent to the client', async () => {
    proxied.upstream.script.answer = ({ response }) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('event: message_start\ndata: {"type":"message_start"}\n\n', () => response.destroy())
    }
    const answer = await proxied.ask(messages, simpleMessage('main/m', { stream: true }))
    await expect(answer.text()).rejects.toThrow()
    expect(asked()).toEqual(['main'])
  })

  it('stops when its client leaves: no fallback is called', async () => {
    const leaving = new AbortController()
    proxied.upstream.script.answer = (received) => {
      // It answers nobody: whether the service saw the client leave before an answer would be a matter of time.
      if (received.path.startsWith('/main')) leaving.abort()
      else answerJson({})(received)
    }
    await expect(proxied.ask(messages, simpleMessage('main/m'), { signal: leaving.signal })).rejects.toThrow()
    await waitFor(async () => proxied.upstream.last().response.destroyed, 'the call to be given up')
    expect(asked()).toEqual(['main'])
  })
})
