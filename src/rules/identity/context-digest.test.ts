import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { digestContext, recordContext } from './context-digest.ts'

const sha256 = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`

describe('the digest of a context', () => {
  it('is the hash of its JSON with sorted keys, where order counts in all lists but the `allowed` ones', () => {
    const context = { b: { z: 1, a: [2, 1] }, allowedTools: ['web_fetch', 'code_exec'], a: 'é"\n' }
    const canonical = '{"a":"é\\"\\n","allowedTools":["code_exec","web_fetch"],"b":{"a":[2,1],"z":1}}'
    expect(digestContext(context)).toBe(sha256(canonical))
    expect(digestContext({ a: context.a, allowedTools: ['code_exec', 'web_fetch'], b: context.b })).toBe(
      sha256(canonical),
    )
  })

  it('differs for every difference in the context, and is empty for an empty context', () => {
    expect(digestContext({})).toBe('')
    expect(digestContext({ a: '1' })).not.toBe(digestContext({ a: 1 }))
    expect(digestContext({ a: ['x', 'y'] })).not.toBe(digestContext({ a: ['y', 'x'] }))
  })
})

describe('what is recorded of a context', () => {
  it('has the known keys as texts, and omits long notes but never a long constraint', () => {
    const long = 'x'.repeat(1025)
    const context = {
      purpose: long,
      namespace: long,
      maxDepth: 2,
      allowedAgents: ['b', 'a'],
      other: 'no',
      trace_id: 't',
    }
    expect(recordContext(context)).toEqual({ namespace: long, maxDepth: '2', allowedAgents: 'b,a', trace_id: 't' })
  })
})
