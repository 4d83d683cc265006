import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ContentBlock, Message } from '../messages/messages.ts'
import { userText } from '../messages/messages.ts'
import { estimateTokens } from '../messages/token-usage.ts'
import { truncateMessages } from './truncate.ts'

function count(messages: Message[]): number {
  return messages.reduce((sum, message) => sum + estimateTokens(message), 0)
}

function exchange(id: string, size: number): Message[] {
  return [
    { role: 'assistant', content: [{ type: 'tool_use', id, name: 'look', args: {} }] },
    { role: 'user', content: [{ type: 'tool_result', toolUseId: id, content: 'x'.repeat(size), isError: false }] },
  ]
}

function idsOf(messages: Message[], pick: (block: ContentBlock) => string[]): string[] {
  return messages.flatMap((message) => message.content.flatMap(pick))
}

describe('cutting a conversation', () => {
  it('leaves one alone that fits', () => {
    const messages = [userText('a'), ...exchange('1', 10)]
    expect(truncateMessages(messages, 1000)).toBe(messages)
  })

  it('keeps the first user message and the newest exchanges', () => {
    const messages = [userText('first'), ...exchange('1', 400), ...exchange('2', 400), ...exchange('3', 400)]
    expect(truncateMessages(messages, 240)).toEqual([messages[0], ...messages.slice(3)])
  })

  it('cuts the newest results when they alone are too big, and says so', () => {
    const messages = [userText('first'), ...exchange('1', 400), ...exchange('2', 400_000)]
    const cut = truncateMessages(messages, 1000)
    expect(cut).toHaveLength(3)
    expect(count(cut)).toBeLessThan(3000)
    expect(JSON.stringify(cut)).toMatch(/cut to fit the model: the first \d+ of 400000 characters/)
  })

  it('never splits a call from its result, never drops the first user message or the newest exchange', () => {
    const part = fc.oneof(
      fc.string({ maxLength: 300 }).map((text) => [userText(text)]),
      fc.tuple(fc.uuid(), fc.nat(900)).map(([id, size]) => exchange(id, size)),
    )
    const property = fc.property(fc.array(part, { maxLength: 12 }), fc.nat(800), (parts, budget) => {
      const messages = [userText('the task'), ...parts.flat()]
      const cut = truncateMessages(messages, budget)
      expect(cut[0]).toEqual(messages[0])
      const uses = idsOf(cut, (block) => (block.type === 'tool_use' ? [block.id] : []))
      const results = idsOf(cut, (block) => (block.type === 'tool_result' ? [block.toolUseId] : []))
      expect(results).toEqual(uses)
      expect(cut.at(-1)?.role).toBe(messages.at(-1)?.role)
    })
    fc.assert(property)
  })
})
