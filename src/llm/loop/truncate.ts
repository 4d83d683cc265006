// Truncates a conversation to a budget of estimated tokens, without separating a tool call from its result.
import type { Message } from '../messages/messages.ts'
import { bytesPerToken, estimateTokens } from '../messages/token-usage.ts'

function countTokens(messages: Message[]): number {
  return messages.reduce((sum, message) => sum + estimateTokens(message), 0)
}

function hasResult(message: Message): boolean {
  return message.content.some((block) => block.type === 'tool_result')
}

/** An assistant message and the results that follow it belong together; everything else stands alone. */
function groupExchanges(messages: Message[]): Message[][] {
  const groups: Message[][] = []
  for (const message of messages) {
    const last = groups.at(-1)
    if (last !== undefined && hasResult(message)) last.push(message)
    else groups.push([message])
  }
  return groups
}

/**
 * Keeps the first user message and as many of the newest exchanges as fit. The newest exchange always stays: when it
 * alone is too large, its tool results are truncated instead; without them the model would only repeat the calls.
 */
export function truncateMessages(messages: Message[], budgetTokens: number): Message[] {
  if (countTokens(messages) <= budgetTokens) return messages
  const first = messages.findIndex((message) => message.role === 'user' && !hasResult(message))
  const head = first === -1 ? [] : messages.slice(first, first + 1)
  const groups = groupExchanges(messages.slice(first + 1))
  const newest = groups.pop()
  if (newest === undefined) return messages
  const room = budgetTokens - countTokens(head)
  const recent = [shrinkResults(newest, room)]
  let left = room - countTokens(newest)
  for (const group of groups.reverse()) {
    left -= countTokens(group)
    if (left < 0) break
    recent.unshift(group)
  }
  return [...head, ...recent.flat()]
}

function shrinkResults(group: Message[], room: number): Message[] {
  const excess = (countTokens(group) - room) * bytesPerToken
  const results = group.flatMap((message) => message.content.filter((block) => block.type === 'tool_result'))
  const length = results.reduce((sum, block) => sum + Buffer.byteLength(block.content), 0)
  if (excess <= 0 || length === 0) return group
  const share = Math.max(0.02, 1 - excess / length)
  return group.map((message) => (hasResult(message) ? shrinkMessage(message, share) : message))
}

function shrinkMessage(message: Message, share: number): Message {
  const content = message.content.map((block) =>
    block.type === 'tool_result'
      ? { type: block.type, toolUseId: block.toolUseId, isError: block.isError, content: cutText(block.content, share) }
      : block,
  )
  return { role: message.role, content }
}

function cutText(text: string, share: number): string {
  const end = Math.floor(text.length * share)
  if (end >= text.length) return text
  // Does not split a surrogate pair.
  return `${text.slice(0, end).replace(/[\uD800-\uDBFF]$/, '')}\n[cut to fit the model: the first ${end} of ${text.length} characters are shown]`
}
