import { describe, expect, it } from 'vitest'
import { Tool, ToolSpec, ToolStatus, toolProblems } from './tool.ts'

const url = 'https://example.com/run'
const mcp = { actor: { templateRef: { name: 't' } } }
const oauth = { issuer: 'https://auth.example.com', clientID: 'svc', clientSecretRef: { name: 's', key: 'k' } }
const paths = (spec: object) =>
  toolProblems(ToolSpec.parse({ description: 'd', ...spec })).map((problem) => problem.path)

describe('tool spec', () => {
  it('is of version and kind [TOOL-001]', () => {
    expect(Tool.shape.apiVersion.value).toBe('core.svc.ai/v1alpha1')
    expect(Tool.shape.kind.value).toBe('Tool')
  })

  it('has the defaults of the specification [TOOL-009]', () => {
    expect(ToolSpec.parse({ description: 'd', http: { url }, mcp })).toEqual({
      description: 'd',
      parameters: {},
      http: { url, method: 'POST', timeout: '30s', authInject: 'header' },
      mcp: { path: '/mcp', actor: { templateRef: { name: 't' }, boot: false } },
    })
  })

  it('starts as not available, without an endpoint [TOOL-018] [TOOL-019]', () => {
    expect(ToolStatus.parse({})).toEqual({ available: false, endpoint: '' })
  })

  it('wants a description, and an address of plain HTTP tools [TOOL-005] [TOOL-007]', () => {
    expect(ToolSpec.safeParse({ http: { url } }).success).toBe(false)
    expect(ToolSpec.safeParse({ description: '', http: { url } }).success).toBe(false)
    expect(paths({})).toEqual(['http.url'])
    expect(paths({ http: {} })).toEqual(['http.url'])
    expect(paths({ mcp })).toEqual([])
  })

  it('knows five methods and two ways of authentication [TOOL-008] [TOOL-014]', () => {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) expect(paths({ http: { url, method } })).toEqual([])
    expect(ToolSpec.safeParse({ description: 'd', http: { url, method: 'HEAD' } }).success).toBe(false)
    expect(ToolSpec.safeParse({ description: 'd', http: { url, authInject: 'query' } }).success).toBe(false)
  })

  it.each([
    [['http.url'], { http: { url: `${url}/{city}` } }],
    [['http.headers["Host"]'], { http: { url, headers: { Host: 'a', 'X-Team': 'b' } } }],
    [['http.headers["content-LENGTH"]'], { http: { url, headers: { 'content-LENGTH': '1' } } }],
    [['http.headers["X-Team"]'], { http: { url, headers: { 'X-Team': 'a', 'x-team': 'b' } } }],
    [
      [],
      { http: { url, headers: { Accept: 'text/html', 'Content-Type': 'text/plain', Authorization: 'Basic YTpi' } } },
    ],
    [
      ['http.headers["Authorization"]'],
      { http: { url, headers: { Authorization: 'a' }, authSecretRef: { name: 's', key: 'k' } } },
    ],
    [
      ['http.headers["Accept"]', 'http.headers["Mcp-Session-Id"]'],
      {
        mcp,
        http: { headers: { Accept: 'a', 'Mcp-Session-Id': 'b', 'X-Team': 'c' } },
      },
    ],
    [['http.headers["authorization"]'], { mcp: { url, oauth }, http: { headers: { authorization: 'a' } } }],
    [
      ['http.url'],
      { http: { url: 'https://{city}.example.com' }, parameters: { type: 'object', properties: { city: {} } } },
    ],
    [[], { http: { url: `${url}/{city}?of={city}` }, parameters: { type: 'object', properties: { city: {} } } }],
    [['http.authBodyKey'], { http: { url, authInject: 'body' } }],
    [['http.authInject'], { http: { url, authInject: 'body', authBodyKey: 'k', method: 'GET' } }],
    [[], { http: { url, authInject: 'body', authBodyKey: 'k' } }],
    [['http.authInject'], { mcp, http: { authInject: 'body' } }],
    [['http.method'], { mcp, http: { method: 'GET' } }],
    [[], { mcp, http: { authSecretRef: { name: 's', key: 'k' } } }],
    [['mcp.actor'], { mcp: {} }],
    [[], { mcp: { url, tools: ['read_*'] }, http: { authSecretRef: { name: 's', key: 'k' } } }],
    [['mcp.actor'], { mcp: { url, ...mcp } }],
    [['http.url'], { mcp: { url }, http: { url } }],
    [['mcp.tools'], { mcp: { ...mcp, tools: ['search'] } }],
    [['mcp.oauth'], { mcp: { ...mcp, oauth } }],
    [['http.authSecretRef'], { mcp: { url, oauth }, http: { authSecretRef: { name: 's', key: 'k' } } }],
    [['parameters.type'], { http: { url }, parameters: { type: 'string' } }],
    [['parameters.properties'], { http: { url }, parameters: { type: 'object', properties: [] } }],
    [['parameters.required'], { http: { url }, parameters: { type: 'object', required: 'a' } }],
    [[], { http: { url }, parameters: { type: 'object', properties: { transaction: {} }, required: ['transaction'] } }],
    [[], { http: { url }, parameters: {} }],
  ])('finds %j in %j', (expected, spec) => {
    expect(paths(spec)).toEqual(expected)
  })

  it('has parameters in function-calling format, none by default [TOOL-006]', () => {
    const parameters = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }
    expect(ToolSpec.parse({ description: 'd', http: { url }, parameters }).parameters).toEqual(parameters)
    expect(ToolSpec.parse({ description: 'd', http: { url } }).parameters).toEqual({})
  })

  it('keeps schemas as they are, but not endlessly deep ones', () => {
    const nest = (depth: number): object => (depth === 0 ? {} : { properties: nest(depth - 1) })
    const parse = (parameters: object) => ToolSpec.safeParse({ description: 'd', http: { url }, parameters })
    expect(parse({ type: 'object', ...nest(60) }).success).toBe(true)
    expect(parse({ type: 'object', ...nest(70) }).error?.issues[0]?.message).toContain('nested deeper')
  })

  it.each([[{ 'X-A': 'a\r\nX-B: b' }], [{ 'a b': 'x' }], [{ '': 'x' }]])('refuses the headers %j', (headers) => {
    expect(ToolSpec.safeParse({ description: 'd', http: { url, headers } }).success).toBe(false)
  })
})
