// Where the Tool resources of a namespace may lead, when a model calls them by the proxies; and who has a name that two want.
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { streams } from '../fixtures/llm/wire.ts'
import { type Proxied, simpleMessage, startProxied } from '../fixtures/proxy/proxied.ts'
import { answerJson, llmaAnswer } from '../fixtures/proxy/upstream.ts'
import { waitFor } from '../fixtures/time.ts'

const largest = 10 * 1_048_576
const messages = '/llma/v1/messages'
const loop = { 'x-svc-tools': 'enabled' }

let proxied: Proxied
let permitted: string
let forbidden: string
const reached: string[] = []
let written = 0
const servers: { stop(): void }[] = []

/** Until the other side has enough. */
function writeOn(response: ServerResponse): void {
  const part = Buffer.alloc(65_536, 'a')
  while (!response.destroyed && response.write(part)) written += part.length
  if (!response.destroyed) response.once('drain', () => writeOn(response))
}

/** Answers with as many bytes as its path says, or leads to where its query says. */
async function startEndpoint(host: string): Promise<string> {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://x')
    reached.push(`${host}${pathname}`)
    const location = searchParams.get('to')
    if (location !== null) return void response.writeHead(302, { location }).end()
    if (pathname === '/endless') return writeOn(response)
    response.end('a'.repeat(Number(pathname.slice(1))))
  })
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  servers.push({ stop: () => void server.close() })
  return `http://${host}:${(server.address() as AddressInfo).port}`
}

beforeAll(async () => {
  proxied = await startProxied({ builtinTools: ['file_read'], usecases: { allowNetworks: ['127.0.0.2/32'] } })
  await proxied.addProvider('vendor')
  permitted = await startEndpoint('127.0.0.2')
  forbidden = await startEndpoint('127.0.0.3')
})
afterAll(async () => {
  await proxied.stop()
  for (const server of servers) server.stop()
})
afterEach(() => {
  proxied.upstream.reset()
  reached.length = 0
})

type Body = { messages: { content: unknown }[]; tools: { name: string }[] }
const lastBody = (): Body => JSON.parse(proxied.upstream.last().body.toString())

async function addTool(name: string, url: string): Promise<void> {
  const spec = { description: 'd', parameters: {}, http: { url, method: 'GET' } }
  proxied.upstream.reset()
  await proxied.create('/api/v1/tools', { name, spec })
  await waitFor(async () => {
    await (await proxied.ask(messages, simpleMessage('vendor/m'), { headers: loop })).text()
    return lastBody().tools.some((tool) => tool.name === name)
  }, 'the tool to be offered')
}

/** What the model is told when it calls the tool. */
async function callTool(name: string): Promise<string> {
  const call = {
    ...llmaAnswer,
    content: [{ type: 'tool_use', id: 'toolu_1', name, input: {} }],
    stop_reason: 'tool_use',
  }
  proxied.upstream.script.answer = (received) =>
    answerJson(received.body.includes('"toolu_1"') ? llmaAnswer : call)(received)
  const answer = await proxied.ask(messages, simpleMessage('vendor/m'), { headers: loop })
  expect(answer.status).toBe(200)
  const results = lastBody().messages.at(-1)?.content as { content: string }[] | undefined
  return String(results?.[0]?.content)
}

it('a tool may return ten megabytes, of which the model gets the beginning; an endless answer is not read further', async () => {
  await addTool('large', `${permitted}/${largest}`)
  await addTool('endless', `${permitted}/endless`)
  for (const name of ['large', 'endless']) {
    const told = await callTool(name)
    expect(told).toContain('"success":true')
    expect(told.length).toBeLessThan(65_536)
  }
  // What stands in buffers of the two systems comes on top.
  expect(written).toBeLessThan(3 * largest)
})

it('a tool reaches no forbidden address: not directly, not by a redirect, not at the service itself', async () => {
  const places: [string, string][] = [
    ['private', `${forbidden}/5`],
    ['metadata', 'http://169.254.169.254/latest'],
    ['redirected', `${permitted}/?to=${encodeURIComponent(`${forbidden}/5`)}`],
    ['itself', `${proxied.url.replace('127.0.0.1', '0.0.0.0')}/api/v1/tokens`],
  ]
  for (const [name, url] of places) {
    await addTool(name, url)
    expect(await callTool(name)).toContain('"success":false')
  }
  expect(reached).toEqual(['127.0.0.2/'])
})

it('a tool of the caller replaces a server tool of its name: it is offered once, and the call is returned [PROXY-012]', async () => {
  await addTool('shared', `${permitted}/5`)
  reached.length = 0
  const tools = [{ name: 'shared', description: 'of the caller', input_schema: { type: 'object' } }]
  const call = {
    ...llmaAnswer,
    content: [{ type: 'tool_use', id: 'toolu_1', name: 'shared', input: {} }],
    stop_reason: 'tool_use',
  }
  proxied.upstream.script.answer = answerJson(call)
  const answer = await proxied.ask(messages, simpleMessage('vendor/m', { tools }), { headers: loop })
  expect(await answer.json()).toMatchObject({ stop_reason: 'tool_use', content: [{ id: 'toolu_1', name: 'shared' }] })
  expect(lastBody().tools.filter(({ name }) => name === 'shared')).toEqual(tools)
  expect(reached).toEqual([])
})

it.each([false, true])(
  'an answer says in its headers which tools were added to the request (streamed: %s)',
  async (stream) => {
    const tool = `weather-${stream}`
    await addTool(tool, `${permitted}/10`)
    if (stream) {
      proxied.upstream.script.answer = ({ response }) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.end(streams.llma)
      }
    }
    const ask = async (headers: Record<string, string>, tools: object[] = []) => {
      const answer = await proxied.ask(messages, simpleMessage('vendor/m', { stream, tools }), { headers })
      await answer.text()
      return answer.headers.get('x-svc-tools-added')
    }
    const own = [{ name: 'file_read', input_schema: { type: 'object' } }]
    await waitFor(async () => (await ask(loop))?.includes(tool) ?? false, 'the tool to be offered')
    expect(await ask(loop)).toMatch(/^file_read, .*weather/)
    expect(await ask(loop, own)).not.toContain('file_read')
    expect(await ask({ 'x-svc-tools': 'disabled' })).toBeNull()
  },
)
