// The responses API of the llmo family: rewrites a request as a chat completion, which is then handled like any other.
// What a completion has no place for is left out and named (vendor document: Responses API reference).
import { z } from 'zod'
import { SvcError } from '../../errors.ts'
import { isJsonObject, type JsonObject } from '../../lib/json.ts'
import type { LeftOutFields } from '../messages/crossing.ts'
import { Conversation, ResponsesItem } from './items.ts'
import { StoredAtVendor } from './problems.ts'
import { type Allowed, leaveOut, type ReadTools, ResponsesTool, readTools, type ToolList } from './tools.ts'

const Choice = z.union([z.string(), z.looseObject({ type: z.string() })])

const Format = z.looseObject({ type: z.string() })

export const ResponsesRequest = z.looseObject({
  model: z.string().optional(),
  input: z.union([z.string(), z.array(ResponsesItem)]),
  instructions: z.string().nullish(),
  tools: z.array(ResponsesTool).nullish(),
  tool_choice: Choice.nullish(),
  max_output_tokens: z.int().min(1).nullish(),
  reasoning: z.looseObject({ effort: z.string().nullish() }).nullish(),
  text: z.looseObject({ format: Format.nullish(), verbosity: z.string().nullish() }).nullish(),
  stream: z.boolean().nullish(),
  store: z.boolean().nullish(),
  previous_response_id: z.string().nullish(),
})
export type ResponsesRequest = z.infer<typeof ResponsesRequest>

/** Without these the answer would be to another question; the vendor alone has what they name. */
const storedAtVendor = ['conversation', 'prompt'] as const

function requirePortable(request: ResponsesRequest): void {
  for (const field of storedAtVendor) {
    if (!request[field]) continue
    throw new StoredAtVendor(`${field}: is stored at the vendor; send what it stands for as instructions and input`)
  }
}

/** Fields that chat completions have under the same name. */
const sameFields = [
  ...['model', 'stream', 'temperature', 'top_p', 'metadata', 'parallel_tool_calls', 'user', 'service_tier'],
  ...['prompt_cache_key', 'prompt_cache_retention', 'safety_identifier'],
]
/** Read here in other words, or without effect on what is answered. */
const readFields = [
  ...['input', 'instructions', 'tools', 'tool_choice', 'max_output_tokens', 'reasoning', 'text'],
  ...['store', 'previous_response_id', 'include', 'truncation', 'stream_options', 'client_metadata'],
]

function findLeftFields(request: ResponsesRequest): LeftOutFields[] {
  const known = new Set([...sameFields, ...readFields])
  return Object.entries(request).flatMap(([field, value]) =>
    known.has(field) || value === null || value === undefined || value === false ? [] : leaveOut(field),
  )
}

function listItems({ input }: ResponsesRequest): ResponsesItem[] {
  return typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : input
}

/** Tools that a search of the client found count as declared. */
function listTools(request: ResponsesRequest): ToolList[] {
  const found = listItems(request).flatMap(({ type, tools }, at): ToolList[] => {
    const list = type === 'tool_search_output' ? z.array(ResponsesTool).safeParse(tools) : undefined
    return list?.success ? [{ field: `input.${at}.tools`, tools: list.data }] : []
  })
  return [{ field: 'tools', tools: request.tools ?? [] }, ...found]
}

function readDeclared(request: ResponsesRequest): ReadTools {
  const choice = request.tool_choice
  const allowed = isJsonObject(choice) && choice.type === 'allowed_tools' ? (choice.tools as Allowed) : undefined
  return readTools(listTools(request), Array.isArray(allowed) ? allowed : undefined)
}

const choices = ['auto', 'none', 'required']

/** A choice that the model cannot be held to is left to it. */
function readChoice({ tool_choice: choice }: ResponsesRequest, { names, leftOut }: ReadTools): unknown {
  if (choice === null || choice === undefined) return undefined
  const word = typeof choice === 'string' ? choice : choice.mode
  if (choices.includes(String(word))) return word
  const name = typeof choice === 'object' ? findChosen(choice, names) : undefined
  if (name !== undefined) return { type: 'function', function: { name } }
  leftOut.push(leaveOut('tool_choice', typeof choice === 'string' ? choice : choice.type))
  return undefined
}

/** The model's name of a declared tool. */
function findChosen({ name, namespace: group }: JsonObject, names: ReadTools['names']): string | undefined {
  const namespace = typeof group === 'string' ? group : undefined
  return typeof name === 'string' && names.has(name, namespace) ? names.nameOf(name, namespace) : undefined
}

function decodeFormat({ text }: ResponsesRequest): unknown {
  const format = text?.format
  if (format?.type !== 'json_schema') return format?.type === 'text' ? undefined : format
  const { type, ...schema } = format
  return { type, json_schema: schema }
}

function readMessages(request: ResponsesRequest, { names, leftOut }: ReadTools): JsonObject[] {
  const conversation = new Conversation(names, request.instructions)
  for (const [at, item] of listItems(request).entries()) conversation.add(item, `input.${at}`)
  leftOut.push(...conversation.leftOut)
  const messages = conversation.end()
  if (messages.length === 0) throw new SvcError('InvalidRequest', 'input: has nothing that a model could answer')
  return messages
}

export type Completion = { body: JsonObject; names: ReadTools['names']; leftOut: LeftOutFields[] }

/** The same request as the body of a chat completion. InvalidRequest names what cannot be translated. */
export function toCompletion(request: ResponsesRequest): Completion {
  requirePortable(request)
  const declared = readDeclared(request)
  const { tools, names, leftOut } = declared
  const fields: JsonObject = {
    ...Object.fromEntries(sameFields.map((name) => [name, request[name]])),
    messages: readMessages(request, declared),
    tools: tools.length === 0 ? undefined : tools,
    tool_choice: readChoice(request, declared),
    max_completion_tokens: request.max_output_tokens,
    reasoning_effort: request.reasoning?.effort,
    response_format: decodeFormat(request),
    verbosity: request.text?.verbosity,
  }
  leftOut.push(...findLeftFields(request))
  const body = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null))
  return { body, names, leftOut }
}
