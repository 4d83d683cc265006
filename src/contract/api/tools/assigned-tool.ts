// Custom tools as a worker gets them, their credentials resolved.
import { z } from 'zod'
import { ListedTool } from '../../kinds/tools/tool-http.ts'
import { field } from '../../schema/field.ts'

const named = {
  name: field(z.string(), 'Name of the Tool.', 'weather'),
  description: field(z.string(), 'What the tool does; the model reads it.', 'Returns the weather of a city'),
  parameters: field(z.record(z.string(), z.unknown()), 'JSON Schema of the arguments.', { type: 'object' }),
  outage: field(
    z
      .object({
        message: field(z.string(), 'Why the tool is not available.', 'mcp.example.com could not be reached'),
        until: field(z.string(), 'Until when its calls fail at once; later ones try.', '2026-01-01T12:01:00Z'),
      })
      .optional(),
    'What was found when the tool was last checked. Absent: it is available.',
  ),
}

const reach = {
  headers: field(z.record(z.string(), z.string()), 'Headers of the request.', { Accept: 'application/json' }),
  timeoutMs: field(z.number().positive(), 'Time limit of one call in milliseconds.', 30000),
  allowedHosts: field(z.array(z.string()).optional(), 'Hosts that the credential may be sent to. Absent: all hosts.', [
    'api.example.com',
  ]),
}

/** A tool that is one HTTP request. */
export const AssignedHttpTool = z.object({
  ...named,
  http: field(
    z.object({
      ...reach,
      url: field(z.string(), 'Address of the request.', 'https://api.example.com/weather'),
      method: field(z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']), 'HTTP method of the request.'),
      auth: field(
        z
          .object({
            inject: field(
              z.enum(['header', 'body']),
              '`header` sends `Authorization: Bearer`, `body` puts the token into the JSON body.',
            ),
            bodyKey: field(z.string().optional(), 'Key of the JSON body that holds the token.', 'api_key'),
            token: field(z.string(), 'The token.', 'token-of-the-tool'),
          })
          .optional(),
        'How the request carries its token.',
      ),
    }),
    'The request that the tool makes.',
  ),
})
export type AssignedHttpTool = z.infer<typeof AssignedHttpTool>

/** How to reach an MCP server. */
export const McpServer = z.object({
  ...reach,
  url: field(z.string(), 'Address of the endpoint.', 'https://mcp.example.com/mcp'),
  via: field(
    z.string().optional(),
    'Router that the requests are sent to, for a server in an actor; the host of the address tells it which actor.',
    'http://router.example.com',
  ),
  token: field(z.string().optional(), 'Sent as `Authorization: Bearer`.', 'token-of-the-server'),
  oauth: field(
    z
      .object({
        issuer: field(z.string(), 'Authorization server.', 'https://auth.example.com'),
        clientId: field(z.string(), 'Id of the client.', 'svc'),
        clientSecret: field(z.string(), 'Secret of the client.', 'secret-of-the-client'),
        scope: field(z.string().optional(), 'Scopes to ask for, separated by spaces.', 'tools:call'),
      })
      .optional(),
    'Client credentials that tokens are got with.',
  ),
})
export type McpServer = z.infer<typeof McpServer>

/** An MCP server and those of its tools that models get. */
export const AssignedMcpTool = z.object({
  ...named,
  mcp: field(McpServer, 'The server.'),
  tools: field(z.array(ListedTool), 'Its tools. Empty: they are not known, and a call of the Tool itself says why.'),
})
export type AssignedMcpTool = z.infer<typeof AssignedMcpTool>

/** A custom tool, or several of one server. */
export const AssignedTool = z.union([AssignedHttpTool, AssignedMcpTool])
export type AssignedTool = z.infer<typeof AssignedTool>

/** Values that nobody may see. */
export function listToolSecrets(tool: AssignedTool): string[] {
  const secrets = 'http' in tool ? [tool.http.auth?.token] : [tool.mcp.token, tool.mcp.oauth?.clientSecret]
  return secrets.filter((value) => value !== undefined)
}
