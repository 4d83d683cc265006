import { describe, expect, it } from 'vitest'
import { judgeCall } from './call-verdict.ts'
import type { ModelErrorKind } from './messages.ts'

const judge = (kind: ModelErrorKind, status?: number) =>
  judgeCall({ kind, message: 'x', ...(status === undefined ? {} : { status }) })

describe('the end of a call', () => {
  it('says that a provider answered when there was an answer, or fault was found with the request', () => {
    expect(judgeCall(undefined)).toBe('answered')
    const faults = [judge('invalid_request', 400), judge('model_not_found', 404), judge('too_large', 413)]
    expect([...faults, judge('context_too_long', 400)]).toEqual(['answered', 'answered', 'answered', 'answered'])
  })

  it('says that it failed when its key was refused, it was broken or away, or asked too much', () => {
    const kinds: ModelErrorKind[] = ['auth', 'server', 'network', 'interrupted', 'rate_limited', 'overloaded']
    expect(kinds.map((kind) => judge(kind))).toEqual(kinds.map(() => 'failed'))
    expect(judge('missing_key', 401)).toBe('failed')
  })

  it('says nothing when it was cancelled, or nothing was sent', () => {
    expect([judge('aborted'), judge('missing_key'), judge('invalid_request')]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })
})
