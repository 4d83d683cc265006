// A request that goes on to a provider of another vendor: without what the first one has attached to its turns, which no other
// vendor knows, and strict ones refuse.
import { parseForeignObject } from '../../contract/schema/foreign-json.ts'
import { isJsonObject, type JsonObject } from '../../lib/json.ts'
import { plainAssistant } from '../../llm/llmo/encode.ts'
import type { Endpoint } from '../types.ts'

function stripChat(message: JsonObject): JsonObject[] {
  return [message.role === 'assistant' ? plainAssistant(message) : message]
}

function isThought(block: unknown): boolean {
  return isJsonObject(block) && (block.type === 'thinking' || block.type === 'redacted_thinking')
}

function stripMessage(message: JsonObject): JsonObject[] {
  const { role, content } = message
  if (role !== 'assistant' || !Array.isArray(content) || !content.some(isThought)) return [message]
  const plain = content.filter((block) => !isThought(block))
  return plain.length === 0 ? [] : [{ ...message, content: plain }]
}

const strippers: Partial<Record<Endpoint, { list: string; strip(item: JsonObject): JsonObject[] }>> = {
  chat: { list: 'messages', strip: stripChat },
  messages: { list: 'messages', strip: stripMessage },
  count_tokens: { list: 'messages', strip: stripMessage },
  responses: { list: 'input', strip: (item) => (item.type === 'reasoning' ? [] : [item]) },
}

/** The same bytes where nothing can be read. */
export function stripForeign(endpoint: Endpoint, body: Buffer): Buffer {
  const stripper = strippers[endpoint]
  const json = stripper && parseForeignObject(body.toString('utf8'))
  const items = stripper && json?.[stripper.list]
  if (stripper === undefined || json === undefined || !Array.isArray(items)) return body
  const plain = items.flatMap((item) => (isJsonObject(item) ? stripper.strip(item) : [item]))
  return Buffer.from(JSON.stringify({ ...json, [stripper.list]: plain }))
}
