import { describe, expect, it } from 'vitest'
import type { AnswerDecoder } from '../call/vendor-call.ts'
import { createDecoder as createLlmaDecoder } from '../llma/decode.ts'
import { createAnswerEncoder as createLlmaEncoder } from '../llma/encode-answer.ts'
import { createDecoder as createLlmoDecoder } from '../llmo/decode.ts'
import { createAnswerEncoder as createLlmoEncoder } from '../llmo/encode-answer.ts'
import type { AnswerEncoder } from '../messages/answer.ts'
import type { ModelEvent } from '../messages/messages.ts'

const oddText = 'plain, "quoted", back\\slash,\n\u2028 Grüße 世界 🎉 \ud800 </script>\u0000'
const options = { id: 'id-1', createdAt: new Date(0) }

function readAll(decoder: AnswerDecoder, frames: object[]): ModelEvent[] {
  return frames.flatMap((frame) => decoder.pushFrame(frame))
}

function writeFrame(encoder: AnswerEncoder, text: string): unknown {
  encoder.push({ type: 'start', model: 'm', raw: { family: 'llmo', json: { system_fingerprint: 'f', choices: [] } } })
  encoder.push({ type: 'usage', usage: { inputTokens: 1, outputTokens: 1, cachedTokens: 0 } })
  const frame = encoder.push({ type: 'text_delta', index: 3, text })
  expect(frame.split('\n\n')).toEqual([expect.any(String), ''])
  return JSON.parse(frame.slice(frame.indexOf('data: ') + 6))
}

describe('text, which is read and written by hand', () => {
  it('is written as every other frame, whatever is in it', () => {
    expect(writeFrame(createLlmaEncoder(options), oddText)).toEqual({
      type: 'content_block_delta',
      index: 3,
      delta: { type: 'text_delta', text: oddText },
    })
    expect(writeFrame(createLlmoEncoder(options), oddText)).toEqual({
      id: 'id-1',
      object: 'chat.completion.chunk',
      created: 0,
      model: 'm',
      system_fingerprint: 'f',
      choices: [{ index: 0, delta: { content: oddText }, finish_reason: null }],
    })
  })

  it('of llma belongs to its own block, which some servers do not open', () => {
    const delta = { type: 'text_delta', text: 'a' }
    const start = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }
    const frames = [start, ...[0, 1].map((index) => ({ type: 'content_block_delta', index, delta }))]
    expect(readAll(createLlmaDecoder(), frames)).toEqual([
      { type: 'block_start', index: 0, block: 'text' },
      { type: 'text_delta', index: 0, text: 'a' },
      { type: 'block_start', index: 1, block: 'text' },
      { type: 'text_delta', index: 1, text: 'a' },
    ])
    for (const index of [-1, 0.5, '0', undefined]) {
      const read = () => createLlmaDecoder().pushFrame({ type: 'content_block_delta', index, delta })
      expect(read, String(index)).toThrow('content_block_delta')
    }
  })

  it.each([
    ['a refusal', { content: 'x', refusal: 'no' }, [' xno']],
    ['thinking', { content: 'x', reasoning_content: 'hm' }, ['hm', ' x']],
    [
      'a call',
      { content: 'x', tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: '{}' } }] },
      [' x', 'f'],
    ],
  ])('of llmo hides nothing that comes with it: %s', (_what, delta, expected) => {
    const chunk = (part: object) => ({ id: '1', model: 'm', choices: [{ index: 0, delta: part, finish_reason: null }] })
    const events = readAll(createLlmoDecoder(), [chunk({ role: 'assistant' }), chunk({ ...delta, content: ' x' })])
    const said = events.flatMap((event) => ('text' in event ? [event.text] : 'name' in event ? [event.name] : []))
    expect(said).toEqual(expected)
  })

  it('of llmo hides no counts, no end and no error', () => {
    const decoder = createLlmoDecoder()
    const choices = [{ index: 0, delta: { content: 'x' } }]
    decoder.pushFrame({ model: 'm', choices })
    const counted = decoder.pushFrame({ choices, usage: { prompt_tokens: 2, completion_tokens: 1 } })
    expect(counted.map(({ type }) => type)).toEqual(['text_delta', 'usage'])
    decoder.pushFrame({ choices: [{ index: 0, delta: { content: 'y' }, finish_reason: 'length' }] })
    expect(decoder.end().at(-1)).toMatchObject({ type: 'stop', reason: 'max_tokens' })
    expect(() => decoder.pushFrame({ choices, error: { message: 'away' } })).toThrow('away')
  })
})
