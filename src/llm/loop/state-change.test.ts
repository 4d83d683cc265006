import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { applyChange, findChange, type StateChange } from './state-change.ts'

describe('the change between two states', () => {
  it('makes the later one out of the earlier one, whatever they are', () => {
    const json = fc.jsonValue({ maxDepth: 4 })
    fc.assert(
      fc.property(json, json, (before, after) => {
        const change = findChange(before, after)
        const told = change && (JSON.parse(JSON.stringify(change)) as StateChange)
        const made = told === undefined ? before : applyChange(before, told)
        expect(JSON.stringify(made, sortKeys)).toBe(JSON.stringify(after, sortKeys))
      }),
    )
  })

  it.each(['toString', '__proto__', 'constructor'])('tells of the end of a field called %s', (name) => {
    const before = JSON.parse(`{"${name}":[]}`)
    expect(findChange(before, {})).toEqual({ fields: {}, without: [name] })
    expect(applyChange(before, { fields: {}, without: [name] })).toEqual({})
  })

  it('holds no more than what has changed', () => {
    const messages = [{ role: 'user', content: ['x'.repeat(10_000)] }]
    const before = { messages, pending: [{ id: 'a' }, { id: 'b' }], text: 'old', gone: 1 }
    const after = {
      messages: [...messages, { role: 'assistant', content: [] }],
      pending: [before.pending[0], { id: 'b', result: 'done' }],
      text: 'old',
    }
    expect(findChange(before, after)).toEqual({
      fields: {
        messages: { items: { 1: { set: { role: 'assistant', content: [] } } } },
        pending: { items: { 1: { fields: { result: { set: 'done' } } } } },
      },
      without: ['gone'],
    })
    expect(findChange(before, before)).toBeUndefined()
  })

  it('shortens lists', () => {
    const change = findChange({ pending: [1, 2, 3] }, { pending: [] })
    expect(applyChange({ pending: [1, 2, 3] }, change as StateChange)).toEqual({ pending: [] })
  })
})

function sortKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return Object.is(value, -0) ? 0 : value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}
