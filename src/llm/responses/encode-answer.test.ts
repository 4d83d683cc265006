// The events of a response, as the vendor's own client reads them.
import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import type { ModelEvent } from '../messages/messages.ts'
import { noUsage } from '../messages/messages.ts'
import { createAnswerEncoder } from './encode-answer.ts'

const events: ModelEvent[] = [
  { type: 'start', model: 'm' },
  { type: 'block_start', index: 0, block: 'thinking' },
  { type: 'thinking_delta', index: 0, text: 'hm' },
  { type: 'signature_delta', index: 0, signature: 'sig' },
  { type: 'block_stop', index: 0 },
  { type: 'block_start', index: 1, block: 'text' },
  { type: 'text_delta', index: 1, text: 'so ' },
  { type: 'text_delta', index: 1, text: 'be it' },
  { type: 'block_stop', index: 1 },
  { type: 'tool_use_start', index: 2, id: 'call_1', name: 'look_up' },
  { type: 'args_delta', index: 2, json: '{"a":' },
  { type: 'args_delta', index: 2, json: '1}' },
  { type: 'block_stop', index: 2 },
  { type: 'usage', usage: { ...noUsage, inputTokens: 3, outputTokens: 2 } },
  { type: 'stop', reason: 'tool_use' },
]

const options = { id: 'resp_svc_1', createdAt: new Date(0) }

function openClient(frames: string): OpenAI {
  const answer = async () => new Response(frames, { headers: { 'content-type': 'text/event-stream' } })
  return new OpenAI({ apiKey: 'none', baseURL: 'http://vendor.invalid', fetch: answer })
}

function readAnswer(frames: string) {
  return openClient(frames).responses.stream({ model: 'm', input: 'x' }).finalResponse()
}

describe('a streamed response', () => {
  it('is the same with a heartbeat after each event, which is an event of its own', async () => {
    const plain = createAnswerEncoder(options)
    const beating = createAnswerEncoder(options)
    const frames = events.map(plain.push).join('')
    const beats = events.map((event, at) => {
      const text = beating.push(event)
      return at === events.length - 1 ? text : text + beating.heartbeat
    })
    const whole = await readAnswer(frames)
    expect(await readAnswer(beats.join(''))).toEqual(whole)
    expect(whole.output).toMatchObject([
      { type: 'reasoning', summary: [{ text: 'hm' }], encrypted_content: 'sig' },
      { type: 'message', status: 'completed', content: [{ text: 'so be it' }] },
      { type: 'function_call', status: 'completed', call_id: 'call_1', arguments: '{"a":1}' },
    ])
    expect(createAnswerEncoder(options).heartbeat).toMatch(/^event: response\.in_progress\ndata: \{.*\}\n\n$/)
  })

  it('tells an item that was cut off, and an error by the code that clients know', async () => {
    const encoder = createAnswerEncoder(options)
    const cut = events.slice(0, 11).map(encoder.push).join('') + encoder.push({ type: 'stop', reason: 'max_tokens' })
    expect(await readAnswer(cut)).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [{ type: 'reasoning' }, { status: 'completed' }, { type: 'function_call', status: 'incomplete' }],
    })
    const failing = createAnswerEncoder(options)
    const opened = events.slice(0, 7).map(failing.push).join('')
    const frames =
      opened + failing.fail({ error: { message: 'too much', type: 'rate_limit_error', code: 'rate_limit_exceeded' } })
    const stream = await openClient(frames).responses.create({ model: 'm', input: 'x', stream: true })
    const types: unknown[] = []
    for await (const event of stream) types.push(event.type === 'response.failed' ? event.response.error : event.type)
    expect(types.at(-1)).toEqual({ code: 'rate_limit_exceeded', message: 'too much' })
  })
})
