import { z } from 'zod'
import { defineTool } from '../tool.ts'
import { type CoordinationContext, namespace } from './coordination-tool.ts'

export const deleteAgent = defineTool({
  name: 'delete_agent',
  description: 'Deletes an agent.',
  parameters: z.strictObject({ name: z.string().min(1).describe('Name of the agent'), namespace }),
  repeatable: false,
  async run(args, { orchestration }: CoordinationContext) {
    await orchestration.deleteAgent(args)
    return { success: true, data: { name: args.name, message: 'Agent deleted' } }
  },
})
