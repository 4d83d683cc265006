// A chat completion as a request of the vendor's own responses API: some of its models call functions there alone (vendor document:
// Responses or Chat Completions).
import { dropUndefined, isJsonObject, type JsonObject } from '../../lib/json.ts'

/** Fields of a turn that hold the vendor's own items of it. */
export const itemsField = 'response_items'

/** What both call the same. */
const sameFields = [
  ...['model', 'stream', 'temperature', 'top_p', 'metadata', 'parallel_tool_calls', 'user', 'service_tier'],
  ...['prompt_cache_key', 'prompt_cache_retention', 'safety_identifier', 'top_logprobs'],
]

function encodePart(part: JsonObject, isModel: boolean): JsonObject {
  switch (part.type) {
    case 'text':
      return { type: isModel ? 'output_text' : 'input_text', text: part.text }
    case 'image_url': {
      const { url, detail } = part.image_url as JsonObject
      return { type: 'input_image', image_url: url, detail: detail ?? 'auto' }
    }
    case 'file':
      return { type: 'input_file', ...(part.file as JsonObject) }
    default:
      return part
  }
}

function encodeContent(content: unknown, isModel: boolean): unknown {
  return Array.isArray(content) ? content.map((part) => encodePart(part as JsonObject, isModel)) : (content ?? '')
}

function encodeCall({ id, function: called }: JsonObject): JsonObject {
  const { name, arguments: args } = called as JsonObject
  return { type: 'function_call', call_id: id, name, arguments: args }
}

/** What the vendor wants back comes first: a call is refused without the reasoning before it. */
function encodeTurn(message: JsonObject): JsonObject[] {
  const { content, tool_calls: calls, [itemsField]: own } = message
  const hasText = Array.isArray(content) ? content.length > 0 : Boolean(content)
  return [
    ...(Array.isArray(own) ? (own as JsonObject[]) : []),
    ...(hasText ? [{ role: 'assistant', content: encodeContent(content, true) }] : []),
    ...(Array.isArray(calls) ? (calls as JsonObject[]).map(encodeCall) : []),
  ]
}

function encodeMessage(message: JsonObject): JsonObject[] {
  const { role, content, tool_call_id: id } = message
  if (role === 'assistant') return encodeTurn(message)
  if (role === 'tool') return [{ type: 'function_call_output', call_id: id, output: encodeContent(content, false) }]
  return [{ role, content: encodeContent(content, false) }]
}

/** The vendor holds functions to their schema unless that is denied. */
function encodeTool(tool: JsonObject): JsonObject {
  return isJsonObject(tool.function) ? { type: 'function', strict: false, ...tool.function } : tool
}

function encodeChoice(choice: unknown): unknown {
  return isJsonObject(choice) && isJsonObject(choice.function) ? { type: choice.type, ...choice.function } : choice
}

function encodeFormat(format: unknown): JsonObject | undefined {
  if (!isJsonObject(format)) return undefined
  return format.type === 'json_schema' ? { type: format.type, ...(format.json_schema as JsonObject) } : format
}

function encodeText({ response_format: format, verbosity }: JsonObject): JsonObject | undefined {
  const text = dropUndefined({ format: encodeFormat(format), verbosity: verbosity ?? undefined })
  return Object.keys(text).length === 0 ? undefined : text
}

/** Nothing of it is stored at the vendor: what it reasons comes back sealed. */
export function toResponses(completion: JsonObject): JsonObject {
  const { messages, tools, tool_choice, reasoning_effort: effort, max_tokens, max_completion_tokens } = completion
  return dropUndefined({
    ...Object.fromEntries(sameFields.map((name) => [name, completion[name]])),
    input: (messages as JsonObject[]).flatMap(encodeMessage),
    tools: Array.isArray(tools) ? (tools as JsonObject[]).map(encodeTool) : undefined,
    tool_choice: encodeChoice(tool_choice),
    max_output_tokens: max_completion_tokens ?? max_tokens,
    reasoning: typeof effort === 'string' ? { effort } : undefined,
    text: encodeText(completion),
    store: false,
    include: ['reasoning.encrypted_content'],
  })
}
