// Tool: a custom tool for models, behind plain HTTP or an MCP server in a durable actor.
import { z } from 'zod'
import type { Problem } from '../../errors.ts'
import { PositiveDuration } from '../duration.ts'
import { Condition, defineResource, ForeignName, Name, Timestamp } from './metadata.ts'
import { FreeForm, SecretKeyRef, WebAddress } from './references.ts'

const headerName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'must be the name of an HTTP header')
// biome-ignore lint/suspicious/noControlCharactersInRegex: RFC 9110 section 5.5 refuses them in field values
const headerValue = z.string().regex(/^[^\x00-\x08\x0a-\x1f\x7f]*$/, 'must not contain control characters')

export const httpMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

export const ToolHttp = z.strictObject({
  /** Required for plain HTTP tools. */
  url: WebAddress.optional(),
  method: z.enum(httpMethods).default('POST'),
  /** Static headers of each call. */
  headers: z.record(headerName, headerValue).optional(),
  /** Limit of one call. */
  timeout: PositiveDuration.default('30s'),
  authSecretRef: SecretKeyRef.optional(),
  /** `header` sends `Authorization: Bearer`, `body` puts the token into the JSON body. */
  authInject: z.enum(['header', 'body']).default('header'),
  /** JSON key of the token for `authInject: body`. */
  authBodyKey: z.string().max(256).optional(),
})
export type ToolHttp = z.infer<typeof ToolHttp>

export const ToolActor = z.strictObject({
  templateRef: z.strictObject({ name: ForeignName, namespace: Name.optional() }),
  poolRef: z.strictObject({ name: ForeignName.optional(), namespace: Name.optional() }).optional(),
  boot: z.boolean().default(false),
})
export type ToolActor = z.infer<typeof ToolActor>

export const ToolMcp = z.strictObject({
  path: z
    .string()
    .max(1024)
    .regex(/^\/[^\s\0]*$/, 'must start with "/"')
    .default('/mcp'),
  actor: ToolActor,
})
export type ToolMcp = z.infer<typeof ToolMcp>

export const ToolSpec = z
  .strictObject({
    /** Shown to the model. */
    description: z.string().min(1, 'must not be empty').max(16_384),
    /** JSON Schema of the arguments (`type: object`). Empty: no arguments. */
    parameters: FreeForm.default({}),
    http: ToolHttp.optional(),
    mcp: ToolMcp.optional(),
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

function mcpProblems(http: ToolHttp | undefined): Problem[] {
  const problems: Problem[] = []
  if (http === undefined) return problems
  if (http.authInject === 'body') problems.push({ path: 'http.authInject', message: 'must be header for an MCP tool' })
  if (http.method !== 'POST') problems.push({ path: 'http.method', message: 'must be POST for an MCP tool' })
  return problems
}

function parameterProblems(parameters: Record<string, unknown>): Problem[] {
  if (Object.keys(parameters).length === 0) return []
  const problems: Problem[] = []
  if (parameters.type !== 'object') problems.push({ path: 'parameters.type', message: 'must be "object"' })
  const { properties, required } = parameters
  if (
    properties !== undefined &&
    (typeof properties !== 'object' || properties === null || Array.isArray(properties))
  ) {
    problems.push({ path: 'parameters.properties', message: 'must be an object of schemas by name' })
  }
  if (required !== undefined && !(Array.isArray(required) && required.every((name) => typeof name === 'string'))) {
    problems.push({ path: 'parameters.required', message: 'must be a list of property names' })
  }
  return problems
}

/** Problems across fields; paths are relative to the spec. */
export function toolProblems(spec: ToolSpec): Problem[] {
  const transport = spec.mcp === undefined ? httpProblems(spec.http) : mcpProblems(spec.http)
  return [...parameterProblems(spec.parameters), ...transport]
}

export const ToolActorStatus = z.object({
  provider: z.string().optional(),
  actorID: z.string().optional(),
  routeHost: z.string().optional(),
  templateRef: z.object({ name: z.string(), namespace: z.string().optional() }).optional(),
  poolRef: z.object({ name: z.string(), namespace: z.string().optional() }).optional(),
})
export type ToolActorStatus = z.infer<typeof ToolActorStatus>

export const ToolStatus = z
  .object({
    /** Whether the controller reached the endpoint. */
    available: z.boolean().default(false),
    /** What workers call; no secret in it. */
    endpoint: z.string().default(''),
    actor: ToolActorStatus.optional(),
    lastCheck: Timestamp.optional(),
    error: z.string().optional(),
    observedGeneration: z.int().min(0).optional(),
    conditions: z.array(Condition).optional(),
  })
  .meta({ id: 'ToolStatus' })
export type ToolStatus = z.infer<typeof ToolStatus>

export const Tool = defineResource('Tool', { spec: ToolSpec, status: ToolStatus })
export type Tool = z.infer<typeof Tool>
