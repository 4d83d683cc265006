import { describe, expect, it } from 'vitest'
import { callTools, failCall, sayText } from '../../../test/fixtures/llm/scripted-model.ts'
import { askText, listEvents } from '../../../test/fixtures/llm/wire.ts'
import type { ModelEvent } from '../messages/messages.ts'
import { callToLastEvent, type ModelClient } from './model-client.ts'

const open = new AbortController().signal

function guard(client: ModelClient): ModelClient {
  return { call: (request, listener) => callToLastEvent(client, request, listener) }
}

function tell(...batches: ModelEvent[][]): ModelClient {
  return {
    async call(_request, { take }) {
      for (const events of batches) await take(events)
    },
  }
}

const hangs: ModelClient = { call: () => new Promise(() => {}) }

describe('a guarded call', () => {
  it('passes a good answer on unchanged', async () => {
    const events = callTools([{ id: 'a', name: 'look' }])
    expect(await listEvents(guard(tell(events.slice(0, 2), events.slice(2))))).toEqual(events)
  })

  it('ends after its last event, whatever follows it at once or later', async () => {
    const failed = failCall('ProviderFailed')
    expect(await listEvents(guard(tell([...failed, ...sayText('more')], sayText('and more'))))).toEqual(failed)
  })

  it('turns a throw and an early end into an error event', async () => {
    const bug: ModelClient = {
      call: () => {
        throw new Error('bug')
      },
    }
    expect(await listEvents(guard(bug))).toMatchObject([
      { type: 'error', error: { reason: 'Internal', message: 'bug' } },
    ])
    const early = await listEvents(guard(tell(sayText('half').slice(0, 2))))
    expect(early.at(-1)).toMatchObject({ type: 'error', error: { reason: 'AnswerBrokenOff' } })
  })

  it('ends a client that hangs after an abort', async () => {
    const aborter = new AbortController()
    const hanging = listEvents(guard(hangs), askText('x'), aborter.signal)
    aborter.abort()
    expect(await hanging).toMatchObject([{ type: 'error', error: { reason: 'Stopped' } }])
  })

  it('lets a client that ends by itself after an abort settle what it used', async () => {
    const aborter = new AbortController()
    let settled = false
    const honest: ModelClient = {
      async call(_request, { signal, take }) {
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        await take(failCall('Stopped'))
        settled = true
      },
    }
    const ending = listEvents(guard(honest), askText('x'), aborter.signal)
    aborter.abort()
    expect(await ending).toEqual(failCall('Stopped'))
    expect(settled).toBe(true)
  })

  it.each([
    [
      'at once',
      () => {
        throw new Error('the store is away')
      },
    ],
    ['later', () => Promise.reject(new Error('the store is away'))],
  ])('rejects with what the listener throws %s, and tells nothing more', async (_when, fail) => {
    let heard = 0
    const take = () => {
      heard += 1
      return fail()
    }
    const calling = callToLastEvent(tell(sayText('a').slice(0, 2), sayText('b')), askText('x'), {
      signal: open,
      take,
      spend: () => {},
    })
    await expect(calling).rejects.toThrow('the store is away')
    expect(heard).toBe(1)
  })
})
