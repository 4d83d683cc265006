import { z } from 'zod'
import { defineTool } from '../tool.ts'
import { type CoordinationContext, namespace } from './coordination-tool.ts'

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
