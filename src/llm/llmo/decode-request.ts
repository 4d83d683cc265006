// llmo to neutral: the request of a proxy client. Every part keeps its original JSON.
import type { JsonObject } from '../../lib/json.ts'
import { parseArgs } from '../messages/collect.ts'
import type { ContentBlock, Message, ModelRequest, ModelToolChoice, Raw, TextBlock } from '../messages/messages.ts'
import { splitSeals, unsealCalls } from '../messages/seal.ts'
import type { LlmoMessage, LlmoRequestBody } from './schema.ts'

function toRaw(json: unknown): Raw {
  return { family: 'llmo', json: json as JsonObject }
}

type Content = LlmoMessage['content']

function decodeContent(content: Content): ContentBlock[] {
  if (content === null || content === undefined) return []
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return content.map((part): ContentBlock => {
    const raw = toRaw(part)
    return part.type === 'text'
      ? { type: 'text', text: String(part.text), raw }
      : { type: 'opaque', label: part.type, raw }
  })
}

function joinText(content: Content): string {
  return decodeContent(content)
    .flatMap((block) => (block.type === 'text' ? [block.text] : []))
    .join('\n')
}

function isSystem(message: LlmoMessage | undefined): boolean {
  return message?.role === 'system' || message?.role === 'developer'
}

function decodeToolUses(message: Extract<LlmoMessage, { role: 'assistant' }>): ContentBlock[] {
  return (message.tool_calls ?? []).map((call): ContentBlock => {
    if (call.function === undefined) return { type: 'opaque', label: call.type ?? 'tool_call', raw: toRaw(call) }
    const { name, arguments: args } = call.function
    return { type: 'tool_use', id: call.id ?? '', name, ...parseArgs(args ?? '') }
  })
}

/** What a vendor has signed of the turn is with it again. */
function decodeAssistant(message: Extract<LlmoMessage, { role: 'assistant' }>): Message {
  const { plain, seals } = splitSeals(message)
  const content = [...decodeContent(message.content), ...decodeToolUses(message)]
  return unsealCalls({ role: 'assistant', content, raw: toRaw(plain) }, seals)
}

function decodeMessage(message: LlmoMessage): Message {
  const raw = toRaw(message)
  switch (message.role) {
    case 'assistant':
      return decodeAssistant(message)
    case 'tool': {
      const content = joinText(message.content)
      const result: ContentBlock = { type: 'tool_result', toolUseId: message.tool_call_id, content, isError: false }
      return { role: 'user', content: [result], raw }
    }
    default:
      return { role: 'user', content: decodeContent(message.content), raw }
  }
}

function decodeToolChoice(choice: LlmoRequestBody['tool_choice']): ModelToolChoice | undefined {
  if (choice === null || choice === undefined) return undefined
  if (typeof choice === 'string') return { type: choice === 'required' ? 'any' : choice }
  return { type: 'tool', name: choice.function.name }
}

function decodeSettings(request: LlmoRequestBody): Partial<ModelRequest> {
  const stop = typeof request.stop === 'string' ? [request.stop] : request.stop
  const fields: Partial<Record<keyof ModelRequest, unknown>> = {
    maxTokens: request.max_completion_tokens ?? request.max_tokens,
    temperature: request.temperature,
    topP: request.top_p,
    stopSequences: stop,
    toolChoice: decodeToolChoice(request.tool_choice),
  }
  const present = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined)
  return Object.fromEntries(present) as Partial<ModelRequest>
}

/** A validated request in neutral form. System messages in the middle stay in place, as user messages. */
export function decodeRequest(request: LlmoRequestBody): ModelRequest {
  const body = request.messages.findIndex((message) => !isSystem(message))
  const leading = body === -1 ? request.messages : request.messages.slice(0, body)
  const rest = body === -1 ? [] : request.messages.slice(body)
  const system = leading.map(
    (message): TextBlock => ({
      type: 'text',
      text: joinText(message.content),
      raw: toRaw(message),
    }),
  )
  return {
    model: request.model,
    system,
    messages: rest.map(decodeMessage),
    tools: (request.tools ?? []).map((tool) => ({
      name: tool.function?.name ?? tool.type,
      description: tool.function?.description ?? '',
      parameters: tool.function?.parameters ?? {},
      raw: toRaw(tool),
    })),
    ...decodeSettings(request),
    raw: toRaw(request),
  }
}
