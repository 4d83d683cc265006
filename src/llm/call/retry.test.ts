import { describe, expect, it } from 'vitest'
import { createScriptedModel, failCall, type Script, sayText } from '../../../test/fixtures/llm/scripted-model.ts'
import { askText, listEvents } from '../../../test/fixtures/llm/wire.ts'
import { createHastyClock } from '../../../test/fixtures/time.ts'
import type { CallFailure } from '../../contract/kinds/tasks/failures.ts'
import { collectTurn } from '../messages/collect.ts'
import { type RetryOptions, withRetry } from './retry.ts'

const open = new AbortController().signal

async function call(scripts: Script[], options: Partial<RetryOptions> = {}) {
  const clock = createHastyClock()
  const model = createScriptedModel(scripts)
  const turn = await collectTurn(withRetry(model, { clock, random: () => 1, ...options }), askText('x'), open)
  return { turn, tries: model.requests.length, slept: clock.slept }
}

describe('retrying', () => {
  it.each([
    'RateLimited',
    'ProviderOverloaded',
    'ProviderUnreachable',
    'AnswerBrokenOff',
    'ProviderFailed',
  ] as CallFailure[])('a call that failed as %s gives the answer of the next try', async (kind) => {
    const { turn, tries } = await call([failCall(kind), sayText('ok')])
    expect([turn.stopReason, turn.error, tries]).toEqual(['end_turn', undefined, 2])
  })

  it.each([
    'CredentialRefused',
    'MissingApiKey',
    'ModelNotFound',
    'RequestRefused',
    'ContextTooLong',
    'RequestTooLarge',
    'Stopped',
  ] as CallFailure[])('a call that failed as %s is not tried', async (kind) => {
    const { turn, tries } = await call([failCall(kind)])
    expect([turn.error?.reason, tries]).toEqual([kind, 1])
  })

  it('tells of every wait before it begins, and why', async () => {
    const waits: unknown[] = []
    const failure = failCall('RateLimited', { retryAfterMs: 7000 })
    await call([failure, failCall('ProviderFailed'), sayText('ok')], { onWait: (wait) => waits.push(wait) })
    expect(waits).toEqual([
      { ms: 7000, why: expect.stringMatching(/the vendor asks for this wait\); then it is retried$/) },
      { ms: 2000, why: expect.stringMatching(/; then it is retried$/) },
    ])
  })

  it('waits longer each time, with jitter, up to a cap, and gives up with the last error', async () => {
    const failures = Array.from({ length: 4 }, () => failCall('ProviderFailed'))
    const { turn, tries, slept } = await call(failures, { capMs: 3000 })
    expect([turn.error?.reason, tries, slept]).toEqual(['ProviderFailed', 4, [1000, 2000, 3000]])
    const jittered = await call([failCall('ProviderFailed'), sayText('ok')], { random: () => 0.25 })
    expect(jittered.slept).toEqual([250])
  })

  it('waits as long as the vendor says, and lasts out a minute of "too much"', async () => {
    const { slept } = await call([failCall('RateLimited', { retryAfterMs: 7000 }), sayText('ok')])
    expect(slept).toEqual([7000])
    const minute = await call([...Array.from({ length: 9 }, () => failCall('RateLimited')), sayText('ok')], {
      random: () => 0.5,
    })
    expect(minute.turn.stopReason).toBe('end_turn')
    expect(minute.slept.reduce((sum, ms) => sum + ms, 0)).toBeGreaterThan(60_000)
  })

  it('does not wait for a vendor that asks for too long a pause', async () => {
    const { turn, tries } = await call([failCall('RateLimited', { retryAfterMs: 600_000 })])
    expect([turn.error?.reason, tries]).toEqual(['RateLimited', 1])
  })

  it('never repeats what was already shown', async () => {
    const { turn, tries } = await call([[...sayText('half').slice(0, 3), ...failCall('AnswerBrokenOff')]])
    expect([turn.error?.reason, tries]).toEqual(['AnswerBrokenOff', 1])
    const model = createScriptedModel([
      [...sayText('half').slice(0, 2), ...failCall('AnswerBrokenOff')],
      sayText('whole'),
    ])
    const events = await listEvents(
      withRetry(model, { clock: createHastyClock(), random: () => 0 }),
      askText('x'),
      open,
    )
    expect(events.filter((event) => event.type === 'start' || event.type === 'block_start')).toHaveLength(2)
  })

  it('stops waiting when the caller leaves', async () => {
    const aborter = new AbortController()
    const clock = { ...createHastyClock(), sleep: async () => aborter.abort() }
    const model = createScriptedModel([failCall('ProviderFailed'), failCall('Stopped')])
    const turn = await collectTurn(withRetry(model, { clock, random: () => 1 }), askText('x'), aborter.signal)
    expect(turn.error?.reason).toBe('Stopped')
  })
})
