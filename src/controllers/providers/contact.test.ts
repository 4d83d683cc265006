import { describe, expect, it } from 'vitest'
import type { Provider, ProviderStatus } from '../../contract/kinds/providers/provider.ts'
import type { ProviderContact } from '../../ports/providers/provider-state.ts'
import { describeCalls, findContact, ownCalls, type Seen } from './contact.ts'

const noon = Date.parse('2026-03-01T12:00:00.000Z')
const at = (seconds: number) => new Date(noon + seconds * 1000)
const time = (seconds: number) => at(seconds).toISOString()

function makeProvider(status?: ProviderStatus): Provider {
  const metadata = { namespace: 'default', name: 'main', creationTimestamp: '2026-03-01T12:00:00Z' }
  return { metadata, ...(status && { status }) } as Provider
}

const find = (status: ProviderStatus | undefined, seen: Partial<Seen>) =>
  findContact(makeProvider(status), { calls: undefined, tried: undefined, cooling: undefined, now: at(100), ...seen })

const failing: ProviderContact = { goodAt: at(10), failed: { at: at(20), reason: 'HTTP 401' }, failures: 3 }
const answering: ProviderContact = { ...failing, goodAt: at(30), failures: 0 }
const fault = { reason: 'Unreachable', message: 'no such host' } as const
const away = { models: [], fault, at: at(50), subject: 'a' }
const there = { models: [], status: 200, at: at(50), subject: 'a' }

describe('the contact to a vendor', () => {
  it('is nothing while nothing was seen', () => {
    expect(find(undefined, {})).toEqual({})
  })

  it('was when a call or a trial was answered last, which is never forgotten [PROV-011]', () => {
    expect(find(undefined, { calls: answering })).toEqual({ lastReached: time(30) })
    expect(find({ lastReached: time(5) }, { calls: answering, tried: there })).toEqual({ lastReached: time(50) })
    expect(find({ lastReached: time(60) }, { calls: answering, tried: there })).toEqual({ lastReached: time(60) })
  })

  it('has the error of the last call that failed, with its time, until one is answered [PROV-011]', () => {
    const failed = { lastReached: time(10), lastError: 'HTTP 401', lastErrorAt: time(20) }
    expect(find(undefined, { calls: failing })).toEqual(failed)
    // A trial that is answered takes nothing back: the key is still refused.
    expect(find(failed, { calls: failing, tried: there })).toEqual({ ...failed, lastReached: time(50) })
    expect(find(failed, { calls: answering })).toEqual({ lastReached: time(30) })
  })

  it('has the error of a trial or of a cool-down with the time when it was first seen', () => {
    const cooling = { until: at(200), reason: 'slow down', failure: 'RateLimited', asked: true } as const
    const first = find(undefined, { tried: away })
    expect(first).toEqual({ lastError: 'no such host', lastErrorAt: time(100) })
    expect(find(first, { tried: { ...away, at: at(90) }, now: at(130) })).toEqual(first)
    const cooled = { lastError: 'slow down', lastErrorAt: time(130), coolingDownUntil: time(200) }
    expect(find(first, { tried: away, cooling, now: at(130) })).toEqual(cooled)
    expect(find(cooled, { cooling, now: at(160) })).toEqual(cooled)
  })

  it('does not blame it for calls that were made with an earlier key, nor for a trial that a call has refuted', () => {
    const before = { lastError: 'HTTP 401', lastErrorAt: time(20) }
    expect(find(before, { calls: failing, tried: { ...there, changedAt: at(40) } })).toEqual({ lastReached: time(50) })
    expect(find(undefined, { calls: { goodAt: at(60), failures: 0 }, tried: away })).toEqual({ lastReached: time(60) })
  })

  it('keeps the error when its cause is over, until a call or a trial was answered after it', () => {
    const before = { lastError: 'slow down', lastErrorAt: time(25) }
    expect(find(before, {})).toEqual(before)
    expect(find(before, { calls: { goodAt: at(20), failures: 0 } })).toEqual({ ...before, lastReached: time(20) })
    expect(find(before, { calls: answering })).toEqual({ lastReached: time(30) })
    expect(find(before, { tried: there })).toEqual({ lastReached: time(50) })
    expect(find({ lastError: 'of an older version' }, { calls: answering })).toEqual({ lastReached: time(30) })
  })
})

describe('calls', () => {
  it('say whether the vendor answers, and why not', () => {
    expect(describeCalls(undefined)).toBeUndefined()
    expect(describeCalls({ failures: 0 })).toBeUndefined()
    const bad = { type: 'Answering', status: 'False', reason: 'CallsFail' }
    expect(describeCalls(failing)).toEqual({ ...bad, message: 'the last 3 calls failed: HTTP 401' })
    expect(describeCalls({ ...failing, failures: 1 })).toEqual({ ...bad, message: 'the last call failed: HTTP 401' })
    expect(describeCalls(answering)).toMatchObject({ type: 'Answering', status: 'True', reason: 'CallsAnswered' })
  })

  it('of a provider that had the name before are not those of this one', () => {
    const provider = makeProvider()
    expect(ownCalls(provider, undefined)).toBeUndefined()
    expect(ownCalls(provider, { goodAt: at(-5), failed: { at: at(-1), reason: 'x' }, failures: 9 })).toEqual({
      failures: 0,
    })
    const mixed = { goodAt: at(-5), failed: { at: at(0), reason: 'x' }, failures: 2 }
    expect(ownCalls(provider, mixed)).toEqual({ failed: mixed.failed, failures: 2 })
    expect(ownCalls(provider, answering)).toEqual(answering)
  })
})
