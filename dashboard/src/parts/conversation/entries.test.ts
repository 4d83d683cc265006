import { describe, expect, it } from 'vitest'
import { addFrame, type Entry, endCalls, readMessages, toEntries } from './entries.ts'

const call = { id: 'c1', name: 'list_tasks', args: { limit: 3 } }

describe('a stored conversation', () => {
  it('puts results to their calls, in whatever order they came', () => {
    const lines = [
      { role: 'user', content: 'what runs?', ts: '2030-01-01T00:00:00.000Z' },
      {
        role: 'assistant',
        content: '',
        toolCalls: [
          { id: 'c1', name: 'list_tasks', input: { limit: 3 } },
          { id: 'c2', name: 'get_task', input: {} },
          { id: 'c3', name: 'get_task', input: {} },
        ],
      },
      { role: 'tool', content: 'get_task failed: no such task', toolCallID: 'c2', name: 'get_task' },
      { role: 'tool', content: 'list_tasks succeeded: {}', toolCallID: 'c1', name: 'list_tasks' },
      { role: 'assistant', content: 'Nothing.' },
      { role: 'tool', content: 'alone', name: 'bash', input: { command: 'ls' } },
    ]
    const entries = toEntries(readMessages(`${lines.map((line) => JSON.stringify(line)).join('\n')}\nbroken`))
    expect(
      entries.map((entry) => (entry.type === 'call' ? [entry.name, entry.state, entry.result] : entry.text)),
    ).toEqual([
      'what runs?',
      ['list_tasks', 'done', 'list_tasks succeeded: {}'],
      ['get_task', 'failed', 'get_task failed: no such task'],
      ['get_task', 'lost', ''],
      'Nothing.',
      ['bash', 'done', 'alone'],
    ])
  })
})

describe('a running turn', () => {
  it('joins pieces of text, and closes calls', () => {
    const frames: [string, object][] = [
      ['message', { content: 'I ' }],
      ['message', { content: 'look.' }],
      ['tool_call', { toolCall: call }],
      ['tool_result', { toolCall: call, result: { success: false } }],
      ['tool_call', { toolCall: { ...call, id: 'c2' } }],
      ['message', { content: 'Well.' }],
      ['done', {}],
    ]
    let entries: readonly Entry[] = []
    for (const [event, frame] of frames) entries = addFrame(entries, event, { sessionId: 's', ...frame })
    expect(endCalls(entries).map((entry) => (entry.type === 'call' ? entry.state : entry.text))).toEqual([
      'I look.',
      'failed',
      'lost',
      'Well.',
    ])
  })
})
