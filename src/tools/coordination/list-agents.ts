import { z } from 'zod'
import { defineTool } from '../tool.ts'
import { type CoordinationContext, namespace, omitAbsent } from './coordination-tool.ts'

const longestDescription = 200

export const listAgents = defineTool({
  name: 'list_agents',
  description: 'Lists the agents with their models, tools and runtimes.',
  parameters: z.strictObject({ namespace }),
  repeatable: true,
  async run(args, { orchestration }: CoordinationContext) {
    const agents = await orchestration.listAgents(args.namespace)
    const data = agents.map(({ metadata, spec }) => {
      const provider = spec.providerRef?.name ?? spec.model?.provider
      const model = [provider, spec.model?.name].filter((part) => part !== undefined).join('/')
      return omitAbsent({
        name: metadata.name,
        model: model === '' ? undefined : model,
        tools: (spec.tools ?? []).filter((tool) => tool.enabled).map((tool) => tool.name),
        runtime: spec.runtime?.type,
        description: spec.systemPrompt?.inline?.slice(0, longestDescription),
      })
    })
    return { success: true, data }
  },
})
