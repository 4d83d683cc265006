// Tools that list, create, change and remove agents.
import { z } from 'zod'
import { AgentRuntime } from '../../contract/kinds/agents/agent.ts'
import { runtimeTypes } from '../../contract/kinds/agents/runtime-types.ts'
import { Name } from '../../contract/kinds/resources/metadata.ts'
import { dropUndefined } from '../../lib/json.ts'
import { nameOfProgram } from '../../rules/agents/programs.ts'
import { defineTool } from '../registry/tool.ts'
import { explainToolError, failTool } from '../registry/tool-error.ts'
import { makeTask, namespace, type OrchestrationContext } from './orchestration-tool.ts'

const model = z.strictObject({
  provider: z.string().min(1).optional().describe('Name of a provider'),
  name: z.string().min(1).optional(),
  temperature: z.number().min(0).max(2).optional(),
})

/** Also as `provider/name`. */
export const modelArgument = z.union([z.string().min(1).max(512), model]).optional()

export const toolsArgument = z
  .array(z.string().min(1))
  .optional()
  .describe('Names of tools, added to the built-in ones')

export const runtimeArgument = z
  .strictObject({
    type: z.enum(runtimeTypes),
    defaultMaxTurns: AgentRuntime.shape.defaultMaxTurns.optional(),
    defaultAllowedTools: z.array(z.string()).optional(),
    defaultAllowBash: z.boolean().optional(),
  })
  .optional()
  .describe('Command line that runs the agent; left out for an agent of a language model')

export type ModelFields = { providerRef?: { name: string }; model?: Record<string, unknown> }

/** Provider and model in the shape of the contract. */
export function toModel(argument: z.output<typeof modelArgument>, providerRef?: string): ModelFields {
  const { provider, ...rest } = typeof argument === 'string' ? splitModel(argument) : (argument ?? {})
  const chosen = providerRef ?? provider
  const fields = dropUndefined(rest)
  return {
    ...(chosen === undefined ? {} : { providerRef: { name: chosen } }),
    ...(Object.keys(fields).length === 0 ? {} : { model: fields }),
  }
}

function splitModel(text: string): z.output<typeof model> {
  const at = text.indexOf('/')
  return at < 1 ? { name: text } : { provider: text.slice(0, at), name: text.slice(at + 1) }
}

export function toTools(names: string[] | undefined): { name: string }[] | undefined {
  return names?.map((name) => ({ name }))
}

const maxDescriptionLength = 200

export const listAgentsTool = defineTool({
  name: 'list_agents',
  description: 'Lists the agents with their models, tools and runtimes.',
  parameters: z.strictObject({ namespace }),
  repeatable: true,
  async run(args, { orchestration }: OrchestrationContext) {
    const agents = await orchestration.listAgents(args.namespace)
    const data = agents.map(({ metadata, spec }) => {
      const provider = spec.providerRef?.name ?? spec.model?.provider
      const model = [provider, spec.model?.name].filter((part) => part !== undefined).join('/')
      return dropUndefined({
        name: metadata.name,
        model: model === '' ? undefined : model,
        tools: (spec.tools ?? []).filter((tool) => tool.enabled).map((tool) => tool.name),
        runtime: spec.runtime && nameOfProgram(spec.runtime),
        description: spec.systemPrompt?.inline?.slice(0, maxDescriptionLength),
      })
    })
    return { success: true, data }
  },
})

const quantities = z.record(z.string(), z.string()).optional()

const parameters = z.strictObject({
  name: Name.describe('Name of the new agent'),
  providerRef: z.string().min(1).optional().describe('Name of a provider'),
  systemPrompt: z.string().optional(),
  tools: toolsArgument,
  resources: z.strictObject({ requests: quantities, limits: quantities }).optional(),
  model: modelArgument,
  runtime: runtimeArgument,
  initialPrompt: z.string().min(1).optional().describe('First task of the agent, made along with it'),
  coordination: z
    .strictObject({
      enabled: z.boolean(),
      maxConcurrentChildren: z.int().min(1).optional(),
      maxDepth: z.int().min(1).max(10).optional(),
      allowedAgents: z.array(z.strictObject({ name: Name, namespace: Name.optional() })).optional(),
    })
    .optional(),
  namespace,
})

export const createAgentTool = defineTool({
  name: 'create_agent',
  description: 'Creates an agent: a model with its prompt, tools and limits, or a runtime.',
  parameters,
  repeatable: false,
  async run(args, context: OrchestrationContext) {
    const { metadata } = await context.orchestration.createAgent(args, buildSpec(args))
    const made = { name: metadata.name, namespace: metadata.namespace, message: 'Agent created' }
    if (args.initialPrompt === undefined) return { success: true, data: made }
    const spec = buildFirstTask(args, args.initialPrompt)
    // By now the agent exists, whatever happens to its task: the result reports both.
    const first = await makeTask(context, { namespace: args.namespace, spec }).catch(explainToolError)
    return { success: true, data: { ...made, firstTask: first.success ? first.data : first } }
  },
})

type Args = z.output<typeof parameters>

/** A coordinator must be a language model, so a runtime is left out (reference 1.8). */
function hasRuntime(args: Args): boolean {
  return args.runtime !== undefined && args.coordination?.enabled !== true
}

function buildSpec(args: Args): Record<string, unknown> {
  const inline = args.systemPrompt
  return dropUndefined({
    ...toModel(args.model, args.providerRef),
    systemPrompt: inline === undefined ? undefined : { inline },
    tools: toTools(args.tools),
    resources: args.resources && dropUndefined(args.resources),
    runtime: hasRuntime(args) ? dropUndefined(args.runtime ?? {}) : undefined,
    coordination: args.coordination && dropUndefined(args.coordination),
  })
}

function buildFirstTask(args: Args, prompt: string): Record<string, unknown> {
  const agentRef = { name: args.name }
  return hasRuntime(args) ? { type: 'agent', agentRef, prompt } : { type: 'ai', agentRef, ai: { prompt } }
}

export const updateAgentTool = defineTool({
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
  async run(args, { orchestration }: OrchestrationContext) {
    const { systemPrompt, tools } = args
    const chosen = toModel(args.model)
    const fields = dropUndefined({
      systemPrompt: systemPrompt === undefined ? undefined : { inline: systemPrompt },
      tools: toTools(tools),
    })
    if (Object.keys({ ...fields, ...chosen }).length === 0) {
      return failTool('invalid_arguments', 'nothing to change is named: give systemPrompt, tools or model')
    }
    const { metadata } = await orchestration.updateAgent(args, (spec) => {
      const { model, ...provider } = chosen
      return { ...spec, ...fields, ...provider, ...(model && { model: { ...spec.model, ...model } }) }
    })
    return { success: true, data: { name: metadata.name, namespace: metadata.namespace, message: 'Agent updated' } }
  },
})

export const deleteAgentTool = defineTool({
  name: 'delete_agent',
  description: 'Deletes an agent.',
  parameters: z.strictObject({ name: z.string().min(1).describe('Name of the agent'), namespace }),
  repeatable: false,
  async run(args, { orchestration }: OrchestrationContext) {
    await orchestration.deleteAgent(args)
    return { success: true, data: { name: args.name, message: 'Agent deleted' } }
  },
})
