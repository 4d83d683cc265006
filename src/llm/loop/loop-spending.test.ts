// Whoever pays for a run is asked before each call and told of each, however the run ends.
import { afterEach, describe, expect, it } from 'vitest'
import { type ScriptedVendor, startVendor, type VendorStep } from '../../../test/fixtures/llm/scripted-vendor.ts'
import { createTestHost } from '../../../test/fixtures/llm/tool-host.ts'
import { createEgress } from '../../egress/egress.ts'
import { SvcError } from '../../errors.ts'
import { systemClock } from '../../lib/system-clock.ts'
import type { ServedCall } from '../call/model-client.ts'
import { createModelRouter } from '../call/router.ts'
import { userText } from '../messages/messages.ts'
import { type LoopRun, runLoop } from './loop.ts'
import { createLoopState } from './loop-state.ts'

let vendor: ScriptedVendor | undefined
afterEach(() => vendor?.close())

const rateLimits = {
  take: async () => ({ granted: true as const, tokens: 0 }),
  settle: async () => {},
  coolDown: async () => {},
  coolingDown: () => undefined,
}

/** A run over a real socket; what is heard, in order. */
async function play(scripts: VendorStep[][], run: Partial<LoopRun> = {}, require = () => {}) {
  const started = await startVendor((_request, count) => scripts[count - 1] ?? [])
  vendor = started
  const { url } = started
  const heard: string[] = []
  const served: ServedCall[] = []
  const provider = {
    namespace: 'default',
    name: 'p',
    type: 'llmo',
    baseUrl: url,
    apiKey: 'k-1234',
    trusted: true,
  } as const
  const model = createModelRouter([{ provider, model: 'm' }], {
    egress: createEgress(),
    policyFor: () => ({ allowNetworks: [], deny: [], trusted: new URL(url).origin }),
    clock: systemClock,
    random: () => 0,
    rateLimits,
  })
  const count = (call: ServedCall) => {
    served.push(call)
    heard.push('count')
  }
  const state = await runLoop({
    state: createLoopState({ messages: [userText('do it')] }),
    model,
    tools: createTestHost({ look: {} }),
    clock: systemClock,
    signal: new AbortController().signal,
    spending: { require, count },
    save: async () => void heard.push('save'),
    emit: ({ type }) => void (type === 'model' || heard.push(type)),
    ...run,
  })
  return { state, heard, served, asked: started.requests.length }
}

const call: VendorStep[] = [{ call: { name: 'look', args: {} } }]
const said = 'a few words that were said '

describe('what a run uses', () => {
  it('is told of each call before anything is built on it', async () => {
    const { heard, served } = await play([call, [{ text: 'done' }]])
    expect(served.map(({ usage, brokeOff }) => [usage.inputTokens, usage.outputTokens, brokeOff])).toEqual([
      [20, 10, undefined],
      [20, 10, undefined],
    ])
    expect(heard.filter((what) => ['count', 'turn', 'save'].includes(what))).toEqual([
      'save',
      'count',
      'turn',
      'save',
      'save',
      'count',
      'turn',
      'save',
    ])
  })

  it('is told where a call broke off, and the run failed', async () => {
    const heard = Promise.withResolvers<void>()
    const { state, served } = await play([call, [{ text: said }, { wait: heard.promise }, { cut: true }]], {
      emit(event) {
        if (event.type === 'model' && event.events.some(({ type }) => type === 'text_delta')) heard.resolve()
      },
    })
    expect(state.finished?.reason).toBe('error')
    expect(served.map(({ brokeOff }) => brokeOff)).toEqual([undefined, true])
    expect(served[1]?.estimated?.outputTokens).toBeGreaterThan(0)
  })

  it('is told of the call in whose middle everybody leaves', async () => {
    const gone = new AbortController()
    const { state, served } = await play([call, [{ text: said }, { wait: new Promise(() => {}) }]], {
      signal: gone.signal,
      emit(event) {
        if (event.type === 'model' && event.events.some(({ type }) => type === 'text_delta')) gone.abort()
      },
    })
    expect(state.finished?.reason).toBe('cancelled')
    expect(served.map(({ brokeOff }) => brokeOff)).toEqual([undefined, true])
  })

  it('is told also when the run cannot go on because nobody takes its events', async () => {
    const served: ServedCall[] = []
    const lost = play([[{ text: said }, { wait: new Promise(() => {}) }]], {
      spending: { require: () => {}, count: (used) => void served.push(used) },
      emit(event) {
        if (event.type === 'model') throw new Error('the client is gone')
      },
    })
    await expect(lost).rejects.toThrow('the client is gone')
    await expect.poll(() => served.map(({ brokeOff }) => brokeOff)).toEqual([true])
  })

  it('may be refused before any call, which is not made then', async () => {
    let asked = 0
    const refuse = () => {
      asked += 1
      if (asked === 2) throw new SvcError('BudgetExceeded', 'nothing is left')
    }
    const run = await play([call, [{ text: 'never' }]], {}, refuse)
    expect(run.state.finished).toMatchObject({ reason: 'error', error: { reason: 'BudgetExceeded' } })
    expect([run.asked, run.served.length]).toEqual([1, 1])
  })
})
