import { describe, expect, it } from 'vitest'
import { createResponsesDecoder } from './decode-answer.ts'

const item = { type: 'message', content: [{ type: 'output_text', text: 'half a' }] }

function readStop(status: string, reason?: string) {
  const unknown: string[] = []
  const decoder = createResponsesDecoder({ onUnknown: (_kind, word) => unknown.push(word) })
  const frame = { response: { status, output: [item], incomplete_details: reason === undefined ? null : { reason } } }
  try {
    const events = decoder.pushFrame({ type: `response.${status}`, ...frame })
    return { stop: events.findLast(({ type }) => type === 'stop'), unknown }
  } catch (error) {
    return { failure: (error as Error).message, unknown }
  }
}

describe('an answer of the responses API', () => {
  it.each([
    ['max_output_tokens', 'max_tokens'],
    ['max_tokens', 'max_tokens'],
    ['model_length', 'max_tokens'],
    ['content_filter', 'refusal'],
    ['ContentFilter', 'refusal'],
  ])('that is incomplete for %s ends as in every other dialect: %s', (reason, ending) => {
    expect(readStop('incomplete', reason)).toEqual({ stop: { type: 'stop', reason: ending }, unknown: [] })
  })

  it.each(['stop', 'end_turn', 'cancelled', 'a word of tomorrow', undefined])(
    'that is incomplete for %s is a failure, never a success',
    (reason) => {
      expect(readStop('incomplete', reason).failure).toContain('incomplete')
    },
  )
})
