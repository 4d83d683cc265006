import { describe, expect, it } from 'vitest'
import { askText } from '../../../test/fixtures/llm/wire.ts'
import { createHastyClock, createManualClock } from '../../../test/fixtures/time.ts'
import type { ModelChoice } from '../../contract/api/tasks/assignment.ts'
import type { CoolDown } from '../../ports/providers/provider-state.ts'
import { collectTurn } from '../messages/collect.ts'
import { TimeLimitError } from './deadlines.ts'
import type { ServedCall } from './model-client.ts'
import { createModelRouter, type EndedCall, type RouterDeps } from './router.ts'

const open = new AbortController().signal

function choose(name: string, more: Partial<ModelChoice['provider']> = {}): ModelChoice {
  const baseUrl = `https://${name}.example`
  return {
    provider: {
      namespace: 'default',
      name,
      type: 'llmo',
      baseUrl,
      apiKey: `key-of-${name}`,
      ...more,
    },
    model: `${name}-model`,
  }
}

type Answer = () => Response

function answerText(text: string): Answer {
  const frames = [
    { model: 'served', choices: [{ delta: { content: text } }] },
    { choices: [{ delta: {}, finish_reason: 'stop' }] },
    {
      choices: [],
      usage: {
        prompt_tokens: 1_000_000,
        completion_tokens: 500_000,
        prompt_tokens_details: { cached_tokens: 400_000 },
      },
    },
  ]
  return () => new Response(frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join(''))
}

function answerError(status: number, message: string, headers: Record<string, string> = {}): Answer {
  return () => Response.json({ error: { message } }, { status, headers })
}

function createMemoryLimits() {
  const cooling = new Map<string, CoolDown>()
  const log: unknown[][] = []
  const refusals: number[] = []
  const limits: RouterDeps['rateLimits'] = {
    async take(provider, want, { tokensPerMinute }) {
      log.push(['take', provider.name, want.requests, want.tokens])
      const retryAfterMs = refusals.shift()
      if (retryAfterMs !== undefined) return { granted: false, retryAfterMs }
      return { granted: true, tokens: Math.min(want.tokens, tokensPerMinute ?? want.tokens) }
    },
    settle: async (provider, tokens) => void log.push(['settle', provider.name, tokens]),
    coolDown: async (provider, coolDown) => void cooling.set(provider.name, coolDown),
    coolingDown: async (provider) => cooling.get(provider.name),
  }
  return { limits, cooling, log, refusals }
}

function setUp(choices: ModelChoice[], answers: Record<string, Answer[]>, more: Partial<RouterDeps> = {}) {
  const memory = createMemoryLimits()
  const clock = createHastyClock()
  const asked: string[] = []
  const served: ServedCall[] = []
  const ended: EndedCall[] = []
  const fetchAny = (async (url: string) => {
    const name = new URL(url).hostname.replace('.example', '')
    asked.push(name)
    const answer = answers[name]?.shift()
    if (answer === undefined)
      throw new TypeError(`${name}.example could not be reached: no such host name (ENOTFOUND).`)
    return answer()
  }) as typeof fetch
  const router = createModelRouter(choices, {
    egress: { fetchWith: () => fetchAny },
    policyFor: () => ({ allowNetworks: [], deny: [] }),
    clock,
    random: () => 0.5,
    rateLimits: memory.limits,
    onEnd: (call) => ended.push(call),
    ...more,
  })
  const ask = (signal = open) => collectTurn(router, askText('hello'), signal, (call) => void served.push(call))
  return { ...memory, clock, asked, served, ended, router, ask }
}

describe('a router', () => {
  it('asks the first choice and says who served, for what price', async () => {
    const price = { currency: 'EUR', inputPerMillion: 2, outputPerMillion: 10, cachedInputPerMillion: 0.5 }
    const { ask, served } = setUp([choose('one', { price }), choose('two')], { one: [answerText('hi')] })
    expect(await ask()).toMatchObject({ provider: 'default/one', model: 'served', stopReason: 'end_turn' })
    expect(served).toEqual([
      {
        provider: { namespace: 'default', name: 'one' },
        model: 'one-model',
        usage: { inputTokens: 1_000_000, outputTokens: 500_000, cachedTokens: 400_000 },
        cost: { cost: 6.4, currency: 'EUR' },
        demo: false,
      },
    ])
  })

  it('takes one lease of the agent for each call, before and whatever provider answers', async () => {
    const agent = { namespace: 'default', name: 'poet', rateLimit: { requestsPerMinute: 1 } }
    const answers = { one: [answerError(401, 'bad key')], two: [answerText('hi')] }
    const { ask, log, refusals, clock } = setUp([choose('one'), choose('two')], answers, { agent })
    refusals.push(1500)
    const before = clock.now().getTime()
    expect(await ask()).toMatchObject({ provider: 'default/two' })
    expect(clock.now().getTime() - before).toBeGreaterThanOrEqual(1500)
    expect(log.map(([what, name]) => [what, name])).toEqual([
      ['take', 'poet'],
      ['take', 'poet'],
      ['settle', 'poet'],
    ])
  })

  it.each([
    [429, 'slow down'],
    [529, 'ProviderOverloaded'],
    [401, 'bad key'],
    [404, 'model one-model does not exist'],
    [500, 'broken'],
  ])('falls back to the next choice after %i [PROV-010]', async (status, message) => {
    const answers = Array.from({ length: 4 }, () => answerError(status, message))
    const { ask } = setUp([choose('one'), choose('two')], { one: answers, two: [answerText('hi')] })
    expect(await ask()).toMatchObject({ provider: 'default/two', stopReason: 'end_turn' })
  })

  it('does not fall back when the request itself is wrong or too long', async () => {
    const long = setUp([choose('one'), choose('two')], { one: [answerError(400, 'prompt is too long')] })
    expect((await long.ask()).error?.reason).toBe('ContextTooLong')
    const wrong = setUp([choose('one'), choose('two')], { one: [answerError(400, 'bad temperature')] })
    expect((await wrong.ask()).error?.reason).toBe('RequestRefused')
    expect(wrong.asked).toEqual(['one'])
  })

  it('cools a provider down for as long as it says and passes it over until then [PROV-010]', async () => {
    const { ask, asked, cooling, clock } = setUp([choose('one'), choose('two')], {
      one: [answerError(429, 'slow down', { 'retry-after': '30' }), answerText('again')],
      two: [answerText('hi'), answerText('hi')],
    })
    const start = clock.now().getTime()
    await ask()
    expect(cooling.get('one')?.until.getTime()).toBe(start + 30_000)
    await ask()
    expect(asked).toEqual(['one', 'two', 'two'])
    await clock.sleep(31_000)
    expect(await ask()).toMatchObject({ provider: 'default/one' })
  })

  it.each([
    ['does not wait for a guess', false, []],
    ['waits for what the vendor asked for', true, [9000]],
  ])('that waits for asked pauses alone %s', async (_what, asked, waited) => {
    const { ask, cooling, clock } = setUp([choose('one')], { one: [answerText('hi')] }, { waitsIfAsked: true })
    const now = clock.now().getTime()
    cooling.set('one', { until: new Date(now + 9000), reason: 'unpaid', failure: 'CreditUsedUp', asked })
    expect((await ask()).message.content).toEqual([{ type: 'text', text: 'hi' }])
    expect(clock.slept.filter((ms) => ms === 9000)).toEqual(waited)
  })

  it('waits for the one that is ready first when all cool down', async () => {
    const { ask, cooling, clock } = setUp([choose('one'), choose('two')], { two: [answerText('hi')] })
    const now = clock.now().getTime()
    cooling.set('one', { until: new Date(now + 9000), reason: 'busy', failure: 'RateLimited', asked: false })
    cooling.set('two', { until: new Date(now + 4000), reason: 'busy', failure: 'RateLimited', asked: false })
    expect(await ask()).toMatchObject({ provider: 'default/two' })
    expect(clock.slept[0]).toBe(4000)
  })

  it('gives one error with the reason of each provider, asked or passed over', async () => {
    const { ask, cooling, clock } = setUp([choose('one'), choose('two'), choose('three')], {
      one: [answerError(401, 'bad key')],
    })
    cooling.set('three', {
      until: new Date(clock.now().getTime() + 9000),
      reason: 'busy',
      failure: 'RateLimited',
      asked: false,
    })
    const { error } = await ask()
    expect(error?.message).toMatch(
      /^No provider could answer\. \(1\) Provider default\/one refused the API key.*\(2\) Provider default\/two is unreachable at two\.example.*\(3\) Provider default\/three is cooling down until/,
    )
  })

  it('tries the only provider again while it is asked too much', async () => {
    const { ask, asked } = setUp([choose('one')], {
      one: [answerError(429, 'slow'), answerError(529, 'slow'), answerText('hi')],
    })
    expect(await ask()).toMatchObject({ stopReason: 'end_turn' })
    expect(asked).toHaveLength(3)
  })

  it('never repeats a vendor’s echo of the key [SECRET-008]', async () => {
    const { ask } = setUp([choose('one')], { one: [answerError(401, 'Incorrect API key provided: key-of-one')] })
    const { error } = await ask()
    expect(error?.message).toContain('[REDACTED]')
    expect(error?.message).not.toContain('key-of-one')
  })

  it('does not ask at all without a key that the vendor wants, or without a model [PROV-012] [PROV-013]', async () => {
    const { apiKey: _key, baseUrl: _url, ...bare } = choose('one').provider
    const missing = setUp([{ provider: bare, model: 'm' }], {})
    expect((await missing.ask()).error).toMatchObject({
      reason: 'MissingApiKey',
      message: expect.stringContaining('default/one'),
    })
    const unnamed = setUp([{ ...choose('one'), model: '' }], {})
    expect((await unnamed.ask()).error).toMatchObject({
      reason: 'MissingModel',
      message: expect.stringContaining('No model is named'),
    })
    expect([...missing.asked, ...unnamed.asked]).toEqual([])
  })

  it('asks a server of one’s own without a key', async () => {
    const { apiKey: _key, ...keyless } = choose('one').provider
    const { ask } = setUp([{ provider: keyless, model: 'm' }], { one: [answerText('hi')] })
    expect((await ask()).stopReason).toBe('end_turn')
  })

  it('tells how each try at each provider ended, without a key in it [PROV-011] [SECRET-008]', async () => {
    const { ask, ended } = setUp([choose('one'), choose('two'), choose('three')], {
      one: [answerError(500, 'broken'), answerError(401, 'no such key: key-of-one')],
      three: [answerText('hi')],
    })
    await ask()
    const told = ended.map(({ provider, error }) => [provider.name, error?.reason])
    const away = Array.from({ length: 4 }, () => ['two', 'ProviderUnreachable'])
    expect(told).toEqual([['one', 'ProviderFailed'], ['one', 'CredentialRefused'], ...away, ['three', undefined]])
    expect(ended[1]?.error?.message).toContain('[REDACTED]')
    expect(ended[1]?.error?.message).not.toContain('key-of-one')
  })

  it('tells of an answer that broke off, and of one that was cancelled', async () => {
    const broken = () => new Response('data: {"model":"m","choices":[{"delta":{"content":"h"}}]}\n\n')
    const { ask, ended } = setUp([choose('one')], { one: [broken, answerText('late')] })
    await ask()
    await ask(AbortSignal.abort())
    expect(ended.map(({ error }) => error?.reason)).toEqual(['AnswerBrokenOff', 'Stopped'])
  })

  it('says of tokens that there is no whole answer to them', async () => {
    const message = {
      id: 'x',
      model: 'm',
      role: 'assistant',
      content: [],
      usage: { input_tokens: 7, output_tokens: 0 },
    }
    const frame = `event: message_start\ndata: ${JSON.stringify({ type: 'message_start', message })}\n\n`
    const choices = [choose('one', { type: 'llma' }), choose('two')]
    const answers = { one: Array.from({ length: 4 }, () => () => new Response(frame)), two: [answerText('hi')] }
    const { ask, served } = setUp(choices, answers)
    await ask()
    expect(served.map(({ usage, brokeOff }) => [usage.inputTokens, brokeOff])).toEqual([
      ...Array.from({ length: 4 }, () => [7, true]),
      [1_000_000, undefined],
    ])
  })

  it.each([
    ['the most of a time limit', 15_000, 'AnswerBrokenOff'],
    ['the last of a time limit', 14_900, 'Stopped'],
  ])('blames a provider that had %s and did not answer, and no other', async (_what, ms, kind) => {
    const limit = new AbortController()
    const clock = createManualClock()
    const hangs = () => {
      clock.jump(ms)
      // Somebody sets it back meanwhile.
      clock.set(-3_600_000)
      limit.abort(new TimeLimitError(30_000))
      return new Response(new ReadableStream())
    }
    const { ask, ended } = setUp([choose('one'), choose('two')], { one: [hangs] }, { clock })
    await ask(limit.signal)
    expect(ended.map(({ provider, error }) => [provider.name, error?.reason])).toEqual([['one', kind]])
    if (kind === 'AnswerBrokenOff') expect(ended[0]?.error?.message).toContain('after 15.0 s')
  })

  it('asks nobody else, and rests nothing, after an answer that is too long', async () => {
    const content = 'x'.repeat(17 * 1024 ** 2)
    const endless = () => Response.json({ model: 'm', choices: [{ message: { content }, finish_reason: 'stop' }] })
    const { router, asked, ended, cooling } = setUp([choose('one'), choose('two')], { one: [endless] })
    await collectTurn(router, { ...askText('hello'), whole: true }, open)
    expect(ended.map(({ error }) => error?.reason)).toEqual(['AnswerTooLong'])
    expect([asked, cooling.size]).toEqual([['one'], 0])
  })

  it('tells of an answer in one piece too', async () => {
    const whole = { model: 'm', choices: [{ message: { content: 'hi' }, finish_reason: 'stop' }] }
    const impatient = { retry: { maxTries: 1, maxTriesWhenLimited: 1 }, maxCoolDownWaitMs: 0 }
    const answers = { one: [() => Response.json(whole), answerError(403, 'no')] }
    const { router, ended } = setUp([choose('one')], answers, impatient)
    for (let count = 0; count < 2; count += 1) await collectTurn(router, { ...askText('hello'), whole: true }, open)
    expect(ended.map(({ provider, error }) => [provider.name, error?.reason])).toEqual([
      ['one', undefined],
      ['one', 'CredentialRefused'],
    ])
  })

  it('rests one model after 429, the whole provider after 503, 529 and 402 [PROV-010]', async () => {
    const rests = async (status: number, headers = {}) => {
      const { ask, cooling } = setUp([choose('one'), choose('two')], {
        one: [answerError(status, 'no', headers)],
        two: [answerText('hi')],
      })
      await ask()
      const { model, failure, asked } = cooling.get('one') ?? {}
      return [model, failure, asked]
    }
    expect(await rests(429)).toEqual(['one-model', 'RateLimited', false])
    expect(await rests(429, { 'retry-after': '9' })).toEqual(['one-model', 'RateLimited', true])
    expect(await rests(503)).toEqual([undefined, 'ProviderOverloaded', false])
    expect(await rests(529)).toEqual([undefined, 'ProviderOverloaded', false])
    expect(await rests(402)).toEqual([undefined, 'CreditUsedUp', false])
  })

  it('asks nobody who named the time of a pause that is not over, and says for how long [PROV-010]', async () => {
    const impatient = { retry: { maxTries: 1, maxTriesWhenLimited: 1 }, maxCoolDownWaitMs: 0 }
    const { ask, asked, cooling, clock } = setUp([choose('one')], { one: [answerText('hi')] }, impatient)
    const until = new Date(clock.now().getTime() + 30_000)
    cooling.set('one', { until, reason: 'busy', failure: 'RateLimited', asked: true })
    expect((await ask()).error).toMatchObject({ reason: 'RateLimited', retryAfterMs: 30_000 })
    cooling.set('one', { until, reason: 'busy', failure: 'RateLimited', asked: false })
    expect(await ask()).toMatchObject({ stopReason: 'end_turn' })
    expect(asked).toEqual(['one'])
  })

  it('says when no provider is there', async () => {
    expect((await setUp([], {}).ask()).error?.message).toBe('No provider is configured for this call.')
  })
})

describe('a provider with a rate limit', () => {
  const limited = choose('one', { rateLimit: { requestsPerMinute: 60 } })

  it('is asked with a lease, which is corrected afterwards [PROV-009]', async () => {
    const { ask, log } = setUp([limited], { one: [answerText('hi')] })
    await ask()
    const [, , , taken] = log[0] as [string, string, number, number]
    expect(log).toEqual([
      ['take', 'one', 1, taken],
      ['settle', 'one', 1_500_000 - taken],
    ])
    expect(taken).toBeGreaterThan(1000)
  })

  it('is waited for when no lease is granted', async () => {
    const { ask, refusals, clock, asked } = setUp([limited], { one: [answerText('hi')] })
    refusals.push(3000, 500)
    await ask()
    expect(clock.slept.slice(0, 2)).toEqual([3000, 500])
    expect(asked).toEqual(['one'])
  })

  it('gives back what was taken for a failed call, which may be less than it asked for [PROV-009]', async () => {
    const small = choose('one', { rateLimit: { tokensPerMinute: 50 } })
    const { ask, log } = setUp([small], { one: [answerError(400, 'bad')] })
    await ask()
    expect(log[0]?.[3]).toBeGreaterThan(1000)
    expect(log[1]).toEqual(['settle', 'one', -50])
  })

  it('takes a lease for each try', async () => {
    const { ask, log } = setUp([limited], { one: [answerError(500, 'broken'), answerText('hi')] })
    await ask()
    expect(log.filter(([what]) => what === 'take')).toHaveLength(2)
  })
})
