// Tools for custom tools and sessions, which conversations also use.
import { z } from 'zod'
import { Name, RecordName } from '../../contract/kinds/resources/metadata.ts'
import { httpMethods } from '../../contract/kinds/tools/tool-http.ts'
import { defineTool } from '../registry/tool.ts'
import { type CoordinationContext, namespace } from './orchestration-tool.ts'

export const listTools = defineTool({
  name: 'list_tools',
  description: 'Lists the custom tools that tasks and agents can be given.',
  parameters: z.strictObject({ namespace }),
  repeatable: true,
  async run(args, { orchestration }: CoordinationContext) {
    const tools = await orchestration.listTools(args.namespace)
    const data = tools.map(({ metadata, spec }) => ({
      name: metadata.name,
      description: spec.description,
      builtin: false,
    }))
    return { success: true, data }
  },
})

export const createTool = defineTool({
  name: 'create_tool',
  description: 'Creates a custom tool that calls an HTTP endpoint. It cannot name a Secret.',
  parameters: z.strictObject({
    name: Name.describe('Name of the new tool'),
    description: z.string().min(1).max(16_384).describe('What models are told about it'),
    url: z.string().min(1).describe('Address of the endpoint'),
    method: z.enum(httpMethods).default('POST'),
    parameters: z.record(z.string(), z.unknown()).optional().describe('JSON Schema of its arguments'),
    namespace,
  }),
  repeatable: false,
  async run(args, { orchestration }: CoordinationContext) {
    const { description, url, method, parameters } = args
    const spec = { description, http: { url, method }, parameters }
    const { metadata } = await orchestration.createTool(args, spec)
    return { success: true, data: { name: metadata.name, namespace: metadata.namespace, message: 'Tool created' } }
  },
})

export const deleteTool = defineTool({
  name: 'delete_tool',
  description: 'Deletes a custom tool.',
  parameters: z.strictObject({ name: z.string().min(1).describe('Name of the tool'), namespace }),
  repeatable: false,
  async run(args, { orchestration }: CoordinationContext) {
    await orchestration.deleteTool(args)
    return { success: true, data: { name: args.name, message: 'Tool deleted' } }
  },
})

export const deleteSession = defineTool({
  name: 'delete_session',
  description: 'Deletes a session with its transcript; not the one of this conversation.',
  parameters: z.strictObject({ sessionId: RecordName, namespace }),
  repeatable: false,
  async run(args, { orchestration }: CoordinationContext) {
    await orchestration.deleteSession({ name: args.sessionId, namespace: args.namespace })
    return { success: true, data: { sessionId: args.sessionId, message: 'Session deleted' } }
  },
})
