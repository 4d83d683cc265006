import { expect, it } from 'vitest'
import { splitSeals, writeSeal } from './seal.ts'

const seal = writeSeal({ origin: 'vendor' })

it.each([
  [{ content: [{ type: 'text', text: 'said', signature: seal }] }, { content: [{ type: 'text', text: 'said' }] }],
  [
    { tool_calls: [{ id: 'a', type: 'function', function: { name: 'f' }, thought_signature: seal }] },
    { tool_calls: [{ id: 'a', type: 'function', function: { name: 'f' } }] },
  ],
])('takes a seal from a part that is something without it, and leaves the part: %#', (message, plain) => {
  expect(splitSeals(message)).toEqual({ plain, seals: [seal] })
})

it.each([
  { type: 'thinking', thinking: 'thought', signature: seal },
  { type: 'redacted_thinking', data: seal },
  { type: 'reasoning.encrypted', data: seal, format: 'unknown' },
  { type: 'reasoning.text', text: 'thought', signature: seal },
])('drops thinking whose signature is a seal: $type', (part) => {
  expect(splitSeals({ content: 'said', parts: [part] })).toEqual({ plain: { content: 'said' }, seals: [seal] })
})
