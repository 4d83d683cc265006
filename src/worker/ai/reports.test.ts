import { describe, expect, it } from 'vitest'
import type { CallFailure } from '../../contract/kinds/tasks/failures.ts'
import { createCallReports } from './reports.ts'

type Sent = Record<string, unknown>

/** `gate`: what each request waits for; rejected, it was not taken. */
function setUp(gate: () => Promise<void> = async () => {}) {
  const sent: Sent[] = []
  let now = 0
  const reports = createCallReports({
    async send(provider, report) {
      sent.push({ name: provider.name, ...report })
      await gate()
    },
    redact: (text) => text.replaceAll('hunter22', '[REDACTED]'),
    clock: { now: () => new Date(now) },
  })
  const settle = () => new Promise((resolve) => setImmediate(resolve))
  const end = (reason?: CallFailure, name = 'main', message = `because of ${reason}`) => {
    reports.note({ provider: { namespace: 'default', name }, ...(reason && { error: { reason, message } }) })
    return settle()
  }
  const pass = (ms: number) => {
    now += ms
  }
  return { sent, reports, end, pass }
}

const failed = (failures: number, kind: string) => ({
  name: 'main',
  answered: false,
  failures,
  reason: `because of ${kind}`,
})
const answered = { name: 'main', answered: true, failures: 0 }

describe('reports of calls', () => {
  it('are not made of answers, of what was cancelled, and of what was wrong with the request [PROV-011]', async () => {
    const { sent, reports, end } = setUp()
    await end()
    await end('Stopped')
    await end('RequestRefused')
    await end()
    await reports.settle()
    expect(sent).toEqual([])
  })

  it('tell of a failure and of the first answer after it at once, each once [PROV-011]', async () => {
    const { sent, end } = setUp()
    await end('CredentialRefused')
    expect(sent).toEqual([failed(1, 'CredentialRefused')])
    await end()
    await end()
    await end('ProviderUnreachable')
    expect(sent).toEqual([failed(1, 'CredentialRefused'), answered, failed(1, 'ProviderUnreachable')])
  })

  it('sum what goes on failing, one report in five seconds, and give the rest at the end', async () => {
    const { sent, reports, end, pass } = setUp()
    for (let count = 0; count < 4; count += 1) await end('ProviderFailed')
    expect(sent).toEqual([failed(1, 'ProviderFailed')])
    pass(5000)
    await end('ProviderUnreachable')
    expect(sent.slice(1)).toEqual([failed(4, 'ProviderUnreachable')])
    await end('CredentialRefused')
    await reports.settle()
    await reports.settle()
    expect(sent.slice(2)).toEqual([failed(1, 'CredentialRefused')])
  })

  it('forget failures before an answer, and take a provider that found fault with a request for one that answers', async () => {
    const { sent, end } = setUp()
    await end('ProviderFailed')
    await end('ProviderFailed')
    await end('ContextTooLong')
    expect(sent).toEqual([failed(1, 'ProviderFailed'), answered])
  })

  it('go out one after another for each provider, whatever others do', async () => {
    const gate = Promise.withResolvers<void>()
    const { sent, reports, end } = setUp(() => gate.promise)
    await end('CredentialRefused')
    await end()
    await end('ProviderUnreachable', 'other')
    expect(sent.map(({ name, answered: isAnswered }) => [name, isAnswered])).toEqual([
      ['main', false],
      ['other', false],
    ])
    gate.resolve()
    await reports.settle()
    expect(sent.at(-1)).toEqual(answered)
  })

  it('that are not taken hold up nothing and are added to the next', async () => {
    let isAway = true
    const { sent, reports, end, pass } = setUp(async () => {
      if (isAway) throw new Error('away')
    })
    await end('ProviderFailed')
    expect(sent).toHaveLength(1)
    isAway = false
    pass(5000)
    await end('CredentialRefused')
    expect(sent.at(-1)).toEqual(failed(2, 'CredentialRefused'))
    isAway = true
    await end()
    await reports.settle()
    expect(sent.slice(2)).toEqual([answered, answered])
  })

  it('have reasons without secrets that are short enough to be taken [SECRET-008]', async () => {
    const { sent, end } = setUp()
    await end('CredentialRefused', 'main', `key hunter22 ${'\u{1f600}'.repeat(2000)}`)
    await end('CredentialRefused', 'blank', '')
    const [long, blank] = sent.map(({ reason }) => String(reason))
    expect(long).toMatch(/^key \[REDACTED\] /)
    expect(long?.length).toBeLessThanOrEqual(1000)
    expect(long?.isWellFormed()).toBe(true)
    expect(blank).not.toBe('')
  })
})

describe('words of vendors that are not known', () => {
  it('are reported once, without secrets, before the run ends', async () => {
    const { sent, reports } = setUp()
    const provider = { namespace: 'default', name: 'main' }
    for (const word of ['napping', 'napping', 'hunter22'])
      reports.noteUnknown({ provider, kind: 'finish_reason', word })
    await reports.settle()
    expect(sent).toEqual(
      ['napping', '[REDACTED]'].map((word) => ({
        name: 'main',
        answered: false,
        failures: 0,
        unknown: [{ kind: 'finish_reason', word }],
      })),
    )
  })
})
