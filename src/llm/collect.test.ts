import { describe, expect, it } from 'vitest'
import { callTools, failCall, sayText } from '../../test/fixtures/llm/scripted-model.ts'
import { listEvents } from '../../test/fixtures/llm/wire.ts'
import { createCollector, guardStream } from './collect.ts'
import type { ModelEvent } from './messages.ts'

const open = new AbortController().signal

async function* emit(events: ModelEvent[], after?: () => Promise<never>): AsyncGenerator<ModelEvent> {
  yield* events
  await after?.()
}

describe('a collector', () => {
  it('orders interleaved blocks, leaves out empty ones and keeps signed thinking', () => {
    const collector = createCollector()
    const events: ModelEvent[] = [
      { type: 'block_start', index: 0, block: 'thinking' },
      { type: 'signature_delta', index: 0, signature: 'ab' },
      { type: 'signature_delta', index: 0, signature: 'cd' },
      { type: 'tool_use_start', index: 3, id: 'b', name: 'two' },
      { type: 'tool_use_start', index: 2, id: 'a', name: 'one' },
      { type: 'args_delta', index: 3, json: '{"x":' },
      { type: 'args_delta', index: 2, json: '{}' },
      { type: 'args_delta', index: 3, json: '1}' },
      { type: 'block_start', index: 1, block: 'text' },
      { type: 'text_delta', index: 9, text: 'of no block' },
      { type: 'stop', reason: 'tool_use' },
    ]
    for (const event of events) collector.push(event)
    expect(collector.turn().message.content).toEqual([
      { type: 'thinking', text: '', signature: 'abcd' },
      { type: 'tool_use', id: 'a', name: 'one', args: {} },
      { type: 'tool_use', id: 'b', name: 'two', args: { x: 1 } },
    ])
  })
})

describe('a guarded stream', () => {
  it('passes a good stream on unchanged', async () => {
    const events = callTools([{ id: 'a', name: 'look' }])
    expect(await listEvents(guardStream(emit(events), open))).toEqual(events)
  })

  it('ends after its last event, whatever follows', async () => {
    const failed = failCall('ProviderFailed')
    expect(await listEvents(guardStream(emit([...failed, ...sayText('more')]), open))).toEqual(failed)
  })

  it('turns a throw, an early end and an abort of a stream that hangs into an error event', async () => {
    const thrown = await listEvents(
      guardStream(
        emit([], () => Promise.reject(new Error('bug'))),
        open,
      ),
    )
    expect(thrown).toMatchObject([{ type: 'error', error: { reason: 'Internal', message: 'bug' } }])
    const early = await listEvents(guardStream(emit([]), open))
    expect(early).toMatchObject([{ type: 'error', error: { reason: 'AnswerBrokenOff' } }])
    const aborter = new AbortController()
    const hanging = listEvents(
      guardStream(
        emit([], () => new Promise(() => {})),
        aborter.signal,
      ),
    )
    aborter.abort()
    expect(await hanging).toMatchObject([{ type: 'error', error: { reason: 'Stopped' } }])
  })
})
