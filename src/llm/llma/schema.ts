// The parts of the llma wire format that are read; everything else passes (vendor document: Messages API).
import { z } from 'zod'

const Text = z.looseObject({ type: z.literal('text'), text: z.string() })
const Thinking = z.looseObject({ type: z.literal('thinking'), thinking: z.string(), signature: z.string().optional() })
const Redacted = z.looseObject({ type: z.literal('redacted_thinking'), data: z.string() })
const ToolUse = z.looseObject({
  type: z.literal('tool_use'),
  id: z.string(),
  name: z.string(),
  input: z.record(z.string(), z.unknown()).default({}),
})
const ToolResult = z.looseObject({
  type: z.literal('tool_result'),
  tool_use_id: z.string(),
  content: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]).optional(),
  is_error: z.boolean().nullish(),
})
/** Images, documents, the vendor's own tools. */
const Other = z.looseObject({ type: z.string() })

const namesOf: Partial<Record<string, string[]>> = {
  text: ['text'],
  tool_use: ['id', 'name'],
  tool_result: ['tool_use_id'],
}

/** Without these fields no vendor could read the block, and it could not be translated. */
const Whole = Other.refine(
  (block) => (namesOf[block.type] ?? []).every((name) => typeof block[name] === 'string'),
  'lacks a field that blocks of its type require',
)

export const LlmaBlock = z.union([Text, Thinking, Redacted, ToolUse, ToolResult, Whole])
export type LlmaBlock = z.infer<typeof LlmaBlock>

export const LlmaMessage = z.looseObject({
  /** Newer clients also put `system` between the turns. */
  role: z.enum(['user', 'assistant', 'system']),
  content: z.union([z.string(), z.array(LlmaBlock)]),
})
export type LlmaMessage = z.infer<typeof LlmaMessage>

const LlmaTool = z.looseObject({
  /** Absent in sets of tools (`mcp_toolset`). */
  name: z.string().optional(),
  type: z.string().nullish(),
  description: z.string().optional(),
  /** Absent in the vendor's own tools. */
  input_schema: z.record(z.string(), z.unknown()).optional(),
})

const LlmaToolChoice = z.looseObject({
  type: z.enum(['auto', 'any', 'none', 'tool']),
  name: z.string().optional(),
})

export const LlmaRequestBody = z.looseObject({
  model: z.string(),
  max_tokens: z.int().min(1).optional(),
  messages: z.array(LlmaMessage).min(1),
  system: z.union([z.string(), z.array(Text)]).optional(),
  stream: z.boolean().optional(),
  temperature: z.number().optional(),
  top_p: z.number().optional(),
  top_k: z.number().optional(),
  stop_sequences: z.array(z.string()).optional(),
  tools: z.array(LlmaTool).optional(),
  tool_choice: LlmaToolChoice.optional(),
  thinking: z.looseObject({ type: z.string(), budget_tokens: z.int().optional() }).optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
})
export type LlmaRequestBody = z.infer<typeof LlmaRequestBody>

export const LlmaAnswer = z.looseObject({
  id: z.string().optional(),
  model: z.string().default(''),
  /** Absent: it is no answer, or its blocks follow in a stream. */
  content: z.array(Other).optional(),
  stop_reason: z.string().nullish(),
  stop_sequence: z.string().nullish(),
})
export type LlmaAnswer = z.infer<typeof LlmaAnswer>

const index = z.int().min(0)

const Delta = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  thinking: z.string().optional(),
  signature: z.string().optional(),
  partial_json: z.string().optional(),
  citation: z.unknown().optional(),
})

/** Frames of other types (`ping`, and future ones) are skipped; future ones are counted. */
export const LlmaFrame = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('message_start'), message: LlmaAnswer }),
  z.looseObject({ type: z.literal('content_block_start'), index, content_block: Other }),
  z.looseObject({ type: z.literal('content_block_delta'), index, delta: Delta }),
  z.looseObject({ type: z.literal('content_block_stop'), index }),
  z.looseObject({
    type: z.literal('message_delta'),
    delta: z.looseObject({ stop_reason: z.string().nullish(), stop_sequence: z.string().nullish() }),
  }),
  z.looseObject({ type: z.literal('message_stop') }),
])
export type LlmaFrame = z.infer<typeof LlmaFrame>
