import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { callTools, createScriptedModel, sayText } from '../../../test/fixtures/llm/scripted-model.ts'
import { createTestHost } from '../../../test/fixtures/llm/tool-host.ts'
import { createManualClock } from '../../../test/fixtures/time.ts'
import { runLoop } from '../../llm/loop/loop.ts'
import { createLoopState, type LoopState } from '../../llm/loop/loop-state.ts'
import { userText } from '../../llm/messages/messages.ts'
import { applyChange, createRunSaver, findChange, loadRun, type StateChange } from './checkpoint.ts'

/** Keeps one checkpoint as the service does, in JSON. */
function createStore() {
  let parts: string[] = []
  const sent: number[] = []
  const write = (value: unknown) => {
    const text = JSON.stringify(value)
    sent.push(text.length)
    return text
  }
  return {
    sent,
    async saveCheckpoint(state: unknown) {
      parts = [write(state)]
    },
    async appendCheckpoint(number: number, change: unknown) {
      expect(number).toBe(parts.length)
      parts.push(write(change))
    },
    loadCheckpoint: async () => parts.map((part) => JSON.parse(part) as unknown),
  }
}

const task = { namespace: 'default', name: 'job', uid: 'uid-1', attempt: 2, type: 'ai' as const }

describe('the saved state of a run', () => {
  it('is gone on from where the answer could not be compared: the model is not asked again', async () => {
    const store = createStore()
    const begun = { ...createLoopState({ messages: [userText('go')] }), llmCalls: 1, text: '{}' }
    const state: LoopState = { ...begun, finished: { reason: 'unchecked_output', problem: 'too much' } }
    await createRunSaver(store)(state)
    expect(await loadRun({ ...others, ...store }, task)).toEqual(asJson(state))
  })

  it('is written in pieces whose sum grows with the conversation, and put together again', async () => {
    const store = createStore()
    const save = createRunSaver(store)
    const turns = 16
    const scripts = Array.from({ length: turns }, (_, turn) =>
      callTools(Array.from({ length: 128 }, (__, at) => ({ id: `${turn}-${at}`, name: 'look', args: { turn, at } }))),
    )
    let last: LoopState | undefined
    let saves = 0
    const host = createTestHost({ look: { run: async () => 'y'.repeat(500) } })
    const ended = await runLoop({
      state: createLoopState({ messages: [userText('go')] }),
      model: createScriptedModel([...scripts, sayText('ok')]),
      tools: host,
      clock: createManualClock(),
      signal: new AbortController().signal,
      async save(state) {
        await save(state)
        last = state
        saves += 1
        if (saves % 100 === 0) expect(await loadRun({ ...others, ...store }, task)).toEqual(asJson(state))
      },
    })
    expect(host.calls).toHaveLength(turns * 128)
    expect(last).toBe(ended)
    expect(saves).toBeGreaterThan(turns * 16)
    expect(await loadRun({ ...others, ...store }, task)).toEqual(asJson(ended))
    const written = store.sent.reduce((sum, size) => sum + size, 0)
    expect(written).toBeLessThan(6 * JSON.stringify(ended).length)
  })

  it('begins anew when what is saved cannot be put together', async () => {
    const loadCheckpoint = async () => [{ kind: 'ai', state: {} }, { fields: { state: { items: { x: 1 } } } }]
    expect(await loadRun({ ...others, loadCheckpoint }, task)).toBeUndefined()
  })
})

const asJson = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown
const others = {} as Parameters<typeof loadRun>[0]

describe('the change between two states', () => {
  it('makes the later one out of the earlier one, whatever they are', () => {
    const json = fc.jsonValue({ maxDepth: 4 })
    fc.assert(
      fc.property(json, json, (before, after) => {
        const change = findChange(before, after)
        const told = change && (JSON.parse(JSON.stringify(change)) as StateChange)
        const made = told === undefined ? before : applyChange(before, told)
        expect(JSON.stringify(made, sortKeys)).toBe(JSON.stringify(after, sortKeys))
      }),
    )
  })

  it.each(['toString', '__proto__', 'constructor'])('tells of the end of a field called %s', (name) => {
    const before = JSON.parse(`{"${name}":[]}`)
    expect(findChange(before, {})).toEqual({ fields: {}, without: [name] })
    expect(applyChange(before, { fields: {}, without: [name] })).toEqual({})
  })

  it('holds no more than what has changed', () => {
    const messages = [{ role: 'user', content: ['x'.repeat(10_000)] }]
    const before = { messages, pending: [{ id: 'a' }, { id: 'b' }], text: 'old', gone: 1 }
    const after = {
      messages: [...messages, { role: 'assistant', content: [] }],
      pending: [before.pending[0], { id: 'b', result: 'done' }],
      text: 'old',
    }
    expect(findChange(before, after)).toEqual({
      fields: {
        messages: { items: { 1: { set: { role: 'assistant', content: [] } } } },
        pending: { items: { 1: { fields: { result: { set: 'done' } } } } },
      },
      without: ['gone'],
    })
    expect(findChange(before, before)).toBeUndefined()
  })

  it('shortens lists', () => {
    const change = findChange({ pending: [1, 2, 3] }, { pending: [] })
    expect(applyChange({ pending: [1, 2, 3] }, change as StateChange)).toEqual({ pending: [] })
  })
})

function sortKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return Object.is(value, -0) ? 0 : value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}
