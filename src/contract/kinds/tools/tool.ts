// Tool: custom tools for models, behind plain HTTP or an MCP server, which has an address or runs in a durable actor.
import { z } from 'zod'
import type { Problem } from '../../../errors.ts'
import { isJsonObject } from '../../../lib/json.ts'
import { field } from '../../schema/field.ts'
import { limitedText } from '../../schema/text.ts'
import { Condition, defineResource, Timestamp } from '../resources/metadata.ts'
import { FreeForm } from '../resources/references.ts'
import { httpProblems, LeftOutTool, ListedTool, mcpProblems, ToolHttp, ToolMcp } from './tool-http.ts'

/** The spec of a tool. */
export const ToolSpec = z
  .strictObject({
    description: field(
      limitedText(16_384).min(1, 'must not be empty'),
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
  const { properties } = spec.parameters
  const transport =
    spec.mcp === undefined
      ? httpProblems(spec.http, isJsonObject(properties) ? properties : {})
      : mcpProblems(spec.mcp, spec.http)
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
    leftOutTools: field(z.array(LeftOutTool).optional(), 'Tools of the server that models are not offered, and why.'),
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
