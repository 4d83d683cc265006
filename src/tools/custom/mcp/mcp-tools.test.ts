import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startReferenceServer } from '../../../../test/fixtures/mcp/reference-server.ts'
import {
  initialize,
  listOf,
  result,
  type ScriptedServer,
  startScriptedServer,
  textOf,
  writeJson,
} from '../../../../test/fixtures/mcp/scripted-server.ts'
import { waitFor } from '../../../../test/fixtures/time.ts'
import type { AssignedMcpTool, McpServer } from '../../../contract/api/tools/assigned-tool.ts'
import { createEgress } from '../../../egress/egress.ts'
import type { JsonObject } from '../../../lib/json.ts'
import { chooseListedTools } from '../../../rules/tools/choice.ts'
import { createLinks, type Links, type ModelTool, type ToolContext, type ToolOutcome } from '../../registry/tool.ts'
import { createCustomTools } from '../custom-tools.ts'
import { listMcpTools } from './list-tools.ts'

const open = new AbortController().signal
const egress = createEgress()
const egressPolicy = { allowNetworks: ['127.0.0.1/32'], deny: [] }
const reach = { egress, egressPolicy }
let links: Links

let scripted: ScriptedServer

beforeAll(async () => {
  scripted = await startScriptedServer()
})
afterEach(async () => {
  await links?.close()
  scripted.reset()
})
afterAll(async () => {
  await scripted.stop()
  await egress.close()
})

const serverAt = (url: string, more: Partial<McpServer> = {}): McpServer => ({
  url,
  headers: {},
  timeoutMs: 5000,
  ...more,
})

async function offer(server: McpServer): Promise<ModelTool[]> {
  const { tools } = await listMcpTools(server, reach, open)
  const choice = chooseListedTools({ name: 'docs', patterns: undefined }, tools)
  if (choice.problem !== undefined) throw new Error(choice.problem)
  return createCustomTools(assign(server, choice.tools), { now: () => new Date() })
}

function assign(mcp: McpServer, tools: AssignedMcpTool['tools'], more: Partial<AssignedMcpTool> = {}): AssignedMcpTool {
  return { name: 'docs', description: 'the docs', parameters: {}, mcp, tools, ...more }
}

function contextOf(more: Partial<ToolContext> = {}): ToolContext {
  links = createLinks()
  return { ...reach, links, ...more } as unknown as ToolContext
}

type Call = { name?: string; args?: JsonObject; context?: ToolContext; signal?: AbortSignal }

function call(
  tools: ModelTool[],
  { name = 'docs__search', args = {}, context, signal = open }: Call = {},
): Promise<ToolOutcome> {
  const tool = tools.find((one) => one.name === name)
  if (tool === undefined) throw new Error(`no ${name} in ${tools.map((one) => one.name)}`)
  return tool.invoke(args, context ?? contextOf(), signal)
}

const sent = (method: string) => scripted.seen.filter(({ message }) => message?.method === method)

describe('the reference server', () => {
  let everything: Awaited<ReturnType<typeof startReferenceServer>>
  let tools: ModelTool[]
  beforeAll(async () => {
    everything = await startReferenceServer()
    tools = await offer(serverAt(everything.url))
  })
  afterAll(() => everything.stop())

  it('has its tools listed with their schemas, and called by them', async () => {
    expect(tools.map(({ name }) => name)).toContain('docs__get-sum')
    expect(await call(tools, { name: 'docs__get-sum', args: { a: 2, b: 40 } })).toEqual({
      success: true,
      result: 'The sum of 2 and 40 is 42.',
    })
    const wrong = await call(tools, { name: 'docs__get-sum', args: { a: 'two' } })
    expect(wrong).toMatchObject({ success: false, errorType: 'invalid_arguments' })
  })

  it('may answer with data, pictures and links: a model gets what can be read', async () => {
    const data = await call(tools, { name: 'docs__get-structured-content', args: { location: 'New York' } })
    expect(data).toMatchObject({ success: true, result: { temperature: expect.any(Number) } })
    const picture = await call(tools, { name: 'docs__get-tiny-image' })
    expect(picture).toMatchObject({ success: true, result: expect.stringContaining('[image of type image/png') })
    const linked = await call(tools, { name: 'docs__get-resource-links', args: { count: 2 } })
    expect(linked).toMatchObject({ success: true, result: expect.stringContaining('[demo://') })
  })

  it('says how far a long call is, in a stream that ends with the answer', async () => {
    const told: string[] = []
    const context = contextOf({ onProgress: (line) => told.push(line) })
    const name = 'docs__trigger-long-running-operation'
    const outcome = await call(tools, { name, args: { duration: 0.2, steps: 2 }, context })
    expect(outcome).toMatchObject({ success: true, result: expect.stringContaining('completed') })
    expect(told).toEqual([`${name}: 1 of 2`, `${name}: 2 of 2`])
  })
})

describe('a session', () => {
  const sessions = () => new Set(sent('tools/call').map(({ headers }) => headers['mcp-session-id']))
  function giveSessions(): void {
    let count = 0
    scripted.replies.initialize = (response, received) => {
      count += 1
      response.setHeader('mcp-session-id', `session-${count}`)
      initialize(response, received)
    }
  }

  it('is one for all calls of a run, in the revision agreed on, and ends with the run', async () => {
    giveSessions()
    scripted.replies.initialize = ((usual) => (response, received) => {
      const params = { ...received.message.params, protocolVersion: '2025-03-26' }
      usual?.(response, { ...received, message: { ...received.message, params } })
    })(scripted.replies.initialize)
    const tools = await offer(serverAt(scripted.url))
    const context = contextOf()
    await Promise.all([call(tools, { context }), call(tools, { context })])
    await call(tools, { context })
    expect(sent('initialize')).toHaveLength(2)
    expect([...sessions()]).toEqual(['session-2'])
    expect(sent('tools/call')[0]?.headers['mcp-protocol-version']).toBe('2025-03-26')
    await links.close()
    await waitFor(
      () =>
        scripted.seen.filter(({ method, headers }) => method === 'DELETE' && headers['mcp-session-id']).length === 2,
      'both sessions to end',
    )
  })

  it('that the server has lost is begun anew, once', async () => {
    giveSessions()
    const tools = await offer(serverAt(scripted.url))
    scripted.replies['tools/call'] = (response, received) => {
      if (received.headers['mcp-session-id'] === 'session-2') return void response.writeHead(404).end()
      textOf('found')(response, received)
    }
    expect(await call(tools)).toMatchObject({ success: true, result: 'found' })
    expect([...sessions()]).toEqual(['session-2', 'session-3'])
    scripted.replies['tools/call'] = (response) => void response.writeHead(404).end()
    expect(await call(tools)).toMatchObject({ success: false, errorType: 'upstream_error' })
    expect(sent('tools/call')).toHaveLength(4)
  })

  it('is told that a call is cancelled', async () => {
    const tools = await offer(serverAt(scripted.url))
    const stop = new AbortController()
    scripted.replies['tools/call'] = () => stop.abort()
    const outcome = await call(tools, { signal: stop.signal })
    expect(outcome).toMatchObject({ success: false, errorType: 'cancelled' })
    await waitFor(() => sent('notifications/cancelled').length === 1, 'the server to be told')
  })

  it('is told of no call that was answered before what it ran in was cancelled', async () => {
    const tools = await offer(serverAt(scripted.url))
    const context = contextOf()
    const stop = new AbortController()
    for (let turn = 0; turn < 3; turn++) await call(tools, { context, signal: stop.signal })
    stop.abort()
    await call(tools, { context })
    await links.close()
    expect(sent('tools/call')).toHaveLength(4)
    expect(sent('notifications/cancelled')).toEqual([])
  })
})

describe('a server that misbehaves', () => {
  it('and knows a tool no more when it is called is quoted', async () => {
    const tools = await offer(serverAt(scripted.url))
    scripted.replies['tools/call'] = (response, { message }) =>
      writeJson(response, { jsonrpc: '2.0', id: message.id, error: { code: -32602, message: 'Unknown tool: search' } })
    expect(await call(tools)).toMatchObject({
      success: false,
      errorType: 'invalid_arguments',
      error: expect.stringContaining('Unknown tool: search'),
    })
  })

  it.each([
    [
      'answers another id',
      (id: number) => ({ 'content-type': 'application/json', text: `{"jsonrpc":"2.0","id":${id + 7},"result":{}}` }),
    ],
    ['never ends a stream', () => ({ 'content-type': 'text/event-stream', text: ': still here\n\n' })],
    ['is silent', () => undefined],
  ])('and %s is given up after the time limit', async (_what, answer) => {
    const tools = await offer(serverAt(scripted.url, { timeoutMs: 300 }))
    scripted.replies['tools/call'] = (response, { message }) => {
      const told = answer(message.id ?? 0)
      if (told === undefined) return
      response.writeHead(200, { 'content-type': told['content-type'] }).write(told.text)
      if (told['content-type'] === 'application/json') response.end()
    }
    expect(await call(tools)).toMatchObject({ success: false, errorType: 'timeout' })
  })

  it.each([
    ['application/json', '{"jsonrpc":"2.0","id":1,"result":{"content":"'],
    ['text/event-stream', 'data: '],
    ['text/event-stream', ''],
  ])('and sends 100 MB as %s is cut off (after %j)', async (type, head) => {
    const tools = await offer(serverAt(scripted.url, { timeoutMs: 20_000 }))
    let written = 0
    scripted.replies['tools/call'] = (response) => {
      response.writeHead(200, { 'content-type': type }).write(head)
      const part = Buffer.alloc(65_536, head === '' ? 'a\n\n' : 'a')
      const writeOn = () => {
        while (!response.destroyed && written < 100_000_000) {
          written += part.length
          if (!response.write(part)) return void response.once('drain', writeOn)
        }
      }
      writeOn()
    }
    expect(await call(tools)).toMatchObject({ success: false, errorType: 'too_large' })
    expect(written).toBeLessThan(30_000_000)
    scripted.replies['tools/call'] = textOf('again')
    expect(await call(tools)).toMatchObject({ success: true, result: 'again' })
  })

  it.each([
    ['text/html', '{"jsonrpc":"2.0","id":2,"result":{"content":[]}}'],
    ['application/json', '<html>not what it says</html>'],
    ['application/json', '{"hello":"world"}'],
  ])('and lies about what it sends is not believed: %s, %s', async (type, body) => {
    const tools = await offer(serverAt(scripted.url))
    scripted.replies['tools/call'] = (response) => void response.writeHead(200, { 'content-type': type }).end(body)
    expect(await call(tools)).toMatchObject({ success: false, errorType: 'upstream_error' })
  })

  it('and has no endpoint at the path is told with that, without the page that it sends', async () => {
    scripted.replies.initialize = (response) =>
      void response
        .writeHead(404, { 'content-type': 'text/html' })
        .end('<!DOCTYPE html>\n<html><pre>Cannot POST /wrong</pre></html>')
    await expect(listMcpTools(serverAt(scripted.url), reach, open)).rejects.toMatchObject({
      reason: 'UpstreamFailed',
      message: expect.stringMatching(
        /^127\.0\.0\.1:\d+ answered 404; is the path of mcp\.url that of its MCP endpoint\?$/,
      ),
    })
  })

  it('and answers in a shape of its own is told so, by the place in the answer', async () => {
    scripted.replies['tools/list'] = result({ tools: {} })
    await expect(listMcpTools(serverAt(scripted.url), reach, open)).rejects.toMatchObject({
      reason: 'UpstreamFailed',
      message: expect.stringMatching(/not what the protocol says: tools: must be a list/),
    })
    scripted.replies['tools/list'] = listOf('search')
    const tools = await offer(serverAt(scripted.url))
    scripted.replies['tools/call'] = result({ content: 'none' })
    expect(await call(tools)).toMatchObject({
      success: false,
      error: expect.stringMatching(/^search of .*: content: must be/),
    })
  })

  it('in one of its tools is without that one, which is named with the reason', async () => {
    const schema = { type: 'object' }
    scripted.replies['tools/list'] = result({
      tools: [
        { name: 'empty', inputSchema: {} },
        { name: 'none' },
        { name: 'list', inputSchema: { type: 'array' } },
        { name: 'odd', inputSchema: { type: 'object', properties: [] } },
        { name: 5, inputSchema: schema },
        null,
        { name: 'x'.repeat(300), inputSchema: schema },
        { name: 'plain', inputSchema: { properties: { q: { type: 'string' } } }, annotations: 'odd', description: 7 },
        { name: 'titled', title: 'Titled', inputSchema: schema, annotations: { readOnlyHint: 'yes' } },
        { name: 'titled', inputSchema: schema },
        { name: 'y'.repeat(100), inputSchema: schema },
      ],
      nextCursor: null,
    })
    const { tools, leftOut } = await listMcpTools(serverAt(scripted.url), reach, open)
    expect(tools).toEqual([
      { serverName: 'plain', description: '', parameters: { type: 'object', properties: { q: { type: 'string' } } } },
      { serverName: 'titled', description: 'Titled', parameters: schema },
      { serverName: 'y'.repeat(100), description: '', parameters: schema },
    ])
    expect(leftOut.map(({ name, reason }) => `${name}: ${reason}`)).toEqual([
      'empty: its inputSchema must be of type "object"',
      'none: its inputSchema is not an object',
      'list: its inputSchema must be of type "object"',
      'odd: the properties of its inputSchema are no object',
      'tool 5 of its list: it has no name',
      'tool 6 of its list: it has no name',
      `${'x'.repeat(64)}...: its name is longer than 256`,
      'titled: the server offers another of this name',
    ])
  })

  it.each([[null], [''], [7], ['same']])('and ends its list with the cursor %j has ended it', async (nextCursor) => {
    scripted.replies['tools/list'] = result({
      tools: [{ name: 'search', inputSchema: { type: 'object' } }],
      nextCursor,
    })
    const { tools } = await listMcpTools(serverAt(scripted.url), reach, open)
    expect(tools.map(({ serverName }) => serverName)).toEqual(['search'])
  })

  it.each([
    [
      {
        content: [
          { type: 'widget', x: 1 },
          { type: 'text', text: 'worked' },
        ],
      },
      '[content of type widget, which cannot be shown]\nworked',
    ],
    [
      { content: [null, { type: 'image', data: '' }, { type: 'text', text: 5 }] },
      '[content of type unknown, which cannot be shown]\n[image of type unknown, which cannot be shown]\n5',
    ],
    [
      { content: [{ type: 'resource', resource: null }, { type: 'resource_link' }] },
      '[a resource, which cannot be shown]\n[no address]',
    ],
    [{ structuredContent: { a: 1 } }, { a: 1 }],
    [{ structuredContent: null, content: [{ type: 'text', text: 'worked' }] }, 'worked'],
    [{ content: null }, ''],
    [{ toolResult: { a: 1 } }, { a: 1 }],
    [{ isError: 'no', content: [] }, ''],
  ])('and answers %j is understood as far as it goes', async (answer, expected) => {
    const tools = await offer(serverAt(scripted.url))
    scripted.replies['tools/call'] = result(answer)
    expect(await call(tools)).toEqual({ success: true, result: expected })
  })

  it('is named with the tool that was called', async () => {
    const tools = await offer(serverAt(scripted.url))
    scripted.replies['tools/call'] = (response) => void response.writeHead(500).end('no')
    expect(await call(tools)).toMatchObject({
      error: expect.stringMatching(/^search of 127\.0\.0\.1:\d+ answered 500/),
    })
  })

  it('and pages its tools for ever is not followed', async () => {
    let page = 0
    scripted.replies['tools/list'] = (response, received) => {
      page += 1
      result({ tools: [{ name: `t${page}`, inputSchema: { type: 'object' } }], nextCursor: `${page}` })(
        response,
        received,
      )
    }
    await expect(listMcpTools(serverAt(scripted.url), reach, open)).rejects.toMatchObject({
      reason: 'UpstreamFailed',
      message: expect.stringContaining('has no end'),
    })
  })

  it('and speaks no revision that is known is not called', async () => {
    scripted.replies.initialize = result({
      protocolVersion: '1999-01-01',
      capabilities: {},
      serverInfo: { name: 's', version: '1' },
    })
    await expect(listMcpTools(serverAt(scripted.url), reach, open)).rejects.toMatchObject({ reason: 'UpstreamFailed' })
    expect(sent('tools/list')).toEqual([])
  })
})

describe('where calls lead [NET-001]', () => {
  it('is nowhere that is not permitted: not at once, not by a redirect, not when a name is bound anew', async () => {
    const inside = { ...reach, egressPolicy: { allowNetworks: [], deny: [] } }
    await expect(listMcpTools(serverAt(scripted.url), inside, open)).rejects.toMatchObject({ reason: 'Forbidden' })
    expect(scripted.seen).toEqual([])

    const other = await startScriptedServer()
    const tools = await offer(serverAt(scripted.url, { token: 'token-of-the-server' }))
    scripted.replies['tools/call'] = (response) => void response.writeHead(307, { location: other.url }).end()
    expect(await call(tools)).toMatchObject({ success: false, errorType: 'upstream_error' })
    expect(other.seen).toEqual([])
    await other.stop()

    let lookups = 0
    const resolve = async () => [{ address: lookups++ === 0 ? '127.0.0.1' : '127.0.0.9', family: 4 }]
    const rebound = createEgress({ resolve })
    scripted.intercept((_received, response) => {
      response.setHeader('connection', 'close')
      return false
    })
    const named = serverAt(scripted.url.replace('127.0.0.1', 'mcp.example'))
    await expect(listMcpTools(named, { ...reach, egress: rebound }, open)).rejects.toMatchObject({
      reason: 'Forbidden',
      message: expect.stringContaining('127.0.0.9'),
    })
    await rebound.close()
  })

  it("is only a host that the token's Secret names", async () => {
    const server = serverAt(scripted.url, { token: 'token-of-the-server', allowedHosts: ['mcp.example.com'] })
    await expect(listMcpTools(server, reach, open)).rejects.toMatchObject({ reason: 'Forbidden' })
    expect(scripted.seen).toEqual([])
  })
})

describe('a credential', () => {
  const secret = 'token-of-the-server-0123'

  it('goes along with each request, and is in no schema, result or error [TOOL-010] [TOOL-013]', async () => {
    const server = serverAt(scripted.url, { token: secret, headers: { 'X-Team': 'red' } })
    scripted.replies['tools/list'] = result({
      tools: [{ name: 'search', description: `uses ${secret}`, inputSchema: { type: 'object', title: secret } }],
    })
    const tools = await offer(server)
    scripted.replies['tools/call'] = textOf(`you sent ${secret}`)
    const shown = [await call(tools)]
    scripted.replies['tools/call'] = (response) => void response.writeHead(500).end(`not with ${secret}`)
    shown.push(await call(tools))
    scripted.replies['tools/call'] = (response) => void response.writeHead(401).end()
    shown.push(await call(tools))
    expect(shown).toMatchObject([
      { success: true, result: 'you sent [REDACTED]' },
      { success: false, error: expect.stringContaining('500') },
      { success: false, errorType: 'not_configured', error: expect.stringContaining('refused the credential') },
    ])
    expect(JSON.stringify([tools, shown])).not.toContain(secret)
    expect(scripted.seen.length).toBeGreaterThan(5)
    for (const { headers } of scripted.seen) {
      expect(headers).toMatchObject({ authorization: `Bearer ${secret}`, 'x-team': 'red' })
    }
  })

  it('of a transaction is taken for the Tool and sent with its own call', async () => {
    const tools = await offer(serverAt(scripted.url))
    const asked: string[] = []
    const propagation = { takeToken: async (tool: string) => `transaction-${tool}-${asked.push(tool)}` }
    const context = contextOf({ propagation })
    await Promise.all([call(tools, { context }), call(tools, { context })])
    expect(asked).toEqual(['docs', 'docs'])
    const tokens = sent('tools/call').map(({ headers }) => headers['txn-token'])
    expect(tokens.toSorted()).toEqual(['transaction-docs-1', 'transaction-docs-2'])
  })
})

describe('a Tool that is not available', () => {
  it('fails at once with the reason while that is fresh, and is tried afterwards', async () => {
    const listed = { name: 'docs__search', serverName: 'search', description: 'd', parameters: {} }
    const outage = { message: 'it could not be reached', until: '2026-01-01T12:01:00.000Z' }
    let now = new Date('2026-01-01T12:00:59Z')
    const tools = createCustomTools(assign(serverAt(scripted.url), [listed], { outage }), { now: () => now })
    expect(await call(tools)).toMatchObject({
      success: false,
      errorType: 'unavailable',
      error: expect.stringContaining(outage.message),
    })
    expect(scripted.seen).toEqual([])
    now = new Date('2026-01-01T12:01:00Z')
    expect(await call(tools)).toMatchObject({ success: true })
    const unknown = createCustomTools(assign(serverAt(scripted.url), [], { outage }), { now: () => now })
    expect(await call(unknown, { name: 'docs' })).toMatchObject({ success: false, errorType: 'unavailable' })
  })
})

it('a server without tools has none, and says so', async () => {
  scripted.replies['tools/list'] = listOf()
  expect(await call(await offer(serverAt(scripted.url)), { name: 'docs' })).toMatchObject({
    success: false,
    error: expect.stringContaining('offers no tools'),
  })
})
