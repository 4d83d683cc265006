import { z } from 'zod'
import { defineTool } from '../tool.ts'
import { failTool } from '../tool-error.ts'
import { modelArgument, toModel, toolsArgument, toTools } from './agent-arguments.ts'
import { type CoordinationContext, namespace, omitAbsent } from './coordination-tool.ts'

export const updateAgent = defineTool({
  name: 'update_agent',
  description: 'Changes the system prompt, the tools or the model of an agent; what is not named stays as it is.',
  parameters: z.strictObject({
    name: z.string().min(1).describe('Name of the agent'),
    systemPrompt: z.string().optional(),
    tools: toolsArgument,
    model: modelArgument,
    namespace,
  }),
  repeatable: true,
  async run(args, { orchestration }: CoordinationContext) {
    const { systemPrompt, tools } = args
    const { providerRef, model } = toModel(args.model)
    const fields = omitAbsent({
      systemPrompt: systemPrompt === undefined ? undefined : { inline: systemPrompt },
      tools: toTools(tools),
      providerRef,
    })
    if (Object.keys(fields).length === 0 && model === undefined) {
      return failTool('invalid_arguments', 'nothing to change is named: give systemPrompt, tools or model')
    }
    const { metadata } = await orchestration.updateAgent(args, (spec) => ({
      ...spec,
      ...fields,
      ...(model === undefined ? {} : { model: { ...spec.model, ...model } }),
    }))
    return { success: true, data: { name: metadata.name, namespace: metadata.namespace, message: 'Agent updated' } }
  },
})
