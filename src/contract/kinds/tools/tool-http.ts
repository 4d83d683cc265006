// The servers behind tools: one that is plain HTTP, and one that speaks MCP.
import { z } from 'zod'
import type { Problem } from '../../../errors.ts'
import { field, publishedMark } from '../../schema/field.ts'
import { limitedText } from '../../schema/text.ts'
import { canBeFilled, clientHeaders, listPlaceholders, mcpHeaders } from '../../values/client-headers.ts'
import { PositiveDuration } from '../../values/duration.ts'
import { ForeignName, Name } from '../resources/metadata.ts'
import { FreeForm, SecretKeyRef, WebAddress } from '../resources/references.ts'

const headerName = limitedText(1024).regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'must be the name of an HTTP header')
// biome-ignore lint/suspicious/noControlCharactersInRegex: RFC 9110 section 5.5 refuses them in field values
const headerValue = limitedText(65_536).regex(/^[^\x00-\x08\x0a-\x1f\x7f]*$/, 'must not contain control characters')

export const httpMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** The request that a tool makes. */
export const ToolHttp = z.strictObject({
  url: field(
    WebAddress.meta({ [publishedMark]: { format: 'uri-template' } }).optional(),
    'Address that each call is sent to. Names in braces in its path and query, such as `{city}`, stand for arguments of the call, which are then not sent again. Required unless `mcp` is set.',
    'https://api.example.com/weather/{city}',
  ),
  method: field(z.enum(httpMethods).default('POST'), 'HTTP method of the call.'),
  headers: field(
    z.record(headerName, headerValue).optional(),
    'Headers that each call carries. Those that the client sets itself, such as Host and Content-Length, cannot be among them.',
    {
      Accept: 'application/json',
    },
  ),
  timeout: field(PositiveDuration.default('30s'), 'Time limit of one call, as a duration.', '30s'),
  authSecretRef: field(SecretKeyRef.optional(), 'Entry of a Secret that holds the token of the tool.'),
  authInject: field(
    z.enum(['header', 'body']).default('header'),
    'How the token is sent: `header` as `Authorization: Bearer`, `body` inside the JSON body.',
  ),
  authBodyKey: field(
    limitedText(256).optional(),
    'Key of the JSON body that holds the token, with `authInject: body`.',
    'api_key',
  ),
})
export type ToolHttp = z.infer<typeof ToolHttp>

type Properties = Record<string, unknown>

function addressProblems(url: string, properties: Properties): Problem[] {
  const path = 'http.url'
  const placeholders = listPlaceholders(url)
  if (placeholders.length > 0 && !canBeFilled(url)) {
    return [{ path, message: 'may have names in braces in its path and query only' }]
  }
  const unknown = placeholders.filter((name) => !Object.hasOwn(properties, name))
  return unknown.map((name) => ({ path, message: `has {${name}}, which is not among parameters.properties` }))
}

/** Headers that would not be sent as they are; `own`: those that the service sets beside the usual ones. */
export function headerProblems(
  { headers = {}, authSecretRef, authInject }: ToolHttp,
  own: readonly string[],
): Problem[] {
  const names = Object.keys(headers)
  const taken = new Map(names.map((name) => [name.toLowerCase(), name]))
  const sent = authSecretRef !== undefined && authInject === 'header'
  return names.flatMap((name) => {
    const plain = name.toLowerCase()
    const path = `http.headers[${JSON.stringify(name)}]`
    if (clientHeaders.includes(plain) || own.includes(plain))
      return [{ path, message: 'is set by the service itself; remove it' }]
    if (sent && plain === 'authorization') return [{ path, message: 'is set from authSecretRef; remove one of them' }]
    return taken.get(plain) === name ? [] : [{ path, message: 'is given twice; header names do not differ by case' }]
  })
}

/** `properties`: the tool's parameters. Paths are relative to the spec of the tool. */
export function httpProblems(http: ToolHttp | undefined, properties: Properties): Problem[] {
  const problems =
    http?.url === undefined
      ? [{ path: 'http.url', message: 'is required for a tool without mcp' }]
      : addressProblems(http.url, properties)
  if (http !== undefined) problems.push(...headerProblems(http, []))
  if (http?.authInject !== 'body') return problems
  if (http.authBodyKey === undefined || http.authBodyKey === '') {
    problems.push({ path: 'http.authBodyKey', message: 'is required when authInject is body' })
  }
  if (http.method === 'GET') {
    problems.push({ path: 'http.authInject', message: 'must be header for method GET, which sends no body' })
  }
  return problems
}

/** The actor that runs an MCP server. */
export const ToolActor = z.strictObject({
  templateRef: field(
    z.strictObject({
      name: field(ForeignName, 'Name of the template.', 'mcp-server'),
      namespace: field(
        Name.optional(),
        "Namespace of the template. Without it: that of the service's setting, or the tool's own.",
        'team-a',
      ),
    }),
    'Template of the actor that runs the MCP server.',
  ),
  poolRef: field(
    z
      .strictObject({
        name: field(ForeignName.optional(), 'Name of the pool.', 'warm'),
        namespace: field(Name.optional(), "Namespace of the pool. Without it: the tool's own.", 'team-a'),
      })
      .optional(),
    'Pool whose workers run the actor; its template must be the one named here.',
  ),
  boot: field(
    z.boolean().default(false),
    'Boot the actor from scratch when it is first resumed, rather than from the snapshot of its template.',
  ),
})
export type ToolActor = z.infer<typeof ToolActor>

/** Credentials of the OAuth client that the service is for an MCP server (RFC 6749 section 4.4). */
export const ToolOauth = z.strictObject({
  issuer: field(
    WebAddress,
    'Authorization server that the client is registered with. The credentials are sent to no other.',
    'https://auth.example.com',
  ),
  clientID: field(limitedText(1024).min(1, 'must not be empty'), 'Id of the client.', 'svc'),
  clientSecretRef: field(SecretKeyRef, 'Entry of a Secret that holds the secret of the client.'),
  scope: field(limitedText(1024).optional(), 'Scopes to ask for, separated by spaces.', 'tools:call'),
})
export type ToolOauth = z.infer<typeof ToolOauth>

/** The tools of an MCP server, by its address or by the actor that runs it. */
export const ToolMcp = z.strictObject({
  url: field(
    WebAddress.optional(),
    'Address of the MCP endpoint, which speaks streamable HTTP. Required unless `actor` is set.',
    'https://mcp.example.com/mcp',
  ),
  tools: field(
    z.array(limitedText(128).min(1, 'must not be empty')).max(128).optional(),
    "Which of the server's tools models get, by name; `*` stands for any text. Only with `url`. Without it: all of them.",
    ['search', 'read_*'],
  ),
  oauth: field(ToolOauth.optional(), 'How the service gets its tokens for the server. Only with `url`.'),
  path: field(
    limitedText(1024)
      .regex(/^\/[^\s\0]*$/, 'must start with "/"')
      .default('/mcp'),
    'Path of the MCP endpoint in the actor.',
    '/mcp',
  ),
  actor: field(ToolActor.optional(), 'Actor that serves the endpoint. Required unless `url` is set.'),
})
export type ToolMcp = z.infer<typeof ToolMcp>

/** A tool of an MCP server, as models get it. */
export const ListedTool = z.object({
  name: field(z.string(), 'Name that models call it by.', 'docs__search'),
  serverName: field(z.string(), 'Name that the server knows it by.', 'search'),
  description: field(z.string(), 'What it does, as the server says.', 'Searches the documentation'),
  parameters: field(FreeForm, 'JSON Schema of its arguments.', { type: 'object' }),
  readOnly: field(
    z.boolean().optional(),
    'Whether the server says that a call changes nothing: such a call may be repeated.',
  ),
})
export type ListedTool = z.infer<typeof ListedTool>
/** A tool as its server describes it. */
export type OfferedTool = Omit<ListedTool, 'name'>

/** A tool of a server that nobody is offered. */
export const LeftOutTool = z.object({
  name: field(z.string(), 'Name that the server knows it by, or its place in the list.', 'search'),
  reason: field(z.string(), 'Why it is left out.', 'its inputSchema must be of type "object"'),
})
export type LeftOutTool = z.infer<typeof LeftOutTool>

/** What an address and an actor rule out; paths are relative to the spec of the tool. */
function endpointProblems(mcp: ToolMcp, http: ToolHttp | undefined): Problem[] {
  const problems: Problem[] = []
  if (mcp.url === undefined && mcp.actor === undefined) {
    problems.push({ path: 'mcp.actor', message: 'templateRef.name is required unless mcp.url is set' })
  }
  if (mcp.url === undefined) {
    for (const name of ['tools', 'oauth'] as const) {
      if (mcp[name] !== undefined) problems.push({ path: `mcp.${name}`, message: 'is only for a tool with mcp.url' })
    }
    return problems
  }
  if (mcp.actor !== undefined) problems.push({ path: 'mcp.actor', message: 'must be left out with mcp.url' })
  if (http?.url !== undefined) problems.push({ path: 'http.url', message: 'must be left out with mcp.url' })
  return problems
}

/** Paths are relative to the spec of the tool. */
export function mcpProblems(mcp: ToolMcp, http: ToolHttp | undefined): Problem[] {
  const problems = endpointProblems(mcp, http)
  if (http === undefined) return problems
  problems.push(...headerProblems(http, mcp.oauth === undefined ? mcpHeaders : [...mcpHeaders, 'authorization']))
  if (http.authInject === 'body') problems.push({ path: 'http.authInject', message: 'must be header for an MCP tool' })
  if (http.method !== 'POST') problems.push({ path: 'http.method', message: 'must be POST for an MCP tool' })
  if (mcp.oauth !== undefined && http.authSecretRef !== undefined) {
    problems.push({ path: 'http.authSecretRef', message: 'must be left out with mcp.oauth' })
  }
  return problems
}
