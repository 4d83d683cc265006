// The parts of a responses API request that are read (vendor document: Responses API reference).
import { z } from 'zod'

const ResponsesPart = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  refusal: z.string().optional(),
  image_url: z.string().optional(),
  detail: z.string().nullish(),
  file_data: z.string().optional(),
  filename: z.string().optional(),
})
export type ResponsesPart = z.infer<typeof ResponsesPart>

const Content = z.union([z.string(), z.array(ResponsesPart)])

const ResponsesItem = z.looseObject({
  /** Absent: a message. */
  type: z.string().optional(),
  role: z.enum(['user', 'assistant', 'system', 'developer']).optional(),
  content: Content.nullish(),
  call_id: z.string().optional(),
  name: z.string().optional(),
  arguments: z.string().optional(),
  output: Content.optional(),
})
export type ResponsesItem = z.infer<typeof ResponsesItem>

const ResponsesTool = z.looseObject({
  type: z.string(),
  name: z.string().optional(),
  description: z.string().nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
  strict: z.boolean().nullish(),
})
export type ResponsesTool = z.infer<typeof ResponsesTool>

const Choice = z.union([
  z.enum(['auto', 'none', 'required']),
  z.looseObject({ type: z.string(), name: z.string().optional() }),
])

const Format = z.looseObject({ type: z.string() })

export const ResponsesRequest = z.looseObject({
  model: z.string().optional(),
  input: z.union([z.string(), z.array(ResponsesItem)]),
  instructions: z.string().nullish(),
  tools: z.array(ResponsesTool).nullish(),
  tool_choice: Choice.nullish(),
  max_output_tokens: z.int().min(1).nullish(),
  reasoning: z.looseObject({ effort: z.string().nullish() }).nullish(),
  text: z.looseObject({ format: Format.optional(), verbosity: z.string().nullish() }).nullish(),
  stream: z.boolean().nullish(),
})
export type ResponsesRequest = z.infer<typeof ResponsesRequest>
