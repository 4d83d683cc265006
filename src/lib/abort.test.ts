import { getEventListeners } from 'node:events'
import { describe, expect, it, vi } from 'vitest'
import { abortable, followSignals, onAbort, waitForAbort, waitUnlessAborted } from './abort.ts'

const listenersOf = (signal: AbortSignal) => getEventListeners(signal, 'abort')
const never = () => new Promise<never>(() => {})

describe('a listener', () => {
  it('is called once, when the signal aborts', () => {
    const stop = new AbortController()
    const listener = vi.fn()
    onAbort(stop.signal, listener)
    expect(listener).not.toHaveBeenCalled()
    stop.abort()
    stop.abort()
    expect(listener).toHaveBeenCalledOnce()
  })

  it('is called at once for a signal that has aborted', () => {
    const listener = vi.fn()
    onAbort(AbortSignal.abort(), listener)()
    expect(listener).toHaveBeenCalledOnce()
  })

  it('is not called once it is removed', () => {
    const stop = new AbortController()
    const listener = vi.fn()
    onAbort(stop.signal, listener)()
    expect(listenersOf(stop.signal)).toEqual([])
    stop.abort()
    expect(listener).not.toHaveBeenCalled()
  })

  it('needs no signal', () => {
    const listener = vi.fn()
    onAbort(undefined, listener)()
    expect(listener).not.toHaveBeenCalled()
  })
})

it('waits for a signal that aborts, or has aborted', async () => {
  const stop = new AbortController()
  const waiting = waitForAbort(stop.signal)
  stop.abort()
  await waiting
  await waitForAbort(stop.signal)
})

describe.each([
  ['abortable', abortable],
  ['unless aborted', waitUnlessAborted],
])('a wait (%s)', (_name, wait: (work: Promise<number>, signal: AbortSignal) => Promise<number | undefined>) => {
  it('has the outcome of the work, and leaves no listener behind', async () => {
    const { signal } = new AbortController()
    expect(await wait(Promise.resolve(7), signal)).toBe(7)
    await expect(wait(Promise.reject(new Error('broken')), signal)).rejects.toThrow('broken')
    expect(listenersOf(signal)).toEqual([])
  })

  it('ignores work that fails after the abort', async () => {
    const stop = new AbortController()
    const work = Promise.withResolvers<number>()
    const waiting = wait(work.promise, stop.signal).catch(() => 'aborted')
    stop.abort()
    work.reject(new Error('too late'))
    expect(await waiting).not.toBeInstanceOf(Error)
  })
})

describe('work that hangs', () => {
  it('is left with the reason of the signal, also when that aborted before', async () => {
    const stop = new AbortController()
    const waiting = abortable(never(), stop.signal)
    stop.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
    await expect(abortable(never(), stop.signal)).rejects.toThrow('enough')
  })

  it('is left without a result, also when the signal aborted before', async () => {
    const stop = new AbortController()
    const waiting = waitUnlessAborted(never(), stop.signal)
    stop.abort()
    expect(await waiting).toBeUndefined()
    expect(await waitUnlessAborted(never(), stop.signal)).toBeUndefined()
  })
})

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
