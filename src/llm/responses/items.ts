// Items of a response's input as messages of a chat completion (vendor document: Responses API reference, input).
import { z } from 'zod'
import { describeIssue } from '../../contract/schema/validation.ts'
import { isJsonObject, type JsonObject } from '../../lib/json.ts'
import type { LeftOutFields } from '../messages/crossing.ts'
import type { ContentBlock, Message } from '../messages/messages.ts'
import { thoughtsField, unsealMessage } from '../messages/seal.ts'
import { explainVendorProblems, StoredAtVendor } from './problems.ts'
import { leaveOut, ResponsesTool, type ToolNames } from './tools.ts'

const Part = z.looseObject({ type: z.string() })
type Part = z.infer<typeof Part>
const Content = z.union([z.string(), z.array(Part)])
const Output = z.union([Content, z.looseObject({})])
const CallId = z.string()
const Namespace = z.string().nullish()

const schemas = {
  message: z.looseObject({ role: z.string().default('user'), content: Content.nullish() }),
  function_call: z.looseObject({
    call_id: CallId,
    name: z.string(),
    namespace: Namespace,
    arguments: z.string().default(''),
  }),
  custom_tool_call: z.looseObject({ call_id: CallId, name: z.string(), namespace: Namespace, input: z.string() }),
  local_shell_call: z.looseObject({ call_id: CallId.nullish(), id: z.string().nullish(), action: z.looseObject({}) }),
  tool_search_call: z.looseObject({ call_id: CallId, arguments: z.unknown() }),
  function_call_output: z.looseObject({ call_id: CallId, output: Output.optional() }),
  custom_tool_call_output: z.looseObject({ call_id: CallId, output: Output.optional() }),
  local_shell_call_output: z.looseObject({
    call_id: CallId.nullish(),
    id: z.string().nullish(),
    output: Output.optional(),
  }),
  tool_search_output: z.looseObject({ call_id: CallId, tools: z.array(ResponsesTool) }),
  reasoning: z.looseObject({
    encrypted_content: z.string().nullish(),
    summary: z.array(z.looseObject({ text: z.string().optional() })).nullish(),
  }),
} as const
type Schemas = typeof schemas
type ItemType = keyof Schemas

export const ResponsesItem: z.ZodType<JsonObject & { type?: string }> = z.looseObject({ type: z.string().optional() })
export type ResponsesItem = z.infer<typeof ResponsesItem>

const roles = ['user', 'assistant', 'system', 'developer']

/** Kept by the vendor alone. */
function refuseStored(field: string): never {
  throw new StoredAtVendor(`${field}: names a file that is stored at the vendor; send the file itself, as data`)
}

function readImage(part: Part, field: string): JsonObject {
  if (typeof part.image_url !== 'string') return refuseStored(field)
  return { type: 'image_url', image_url: { url: part.image_url, ...(part.detail ? { detail: part.detail } : {}) } }
}

function readFile({ file_data, filename }: Part, field: string): JsonObject {
  if (typeof file_data !== 'string') return refuseStored(field)
  return { type: 'file', file: { file_data, ...(typeof filename === 'string' && { filename }) } }
}

function readText(text: unknown): JsonObject {
  return { type: 'text', text: typeof text === 'string' ? text : '' }
}

/** Undefined for what cannot be put into a message. */
function readPart(part: Part, field: string): JsonObject | undefined {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return readText(part.text)
    case 'refusal':
      return readText(part.refusal)
    case 'input_image':
      return readImage(part, field)
    case 'input_file':
      return readFile(part, field)
    case 'input_audio':
      return isJsonObject(part.input_audio) ? { type: 'input_audio', input_audio: part.input_audio } : undefined
    default:
      return undefined
  }
}

function joinTexts(parts: JsonObject[]): string {
  return parts.map(({ text }) => text).join('')
}

const isText = ({ type }: JsonObject) => type === 'text'

/** Thinking that nobody signed is shown, and never sent back. */
function readThought({ encrypted_content: signature, summary }: z.infer<Schemas['reasoning']>): ContentBlock[] {
  if (!signature) return []
  const text = (summary ?? []).map((part) => part.text ?? '').join('')
  return [text === '' ? { type: 'redacted_thinking', data: signature } : { type: 'thinking', text, signature }]
}

/** A turn with what it thought, which goes to the vendor that made it alone; the same object when there is nothing. */
export function giveThoughts(message: Message): Message {
  const thoughts = message.raw?.json[thoughtsField] as ContentBlock[] | undefined
  if (thoughts === undefined) return message
  return unsealMessage({ role: message.role, content: [...thoughts, ...message.content] })
}

/** The turns so far. A message of the model, its calls and what it thought are one turn. */
export class Conversation {
  readonly messages: JsonObject[] = []
  readonly leftOut: LeftOutFields[] = []
  readonly #names: ToolNames
  /** Images of results: a message of a tool holds text alone. */
  #images: JsonObject[] = []
  /** They stand before what the model said. */
  #thoughts: ContentBlock[] = []

  constructor(names: ToolNames, instructions: string | null | undefined) {
    this.#names = names
    if (instructions) this.messages.push({ role: 'system', content: instructions })
  }

  /** InvalidRequest names what is wrong with an item; what has no place in a message is left out. */
  add(item: ResponsesItem, field: string): void {
    const type = item.type ?? 'message'
    if (!Object.hasOwn(schemas, type)) return void this.leftOut.push(leaveOut(field, type))
    const parsed = schemas[type as ItemType].safeParse(item, { error: describeIssue })
    // A search that the vendor made has no id of a call.
    if (!parsed.success && type.startsWith('tool_search')) return void this.leftOut.push(leaveOut(field, type))
    if (!parsed.success) throw explainVendorProblems(parsed.error, field)
    const read = readers[type as ItemType] as (turns: Conversation, item: unknown, field: string) => void
    read(this, parsed.data, field)
  }

  end(): JsonObject[] {
    this.#endTurn()
    this.#showImages()
    return this.messages
  }

  readParts(content: z.infer<typeof Content>, field: string): JsonObject[] {
    if (typeof content === 'string') return [readText(content)]
    return content.flatMap((part, at): JsonObject[] => {
      const read = readPart(part, `${field}.${at}`)
      if (read === undefined) this.leftOut.push(leaveOut(`${field}.${at}`, part.type))
      return read === undefined ? [] : [read]
    })
  }

  addMessage({ role, content }: z.infer<Schemas['message']>, field: string): void {
    if (!roles.includes(role)) return void this.leftOut.push(leaveOut(field, `role ${role}`))
    const parts = this.readParts(content ?? '', `${field}.content`)
    // Plain text stays a string, which every server of the family accepts.
    const plain = parts.every(isText) ? joinTexts(parts) : parts
    if (role === 'developer' || role === 'system') this.#addSystem(plain)
    else if (role === 'assistant') this.#addAssistant(plain)
    else this.#push({ role, content: plain })
  }

  addCall(id: string, tool: { name: string; namespace?: string | null | undefined }, args: string): void {
    const name = this.#names.nameOf(tool.name, tool.namespace ?? undefined)
    const call = { id, type: 'function', function: { name, arguments: args } }
    const turn = this.#turn()
    turn.tool_calls = [...((turn.tool_calls as JsonObject[] | undefined) ?? []), call]
  }

  addResult(id: string, output: z.infer<typeof Output>, field: string): void {
    const isContent = typeof output === 'string' || Array.isArray(output)
    const parts = isContent ? this.readParts(output, `${field}.output`) : [readText(JSON.stringify(output))]
    const texts = parts.filter(isText)
    const others = parts.filter((part) => !isText(part))
    this.#endTurn()
    const note = others.length === 0 ? '' : '[the next message of the user shows what this returned]'
    this.messages.push({ role: 'tool', tool_call_id: id, content: joinTexts(texts) || note })
    this.#images.push(...others)
  }

  addThoughts(thoughts: ContentBlock[]): void {
    this.#thoughts.push(...thoughts)
  }

  /** What a search of the client found is declared with the other tools. */
  addFound(id: string, tools: z.infer<typeof ResponsesTool>[], field: string): void {
    const found = tools.flatMap((tool) => (tool.type === 'namespace' ? this.#namesWithin(tool) : String(tool.name)))
    this.addResult(id, JSON.stringify({ tools: found }), field)
  }

  #namesWithin({ name, tools }: JsonObject): string[] {
    const inner = Array.isArray(tools) ? (tools as JsonObject[]) : []
    return inner.map((tool) => this.#names.nameOf(String(tool.name), String(name)))
  }

  #think(turn: JsonObject): void {
    if (this.#thoughts.length === 0) return
    turn[thoughtsField] = [...((turn[thoughtsField] as ContentBlock[] | undefined) ?? []), ...this.#thoughts]
    this.#thoughts = []
  }

  /** What was thought after the last word of a turn belongs to it. */
  #endTurn(): void {
    const last = this.messages.at(-1)
    if (last?.role === 'assistant') this.#think(last)
    this.#thoughts = []
  }

  #push(message: JsonObject): void {
    if (message.role === 'assistant') this.#think(message)
    else this.#endTurn()
    this.#showImages()
    this.messages.push(message)
  }

  #showImages(): void {
    if (this.#images.length === 0) return
    this.messages.push({ role: 'user', content: this.#images })
    this.#images = []
  }

  /** Some servers know one message of the system, at the beginning, and no developer. */
  #addSystem(content: string | JsonObject[]): void {
    const [first] = this.messages
    const isBeginning = this.messages.length === 1 && first?.role === 'system'
    if (isBeginning && typeof first.content === 'string' && typeof content === 'string') {
      first.content = `${first.content}\n\n${content}`
    } else this.#push({ role: 'system', content })
  }

  /** Text after a call belongs to the same turn: results follow it. */
  #addAssistant(content: string | JsonObject[]): void {
    const last = this.messages.at(-1)
    if (last?.role !== 'assistant' || last.tool_calls === undefined || typeof content !== 'string') {
      this.#push({ role: 'assistant', content })
    } else {
      last.content = [last.content, content].filter(Boolean).join('\n')
      this.#think(last)
    }
  }

  #turn(): JsonObject {
    const last = this.messages.at(-1)
    if (last?.role === 'assistant') {
      this.#think(last)
      return last
    }
    const turn: JsonObject = { role: 'assistant', content: null }
    this.#push(turn)
    return turn
  }
}

const readers: { [T in ItemType]: (turns: Conversation, item: z.infer<Schemas[T]>, field: string) => void } = {
  message: (turns, item, field) => turns.addMessage(item, field),
  function_call: (turns, item) => turns.addCall(item.call_id, item, item.arguments),
  custom_tool_call: (turns, item) => turns.addCall(item.call_id, item, JSON.stringify({ input: item.input })),
  local_shell_call(turns, { call_id, id, action }) {
    const { type: _type, ...args } = action
    turns.addCall(call_id ?? id ?? '', { name: 'local_shell' }, JSON.stringify(args))
  },
  tool_search_call: (turns, item) =>
    turns.addCall(item.call_id, { name: 'tool_search' }, JSON.stringify(item.arguments ?? {})),
  function_call_output: (turns, item, field) => turns.addResult(item.call_id, item.output ?? '', field),
  custom_tool_call_output: (turns, item, field) => turns.addResult(item.call_id, item.output ?? '', field),
  local_shell_call_output: (turns, item, field) =>
    turns.addResult(item.call_id ?? item.id ?? '', item.output ?? '', field),
  tool_search_output: (turns, item, field) => turns.addFound(item.call_id, item.tools, field),
  reasoning: (turns, item) => turns.addThoughts(readThought(item)),
}
