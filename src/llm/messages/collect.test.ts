import { describe, expect, it } from 'vitest'
import { createCollector } from './collect.ts'
import type { ModelEvent } from './messages.ts'

describe('a collector', () => {
  it('orders interleaved blocks, leaves out empty ones and keeps signed thinking', () => {
    const collector = createCollector()
    const events: ModelEvent[] = [
      { type: 'block_start', index: 0, block: 'thinking' },
      { type: 'signature_delta', index: 0, signature: 'ab' },
      { type: 'signature_delta', index: 0, signature: 'cd' },
      { type: 'tool_use_start', index: 3, id: 'b', name: 'two' },
      { type: 'tool_use_start', index: 2, id: 'a', name: 'one' },
      { type: 'args_delta', index: 3, json: '{"x":' },
      { type: 'args_delta', index: 2, json: '{}' },
      { type: 'args_delta', index: 3, json: '1}' },
      { type: 'block_start', index: 1, block: 'text' },
      { type: 'text_delta', index: 9, text: 'of no block' },
      { type: 'stop', reason: 'tool_use' },
    ]
    collector.push(events)
    expect(collector.turn().message.content).toEqual([
      { type: 'thinking', text: '', signature: 'abcd' },
      { type: 'tool_use', id: 'a', name: 'one', args: {} },
      { type: 'tool_use', id: 'b', name: 'two', args: { x: 1 } },
    ])
  })
})
