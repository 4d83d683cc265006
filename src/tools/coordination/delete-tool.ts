import { z } from 'zod'
import { defineTool } from '../tool.ts'
import { type CoordinationContext, namespace } from './coordination-tool.ts'

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
