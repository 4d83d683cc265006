import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { followSignals } from './linked-signal.ts'

describe('a linked signal', () => {
  it('aborts with the first of those it follows, with its reason', () => {
    const [one, other] = [new AbortController(), new AbortController()]
    const { signal } = followSignals(one.signal, other.signal)
    other.abort('second')
    one.abort('first')
    expect(signal.reason).toBe('second')
  })

  it('is aborted from the start when one of them is', () => {
    expect(followSignals(AbortSignal.abort('before')).signal).toMatchObject({ aborted: true, reason: 'before' })
  })

  it('can be aborted by itself, which says nothing to the others', () => {
    const parent = new AbortController()
    const linked = followSignals(parent.signal)
    linked.abort('own')
    expect([linked.signal.reason, parent.signal.aborted]).toEqual(['own', false])
  })

  it('leaves nothing behind once it is released', () => {
    const parent = new AbortController()
    const linked = followSignals(parent.signal)
    linked.release()
    expect(getEventListeners(parent.signal, 'abort')).toEqual([])
    parent.abort()
    expect(linked.signal.aborted).toBe(false)
  })
})
