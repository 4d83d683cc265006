import { z } from 'zod'
import { Name } from '../../contract/resources/metadata.ts'
import { httpMethods } from '../../contract/resources/tool.ts'
import { defineTool } from '../tool.ts'
import { type CoordinationContext, namespace } from './coordination-tool.ts'

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
    const spec = { description, http: { url, method }, ...(parameters === undefined ? {} : { parameters }) }
    const { metadata } = await orchestration.createTool(args, spec)
    return { success: true, data: { name: metadata.name, namespace: metadata.namespace, message: 'Tool created' } }
  },
})
