import { z } from 'zod'
import { Name } from '../../contract/resources/metadata.ts'
import { defineTool } from '../tool.ts'
import { explainToolError } from '../tool-error.ts'
import { modelArgument, runtimeArgument, toModel, toolsArgument, toTools } from './agent-arguments.ts'
import { type CoordinationContext, makeTask, namespace, omitAbsent } from './coordination-tool.ts'

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

export const createAgent = defineTool({
  name: 'create_agent',
  description: 'Creates an agent: a model with its prompt, tools and limits, or a runtime.',
  parameters,
  repeatable: false,
  async run(args, { orchestration }: CoordinationContext) {
    const { metadata } = await orchestration.createAgent(args, buildSpec(args))
    const made = { name: metadata.name, namespace: metadata.namespace, message: 'Agent created' }
    if (args.initialPrompt === undefined) return { success: true, data: made }
    const spec = buildFirstTask(args, args.initialPrompt)
    // The agent is there by now, whatever becomes of its task: both are told.
    const first = await makeTask(orchestration, { namespace: args.namespace, spec }).catch(explainToolError)
    return { success: true, data: { ...made, firstTask: first.success ? first.data : first } }
  },
})

type Args = z.output<typeof parameters>

/** Who coordinates is a language model: a runtime is left out then (reference 1.8). */
function hasRuntime(args: Args): boolean {
  return args.runtime !== undefined && args.coordination?.enabled !== true
}

function buildSpec(args: Args): Record<string, unknown> {
  const { providerRef, model } = toModel(args.model, args.providerRef)
  const inline = args.systemPrompt
  return omitAbsent({
    providerRef: hasRuntime(args) ? undefined : providerRef,
    model,
    systemPrompt: inline === undefined ? undefined : { inline },
    tools: toTools(args.tools),
    resources: args.resources && omitAbsent(args.resources),
    runtime: hasRuntime(args) ? omitAbsent(args.runtime ?? {}) : undefined,
    coordination: args.coordination && omitAbsent(args.coordination),
  })
}

function buildFirstTask(args: Args, prompt: string): Record<string, unknown> {
  const agentRef = { name: args.name }
  return hasRuntime(args) ? { type: 'agent', agentRef, prompt } : { type: 'ai', agentRef, ai: { prompt } }
}
