import { describe, expect, it } from 'vitest'
import { createManualClock } from '../../../test/fixtures/time.ts'
import type { CallFailure } from '../../contract/kinds/tasks/failures.ts'
import type { ModelError } from '../../llm/messages/messages.ts'
import type { Records } from '../../ports/index.ts'
import type { ProviderNote } from '../../ports/providers/provider-state.ts'
import { createProviderHealthLog } from './health.ts'

const main = { namespace: 'default', name: 'main' }
const start = Date.parse('2026-01-01T00:00:00.000Z')
const at = (ms: number) => new Date(start + ms)
type Log = ReturnType<typeof open>['log']
const noteGood = (log: Log, provider = main) => log.noteEnd({ provider })
const noteBad = (log: Log, message = 'why', provider = main) =>
  log.noteEnd({ provider, error: { reason: 'ProviderFailed', message } })

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
  it('delays nobody: many calls become one note, some seconds later', async () => {
    const { log, written, clock } = open()
    for (let count = 0; count < 1000; count += 1) noteGood(log)
    await clock.advance(1000)
    noteGood(log, { ...main })
    noteGood(log, { ...main, namespace: 'other' })
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

  it('includes how many calls failed since the last good one, and the last reason [PROV-011]', async () => {
    const { log, written } = open()
    noteBad(log)
    noteGood(log)
    noteBad(log)
    noteBad(log, 'the key is wrong')
    await log.close()
    const failed = { at: at(0), reason: 'the key is wrong' }
    expect(written).toEqual([[{ provider: main, goodAt: at(0), failed, failures: 2 }]])
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
  ])('counts a model call that ended as %s (status %s) as: %s', async (reason, status, noted) => {
    const error: ModelError = { reason, message: 'why', ...(status === undefined ? {} : { status }) }
    expect(await noteOne((log) => log.noteEnd({ provider: main, error }))).toBe(noted)
  })

  it('counts a model call without an error as answered', async () => {
    expect(await noteOne((log) => log.noteEnd({ provider: main }))).toBe('answered')
  })

  it('keeps reasons short, without cutting characters and without anything that looks like a key [SECRET-008]', async () => {
    const noted = await noteOne((log) => noteBad(log, `sk-abc0123456789abcdef0123 ${'x'.repeat(600)}`))
    expect(noted).toMatch(/^\[REDACTED\] x+$/)
    expect(noted).toHaveLength(500)
    const cut = await noteOne((log) => noteBad(log, `${'x'.repeat(499)}\u{1f600}`))
    expect(cut.isWellFormed()).toBe(true)
  })

  it('loses no note while the store is away, and keeps at most one for each provider', async () => {
    const { log, written, store, clock } = open()
    store.isAway = true
    noteGood(log)
    noteBad(log, 'first')
    await clock.advance(2000)
    noteBad(log, 'second')
    await clock.advance(2000)
    expect(written).toEqual([])
    store.isAway = false
    await clock.advance(2000)
    const failed = { at: at(2000), reason: 'second' }
    expect(written).toEqual([[{ provider: main, goodAt: at(0), failed, failures: 2 }]])
  })

  it('does not replace a newer success or failure by an older one', async () => {
    const { log, written, store, clock } = open()
    store.isAway = true
    noteBad(log, 'old')
    await clock.advance(2000)
    noteGood(log)
    await clock.advance(2000)
    store.isAway = false
    await log.close()
    const failed = { at: at(0), reason: 'old' }
    expect(written).toEqual([[{ provider: main, goodAt: at(2000), failed, failures: 0 }]])
  })

  it.each([
    ['a good call', undefined, { goodAt: at(2000), failed: { at: at(0), reason: 'old' }, failures: 0 }],
    ['a failure', 'new', { failed: { at: at(2000), reason: 'new' }, failures: 2 }],
  ])('merges a note that could not be written with %s noted meanwhile', async (_what, message, noted) => {
    const { log, written, store, clock } = open()
    noteBad(log, 'old')
    store.isAway = true
    store.during = () => (message === undefined ? noteGood(log) : noteBad(log, message))
    await clock.advance(2000)
    Object.assign(store, { isAway: false, during: () => {} })
    await log.close()
    expect(written).toEqual([[{ provider: main, ...noted }]])
  })

  it('writes what is left when it is closed, and nothing when there is nothing', async () => {
    const { log, written } = open()
    noteGood(log)
    await log.close()
    await log.close()
    expect(written).toHaveLength(1)
  })
})

describe('a word of a vendor that is not known', () => {
  it('is counted each time and named once, without what may be a secret', async () => {
    const told: [string, boolean][] = []
    const { records, clock } = { records: {} as Records, clock: createManualClock(start) }
    const onUnknown = ({ kind, word }: { kind: string; word: string }, isNew: boolean) =>
      void told.push([`${kind} ${word}`, isNew])
    const log = createProviderHealthLog({ records, clock }, { onUnknown })
    const note = (word: string, provider = main) => log.noteUnknown({ provider, kind: 'finish_reason', word })
    note('napping')
    note('napping')
    note('napping', { namespace: 'default', name: 'other' })
    note('x'.repeat(500))
    expect(told.slice(0, 3)).toEqual([
      ['finish_reason napping', true],
      ['finish_reason napping', false],
      ['finish_reason napping', true],
    ])
    expect(told[3]?.[0]).toHaveLength('finish_reason '.length + 100)
    for (let count = 0; count < 300; count += 1) note(`word ${count}`)
    expect(told.filter(([, isNew]) => isNew)).toHaveLength(200)
    await log.close()
  })
})
