// Tool: custom tools for models, behind plain HTTP or an MCP server, which has an address or runs in a durable actor.

import { z } from 'zod'
import type { Problem } from '../../errors.ts'
import { PositiveDuration } from '../duration.ts'
import { field } from '../field.ts'
import { isJsonObject } from '../json.ts'
import { Condition, defineResource, Timestamp } from './metadata.ts'
import { FreeForm, SecretKeyRef, WebAddress } from './references.ts'
import { ListedTool, mcpProblems, ToolMcp } from './tool-mcp.ts'

const headerName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'must be the name of an HTTP header')
// biome-ignore lint/suspicious/noControlCharactersInRegex: RFC 9110 section 5.5 refuses them in field values
const headerValue = z.string().regex(/^[^\x00-\x08\x0a-\x1f\x7f]*$/, 'must not contain control characters')

export const httpMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** The request that a tool makes. */
export const ToolHttp = z.strictObject({
  url: field(
    WebAddress.optional(),
    'Address that each call is sent to. Required unless `mcp` is set.',
    'https://api.example.com/weather',
  ),
  method: field(z.enum(httpMethods).default('POST'), 'HTTP method of the call.'),
  headers: field(z.record(headerName, headerValue).optional(), 'Headers that each call carries.', {
    Accept: 'application/json',
  }),
  timeout: field(PositiveDuration.default('30s'), 'Time limit of one call, as a duration.', '30s'),
  authSecretRef: field(SecretKeyRef.optional(), 'Entry of a Secret that holds the token of the tool.'),
  authInject: field(
    z.enum(['header', 'body']).default('header'),
    'How the token is sent: `header` as `Authorization: Bearer`, `body` inside the JSON body.',
  ),
  authBodyKey: field(
    z.string().max(256).optional(),
    'Key of the JSON body that holds the token, with `authInject: body`.',
    'api_key',
  ),
})
export type ToolHttp = z.infer<typeof ToolHttp>

/** The spec of a tool. */
export const ToolSpec = z
  .strictObject({
    description: field(
      z.string().min(1, 'must not be empty').max(16_384),
      'What the tool does; the model reads it.',
      'Returns the weather of a city',
    ),
    parameters: field(FreeForm.default({}), 'JSON Schema of the arguments, of type `object`. Empty: no arguments.', {
      type: 'object',
      properties: { city: { type: 'string' } },
    }),
    http: field(ToolHttp.optional(), 'A tool that is one HTTP request.'),
    mcp: field(ToolMcp.optional(), 'The tools of an MCP server.'),
  })
  .meta({
    id: 'ToolSpec',
    'x-kubernetes-validations': [
      {
        rule: 'has(self.mcp) || (has(self.http) && has(self.http.url))',
        message: 'http.url is required for a tool without mcp',
      },
    ],
  })
export type ToolSpec = z.infer<typeof ToolSpec>

function httpProblems(http: ToolHttp | undefined): Problem[] {
  const problems: Problem[] = []
  if (http?.url === undefined) problems.push({ path: 'http.url', message: 'is required for a tool without mcp' })
  if (http?.authInject !== 'body') return problems
  if (http.authBodyKey === undefined || http.authBodyKey === '') {
    problems.push({ path: 'http.authBodyKey', message: 'is required when authInject is body' })
  }
  if (http.method === 'GET') {
    problems.push({ path: 'http.authInject', message: 'must be header for method GET, which sends no body' })
  }
  return problems
}

function parameterProblems(parameters: Record<string, unknown>): Problem[] {
  if (Object.keys(parameters).length === 0) return []
  const problems: Problem[] = []
  if (parameters.type !== 'object') problems.push({ path: 'parameters.type', message: 'must be "object"' })
  const { properties, required } = parameters
  if (properties !== undefined && !isJsonObject(properties)) {
    problems.push({ path: 'parameters.properties', message: 'must be an object of schemas by name' })
  }
  if (required !== undefined && !(Array.isArray(required) && required.every((name) => typeof name === 'string'))) {
    problems.push({ path: 'parameters.required', message: 'must be a list of property names' })
  }
  return problems
}

/** Problems across fields; paths are relative to the spec. */
export function toolProblems(spec: ToolSpec): Problem[] {
  const transport = spec.mcp === undefined ? httpProblems(spec.http) : mcpProblems(spec.mcp, spec.http)
  return [...parameterProblems(spec.parameters), ...transport]
}

/** State of the actor of a tool. */
export const ToolActorStatus = z.object({
  provider: field(z.string().optional(), 'Provider of the actor.', 'substrate'),
  actorID: field(z.string().optional(), 'Id of the actor.', 'actor-7f3a'),
  routeHost: field(z.string().optional(), 'Host name at which the actor answers.', 'actor-7f3a.local'),
  templateRef: field(
    z
      .object({
        name: field(z.string(), 'Name of the template.', 'mcp-server'),
        namespace: field(z.string().optional(), 'Namespace of the template.', 'team-a'),
      })
      .optional(),
    'Template that the actor was made from.',
  ),
  poolRef: field(
    z
      .object({
        name: field(z.string(), 'Name of the pool.', 'warm'),
        namespace: field(z.string().optional(), 'Namespace of the pool.', 'team-a'),
      })
      .optional(),
    'Pool that the actor came from.',
  ),
})
export type ToolActorStatus = z.infer<typeof ToolActorStatus>

/** The status of a tool, written by the service. */
export const ToolStatus = z
  .object({
    available: field(z.boolean().default(false), 'Whether the service can reach the tool.'),
    endpoint: field(
      z.string().default(''),
      'Address that workers call, without secrets.',
      'https://api.example.com/weather',
    ),
    actor: field(ToolActorStatus.optional(), 'Actor that serves the tool.'),
    tools: field(
      z.array(ListedTool).optional(),
      'What models may call of an MCP server with `spec.mcp.url`, as the server said when it was last checked.',
    ),
    lastCheck: field(Timestamp.optional(), 'When the tool was last checked.'),
    error: field(z.string().optional(), 'Why the tool is not available.', 'the Secret weather-key is missing'),
    observedGeneration: field(z.int().min(0).optional(), 'The `metadata.generation` that this status is about.', 1),
    conditions: field(z.array(Condition).optional(), 'Conditions in the form that Kubernetes uses.'),
  })
  .meta({ id: 'ToolStatus' })
export type ToolStatus = z.infer<typeof ToolStatus>

/** A tool as it is stored. */
export const Tool = defineResource('Tool', { spec: ToolSpec, status: ToolStatus })
export type Tool = z.infer<typeof Tool>
