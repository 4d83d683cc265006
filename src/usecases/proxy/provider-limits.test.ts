import { expect, it } from 'vitest'
import { createManualClock } from '../../../test/fixtures/llm/manual-clock.ts'
import type { Ports } from '../../ports/index.ts'
import { createProviderLimits } from './provider-limits.ts'
import type { Target } from './target.ts'

function setUp() {
  const clock = createManualClock()
  const records = { rateLimits: { coolDown: async () => {} } } as unknown as Ports['records']
  const limits = createProviderLimits({ records, clock })
  const targetOf = (model: number) =>
    ({ key: { namespace: 'default', name: 'vendor' }, model: `m${model}`, redact: (text) => text }) as Target
  const pause = (model: number, retryMs: number) =>
    limits.coolDown(targetOf(model), { status: 429, retryMs, reason: 'wait' })
  const isPaused = (model: number): boolean => {
    try {
      void limits.lease(targetOf(model), 1)
      return false
    } catch {
      return true
    }
  }
  return { clock, pause, isPaused }
}

it('pauses that are over make room for others, whoever made up so many names of models', async () => {
  const { clock, pause, isPaused } = setUp()
  pause(0, 3_600_000)
  for (let model = 1; model < 1000; model += 1) pause(model, 1000)
  await clock.advance(2000)
  pause(1000, 1000)
  expect([isPaused(0), isPaused(1), isPaused(1000)]).toEqual([true, false, true])
})

it('when none is over the oldest goes', () => {
  const { pause, isPaused } = setUp()
  for (let model = 0; model < 1001; model += 1) pause(model, 3_600_000)
  expect([isPaused(0), isPaused(1), isPaused(1000)]).toEqual([false, true, true])
})
