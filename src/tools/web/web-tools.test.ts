import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AssignedHttpTool } from '../../contract/api/tools/assigned-tool.ts'
import { createEgress } from '../../egress/egress.ts'
import type { JsonObject } from '../../lib/json.ts'
import { ThreadPool } from '../../lib/thread-pool.ts'
import type { Sandbox } from '../../ports/workspaces/sandbox.ts'
import { createHttpTool } from '../custom/http-tool.ts'
import { createToolHost, describeBuiltinTools } from '../registry/registry.ts'
import type { ModelTool, SearchSettings, ToolContext } from '../registry/tool.ts'
import { articleModule } from './article.ts'
import { extractPage } from './page-text.ts'
import { webFetch } from './web-fetch.ts'
import { webSearch } from './web-search.ts'

type Seen = { method: string; url: string; headers: IncomingMessage['headers']; body: string }
type Answer = { status?: number; type?: string; body?: string | Buffer; headers?: Record<string, string> }

const pages: Record<string, (seen: Seen) => Answer | 'silence'> = {}
let seen: Seen[] = []
const egress = createEgress()

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = ''
  for await (const chunk of request) body += chunk
  const call = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body }
  seen.push(call)
  const path = call.url.split('?')[0] ?? ''
  const page = pages[path]?.(call) ?? { status: 404, body: 'nothing here' }
  if (page === 'silence') return
  response.writeHead(page.status ?? 200, { 'content-type': page.type ?? 'text/plain', ...page.headers })
  response.end(page.body ?? '')
}

const server = createServer((request, response) => void answer(request, response))
let base = ''
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(async () => {
  await egress.close()
  server.closeAllConnections()
  server.close()
})

const noSandbox: Sandbox = {
  check: async () => ({
    available: false,
    reason: 'bubblewrap is not installed',
    suggestion: 'apt-get install bubblewrap',
  }),
  run: async () => {
    throw new Error('must not be called')
  },
}

function context(options: { search?: SearchSettings; allowNetworks?: string[] } = {}): ToolContext {
  return {
    workspaceRoot: '/nonexistent',
    sharesWorkspace: false,
    sandbox: noSandbox,
    egress,
    egressPolicy: { allowNetworks: options.allowNetworks ?? ['127.0.0.0/8'], deny: [] },
    search: options.search,
  }
}

async function run(tool: ModelTool, args: JsonObject, using: ToolContext = context()): Promise<JsonObject> {
  seen = []
  return tool.invoke(args, using, new AbortController().signal)
}

const article = `<html><head><title>On rivers</title></head><body><nav><a href="/home">Home</a></nav>
<article><h2>Sources</h2><p>Water comes from <a href="/hills">the hills</a>, and <b>slowly</b>.</p>
<ul><li>one</li><li>two</li></ul></article><script>evil()</script></body></html>`

describe('web_fetch', () => {
  it('gives the article of a page as Markdown with whole links', async () => {
    pages['/article'] = () => ({ type: 'text/html', body: article })
    const result = await run(webFetch, { url: `${base}/article` })
    expect(result).toMatchObject({ success: true, status: 200, extractor: 'readability', truncated: false })
    expect(result.content).toContain('# On rivers')
    expect(result.content).toContain(`[the hills](${base}/hills)`)
    expect(result.content).toContain('**slowly**')
    expect(result.content).not.toContain('evil')
    expect(result.length).toBe(String(result.content).length)
  })

  it('gives the body as it is when raw is set [BUILT-011]', async () => {
    pages['/article'] = () => ({ type: 'text/html', body: article })
    expect(await run(webFetch, { url: `${base}/article`, raw: true })).toMatchObject({
      content: article,
      extractor: 'raw',
    })
  })

  it('cuts at 50,000 characters unless told otherwise, and not at 64 KiB [BUILT-010] [BUILT-029]', async () => {
    pages['/long'] = () => ({ body: 'x'.repeat(200_000) })
    const standard = await run(webFetch, { url: `${base}/long` })
    expect(standard).toMatchObject({ length: 200_000, truncated: true, extractor: 'text' })
    expect(standard.content).toHaveLength(50_000)
    expect((await run(webFetch, { url: `${base}/long`, max_chars: 150_000 })).content).toHaveLength(150_000)
  })

  it('takes an error status as a result', async () => {
    expect(await run(webFetch, { url: `${base}/missing` })).toMatchObject({
      success: true,
      status: 404,
      content: 'nothing here',
    })
  })

  it('leaves JSON alone, decodes other encodings and reports what is not text', async () => {
    pages['/json'] = () => ({ type: 'application/json', body: '{"a":1}' })
    pages['/latin'] = () => ({ type: 'text/plain; charset=iso-8859-1', body: Buffer.from('caf\xe9', 'latin1') })
    pages['/image'] = () => ({ type: 'image/png', body: Buffer.from([137, 80, 0, 1]) })
    expect(await run(webFetch, { url: `${base}/json` })).toMatchObject({ content: '{"a":1}', extractor: 'json' })
    expect(await run(webFetch, { url: `${base}/latin` })).toMatchObject({ content: 'café' })
    expect(await run(webFetch, { url: `${base}/image` })).toMatchObject({ content: '', extractor: 'none' })
  })

  it('still answers for a page whose structure overcomes the parsers', async () => {
    const page = { html: `${'<div>'.repeat(5000)}deep text`, url: base }
    const limits = { threads: 1, timeoutMs: 500, memoryMegabytes: 64 }
    const run = { holder: '', signal: new AbortController().signal }
    const text = await extractPage(page, run, new ThreadPool(articleModule, limits))
    expect(text).toEqual({ text: 'deep text', extractor: 'html_text' })
  })

  it('follows redirects and says where they led', async () => {
    pages['/from'] = () => ({ status: 302, headers: { location: '/to' } })
    pages['/to'] = () => ({ body: 'arrived' })
    expect(await run(webFetch, { url: `${base}/from` })).toMatchObject({ url: `${base}/to`, content: 'arrived' })
  })

  it.each([['file:///etc/passwd'], ['not an address'], ['http://user:pw@example.com/'], ['']])(
    'refuses %j',
    async (url) => {
      expect(await run(webFetch, { url })).toMatchObject({ success: false, errorType: 'invalid_arguments' })
    },
  )

  it('does not reach a private address that is not allowed', async () => {
    const result = await run(webFetch, { url: `${base}/article` }, context({ allowNetworks: [] }))
    expect(result).toMatchObject({ success: false, errorType: 'forbidden' })
    expect(seen).toEqual([])
  })
})

describe('web_search', () => {
  it('needs a query and asks for five results by default [BUILT-002] [BUILT-003]', async () => {
    pages['/find'] = () => ({
      body: JSON.stringify(Array.from({ length: 9 }, (_, i) => ({ title: `t${i}`, url: `u${i}` }))),
    })
    const using = context({ search: { backend: 'json', url: `${base}/find`, apiKey: 'k1' } })
    expect(await run(webSearch, {}, using)).toMatchObject({ errorType: 'invalid_arguments' })
    const result = await run(webSearch, { query: 'a b' }, using)
    expect(result.results).toHaveLength(5)
    expect(seen[0]?.url).toBe('/find?q=a+b&limit=5')
    expect(seen[0]?.headers.authorization).toBe('Bearer k1')
  })

  it('speaks to each backend in its own way [BUILT-019]', async () => {
    const hit = { title: 'T', url: 'https://e.com', content: 'S', description: 'S' }
    pages['/search'] = () => ({ body: JSON.stringify({ results: [hit] }) })
    pages['/brave'] = () => ({ body: JSON.stringify({ type: 'search', web: { results: [hit] } }) })
    pages['/tavily'] = () => ({ body: JSON.stringify({ results: [hit] }) })
    const results = [{ title: 'T', url: 'https://e.com', snippet: 'S' }]
    const ask = (search: SearchSettings) => run(webSearch, { query: 'q', limit: 3 }, context({ search }))
    expect(await ask({ backend: 'searxng', url: base })).toMatchObject({ results })
    expect(seen[0]?.url).toBe('/search?q=q&format=json')
    expect(await ask({ backend: 'brave', url: `${base}/brave`, apiKey: 'k' })).toMatchObject({ results })
    expect(seen[0]?.headers['x-subscription-token']).toBe('k')
    expect(await ask({ backend: 'tavily', url: `${base}/tavily`, apiKey: 'k' })).toMatchObject({ results })
    expect(JSON.parse(seen[0]?.body ?? '')).toEqual({ query: 'q', max_results: 3 })
  })

  it('makes nothing up: no backend, a refusal and an odd answer are errors [BUILT-017] [BUILT-019]', async () => {
    const unset = await run(webSearch, { query: 'q' })
    expect(unset).toMatchObject({ success: false, errorType: 'not_configured' })
    expect(unset.suggestion).toContain('SVC_SEARCH_BACKEND')
    const noKey = await run(webSearch, { query: 'q' }, context({ search: { backend: 'brave' } }))
    expect(noKey).toMatchObject({ errorType: 'not_configured' })
    expect(noKey.error).toContain('SVC_SEARCH_API_KEY')
    pages['/find'] = () => ({ status: 500 })
    const using = context({ search: { backend: 'json', url: `${base}/find` } })
    expect(await run(webSearch, { query: 'q' }, using)).toMatchObject({ errorType: 'upstream_error' })
    pages['/find'] = () => ({ body: '<html>' })
    expect(await run(webSearch, { query: 'q' }, using)).toMatchObject({ errorType: 'upstream_error' })
    pages['/find'] = () => ({ body: '[]' })
    expect(await run(webSearch, { query: 'q' }, using)).toMatchObject({ success: true, results: [] })
  })
})

function httpTool(http: Partial<AssignedHttpTool['http']>, parameters: JsonObject = {}): ModelTool {
  const standard = { url: `${base}/tool`, method: 'POST' as const, headers: {}, timeoutMs: 5000 }
  return createHttpTool({ name: 'lookup', description: 'looks up', parameters, http: { ...standard, ...http } })
}

describe('a custom HTTP tool', () => {
  it('posts its arguments with static headers and the token as bearer [TOOL-010] [TOOL-013] [TOOL-015]', async () => {
    pages['/tool'] = () => ({ type: 'application/json', body: '{"ok":true}' })
    const tool = httpTool({ headers: { 'X-Team': 'red' }, auth: { inject: 'header', token: 'tok-secret-1' } })
    expect(await run(tool, { a: 1 })).toMatchObject({ success: true, status: 200, body: { ok: true } })
    expect(seen[0]).toMatchObject({ method: 'POST', body: '{"a":1}' })
    expect(seen[0]?.headers).toMatchObject({ 'x-team': 'red', authorization: 'Bearer tok-secret-1' })
  })

  it('puts the token into the body where it belongs, over any argument [TOOL-016] [TOOL-017]', async () => {
    pages['/tool'] = () => ({ body: 'fine' })
    const tool = httpTool({ auth: { inject: 'body', bodyKey: 'api', token: 'tok-secret-1' } })
    expect(await run(tool, { api: 'mine', b: 2 })).toMatchObject({ success: true, body: 'fine' })
    expect(JSON.parse(seen[0]?.body ?? '')).toEqual({ api: 'tok-secret-1', b: 2 })
    expect(seen[0]?.headers.authorization).toBeUndefined()
  })

  it('sends the arguments of a GET as query', async () => {
    pages['/tool'] = () => ({ body: 'fine' })
    await run(httpTool({ method: 'GET', url: `${base}/tool?v=1` }), { q: 'a b', n: 2, list: ['x', 'y'] })
    expect(seen[0]).toMatchObject({ method: 'GET', url: '/tool?v=1&q=a+b&n=2&list=x&list=y', body: '' })
  })

  it('puts arguments where its address names them, and sends the others as before', async () => {
    pages['/of/no%2Foslo'] = () => ({ body: 'fine' })
    const parameters = { type: 'object', properties: { city: {}, unit: {}, days: {} } }
    const url = `${base}/of/{city}?in={unit}`
    const args = { city: 'no/oslo', unit: 'C', days: 2 }
    const tool = httpTool({ url }, parameters)
    expect(tool.parameters.required).toEqual(['city', 'unit'])
    expect(await run(tool, args)).toMatchObject({ success: true })
    expect(seen).toMatchObject([{ method: 'POST', url: '/of/no%2Foslo?in=C', body: '{"days":2}' }])
    expect(await run(httpTool({ url, method: 'GET' }, parameters), args)).toMatchObject({ success: true })
    expect(seen).toMatchObject([{ method: 'GET', url: '/of/no%2Foslo?in=C&days=2', body: '' }])
    for (const wrong of [{ city: '..', unit: 'C' }, { city: 'oslo' }]) {
      expect(await run(tool, wrong)).toMatchObject({ errorType: 'invalid_arguments' })
      expect(seen).toEqual([])
    }
  })

  it.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const)('sends a %s [TOOL-008]', async (method) => {
    pages['/tool'] = () => ({ body: 'fine' })
    expect(await run(httpTool({ method }), { a: 1 })).toMatchObject({ success: true })
    expect(seen).toMatchObject([
      method === 'GET' ? { method, url: '/tool?a=1', body: '' } : { method, url: '/tool', body: '{"a":1}' },
    ])
  })

  it('sends its own kind of JSON where its headers name one [TOOL-010]', async () => {
    pages['/tool'] = () => ({ body: 'fine' })
    await run(httpTool({}), {})
    expect(seen[0]?.headers['content-type']).toBe('application/json')
    const type = 'application/merge-patch+json'
    await run(httpTool({ headers: { 'Content-Type': type } }), {})
    expect(seen[0]?.headers['content-type']).toBe(type)
  })

  it('refuses arguments that do not fit its schema before it calls', async () => {
    const parameters = {
      type: 'object',
      properties: { id: { type: 'integer' }, kind: { enum: ['a', 'b'] }, at: { type: 'object', required: ['x'] } },
      required: ['id'],
    }
    const result = await run(httpTool({}, parameters), { kind: 'c', at: {} })
    expect(result).toMatchObject({ success: false, errorType: 'invalid_arguments' })
    for (const name of ['id', 'kind', 'at.x']) expect(result.error).toContain(name)
    expect(seen).toEqual([])
  })

  it('calls a bad status an error and shows no secret of it', async () => {
    pages['/tool'] = ({ headers }) => ({ status: 503, body: `no: ${headers.authorization}` })
    const result = await run(httpTool({ auth: { inject: 'header', token: 'tok-secret-1' } }), {})
    expect(result).toMatchObject({ success: false, errorType: 'upstream_error' })
    expect(result.error).toContain('503')
    expect(JSON.stringify(result)).not.toContain('tok-secret-1')
  })

  it('gives up after its own timeout and says so [TOOL-012]', async () => {
    pages['/tool'] = () => 'silence'
    expect(await run(httpTool({ timeoutMs: 100 }), {})).toMatchObject({ success: false, errorType: 'timeout' })
  })

  it('cuts a long answer within 64 KiB and says what was cut [BUILT-028]', async () => {
    pages['/tool'] = () => ({ body: 'y'.repeat(300_000) })
    const host = createToolHost({ builtin: [], custom: [httpTool({})], context: context() })
    const { content } = await host.call({ id: '1', name: 'lookup', args: {} }, new AbortController().signal)
    expect(Buffer.byteLength(content)).toBeLessThan(65_536)
    expect(JSON.parse(content)).toMatchObject({ truncated: true, note: expect.stringContaining('300000') })
  })
})

describe('the tool host', () => {
  it('offers all built-in tools, and those alone that are on [BUILT-001]', () => {
    const all = createToolHost({ context: context() }).list()
    expect(all.map((tool) => tool.name)).toEqual(['web_search', 'code_exec', 'file_read', 'web_fetch', 'file_write'])
    expect(createToolHost({ builtin: ['file_read'], context: context() }).list()).toHaveLength(1)
  })

  it('answers a call of an unknown tool with not_found and the known names [ERR-004]', async () => {
    const host = createToolHost({ builtin: ['file_read'], context: context() })
    const { content, isError } = await host.call({ id: '1', name: 'nope', args: {} }, new AbortController().signal)
    expect(isError).toBe(true)
    expect(JSON.parse(content)).toMatchObject({
      errorType: 'not_found',
      suggestion: expect.stringContaining('file_read'),
    })
  })

  it('lists a tool that cannot run as unavailable with the reason, or leaves it out when asked [BUILT-016]', async () => {
    const tools = await describeBuiltinTools(context())
    expect(tools.map((tool) => [tool.name, tool.available])).toEqual([
      ['web_search', false],
      ['code_exec', false],
      ['file_read', true],
      ['web_fetch', true],
      ['file_write', true],
    ])
    expect(tools[1]?.reason).toContain('apt-get install bubblewrap')
    expect(await describeBuiltinTools(context(), { hideUnavailable: true })).toHaveLength(3)
  })

  it('answers code_exec without a sandbox with the install line [BUILT-017]', async () => {
    const host = createToolHost({ context: context() })
    const call = { id: '1', name: 'code_exec', args: { language: 'bash', code: 'true' } }
    const { content } = await host.call(call, new AbortController().signal)
    expect(JSON.parse(content)).toMatchObject({
      success: false,
      errorType: 'not_configured',
      suggestion: expect.stringContaining('apt-get install bubblewrap'),
    })
  })

  it('shows models the parameters of the specification', () => {
    const shown = createToolHost({ context: context() }).list()
    const names = shown.map((tool) => Object.keys(tool.parameters.properties as JsonObject))
    expect(names).toEqual([
      ['query', 'limit'],
      ['language', 'code', 'timeout'],
      ['path', 'offset', 'limit'],
      ['url', 'max_chars', 'raw'],
      ['path', 'content', 'mode', 'create_dirs'],
    ])
  })
})
