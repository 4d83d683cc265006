import { describe, expect, it } from 'vitest'
import type { ModelErrorKind } from '../llm/messages.ts'
import { createCallReports } from './call-reports.ts'

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
  const end = (kind?: ModelErrorKind, name = 'main', message = `because of ${kind}`) => {
    reports.note({ provider: { namespace: 'default', name }, ...(kind && { error: { kind, message } }) })
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
    await end('aborted')
    await end('invalid_request')
    await end()
    await reports.settle()
    expect(sent).toEqual([])
  })

  it('tell of a failure and of the first answer after it at once, each once [PROV-011]', async () => {
    const { sent, end } = setUp()
    await end('auth')
    expect(sent).toEqual([failed(1, 'auth')])
    await end()
    await end()
    await end('network')
    expect(sent).toEqual([failed(1, 'auth'), answered, failed(1, 'network')])
  })

  it('sum what goes on failing, one report in five seconds, and give the rest at the end', async () => {
    const { sent, reports, end, pass } = setUp()
    for (let count = 0; count < 4; count += 1) await end('server')
    expect(sent).toEqual([failed(1, 'server')])
    pass(5000)
    await end('network')
    expect(sent.slice(1)).toEqual([failed(4, 'network')])
    await end('auth')
    await reports.settle()
    await reports.settle()
    expect(sent.slice(2)).toEqual([failed(1, 'auth')])
  })

  it('forget failures before an answer, and take a provider that found fault with a request for one that answers', async () => {
    const { sent, end } = setUp()
    await end('server')
    await end('server')
    await end('context_too_long')
    expect(sent).toEqual([failed(1, 'server'), answered])
  })

  it('go out one after another for each provider, whatever others do', async () => {
    const gate = Promise.withResolvers<void>()
    const { sent, reports, end } = setUp(() => gate.promise)
    await end('auth')
    await end()
    await end('network', 'other')
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
    await end('server')
    expect(sent).toHaveLength(1)
    isAway = false
    pass(5000)
    await end('auth')
    expect(sent.at(-1)).toEqual(failed(2, 'auth'))
    isAway = true
    await end()
    await reports.settle()
    expect(sent.slice(2)).toEqual([answered, answered])
  })

  it('have reasons without secrets that are short enough to be taken [SECRET-008]', async () => {
    const { sent, end } = setUp()
    await end('auth', 'main', `key hunter22 ${'\u{1f600}'.repeat(2000)}`)
    await end('auth', 'blank', '')
    const [long, blank] = sent.map(({ reason }) => String(reason))
    expect(long).toMatch(/^key \[REDACTED\] /)
    expect(long?.length).toBeLessThanOrEqual(1000)
    expect(long?.isWellFormed()).toBe(true)
    expect(blank).not.toBe('')
  })
})
