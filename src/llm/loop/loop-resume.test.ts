import { describe, expect, it } from 'vitest'
import { callTools, createScriptedModel, sayText } from '../../../test/fixtures/llm/scripted-model.ts'
import { createTestHost, type TestHost } from '../../../test/fixtures/llm/tool-host.ts'
import { createManualClock } from '../../../test/fixtures/time.ts'
import type { ModelClient } from '../call/model-client.ts'
import type { ModelRequest } from '../messages/messages.ts'
import { userText } from '../messages/messages.ts'
import { type LoopEvent, runLoop } from './loop.ts'
import { createLoopState, type LoopState } from './loop-state.ts'

/** Answers from the conversation alone, as the same model would after a crash. */
function createModel(): ModelClient {
  return createScriptedModel((request: ModelRequest) => {
    const turns = request.messages.filter((message) => message.role === 'assistant').length
    if (request.tools.length === 0) return sayText('the summary')
    if (turns === 0)
      return callTools([
        { id: 'r1', name: 'read' },
        { id: 'p1', name: 'pay', args: { to: 'a' } },
        { id: 'r2', name: 'read' },
      ])
    if (turns === 1) return callTools([{ id: 'p2', name: 'pay', args: { to: 'b' } }], 'paying')
    if (turns === 2)
      return callTools([
        { id: 'r3', name: 'read' },
        { id: 'x', name: 'unknown' },
      ])
    return sayText('all paid')
  })
}

/** A world that stops at its n-th event: nothing that has begun then ever ends. */
function createWorld(crashAt: number) {
  let events = 0
  let crash: () => void = () => {}
  const crashed = new Promise<'crashed'>((resolve) => {
    crash = () => resolve('crashed')
  })
  return {
    crashed,
    count: () => events,
    async happen(): Promise<void> {
      events += 1
      if (events < crashAt) return
      crash()
      await new Promise(() => {})
    },
  }
}

type World = ReturnType<typeof createWorld>

async function live(world: World, state: LoopState, paid: string[], limits = {}) {
  let saved = JSON.stringify(state)
  const host: TestHost = createTestHost({
    read: {
      run: async () => {
        await world.happen()
        return 'read'
      },
    },
    pay: {
      repeatable: false,
      run: async ({ args }) => {
        paid.push(String(args.to))
        await world.happen()
        return 'paid'
      },
    },
  })
  const events: LoopEvent[] = []
  const running = runLoop({
    state,
    model: createModel(),
    tools: host,
    clock: createManualClock(),
    signal: new AbortController().signal,
    limits,
    save: async (next) => {
      const text = JSON.stringify(next)
      await world.happen()
      saved = text
      await world.happen()
    },
    emit: async (event) => {
      events.push(event)
      await world.happen()
    },
  })
  const end = await Promise.race([running, world.crashed])
  return { end, saved: JSON.parse(saved) as LoopState, events }
}

function start(): LoopState {
  return createLoopState({ messages: [userText('pay a and b')] })
}

describe.each([{}, { maxParallelTools: 1 }, { maxIterations: 3 }, { progressEvery: 1 }])(
  'a run with limits %j',
  (limits) => {
    it('that is cut off at any moment goes on from its last saved state to the same end, and pays nobody twice', async () => {
      const whole = createWorld(Number.POSITIVE_INFINITY)
      const expected = await live(whole, start(), [], limits)
      if (expected.end === 'crashed') throw new Error('the whole run crashed')
      expect(whole.count()).toBeGreaterThan(20)
      for (let crashAt = 1; crashAt <= whole.count(); crashAt += 1) {
        const paid: string[] = []
        const first = await live(createWorld(crashAt), start(), paid, limits)
        expect(first.end, `crash at ${crashAt}`).toBe('crashed')
        const second = await live(createWorld(Number.POSITIVE_INFINITY), first.saved, paid, limits)
        expect(second.end, `crash at ${crashAt}`).toMatchObject({
          text: expected.end.text,
          finished: expected.end.finished,
        })
        expect(new Set(paid).size, `crash at ${crashAt}: ${paid}`).toBe(paid.length)
      }
    })
  },
)

describe('a call that may have run', () => {
  const interrupted: LoopState = {
    ...start(),
    messages: [
      userText('pay a'),
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: 'p', name: 'pay', args: { to: 'a' } },
          { type: 'tool_use', id: 'r', name: 'read', args: {} },
        ],
      },
    ],
    iteration: 1,
    llmCalls: 1,
    pending: [
      { id: 'p', name: 'pay', args: { to: 'a' }, repeatable: false, state: 'started' },
      { id: 'r', name: 'read', args: {}, repeatable: true, state: 'started' },
    ],
  }

  it('is answered as unknown when it must not run twice, and run again when it may', async () => {
    const paid: string[] = []
    const { end } = await live(createWorld(Number.POSITIVE_INFINITY), interrupted, paid)
    expect(paid).toEqual(['b'])
    if (end === 'crashed') throw new Error('crashed')
    expect(end.messages[2]?.content).toMatchObject([
      {
        type: 'tool_result',
        toolUseId: 'p',
        isError: true,
        content: expect.stringContaining('"errorType":"outcome_unknown"'),
      },
      { type: 'tool_result', toolUseId: 'r', isError: false, content: 'read' },
    ])
  })
})

describe('a finished run', () => {
  it('stays finished when it had an answer, and goes on when it only ran out of luck', async () => {
    const done: LoopState = { ...start(), text: 'answer', finished: { reason: 'answer' } }
    const kept = await live(createWorld(Number.POSITIVE_INFINITY), done, [])
    expect(kept.end).toEqual(done)
    const failed: LoopState = {
      ...start(),
      finished: { reason: 'error', error: { reason: 'ProviderUnreachable', message: 'down' } },
    }
    const again = await live(createWorld(Number.POSITIVE_INFINITY), failed, [])
    expect(again.end).toMatchObject({ text: 'all paid', finished: { reason: 'answer' } })
  })
})
