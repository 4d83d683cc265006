import { describe, expect, it } from 'vitest'
import type { NewMessage } from '../../ports/chat/sessions.ts'
import { measureTranscript, summarizeResult, toConversation, truncateTranscript } from './history.ts'

const user = (content: string): NewMessage => ({ role: 'user', content })
const answer = (content: string): NewMessage => ({ role: 'assistant', content })
const called = (...ids: string[]): NewMessage => ({
  role: 'assistant',
  content: '',
  toolCalls: ids.map((id) => ({ id, name: 'look', input: {} })),
})
const result = (toolCallID: string, content = 'seen'): NewMessage => ({
  role: 'tool',
  name: 'look',
  toolCallID,
  content,
})

describe('a transcript as a conversation', () => {
  it('joins unanswered questions and omits messages of the service', () => {
    const messages = toConversation([
      user('a'),
      user('b'),
      { role: 'system', content: 'sum up' },
      answer('c'),
      user('d'),
    ])
    expect(messages.map(({ role, content }) => [role, content.length])).toEqual([
      ['user', 2],
      ['assistant', 1],
      ['user', 1],
    ])
  })

  it('gives every call a result and every result its call', () => {
    const messages = toConversation([user('a'), result('lost'), called('1', '2'), result('2'), user('b'), called('3')])
    const kinds = messages.map(({ content }) => content.map(({ type }) => type))
    expect(kinds).toEqual([
      ['text'],
      ['tool_use', 'tool_use'],
      ['tool_result', 'tool_result', 'text'],
      ['tool_use'],
      ['tool_result'],
    ])
    const ids = messages[2]?.content.map((block) => (block.type === 'tool_result' ? block.toolUseId : ''))
    expect(ids?.toSorted()).toEqual(['', '1', '2'])
  })
})

describe('the summary of a tool result', () => {
  it('has name, outcome, ids and the head of the text, within 2K characters [SESS-012]', () => {
    const content = JSON.stringify({
      success: true,
      data: { name: 'task-1', namespace: 'team', output: 'x'.repeat(9000) },
    })
    const summary = summarizeResult({ name: 'fetch_task_output', content, isError: false })
    expect(summary).toHaveLength(2048)
    expect(summary).toMatch(/^fetch_task_output succeeded \(name task-1, namespace team\): \{"success":true/)
    expect(summary).toMatch(/\[cut: \d+ characters\]$/)
  })

  it('has the kind of failure of a failed call', () => {
    const content = JSON.stringify({ success: false, error: 'gone', errorType: 'not_found', suggestion: 'look' })
    expect(summarizeResult({ name: 'cancel_task', content, isError: true })).toBe(
      `cancel_task failed (errorType not_found): ${content}`,
    )
    expect(summarizeResult({ name: 'x', content: 'no json', isError: true })).toBe('x failed: no json')
  })
})

describe('a session that is too large', () => {
  const exchange = (id: string) => [user(`q${id}`), called(id), result(id, 'y'.repeat(500)), answer(`a${id}`)]
  const all = [user('first'), answer('hello'), ...['1', '2', '3', '4', '5'].flatMap(exchange)]

  it('keeps the first question and the newest exchanges, each of them whole [SESS-009]', () => {
    const truncated = truncateTranscript(all, 2000)
    expect(truncated[0]).toEqual(user('first'))
    expect(truncated.at(-1)).toEqual(answer('a5'))
    expect(measureTranscript(truncated)).toBeLessThanOrEqual(2000)
    expect(truncated.length).toBeGreaterThan(4)
    const calls = truncated.flatMap(({ toolCalls = [] }) => toolCalls.map(({ id }) => id))
    const results = truncated.flatMap(({ role, toolCallID }) => (role === 'tool' ? [toolCallID] : []))
    expect(results).toEqual(calls)
  })

  it('is left alone while it fits, and keeps its newest exchange whatever its size', () => {
    expect(truncateTranscript(all, 1_000_000)).toEqual(all)
    const large = [user('first'), answer('x'), called('1'), result('1', 'z'.repeat(5000))]
    expect(truncateTranscript(large, 1000)).toEqual([user('first'), called('1'), result('1', 'z'.repeat(5000))])
  })
})

describe('the size of a transcript', () => {
  it('is in bytes, in any script [LIM-013]', () => {
    const measure = (content: string) => measureTranscript([{ role: 'user', content }])
    expect(measure('語'.repeat(1000)) - measure('')).toBe(3000)
    const long = Array.from({ length: 40 }, (_, at) => [
      { role: 'user' as const, content: `${at}: ${'語'.repeat(100)}` },
      { role: 'assistant' as const, content: '語'.repeat(100) },
    ]).flat()
    const truncated = truncateTranscript(long, 8000)
    expect(measureTranscript(truncated)).toBeLessThanOrEqual(8000)
    expect(truncated[0]).toBe(long[0])
  })
})
