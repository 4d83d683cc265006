import { describe, expect, it } from 'vitest'
import {
  callTools,
  createScriptedModel,
  failCall,
  type Script,
  sayText,
} from '../../../test/fixtures/llm/scripted-model.ts'
import { createTestHost, type TestTool } from '../../../test/fixtures/llm/tool-host.ts'
import { createHastyClock, createManualClock } from '../../../test/fixtures/time.ts'
import { SvcError } from '../../errors.ts'
import { type Message, textOf, userText } from '../messages/messages.ts'
import { type LoopEvent, type LoopRun, runLoop } from './loop.ts'
import { createLoopState, type LoopState } from './loop-state.ts'

function startState(text = 'do it'): LoopState {
  return createLoopState({ system: 'be brief', messages: [userText(text)] })
}

type Setup = Partial<LoopRun> & { scripts: Script[]; toolset?: Record<string, TestTool> }

async function play(setup: Setup) {
  const { scripts, toolset = { look: {} }, ...run } = setup
  const model = createScriptedModel(scripts)
  const host = createTestHost(toolset)
  const events: LoopEvent[] = []
  const state = await runLoop({
    state: startState(),
    model,
    tools: host,
    // Time stands still: what waits for a timeout waits for ever.
    clock: createManualClock(),
    signal: new AbortController().signal,
    emit: (event) => void events.push(event),
    ...run,
  })
  return { state, model, host, events }
}

function resultsOf(message: Message | undefined): unknown[] {
  return (message?.content ?? []).flatMap((block) => (block.type === 'tool_result' ? [parse(block.content)] : []))
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

describe('the tool loop', () => {
  it('calls the model, runs its tool calls, gives the results back and ends at an answer without calls', async () => {
    const { state, model, events } = await play({
      scripts: [callTools([{ id: 'a', name: 'look', args: { at: 1 } }], 'Let me look.'), sayText('All is well.')],
    })
    expect(state).toMatchObject({
      text: 'All is well.',
      finished: { reason: 'answer' },
      iteration: 2,
      llmCalls: 2,
      pending: [],
    })
    expect(state.usage).toEqual({ inputTokens: 20, outputTokens: 10, cachedTokens: 2 })
    expect(model.requests[0]).toMatchObject({ system: [{ text: 'be brief' }], tools: [{ name: 'look' }] })
    expect(model.requests[1]?.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: [{ type: 'text' }, { type: 'tool_use', id: 'a', args: { at: 1 } }] },
      { role: 'user', content: [{ type: 'tool_result', toolUseId: 'a', content: 'look done', isError: false }] },
    ])
    expect(events.filter((event) => event.type !== 'model').map((event) => event.type)).toEqual([
      'turn',
      'tool_call',
      'tool_result',
      'turn',
      'finished',
    ])
  })

  it('runs the calls of one turn side by side and gives the results in call order', async () => {
    const gates = new Map<string, () => void>()
    const wait = (name: string) => new Promise<string>((resolve) => gates.set(name, () => resolve(`${name} done`)))
    const order: string[] = []
    const running = play({
      scripts: [
        callTools([
          { id: '1', name: 'slow' },
          { id: '2', name: 'fast' },
        ]),
        sayText('ok'),
      ],
      toolset: { slow: { run: () => wait('slow') }, fast: { run: () => wait('fast') } },
      emit: (event) => {
        if (event.type === 'tool_result') order.push(event.call.name)
        if (event.type === 'tool_result' && event.call.name === 'fast') gates.get('slow')?.()
      },
    })
    await expect.poll(() => gates.size).toBe(2)
    gates.get('fast')?.()
    const { state } = await running
    expect(order).toEqual(['fast', 'slow'])
    expect(resultsOf(state.messages[2])).toEqual(['slow done', 'fast done'])
  })

  it('runs 128 calls of one turn, and tells the model that the rest was not run', async () => {
    const calls = Array.from({ length: 200 }, (_, at) => ({ id: `c${at}`, name: 'look', args: { at } }))
    const { state, host, events } = await play({ scripts: [callTools(calls), sayText('ok')] })
    expect(host.calls).toHaveLength(128)
    const results = resultsOf(state.messages[2])
    expect(results).toHaveLength(200)
    expect(results.slice(0, 128)).toEqual(Array.from({ length: 128 }, () => 'look done'))
    for (const refused of results.slice(128)) {
      expect(refused).toMatchObject({ errorType: 'too_many_calls', error: expect.stringContaining('128') })
    }
    expect(events.filter(({ type }) => type === 'tool_result')).toHaveLength(200)
    expect(events.filter(({ type }) => type === 'tool_call')).toHaveLength(128)
  })

  it('runs as many calls of one turn as it is told', async () => {
    const calls = Array.from({ length: 5 }, (_, at) => ({ id: `c${at}`, name: 'look', args: { at } }))
    const { host, state } = await play({ scripts: [callTools(calls), sayText('ok')], limits: { maxToolCalls: 2 } })
    expect(host.calls.map(({ id }) => id)).toEqual(['c0', 'c1'])
    expect(state.text).toBe('ok')
  })

  it('goes through ten thousand calls of one turn with work that grows with their number alone', async () => {
    const calls = Array.from({ length: 10_000 }, (_, at) => ({ id: `c${at}`, name: 'look', args: { at } }))
    let written = 0
    const { state } = await play({
      scripts: [callTools(calls), sayText('ok')],
      async save({ pending }) {
        written += pending.filter((call) => call.state === 'started').length
      },
    })
    expect(resultsOf(state.messages[2])).toHaveLength(10_000)
    // Of those that run, eight at once, each is seen with the others of its batch only.
    expect(written).toBeLessThanOrEqual(128 * 8)
  })

  it('ends at its deadline although somebody who listens, or who saves, never comes back', async () => {
    for (const hanging of [{ emit: () => new Promise<void>(() => {}) }, { save: () => new Promise<void>(() => {}) }]) {
      const clock = createManualClock()
      const deadline = new Date(clock.now().getTime() + 1000)
      const running = play({
        scripts: [callTools([{ id: 'a', name: 'look' }])],
        clock,
        limits: { deadline },
        ...hanging,
      })
      await clock.advance(1000)
      expect((await running).state.finished?.reason).toBe('deadline')
    }
  })

  it('runs no more calls at once than it may, and still all of them', async () => {
    let running = 0
    let most = 0
    const work: TestTool = {
      run: async () => {
        running += 1
        most = Math.max(most, running)
        await new Promise((resolve) => setImmediate(resolve))
        running -= 1
        return 'ok'
      },
    }
    const calls = Array.from({ length: 7 }, (_, index) => ({ id: String(index), name: 'work', args: { index } }))
    const { host } = await play({
      scripts: [callTools(calls), sayText('ok')],
      toolset: { work },
      limits: { maxParallelTools: 3 },
    })
    expect(most).toBe(3)
    expect(host.calls).toHaveLength(7)
  })

  it('passes settings with every call, and a choice of tool only with tools', async () => {
    const { model } = await play({
      scripts: [callTools([{ id: 'a', name: 'look' }]), sayText('done')],
      settings: { temperature: 0.3, maxTokens: 77, toolChoice: { type: 'any' } },
      limits: { maxIterations: 2 },
    })
    expect(model.requests[0]).toMatchObject({ temperature: 0.3, maxTokens: 77, toolChoice: { type: 'any' } })
    expect(model.requests[1]).toMatchObject({ temperature: 0.3, maxTokens: 77, tools: [] })
    expect(model.requests[1]).not.toHaveProperty('toolChoice')
  })

  it('goes on when the vendor pauses a turn', async () => {
    const { state, model } = await play({ scripts: [sayText('half', 'pause'), sayText('whole')] })
    expect(state.text).toBe('whole')
    expect(model.requests[1]?.messages.at(-1)).toMatchObject({ role: 'assistant' })
  })

  it.each(['refusal', 'max_tokens'] as const)('ends with the reason when the model stops for %s', async (reason) => {
    const { state } = await play({ scripts: [sayText('as far as it got', reason)] })
    expect(state).toMatchObject({ finished: { reason }, text: 'as far as it got' })
  })

  it('asks once more without tools when the answer is blank, if it may', async () => {
    const { state, model } = await play({
      scripts: [callTools([{ id: 'a', name: 'look' }]), sayText(' '), sayText('here it is')],
      limits: { retryBlankAnswer: true },
    })
    expect(state.text).toBe('here it is')
    expect(model.requests[2]?.tools).toEqual([])
    const blank = await play({ scripts: [sayText(''), sayText('')], limits: { retryBlankAnswer: true } })
    expect(blank.state).toMatchObject({ llmCalls: 2, finished: { reason: 'answer' }, text: '' })
  })

  it('ends when the model calls a tool of the caller, after its own tools of that turn have run', async () => {
    const { state, host } = await play({
      scripts: [
        callTools([
          { id: 'c', name: 'client' },
          { id: 's', name: 'look' },
        ]),
      ],
      toolset: { look: {}, client: { external: true } },
    })
    expect(host.calls.map((call) => call.name)).toEqual(['look'])
    expect(state.finished).toEqual({ reason: 'external_tools' })
    expect(state.pending).toMatchObject([
      { id: 'c', external: true, state: 'planned' },
      { id: 's', state: 'done', result: { content: 'look done' } },
    ])
  })
})

describe('what goes wrong in a tool', () => {
  const cases: [string, TestTool, object][] = [
    [
      'throws',
      {
        run: () => {
          throw new Error('boom')
        },
      },
      { error: 'boom', errorType: 'internal' },
    ],
    ['rejects', { run: () => Promise.reject(new Error('boom')) }, { error: 'boom', errorType: 'internal' }],
    [
      'is forbidden',
      { run: () => Promise.reject(new SvcError('Forbidden', 'no')) },
      { error: 'no', errorType: 'forbidden' },
    ],
    [
      'is not configured',
      { run: () => Promise.reject(new SvcError('NotConfigured', 'off')) },
      { errorType: 'not_configured' },
    ],
    [
      'gets a wrong argument',
      { run: () => Promise.reject(new SvcError('InvalidRequest', 'bad')) },
      { errorType: 'invalid_arguments' },
    ],
  ]

  it.each(cases)('becomes a structured result when it %s [LLMA-036]', async (_what, tool, expected) => {
    const { state } = await play({
      scripts: [callTools([{ id: 'a', name: 'bad' }]), sayText('ok')],
      toolset: { bad: tool },
    })
    expect(resultsOf(state.messages[2])).toMatchObject([
      { success: false, suggestion: expect.any(String), ...expected },
    ])
    expect(state.messages[2]?.content).toMatchObject([{ isError: true }])
    expect(state.text).toBe('ok')
  })

  it('is a timeout result when it takes too long, even if it ignores its signal', async () => {
    const clock = createManualClock()
    let signal: AbortSignal | undefined
    const running = play({
      scripts: [
        callTools([
          { id: 'a', name: 'hang' },
          { id: 'b', name: 'patient' },
        ]),
        sayText('ok'),
      ],
      toolset: {
        hang: {
          run: (_call, given) => {
            signal = given
            return new Promise(() => {})
          },
        },
        patient: { timeoutMs: 600_000, run: () => clock.sleep(120_000).then(() => 'late but good') },
      },
      clock,
      limits: { toolTimeoutMs: 60_000, trustsToolTimeouts: true },
    })
    await expect.poll(() => clock.sleeping()).toBe(3)
    await clock.advance(60_000)
    expect(signal?.aborted).toBe(true)
    await clock.advance(60_000)
    const { state } = await running
    expect(resultsOf(state.messages[2])).toMatchObject([
      { errorType: 'timeout', error: expect.stringContaining('60 s') },
      'late but good',
    ])
  })

  it('ends at the shorter of its own limit and that of the run [LIM-009]', async () => {
    const clock = createManualClock()
    const run = () => new Promise<string>(() => {})
    const running = play({
      scripts: [
        callTools([
          { id: 'a', name: 'greedy' },
          { id: 'b', name: 'modest' },
        ]),
        sayText('ok'),
      ],
      toolset: { greedy: { timeoutMs: 600_000, run }, modest: { timeoutMs: 5000, run } },
      clock,
      limits: { toolTimeoutMs: 60_000 },
    })
    await expect.poll(() => clock.sleeping()).toBe(2)
    await clock.advance(5000)
    expect(clock.sleeping()).toBe(1)
    await clock.advance(55_000)
    const { state } = await running
    expect(resultsOf(state.messages[2])).toMatchObject([
      { errorType: 'timeout', error: expect.stringContaining('within 60 s') },
      { errorType: 'timeout', error: expect.stringContaining('within 5 s') },
    ])
  })

  it('answers unknown tools and arguments that are not a JSON object without running anything', async () => {
    const { state, host } = await play({
      scripts: [
        callTools([
          { id: 'a', name: 'nothing' },
          { id: 'b', name: 'look', json: '{"at": ' },
          { id: 'c', name: 'look', json: '[1]' },
          { id: 'd', name: 'look', json: '' },
        ]),
        sayText('ok'),
      ],
    })
    expect(resultsOf(state.messages[2])).toMatchObject([
      { success: false, errorType: 'not_found', suggestion: 'Use one of: look.' },
      { success: false, errorType: 'invalid_arguments', error: expect.stringContaining('{"at": ') },
      { success: false, errorType: 'invalid_arguments' },
      'look done',
    ])
    expect(host.calls.map((call) => call.id)).toEqual(['d'])
  })

  it('cuts long output with a note, unless the tool bounds its own [BUILT-028] [BUILT-029]', async () => {
    const long = 'ü'.repeat(40_000)
    const { state } = await play({
      scripts: [
        callTools([
          { id: 'a', name: 'cut' },
          { id: 'b', name: 'own' },
        ]),
        sayText('ok'),
      ],
      toolset: { cut: { run: () => long }, own: { ownsOutputLimit: true, run: () => long } },
    })
    const [cut, own] = resultsOf(state.messages[2]) as string[]
    expect(own).toBe(long)
    expect(cut).toMatch(/^ü{32768}\n\[output cut: the first 65536 of 80000 bytes are shown\]$/)
  })

  it('shows nobody a secret that a tool gave back [SECRET-008]', async () => {
    const { state, events } = await play({
      scripts: [callTools([{ id: 'a', name: 'leak' }]), sayText('ok')],
      toolset: { leak: { run: () => 'the key is abc123' } },
      redact: (text) => text.replaceAll('abc123', '[REDACTED]'),
    })
    expect(JSON.stringify([state, events])).not.toContain('abc123')
  })
})

describe('the budget', () => {
  const forever = (count: number) =>
    Array.from({ length: count }, (_, index) =>
      callTools([{ id: `c${index}`, name: 'look', args: { index } }], `turn ${index}`),
    )

  it('is N model calls, the last one the summary without tools [LIM-014] [CHAT-042]', async () => {
    const { state, model, host } = await play({
      scripts: [...forever(4), sayText('the summary')],
      limits: { maxIterations: 5 },
    })
    expect(model.requests).toHaveLength(5)
    expect(model.requests.map((request) => request.tools.length)).toEqual([1, 1, 1, 1, 0])
    expect(textOf(model.requests[4]?.messages.at(-1) ?? userText(''))).toMatch(/final summary/)
    expect(host.calls).toHaveLength(4)
    expect(state).toMatchObject({ finished: { reason: 'iterations' }, text: 'the summary', llmCalls: 5 })
  })

  it('of one call is the summary alone', async () => {
    const { model } = await play({ scripts: [sayText('short')], limits: { maxIterations: 1 } })
    expect(model.requests).toMatchObject([{ tools: [] }])
  })

  it('ignores tool calls of a model that was offered none', async () => {
    const { state, host } = await play({ scripts: forever(1), limits: { maxIterations: 1 } })
    expect(host.calls).toEqual([])
    expect(state).toMatchObject({ finished: { reason: 'iterations' }, text: 'turn 0' })
    expect(state.messages.at(-1)?.content).toMatchObject([{ type: 'text' }])
  })

  it('warns at the third identical call and takes five iterations off [CHAT-039] [CHAT-040] [LLMA-035]', async () => {
    const same = (id: string, json: string) => callTools([{ id, name: 'look', json }])
    const { state, model, events } = await play({
      scripts: [
        same('1', '{"a":1,"b":2}'),
        same('2', '{"b":2,"a":1}'),
        same('3', '{ "a": 1, "b": 2 }'),
        sayText('the summary'),
      ],
      limits: { maxIterations: 9 },
    })
    expect(state.penalty).toBe(5)
    expect(model.requests).toHaveLength(4)
    const texts = model.requests.map((request) => textOf(request.messages.at(-1) ?? userText('')))
    expect(texts[2]).toBe('')
    expect(texts[3]).toMatch(/Warning: look .*identical arguments.*final summary/s)
    expect(events).toContainEqual({
      type: 'prompt',
      reason: 'repetition',
      text: expect.stringContaining('different approach'),
    })
    expect(model.requests[3]?.messages.at(-1)?.content[0]).toMatchObject({ type: 'tool_result' })
  })

  it('does not take calls with other arguments for the same', async () => {
    const { state } = await play({ scripts: [...forever(3), sayText('ok')] })
    expect(state.penalty).toBe(0)
  })

  it('asks for a progress summary every five iterations where that is wanted [CHAT-041]', async () => {
    const { model, events } = await play({ scripts: [...forever(11), sayText('ok')], limits: { progressEvery: 5 } })
    const asked = model.requests.map((request) => /Sum up/.test(textOf(request.messages.at(-1) ?? userText(''))))
    expect(asked.flatMap((yes, index) => (yes ? [index] : []))).toEqual([5, 10])
    expect(events.filter((event) => event.type === 'prompt')).toHaveLength(2)
  })
})

describe('a conversation that is too long', () => {
  const big = 'x'.repeat(4000)
  const scripts = (): Script[] => [
    ...Array.from({ length: 4 }, (_, index) => callTools([{ id: `c${index}`, name: 'look', args: { index } }])),
    failCall('ContextTooLong'),
  ]

  it('is cut to about half and sent once more, as part of the same call [LLMA-037] [LIM-015]', async () => {
    const { state, model, events } = await play({
      scripts: [...scripts(), sayText('ok')],
      toolset: { look: { run: () => big } },
      limits: { maxIterations: 6 },
    })
    expect(state).toMatchObject({ text: 'ok', llmCalls: 5, iteration: 5, finished: { reason: 'answer' } })
    const before = model.requests[4]?.messages ?? []
    const after = model.requests[5]?.messages ?? []
    expect([before.length, after.length]).toEqual([9, 3])
    expect(after[0]).toEqual(before[0])
    expect(after.slice(1)).toEqual(before.slice(-2))
    expect(events).toContainEqual(expect.objectContaining({ type: 'discarded', iteration: 4 }))
  })

  it('fails when it is still too long', async () => {
    const { state } = await play({
      scripts: [...scripts(), failCall('ContextTooLong')],
      toolset: { look: { run: () => big } },
    })
    expect(state.finished).toMatchObject({ reason: 'error', error: { reason: 'ContextTooLong' } })
  })
})

describe('a call that fails', () => {
  it('ends the run with the progress made, and the error', async () => {
    const { state, events } = await play({
      scripts: [callTools([{ id: 'a', name: 'look' }], 'so far so good'), failCall('CredentialRefused')],
    })
    expect(state).toMatchObject({
      text: 'so far so good',
      finished: { reason: 'error', error: { reason: 'CredentialRefused' } },
    })
    expect(events.at(-1)).toMatchObject({ type: 'finished', reason: 'error', error: { reason: 'CredentialRefused' } })
  })

  const broken = [...sayText('half').slice(0, 3), ...failCall('AnswerBrokenOff')]

  it('half-way is made again as often as the caller allows', async () => {
    const { state, events } = await play({
      scripts: [broken, broken, sayText('whole')],
      limits: { maxInterruptions: 2 },
    })
    expect(state).toMatchObject({ text: 'whole', llmCalls: 1, interruptions: 0 })
    expect(events.filter((event) => event.type === 'discarded')).toHaveLength(2)
    const given = await play({ scripts: [broken, broken], limits: { maxInterruptions: 1 } })
    expect(given.state).toMatchObject({
      text: 'half',
      finished: { reason: 'error', error: { reason: 'AnswerBrokenOff' } },
    })
  })

  it('by throwing is an error like any other', async () => {
    const { state } = await play({ scripts: [] })
    expect(state.finished).toMatchObject({ reason: 'error', error: { message: 'the script ends before call 1' } })
  })
})

describe('the end of time', () => {
  it('gives back the progress made, in the middle of a call [LLMA-039]', async () => {
    const clock = createManualClock()
    const running = play({
      scripts: [
        async function* () {
          yield* sayText('I have found').slice(0, 3)
          await new Promise(() => {})
        },
      ],
      clock,
      limits: { deadline: new Date(clock.now().getTime() + 5000) },
    })
    await expect.poll(() => clock.sleeping()).toBe(1)
    await clock.advance(5000)
    const { state, events } = await running
    expect(state.finished).toMatchObject({ reason: 'deadline' })
    expect(state.text).toMatch(/^I have found\n\nThe time limit/)
    expect(events.at(-1)).toMatchObject({ type: 'finished', reason: 'deadline', closing: expect.any(String) })
  })

  it('stops tools that run, and does not save an end that another attempt could overcome', async () => {
    const clock = createManualClock()
    const saved: LoopState[] = []
    let stopped = false
    const running = play({
      scripts: [callTools([{ id: 'a', name: 'hang' }], 'working on it')],
      toolset: {
        hang: {
          run: (_call, signal) =>
            new Promise((_resolve, reject) =>
              signal.addEventListener('abort', () => {
                stopped = true
                reject(signal.reason)
              }),
            ),
        },
      },
      clock,
      save: async (state) => void saved.push(state),
      limits: { deadline: new Date(clock.now().getTime() + 5000) },
    })
    await expect.poll(() => clock.sleeping()).toBe(2)
    await clock.advance(5000)
    const { state } = await running
    expect(stopped).toBe(true)
    expect(state.text).toMatch(/^working on it\n\nThe time limit/)
    expect(saved.at(-1)?.finished).toBeUndefined()
  })

  it('that has passed already ends the run before it begins', async () => {
    const { state, model } = await play({ scripts: [], limits: { deadline: new Date(0) } })
    expect(model.requests).toEqual([])
    expect(state.finished?.reason).toBe('deadline')
  })

  it('of the caller ends it as cancelled, with what there is', async () => {
    const aborter = new AbortController()
    const { state } = await play({
      scripts: [callTools([{ id: 'a', name: 'look' }], 'partly'), sayText('never')],
      signal: aborter.signal,
      emit: (event) => {
        if (event.type === 'tool_result') aborter.abort()
      },
    })
    expect(state).toMatchObject({ text: 'partly', finished: { reason: 'cancelled' } })
  })

  it('leaves no timers of its own behind: those of the two limits, of runs and of tools, serve all runs', async () => {
    const clock = createManualClock()
    const run = () =>
      play({
        scripts: [callTools([{ id: 'a', name: 'look' }]), sayText('ok')],
        clock,
        limits: { deadline: new Date(clock.now().getTime() + 5000) },
      })
    for (let index = 0; index < 3; index++) await run()
    expect(clock.sleeping()).toBe(2)
    await clock.advance(600_000)
    expect(clock.sleeping()).toBe(0)
  })
})

describe('saving', () => {
  it('comes before each effect, and a run that cannot save does nothing more', async () => {
    const log: string[] = []
    await play({
      scripts: [
        async function* () {
          log.push('model')
          yield* callTools([{ id: 'a', name: 'look' }])
        },
        async function* () {
          log.push('model')
          yield* sayText('ok')
        },
      ],
      toolset: {
        look: {
          run: () => {
            log.push('tool')
            return 'seen'
          },
        },
      },
      save: async (state) => void log.push(`save ${state.llmCalls} ${state.pending.map((call) => call.state)}`),
    })
    expect(log).toEqual(['save 0 ', 'model', 'save 1 started', 'tool', 'save 1 ', 'model', 'save 2 '])
    let saves = 0
    const host = createTestHost({ look: {} })
    const failing = play({
      scripts: [callTools([{ id: 'a', name: 'look' }])],
      tools: host,
      save: async () => {
        saves += 1
        if (saves === 2) throw new SvcError('Conflict', 'a later attempt has saved')
      },
      clock: createHastyClock(),
    })
    await expect(failing).rejects.toMatchObject({ reason: 'Conflict' })
    expect(host.calls).toEqual([])
  })
})
