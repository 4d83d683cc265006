import { describe, expect, it } from 'vitest'
import { callTools, createScriptedModel, type Script, sayText } from '../../../test/fixtures/llm/scripted-model.ts'
import { createManualClock } from '../../../test/fixtures/time.ts'
import type { ParkWait } from '../../contract/api/tasks/parking.ts'
import { textOf, userText } from '../messages/messages.ts'
import { type LoopEvent, type LoopRun, runLoop } from './loop.ts'
import { createLoopState, type LoopState } from './loop-state.ts'
import type { HostedCall, ToolHost } from './tool-host.ts'

const wait: ParkWait = { kind: 'time', call: '0-w', what: 'tea', until: '2030-01-01T00:00:00.000Z' }

/** `wait` waits until it is told to answer; `look` answers at once. */
function createHost() {
  const asked: HostedCall[] = []
  const host = { asked, isReady: false }
  const tools: ToolHost = {
    list: () => ['wait', 'look'].map((name) => ({ name, description: '', parameters: {}, repeatable: true })),
    async call(call) {
      asked.push(call)
      if (call.name === 'look') return { content: '"seen"', isError: false }
      return host.isReady ? { content: '"tea"', isError: false } : { wait }
    },
  }
  return { host, tools }
}

function play(scripts: Script[], state: LoopState, change: Partial<LoopRun> = {}) {
  const events: LoopEvent[] = []
  const saved: LoopState[] = []
  const model = createScriptedModel(scripts)
  const { tools } = createHost()
  const run = runLoop({
    state,
    model,
    tools,
    clock: createManualClock(),
    signal: new AbortController().signal,
    emit: (event) => void events.push(event),
    save: async (next) => void saved.push(next),
    ...change,
  })
  return { run, model, events, saved }
}

const start = () => createLoopState({ messages: [userText('do it')] })

describe('a call that has no answer yet', () => {
  it('ends the run when nothing else of its turn is left, and is made again when the run goes on', async () => {
    const { host, tools } = createHost()
    const calls = [
      { id: 'w', name: 'wait', args: {} },
      { id: 'l', name: 'look', args: {} },
    ]
    const first = play([callTools(calls)], start(), { tools })
    const parked = await first.run
    expect(parked.finished?.reason).toBe('parked')
    expect(parked.pending.map(({ id, state }) => [id, state])).toEqual([
      ['w', 'waiting'],
      ['l', 'done'],
    ])
    expect(first.events.filter(({ type }) => type === 'tool_result')).toMatchObject([{ call: { id: 'l' } }])
    const saved = JSON.parse(JSON.stringify(first.saved.at(-1))) as LoopState
    expect(saved.finished).toBeUndefined()
    host.isReady = true
    const second = play([sayText('done')], saved, { tools })
    const ended = await second.run
    expect(ended).toMatchObject({ finished: { reason: 'answer' }, text: 'done', pending: [] })
    expect(host.asked.map(({ id }) => id)).toEqual(['w', 'l', 'w'])
    expect(host.asked.at(-1)).toMatchObject({ turn: 1, waited: wait })
    expect(second.model.requests[0]?.messages.at(-1)?.content).toMatchObject([
      { toolUseId: 'w', content: '"tea"' },
      { toolUseId: 'l', content: '"seen"' },
    ])
  })

  it('parks again as often as it has none', async () => {
    const { host, tools } = createHost()
    const parked = await play([callTools([{ id: 'w', name: 'wait', args: {} }])], start(), { tools }).run
    const again = play([], parked, { tools })
    expect((await again.run).finished?.reason).toBe('parked')
    expect(again.saved.map(({ pending }) => pending[0]?.state)).toEqual(['waiting'])
    expect(host.asked).toHaveLength(2)
  })
})

describe('an inbox', () => {
  it('reaches the model between two turns, and is confirmed once it is saved', async () => {
    const confirmed: number[] = []
    const read: number[] = []
    const inbox = {
      read: async (after: number) => {
        read.push(after)
        return after < 7 ? { text: 'the bridge is closed', upTo: 7 } : undefined
      },
      confirm: async (upTo: number) => {
        expect(saved.at(-1)?.mailbox).toBe(upTo)
        confirmed.push(upTo)
      },
    }
    const scripts = [callTools([{ id: 'l', name: 'look', args: {} }]), sayText('done')]
    const { run, saved, model, events } = play(scripts, start(), { inbox })
    await run
    expect(read).toEqual([0, 7])
    expect(confirmed).toEqual([7])
    const [first] = model.requests[0]?.messages ?? []
    expect(first && textOf(first)).toContain('the bridge is closed')
    expect(events).toContainEqual({ type: 'prompt', reason: 'message', text: 'the bridge is closed' })
  })
})
