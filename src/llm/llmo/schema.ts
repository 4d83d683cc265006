// The parts of the llmo wire format that are read; everything else passes (vendor document: Chat Completions API).
import { z } from 'zod'

const Part = z.looseObject({ type: z.string() })
const Content = z.union([z.string(), z.array(Part)]).nullish()

const LlmoToolCall = z.looseObject({
  id: z.string().nullish(),
  type: z.string().nullish(),
  /** Absent in calls of custom tools, which are passed on within the family. */
  function: z.looseObject({ name: z.string(), arguments: z.string().default('') }).optional(),
})

export const LlmoMessage = z.discriminatedUnion('role', [
  z.looseObject({ role: z.literal('system'), content: Content }),
  z.looseObject({ role: z.literal('developer'), content: Content }),
  z.looseObject({ role: z.literal('user'), content: Content }),
  z.looseObject({ role: z.literal('assistant'), content: Content, tool_calls: z.array(LlmoToolCall).nullish() }),
  z.looseObject({ role: z.literal('tool'), tool_call_id: z.string(), content: Content }),
  /** The predecessor of tools; passed on within the family. */
  z.looseObject({ role: z.literal('function'), content: Content }),
])
export type LlmoMessage = z.infer<typeof LlmoMessage>

const LlmoTool = z.looseObject({
  type: z.string(),
  function: z
    .looseObject({
      name: z.string(),
      description: z.string().nullish(),
      parameters: z.record(z.string(), z.unknown()).nullish(),
    })
    .optional(),
})

const LlmoToolChoice = z.union([
  z.enum(['auto', 'none', 'required']),
  z.looseObject({ type: z.literal('function'), function: z.looseObject({ name: z.string() }) }),
])

const Optional = z.number().nullish()

export const LlmoRequestBody = z.looseObject({
  model: z.string(),
  messages: z.array(LlmoMessage).min(1),
  stream: z.boolean().nullish(),
  max_tokens: z.int().min(1).nullish(),
  max_completion_tokens: z.int().min(1).nullish(),
  temperature: Optional,
  top_p: Optional,
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  tools: z.array(LlmoTool).nullish(),
  tool_choice: LlmoToolChoice.nullish(),
  n: z.int().nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish(),
})
export type LlmoRequestBody = z.infer<typeof LlmoRequestBody>

/** A tool call, whole or a fragment: some servers leave out the index, the id or the type. */
export const LlmoCallPart = z.looseObject({
  index: z.int().nullish().catch(undefined),
  id: z.string().nullish().catch(undefined),
  function: z
    .looseObject({
      name: z.string().nullish(),
      arguments: z.union([z.string(), z.record(z.string(), z.unknown())]).nullish(),
    })
    .nullish(),
})
export type LlmoCallPart = z.infer<typeof LlmoCallPart>

/** Every other field is attached to the message, and goes back with it. */
export const LlmoDelta = z.looseObject({
  content: Content,
  refusal: z.string().nullish().catch(undefined),
  tool_calls: z.array(LlmoCallPart).nullish(),
  /** The predecessor of tool calls. */
  function_call: LlmoCallPart.shape.function,
})
export type LlmoDelta = z.infer<typeof LlmoDelta>

const Choice = z.looseObject({
  index: z.int().nullish().catch(undefined),
  delta: LlmoDelta.nullish(),
  message: LlmoDelta.nullish(),
  finish_reason: z.string().nullish().catch(undefined),
})

/** A chunk of a stream, or a whole answer. */
export const LlmoChunk = z.looseObject({
  id: z.string().nullish().catch(undefined),
  model: z.string().nullish().catch(undefined),
  choices: z.array(Choice).nullish(),
})
export type LlmoChunk = z.infer<typeof LlmoChunk>
