import { expect, it } from 'vitest'
import { createDecoder } from './decode.ts'

it.each([
  [['length', 'stop'], 'max_tokens'],
  [['stop', 'length'], 'max_tokens'],
  [['content_filter', 'stop'], 'refusal'],
])('an answer that ends with %j is %s', (words, reason) => {
  const decoder = createDecoder()
  for (const finish_reason of words) {
    decoder.pushFrame({ model: 'm', choices: [{ index: 0, delta: { content: 'x' }, finish_reason }] })
  }
  expect(decoder.end().at(-1)).toMatchObject({ type: 'stop', reason })
})

it('a plain end that more text follows is none until the end is marked', () => {
  const push = () => {
    const decoder = createDecoder()
    for (const content of ['one', ' two'])
      decoder.pushFrame({ model: 'm', choices: [{ index: 0, delta: { content }, finish_reason: 'stop' }] })
    return decoder
  }
  expect(push().end()).toEqual([])
  expect(push().end(true).at(-1)).toMatchObject({ type: 'stop', reason: 'end_turn' })
})

it('a failure that is followed by a plain end is a failure', () => {
  const decoder = createDecoder()
  for (const finish_reason of ['error', 'stop']) {
    decoder.pushFrame({ model: 'm', choices: [{ index: 0, delta: { content: 'x' }, finish_reason }] })
  }
  expect(() => decoder.end()).toThrow('finish_reason "error"')
})
