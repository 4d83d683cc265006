import { describe, expect, it } from 'vitest'
import { createManualClock } from '../../test/fixtures/llm/manual-clock.ts'
import type { CallFailure } from '../contract/failures.ts'
import type { ModelError } from '../llm/messages.ts'
import type { Records } from '../ports/index.ts'
import type { ProviderNote } from '../ports/provider-health.ts'
import { type CallOutcome, createProviderHealthLog } from './provider-health.ts'

const main = { namespace: 'default', name: 'main' }
const start = Date.parse('2026-01-01T00:00:00.000Z')
const at = (ms: number) => new Date(start + ms)
const good: CallOutcome = { status: 200, failed: false, aborted: false }
const bad = (status: number, reason?: string): CallOutcome => ({
  status,
  failed: true,
  aborted: false,
  ...(reason === undefined ? {} : { reason }),
})

/** A log over a store that can be away, on a clock that the test moves. */
function open() {
  const clock = createManualClock(start)
  const written: ProviderNote[][] = []
  const store = { isAway: false, during: () => {} }
  const providerHealth = {
    async note(notes: ProviderNote[]) {
      store.during()
      if (store.isAway) throw new Error('away')
      written.push(notes)
    },
  }
  const records = { providerHealth } as unknown as Records
  return { clock, written, store, log: createProviderHealthLog({ records, clock }) }
}

/** What one call leaves: answered, failed with a reason, or nothing. */
async function noteOne(act: (log: ReturnType<typeof open>['log']) => void): Promise<string> {
  const { log, written } = open()
  act(log)
  await log.close()
  const note = written[0]?.[0]
  if (note === undefined) return 'nothing'
  return note.failed === undefined ? 'answered' : note.failed.reason
}

describe('the health of a provider', () => {
  it('holds nobody up: many calls are one note, some seconds later', async () => {
    const { log, written, clock } = open()
    for (let count = 0; count < 1000; count += 1) log.noteCall(main, good)
    await clock.advance(1000)
    log.noteCall({ ...main }, good)
    log.noteCall({ ...main, namespace: 'other' }, good)
    expect(written).toEqual([])
    await clock.advance(1000)
    expect(written).toEqual([
      [
        { provider: main, goodAt: at(1000), failures: 0 },
        { provider: { ...main, namespace: 'other' }, goodAt: at(1000), failures: 0 },
      ],
    ])
    expect(clock.sleeping()).toBe(0)
  })

  it('tells how many calls failed since the last good one, and the last reason [PROV-011]', async () => {
    const { log, written } = open()
    log.noteCall(main, bad(500))
    log.noteCall(main, good)
    log.noteCall(main, bad(500))
    log.noteCall(main, bad(401, 'the key is wrong'))
    await log.close()
    const failed = { at: at(0), reason: 'the key is wrong' }
    expect(written).toEqual([[{ provider: main, goodAt: at(0), failed, failures: 2 }]])
  })

  it.each([
    [good, 'answered'],
    [bad(400), 'answered'],
    [bad(404), 'answered'],
    [bad(413), 'answered'],
    [bad(422), 'answered'],
    [bad(401), 'the vendor answered HTTP 401'],
    [bad(403), 'the vendor answered HTTP 403'],
    [bad(429), 'the vendor answered HTTP 429'],
    [bad(302), 'the vendor answered HTTP 302'],
    [bad(529, 'ProviderOverloaded'), 'ProviderOverloaded'],
    [bad(0), 'the vendor could not be reached'],
    [bad(200), 'the vendor broke off its answer'],
    [{ ...good, aborted: true }, 'nothing'],
    [{ ...bad(0), aborted: true }, 'nothing'],
  ])('takes a passed call that ended with %j as: %s', async (outcome, told) => {
    expect(await noteOne((log) => log.noteCall(main, outcome))).toBe(told)
  })

  it.each<[CallFailure, number | undefined, string]>([
    ['CredentialRefused', 401, 'why'],
    ['CredentialRefused', 400, 'why'],
    ['MissingApiKey', 401, 'why'],
    ['MissingApiKey', undefined, 'why'],
    ['RateLimited', 429, 'why'],
    ['ProviderOverloaded', 529, 'why'],
    ['ProviderUnreachable', undefined, 'why'],
    ['AnswerBrokenOff', undefined, 'why'],
    ['ProviderFailed', 500, 'why'],
    ['RequestRefused', 400, 'answered'],
    ['RequestUnsupported', undefined, 'nothing'],
    ['AddressRefused', undefined, 'why'],
    ['CreditUsedUp', 402, 'why'],
    ['WrongAddress', 404, 'why'],
    ['ModelNotFound', 404, 'answered'],
    ['ContextTooLong', undefined, 'answered'],
    ['RequestTooLarge', 413, 'answered'],
    ['Stopped', undefined, 'nothing'],
  ])('takes a model call that ended as %s (status %s) as: %s', async (reason, status, told) => {
    const error: ModelError = { reason, message: 'why', ...(status === undefined ? {} : { status }) }
    expect(await noteOne((log) => log.noteEnd({ provider: main, error }))).toBe(told)
  })

  it('takes a model call without an error as answered', async () => {
    expect(await noteOne((log) => log.noteEnd({ provider: main }))).toBe('answered')
  })

  it('keeps reasons short, whole in their characters and without what looks like a key [SECRET-008]', async () => {
    const told = await noteOne((log) => log.noteCall(main, bad(401, `sk-abc0123456789abcdef0123 ${'x'.repeat(600)}`)))
    expect(told).toMatch(/^\[REDACTED\] x+$/)
    expect(told).toHaveLength(500)
    const cut = await noteOne((log) => log.noteCall(main, bad(500, `${'x'.repeat(499)}\u{1f600}`)))
    expect(cut.isWellFormed()).toBe(true)
  })

  it('loses nothing while the store is away, and grows by no more than a note for each provider', async () => {
    const { log, written, store, clock } = open()
    store.isAway = true
    log.noteCall(main, good)
    log.noteCall(main, bad(500, 'first'))
    await clock.advance(2000)
    log.noteCall(main, bad(500, 'second'))
    await clock.advance(2000)
    expect(written).toEqual([])
    store.isAway = false
    await clock.advance(2000)
    const failed = { at: at(2000), reason: 'second' }
    expect(written).toEqual([[{ provider: main, goodAt: at(0), failed, failures: 2 }]])
  })

  it('does not put an older success or failure in the place of a newer one', async () => {
    const { log, written, store, clock } = open()
    store.isAway = true
    log.noteCall(main, bad(500, 'old'))
    await clock.advance(2000)
    log.noteCall(main, good)
    await clock.advance(2000)
    store.isAway = false
    await log.close()
    const failed = { at: at(0), reason: 'old' }
    expect(written).toEqual([[{ provider: main, goodAt: at(2000), failed, failures: 0 }]])
  })

  it.each([
    ['a good call', good, { goodAt: at(2000), failed: { at: at(0), reason: 'old' }, failures: 0 }],
    ['a failure', bad(500, 'new'), { failed: { at: at(2000), reason: 'new' }, failures: 2 }],
  ])('puts what could not be written behind %s that was noted meanwhile', async (_what, outcome, told) => {
    const { log, written, store, clock } = open()
    log.noteCall(main, bad(500, 'old'))
    store.isAway = true
    store.during = () => log.noteCall(main, outcome)
    await clock.advance(2000)
    Object.assign(store, { isAway: false, during: () => {} })
    await log.close()
    expect(written).toEqual([[{ provider: main, ...told }]])
  })

  it('writes what is left when it is closed, and nothing when there is nothing', async () => {
    const { log, written } = open()
    log.noteCall(main, good)
    await log.close()
    await log.close()
    expect(written).toHaveLength(1)
  })
})
