import { describe, expect, it } from 'vitest'
import { callTools, createScriptedModel, sayText } from '../../../test/fixtures/llm/scripted-model.ts'
import { createTestHost } from '../../../test/fixtures/llm/tool-host.ts'
import { createManualClock } from '../../../test/fixtures/time.ts'
import { runLoop } from '../../llm/loop/loop.ts'
import { createLoopState, type LoopState } from '../../llm/loop/loop-state.ts'
import { userText } from '../../llm/messages/messages.ts'
import { createRunSaver, loadRun } from './checkpoint.ts'

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
