// What a Tool says of an MCP server, and what the server says of its tools.

import { z } from 'zod'
import type { Problem } from '../../../errors.ts'
import { field } from '../../schema/field.ts'
import { mcpHeaders } from '../../values/client-headers.ts'
import { ForeignName, Name } from '../resources/metadata.ts'
import { FreeForm, SecretKeyRef, WebAddress } from '../resources/references.ts'
import { headerProblems, type ToolHttp } from './tool-http.ts'

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
  clientID: field(z.string().min(1, 'must not be empty').max(1024), 'Id of the client.', 'svc'),
  clientSecretRef: field(SecretKeyRef, 'Entry of a Secret that holds the secret of the client.'),
  scope: field(z.string().max(1024).optional(), 'Scopes to ask for, separated by spaces.', 'tools:call'),
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
    z.array(z.string().min(1, 'must not be empty').max(128)).max(128).optional(),
    "Which of the server's tools models get, by name; `*` stands for any text. Only with `url`. Without it: all of them.",
    ['search', 'read_*'],
  ),
  oauth: field(ToolOauth.optional(), 'How the service gets its tokens for the server. Only with `url`.'),
  path: field(
    z
      .string()
      .max(1024)
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
/** A tool as its server tells of it. */
export type OfferedTool = Omit<ListedTool, 'name'>

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
