// Answers that must have a shape, in the loop.
import { describe, expect, it } from 'vitest'
import {
  callTools,
  createScriptedModel,
  failCall,
  type Script,
  sayText,
} from '../../../test/fixtures/llm/scripted-model.ts'
import { createTestHost } from '../../../test/fixtures/llm/tool-host.ts'
import { createManualClock } from '../../../test/fixtures/time.ts'
import { textOf, userText } from '../messages/messages.ts'
import { type LoopEvent, runLoop } from './loop.ts'
import { createLoopState, type LoopLimits, type LoopState } from './loop-state.ts'
import { createOutputCheck } from './output-check.ts'

const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'], additionalProperties: false }

async function play(scripts: Script[], { state, ...limits }: LoopLimits & { state?: LoopState } = {}) {
  const model = createScriptedModel(scripts)
  const events: LoopEvent[] = []
  const saved: LoopState[] = []
  const ended = await runLoop({
    state: state ?? createLoopState({ messages: [userText('count')] }),
    model,
    tools: createTestHost({ look: {} }),
    clock: createManualClock(),
    signal: new AbortController().signal,
    limits: { checkOutput: createOutputCheck(schema), retryBlankAnswer: true, ...limits },
    settings: { outputSchema: schema },
    emit: (event) => void events.push(event),
    save: async (next) => void saved.push(structuredClone(next)),
  })
  const told = model.requests.map(({ messages }) => textOf(messages.at(-1) ?? userText('')))
  return { state: ended, model, events, saved, told }
}

const good = '{"n":1}'

describe('an answer that must have a shape', () => {
  it('is taken at once when it has, and every call asks for it', async () => {
    const { state, model } = await play([
      callTools([{ id: 'a', name: 'look' }], '{"n":7}'),
      sayText(`\`\`\`json\n${good}\n\`\`\``),
    ])
    expect(state).toMatchObject({ text: good, finished: { reason: 'answer' }, llmCalls: 2 })
    expect(state.corrections).toBeUndefined()
    expect(model.requests.map(({ outputSchema }) => outputSchema)).toEqual([schema, schema])
  })

  it('is asked for again with the reason, and tools may be used for it', async () => {
    const { state, told, events } = await play([
      sayText('one'),
      callTools([{ id: 'a', name: 'look' }]),
      sayText('{"n":"1"}'),
      sayText(good),
    ])
    expect(state).toMatchObject({ text: good, finished: { reason: 'answer' }, corrections: 2 })
    expect(told[1]).toMatch(/^Your answer does not count: it is not JSON, or not JSON alone/)
    expect(told[3]).toMatch(/at \/n: Instance type "string" is invalid/)
    expect(events.filter((event) => event.type === 'prompt').map((event) => event.reason)).toEqual([
      'correction',
      'correction',
    ])
  })

  it('is given up after two corrections, and what was said last stays', async () => {
    const { state, model } = await play([sayText('one'), sayText(''), sayText('{"n":1.5}'), sayText(good)])
    expect(model.requests).toHaveLength(3)
    expect(state).toMatchObject({ text: '{"n":1.5}', corrections: 2, finished: { reason: 'invalid_output' } })
    expect(state.finished?.problem).toContain('at /n')
  })

  it('is not asked for again when it was refused, or cut by the output limit', async () => {
    expect((await play([sayText('I will not.', 'refusal')])).state).toMatchObject({
      text: 'I will not.',
      finished: { reason: 'refusal' },
    })
    const cut = await play([sayText('{"n":1', 'max_tokens')])
    expect(cut.state).toMatchObject({ text: '{"n":1', finished: { reason: 'max_tokens', problem: expect.any(String) } })
    expect((await play([sayText(good, 'max_tokens')])).state.finished).toEqual({ reason: 'answer' })
  })

  it('is asked for in the last call that the limit allows, and not corrected beyond it', async () => {
    const call = callTools([{ id: 'a', name: 'look' }])
    const { state, told } = await play([call, sayText(good)], { maxIterations: 2 })
    expect(state).toMatchObject({ text: good, finished: { reason: 'answer' } })
    expect(told[1]).toMatch(/Give your final answer now/)
    const over = await play([call, sayText('one'), sayText(good)], { maxIterations: 2 })
    expect(over.state).toMatchObject({ text: 'one', finished: { reason: 'invalid_output' } })
    expect(over.model.requests).toHaveLength(2)
  })

  it('has two corrections in all, also when another process goes on', async () => {
    const first = await play([sayText('one'), sayText('two'), failCall('ProviderFailed')])
    const last = first.saved.at(-1)
    expect(last).toMatchObject({ corrections: 2, llmCalls: 2 })
    const second = await play([sayText('three'), sayText(good)], { state: JSON.parse(JSON.stringify(last)) })
    expect(second.model.requests).toHaveLength(1)
    expect(second.told[0]).toMatch(/^Your answer does not count/)
    expect(second.state).toMatchObject({ text: 'three', finished: { reason: 'invalid_output' } })
  })

  it('ends the run at once where it cannot be compared: no other answer would mend the schema', async () => {
    const problem = 'it takes longer than 2 s'
    const checkOutput = async () => ({ problem, unchecked: true }) as const
    const { state } = await play([sayText(good)], { checkOutput })
    expect(state).toMatchObject({ text: good, llmCalls: 1, finished: { reason: 'unchecked_output', problem } })
  })
})
