// The arguments that describe an agent. Secrets are none of them: an agent that a model makes may not name one (SECRET-007).
import { z } from 'zod'
import { AgentRuntime, runtimeTypes } from '../../contract/resources/agent.ts'
import { omitAbsent } from './coordination-tool.ts'

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

/** Provider and model as the contract has them. */
export function toModel(given: z.output<typeof modelArgument>, providerRef?: string): ModelFields {
  const { provider, ...rest } = typeof given === 'string' ? splitModel(given) : (given ?? {})
  const chosen = providerRef ?? provider
  const fields = omitAbsent(rest)
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
