// Model calls follow no redirect, not even to the vendor's own origin, which trust in the first address would let through.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type PlayedTasks, runPlayedTask, startPlayedTasks } from '../fixtures/proxy/played-task.ts'
import { type Proxied, readError, simpleMessage, startProxied, vendorKey } from '../fixtures/proxy/proxied.ts'
import { answerJson, llmaAnswer, type Received } from '../fixtures/proxy/upstream.ts'
import { runTurn } from '../fixtures/proxy/ways.ts'

const second = '/second'
const statuses = [301, 302, 303, 307, 308]
let proxied: Proxied
let played: PlayedTasks
/** Times that a request is left without an answer, by the first part of its path: each way of sending has its turn. */
const cuts = new Map<string, number>()

/** `/<status>[-whole]/...` redirects; whole: with the origin. What answers at the second address would do for an answer. */
function redirect(received: Received): void {
  const [, name = ''] = received.path.split('/')
  if (received.path.startsWith(second)) return void answerJson(llmaAnswer)(received)
  const left = cuts.get(name) ?? 0
  cuts.set(name, left - 1)
  if (left > 0) return void received.response.destroy()
  const [status = '', whole] = name.split('-')
  const location = whole === 'whole' ? `${proxied.upstream.url}${second}` : second
  answerJson({}, Number(status), { location })(received)
}

beforeAll(async () => {
  proxied = await startProxied()
  played = await startPlayedTasks()
  for (const type of ['llma', 'llmo']) {
    for (const path of statuses.flatMap((status) => [`${status}`, `${status}-whole`])) {
      await proxied.addProvider(`${type}-${path}`, { type, baseURL: `${proxied.upstream.url}/${path}` })
    }
  }
})
afterAll(async () => {
  await proxied.stop()
  await played.stop()
})
beforeEach(() => {
  proxied.upstream.reset()
  proxied.upstream.script.answer = redirect
  cuts.clear()
})

const tools = { 'x-svc-tools': 'enabled' }
const messages = [{ role: 'user', content: 'hi' }]
type Ask = (at: string) => Promise<Response>
const ways: [string, Ask][] = [
  ['llma bytes', (at) => proxied.ask('/llma/v1/messages', simpleMessage(`llma-${at}/m`))],
  ['streamed bytes', (at) => proxied.ask('/llma/v1/messages', simpleMessage(`llma-${at}/m`, { stream: true }))],
  ['count_tokens', (at) => proxied.ask('/llma/v1/messages/count_tokens', { model: `llma-${at}/m`, messages })],
  ['llmo bytes', (at) => proxied.ask('/llmo/v1/chat/completions', { model: `llmo-${at}/m`, messages })],
  ['embeddings', (at) => proxied.ask('/llmo/v1/embeddings', { model: `llmo-${at}/m`, input: 'x' })],
  ['responses', (at) => proxied.ask('/llmo/v1/responses', { model: `llmo-${at}/m`, input: 'x' })],
  ['the llma loop', (at) => proxied.ask('/llma/v1/messages', simpleMessage(`llma-${at}/m`), { headers: tools })],
  [
    'the llmo loop',
    (at) => proxied.ask('/llmo/v1/chat/completions', { model: `llmo-${at}/m`, messages }, { headers: tools }),
  ],
  ['llma to llmo', (at) => proxied.ask('/llma/v1/messages', simpleMessage(`llmo-${at}/m`))],
  ['llmo to llma', (at) => proxied.ask('/llmo/v1/chat/completions', { model: `llma-${at}/m`, messages })],
  ['chat', (at) => runTurn(proxied, `llma-${at}`)],
  ['chat with llmo', (at) => runTurn(proxied, `llmo-${at}`)],
]
/** Both forms of an address, and after so many connections that broke: what is sent anew is sent by another way. */
const cases = statuses.flatMap((status) =>
  [0, 1, 2].map((cut): [number, string, number] => [status, cut === 1 ? `${status}-whole` : `${status}`, cut]),
)

function expectOne(cut: number): void {
  const { received } = proxied.upstream
  expect(received.filter(({ path }) => path.startsWith(second))).toEqual([])
  expect(received.length).toBeLessThanOrEqual(cut + 1)
  expect(received.length).toBeGreaterThan(0)
}

describe.each(ways)('a vendor that redirects %s', (_way, ask) => {
  it.each(cases)('with %i at /%s after %i broken connections is not followed [PROV-010]', async (_status, at, cut) => {
    cuts.set(at, cut)
    const answer = await ask(at)
    expect(answer.status).toBe(502)
    const { error } = await readError(answer)
    expectOne(cut)
    expect(error.message).not.toContain(vendorKey)
    if (proxied.upstream.received.length === cut + 1) expect(error.message).toContain('model calls follow no redirect')
    else expect(cut).toBe(2)
  })
})

describe.each(['llma', 'llmo'] as const)('a vendor that redirects a task of %s', (type) => {
  it.each(cases)('with %i at /%s after %i broken connections is not followed', async (_status, at, cut) => {
    cuts.set(at, cut)
    const reason = await runPlayedTask(played, [{ name: 'v', type, baseUrl: `${proxied.upstream.url}/${at}` }])
    expectOne(cut)
    expect(reason).toBe('WrongAddress')
  })
})

it('a vendor that redirects the list of its models is not followed', async () => {
  const answer = await proxied.service.call('GET /llma/v1/models')
  expect(answer.json().data).toEqual([])
  const asked = proxied.upstream.received.map(({ path }) => path)
  for (const status of statuses) expect(asked.some((path) => path.startsWith(`/${status}/`))).toBe(true)
  expect(asked.filter((path) => path.startsWith(second))).toEqual([])
})
