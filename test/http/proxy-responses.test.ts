// The responses API with the tools of the service, by the vendor's own client: over providers of both families.
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type Proxied, startProxied } from '../fixtures/proxy/proxied.ts'
import { type Asked, type Say, type StrictVendor, startStrictVendor } from '../fixtures/proxy/strict-vendor.ts'
import { ownerToken } from './service.ts'

let proxied: Proxied
let vendor: StrictVendor
let client: OpenAI
let script: (asked: Record<string, unknown>, count: number) => Say
let count = 0
const onUnstored = vi.fn()

beforeAll(async () => {
  vendor = await startStrictVendor((body) => {
    count += 1
    return script(body, count)
  })
  proxied = await startProxied({ builtinTools: ['file_read', 'file_write'], usecases: { onUnstored } })
  await proxied.addProvider('a', { baseURL: vendor.url })
  await proxied.addProvider('o', { type: 'llmo', baseURL: `${vendor.url}/v1` })
  client = new OpenAI({ apiKey: ownerToken, baseURL: `${proxied.url}/llmo/v1`, maxRetries: 0 })
})
afterAll(async () => {
  await proxied.stop()
  await vendor.stop()
})
beforeEach(() => {
  count = 0
  vendor.asked.length = 0
})

const write = { id: 'call_1', name: 'file_write', args: { path: 'a.txt', content: 'tulip' } }
const read = { id: 'call_2', name: 'file_read', args: { path: 'a.txt' } }
const lookUp = { id: 'call_3', name: 'look_up', args: { city: 'Oslo' } }
const lookUpTool = {
  type: 'function' as const,
  name: 'look_up',
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
  strict: false,
}

const useFiles = (_body: unknown, call: number): Say =>
  [{ text: 'I write.', calls: [write] }, { calls: [read] }, { text: 'It says tulip.' }][call - 1] ?? { text: 'more' }

const pathOf = (asked: Asked | undefined) => asked?.path
const bodyOf = (at: number) =>
  vendor.asked[at]?.body as Record<string, unknown> & { messages: Record<string, unknown>[] }

describe.each(['a/m', 'o/m'])('a response of %s', (model) => {
  it('runs the tools of the service and gives the last turn [LLMO-008] [LLMO-003]', async () => {
    script = useFiles
    const response = await client.responses.create({ model, input: 'use the file', instructions: 'be brief' })
    expect(response).toMatchObject({ object: 'response', status: 'completed', model: 'm', store: true })
    expect(response.output_text).toBe('It says tulip.')
    expect(response.usage).toMatchObject({ output_tokens: expect.any(Number), total_tokens: expect.any(Number) })
    expect(vendor.asked).toHaveLength(3)
    expect(JSON.stringify(bodyOf(2).messages)).toContain('tulip')
    expect(JSON.stringify(bodyOf(0))).toContain('be brief')
    expect(pathOf(vendor.asked[0])).toBe(model === 'a/m' ? '/v1/messages' : '/v1/chat/completions')
  })

  it('streams text as it comes, calls and results as text, in the events that the client knows', async () => {
    script = useFiles
    const stream = client.responses.stream({ model, input: 'use the file' })
    const types: string[] = []
    const numbers: number[] = []
    for await (const event of stream) {
      types.push(event.type)
      numbers.push(event.sequence_number)
    }
    const final = await stream.finalResponse()
    expect(numbers).toEqual(numbers.map((_number, at) => at))
    expect(types.slice(0, 4)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
    ])
    expect(types.at(-1)).toBe('response.completed')
    expect(types.filter((type) => type === 'response.output_item.done')).toHaveLength(final.output.length)
    expect(final.output_text).toMatch(/^I write\..*\[Tool file_write result\]: .*It says tulip\.$/s)
  })

  it.each([
    ['fails', () => Promise.reject(new Error('the disk is full')), 'the disk is full'],
    ['is refused for its size', () => Promise.resolve(false), 'it is too large'],
  ])('says that it is not stored when that %s, whole and streamed', async (_what, keep, reason) => {
    onUnstored.mockClear()
    const failing = vi.spyOn(proxied.service.ports.records.storedResponses, 'keep').mockImplementation(keep)
    onTestFinished(() => failing.mockRestore())
    script = () => ({ text: 'hello' })
    const whole = await client.responses.create({ model, input: 'hi' })
    expect(whole).toMatchObject({ status: 'completed', store: false, output_text: 'hello' })
    expect(onUnstored.mock.calls).toEqual([[{ namespace: 'default', id: whole.id, reason }]])
    const numbers: number[] = []
    const stream = client.responses.stream({ model, input: 'hi' })
    for await (const event of stream) numbers.push(event.sequence_number)
    expect(await stream.finalResponse()).toMatchObject({ status: 'completed', store: false, output_text: 'hello' })
    expect(numbers).toEqual(numbers.map((_number, at) => at))
    expect(onUnstored).toHaveBeenCalledTimes(2)
  })

  it('that comes back in the next request is known again: calls and results in their places', async () => {
    script = useFiles
    const stream = client.responses.stream({ model, input: 'use the file' })
    const first = await stream.finalResponse()
    script = () => ({ text: 'as before' })
    const input = [
      { role: 'user' as const, content: 'use the file' },
      ...first.output,
      { role: 'user' as const, content: 'and now?' },
    ]
    // The vendor refuses calls without results, and results without calls.
    const second = await client.responses.create({ model, input: input as OpenAI.Responses.ResponseInput })
    expect(second.output_text).toBe('as before')
    const sent = JSON.stringify(bodyOf(3).messages)
    expect(sent).toContain('file_write')
    expect(sent).not.toContain('[Tool file_write')
  })

  it('ends with the calls of the client, and goes on with their results', async () => {
    script = (_body, call) => (call === 1 ? { text: 'Looking.', calls: [lookUp] } : { text: 'Rain.' })
    const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'the weather in Oslo?' }]
    const first = await client.responses.create({ model, input, tools: [lookUpTool] })
    const call = first.output.find((item) => item.type === 'function_call')
    expect(call).toMatchObject({ call_id: 'call_3', name: 'look_up', arguments: '{"city":"Oslo"}' })
    const answer = { type: 'function_call_output' as const, call_id: 'call_3', output: 'rain' }
    const next = [...input, ...(first.output as OpenAI.Responses.ResponseInput), answer]
    expect((await client.responses.create({ model, input: next, tools: [lookUpTool] })).output_text).toBe('Rain.')
    expect(JSON.stringify(bodyOf(1).messages)).toContain('rain')
  })

  it('says that it is not whole when the model ran out of tokens', async () => {
    script = () => ({ text: 'half', stop: model === 'a/m' ? 'max_tokens' : 'length' })
    const response = await client.responses.create({ model, input: 'x', max_output_tokens: 16 })
    expect(response).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } })
    const events = await client.responses.create({ model, input: 'x', max_output_tokens: 16, stream: true })
    let last = ''
    for await (const event of events) last = event.type
    expect(last).toBe('response.incomplete')
  })

  it('tells a vendor that breaks off as a failed response', async () => {
    script = () => ({ text: 'half', breakOff: true })
    const events = await client.responses.create({ model, input: 'x', stream: true })
    let last: OpenAI.Responses.ResponseStreamEvent | undefined
    for await (const event of events) last = event
    expect(last).toMatchObject({
      type: 'response.failed',
      response: { status: 'failed', error: { message: expect.any(String) } },
    })
  })
})

describe('a request for a response', () => {
  it('with the tools of the service off is passed on byte for byte [PROXY-004]', async () => {
    await proxied.addProvider('bytes', { type: 'llmo', baseURL: proxied.upstream.url })
    const body = '{"model":"bytes/m" , "input":"x","previous_response_id":"resp_1","odd":[1]}'
    expect((await proxied.ask('/llmo/v1/responses', body)).status).toBe(200)
    expect(proxied.upstream.last().body.toString()).toBe(body.replace('bytes/m', 'm'))
  })

  it('with the tools of the service off is translated for a provider of the other family', async () => {
    script = () => ({ text: 'translated' })
    const response = await client.responses.create(
      { model: 'a/m', input: 'x' },
      { headers: { 'x-svc-tools': 'disabled' } },
    )
    expect(response.output_text).toBe('translated')
    expect(bodyOf(0).tools).toBeUndefined()
  })

  it.each([
    ['conversation', { conversation: 'conv_1' }],
    ['prompt', { prompt: { id: 'pmpt_1' } }],
    ['input.0.content.0', { input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'f' }] }] }],
  ])('is refused where only the vendor has what it names: %s', async (field, more) => {
    const ask = (model: string) => {
      const body = { model, input: 'x', ...more } as OpenAI.Responses.ResponseCreateParamsNonStreaming
      return client.responses.create(body).catch((error: unknown) => error)
    }
    const failure = await ask('o/m')
    expect(failure).toBeInstanceOf(OpenAI.BadRequestError)
    expect(String(failure)).toContain(`${field}: `)
    expect(String(failure)).toContain('X-Svc-Tools: disabled')
    expect(String(await ask('a/m'))).not.toContain('X-Svc-Tools')
    expect(vendor.asked).toHaveLength(0)
  })

  it('keeps its settings, images and formats on the way to a provider of the family', async () => {
    script = () => ({ text: '{}' })
    const format = { type: 'json_schema' as const, name: 'shape', schema: { type: 'object' }, strict: true }
    await client.responses.create({
      model: 'o/m',
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'what is this?' },
            { type: 'input_image', image_url: 'data:image/png;base64,AA', detail: 'low' },
          ],
        },
      ],
      max_output_tokens: 99,
      reasoning: { effort: 'low' },
      text: { format },
      temperature: 0.5,
    })
    expect(bodyOf(0)).toMatchObject({
      max_tokens: 99,
      reasoning_effort: 'low',
      temperature: 0.5,
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'shape', schema: { type: 'object' }, strict: true },
      },
    })
    const [message] = bodyOf(0).messages.filter(({ role }) => role === 'user')
    expect(message?.content).toEqual([
      { type: 'text', text: 'what is this?' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AA', detail: 'low' } },
    ])
  })
})
