// The responses API of the llmo family: rewrites a request as a chat completion, which is then handled like any other.
// Fields that need the vendor's own store or hosted tools are refused by name (vendor document: Responses API
// reference).

import { z } from 'zod'
import { SvcError } from '../../errors.ts'
import type { JsonObject } from '../../lib/json.ts'

const ResponsesPart = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  refusal: z.string().optional(),
  image_url: z.string().optional(),
  detail: z.string().nullish(),
  file_data: z.string().optional(),
  filename: z.string().optional(),
})
type ResponsesPart = z.infer<typeof ResponsesPart>

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
type ResponsesItem = z.infer<typeof ResponsesItem>

const ResponsesTool = z.looseObject({
  type: z.string(),
  name: z.string().optional(),
  description: z.string().nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
  strict: z.boolean().nullish(),
})
type ResponsesTool = z.infer<typeof ResponsesTool>

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

const advice =
  'leave it out, or send the request to the provider as it is, without the tools of the service (header X-Svc-Tools: disabled)'

function refuse(field: string, what: string): never {
  throw new SvcError('InvalidRequest', `${field}: ${what}; ${advice}`)
}

/** Only meaningful to the vendor, which stores responses and runs tools of its own. */
const vendorOnly = [
  'previous_response_id',
  'conversation',
  'background',
  'prompt',
  'max_tool_calls',
  'top_logprobs',
] as const

function requirePortable(request: ResponsesRequest): void {
  for (const field of vendorOnly) {
    if (request[field]) refuse(field, 'is not possible while the service runs tools')
  }
}

function decodePart(part: ResponsesPart, field: string): JsonObject {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
      return { type: 'text', text: part.text ?? '' }
    case 'refusal':
      return { type: 'text', text: part.refusal ?? '' }
    case 'input_image':
      if (part.image_url === undefined) return refuse(field, 'names a file that is stored at the vendor')
      return { type: 'image_url', image_url: { url: part.image_url, ...(part.detail && { detail: part.detail }) } }
    case 'input_file':
      if (part.file_data === undefined) return refuse(field, 'names a file that is stored at the vendor')
      return { type: 'file', file: { file_data: part.file_data, filename: part.filename } }
    default:
      return refuse(field, `a content part of type "${part.type}" is not possible while the service runs tools`)
  }
}

/** Plain text stays a string, which every server of the family accepts. */
function decodeContent(content: string | ResponsesPart[], field: string): string | JsonObject[] {
  if (typeof content === 'string') return content
  const parts = content.map((part, at) => decodePart(part, `${field}.${at}`))
  return parts.every(({ type }) => type === 'text') ? parts.map(({ text }) => text).join('') : parts
}

function decodeCall({ call_id, name, arguments: args }: ResponsesItem): JsonObject {
  return { id: call_id, type: 'function', function: { name, arguments: args ?? '' } }
}

/** A message and the calls directly after it are one turn of the model. */
function addCall(messages: JsonObject[], item: ResponsesItem): void {
  const last = messages.at(-1)
  if (last?.role !== 'assistant') messages.push({ role: 'assistant', content: null, tool_calls: [decodeCall(item)] })
  else last.tool_calls = [...((last.tool_calls as JsonObject[] | undefined) ?? []), decodeCall(item)]
}

function addItem(messages: JsonObject[], item: ResponsesItem, at: number): void {
  const field = `input.${at}`
  switch (item.type ?? 'message') {
    case 'message':
      messages.push({ role: item.role ?? 'user', content: decodeContent(item.content ?? '', `${field}.content`) })
      return
    case 'function_call':
      addCall(messages, item)
      return
    case 'function_call_output': {
      const content = decodeContent(item.output ?? '', `${field}.output`)
      messages.push({ role: 'tool', tool_call_id: item.call_id ?? '', content })
      return
    }
    case 'reasoning':
      // Encrypted for the vendor's own store: no other model could read it, and the turn is complete without it.
      return
    default:
      refuse(field, `an item of type "${item.type}" is not possible while the service runs tools`)
  }
}

function decodeInput({ instructions, input }: ResponsesRequest): JsonObject[] {
  const messages: JsonObject[] = instructions ? [{ role: 'system', content: instructions }] : []
  if (typeof input === 'string') messages.push({ role: 'user', content: input })
  else for (const [at, item] of input.entries()) addItem(messages, item, at)
  return messages
}

function decodeTool({ type, name, description, parameters, strict }: ResponsesTool, at: number): JsonObject {
  if (type !== 'function') return refuse(`tools.${at}`, `a tool of type "${type}" runs at the vendor only`)
  const optional = { ...(description && { description }), ...(parameters && { parameters }) }
  return { type, function: { name, ...optional, ...(typeof strict === 'boolean' && { strict }) } }
}

function decodeToolChoice(choice: ResponsesRequest['tool_choice']): unknown {
  if (choice === null || choice === undefined || typeof choice === 'string') return choice
  if (choice.type !== 'function') return refuse('tool_choice', `"${choice.type}" is not supported here`)
  return { type: 'function', function: { name: choice.name } }
}

function decodeFormat({ text }: ResponsesRequest): unknown {
  const format = text?.format
  if (format?.type !== 'json_schema') return format?.type === 'text' ? undefined : format
  const { type, ...schema } = format
  return { type, json_schema: schema }
}

/** Fields that chat completions have under the same name. */
const sameFields = [
  ...['model', 'stream', 'temperature', 'top_p', 'metadata', 'parallel_tool_calls', 'user', 'service_tier'],
  ...['prompt_cache_key', 'safety_identifier'],
] as const

/** The same request as the body of a chat completion. InvalidRequest names what cannot be translated. */
export function toCompletion(request: ResponsesRequest): JsonObject {
  requirePortable(request)
  const fields: JsonObject = {
    ...Object.fromEntries(sameFields.map((name) => [name, request[name]])),
    messages: decodeInput(request),
    tools: request.tools?.map(decodeTool),
    tool_choice: decodeToolChoice(request.tool_choice),
    max_completion_tokens: request.max_output_tokens,
    reasoning_effort: request.reasoning?.effort,
    response_format: decodeFormat(request),
    verbosity: request.text?.verbosity,
  }
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null))
}
