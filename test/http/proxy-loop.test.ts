import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { ToolSpec } from '../../src/contract/kinds/tools/tool.ts'
import type { Family } from '../../src/llm/messages/messages.ts'
import type { Sandbox } from '../../src/ports/workspaces/sandbox.ts'
import { collectBlocks } from '../fixtures/proxy/collect-answer.ts'
import {
  type LoopInstance,
  type LoopInstanceOptions,
  parseFrames,
  readFrames,
  startLoop,
} from '../fixtures/proxy/loops.ts'
import { type Say, type StrictVendor, startStrictVendor } from '../fixtures/proxy/strict-vendor.ts'

// biome-ignore lint/suspicious/noExplicitAny: answers of a wire whose shape the tests themselves state.
type Json = Record<string, any>

const open: { stop(): Promise<void> }[] = []
afterEach(async () => {
  for (const part of open.splice(0)) await part.stop()
})

async function start(
  answer: (body: Json, count: number) => Say,
  options: Partial<LoopInstanceOptions> & { type?: Family } = {},
) {
  const vendor = await startStrictVendor(answer)
  open.push(vendor)
  const loop = await startLoop({ upstream: { type: options.type ?? 'llma', url: vendor.url }, ...options })
  open.push(loop)
  return { vendor, loop }
}

const ask = (content: unknown = 'hello', more: object = {}) => ({
  model: 'vendor/model-1',
  max_tokens: 100,
  messages: [{ role: 'user', content }],
  ...more,
})

const namesOf = (body: Json | undefined) => body?.tools?.map((tool: Json) => tool.name ?? tool.function.name)

function lastOf(vendor: StrictVendor, call: number): Json {
  return (vendor.asked[call]?.body.messages as Json[] | undefined)?.at(-1) ?? {}
}

async function stream(loop: LoopInstance, body: object) {
  return parseFrames(await readFrames(await loop.loop(loop.makeCall({ ...body, stream: true }))))
}

async function whole(loop: LoopInstance, body: object): Promise<Json> {
  const answer = await loop.loop(loop.makeCall({ ...body }))
  if (!('body' in answer)) throw new Error('the answer is streamed')
  return answer.body
}

const write = { id: 'toolu_1', name: 'file_write', args: { path: 'a.txt', content: 'tulip' } }
const read = { id: 'toolu_2', name: 'file_read', args: { path: 'a.txt' } }

describe('the loop for an llma caller and an llma provider', () => {
  it('injects the five built-in tools beside those of the client, and returns the text-only answer [LLMA-003, LLMA-016, LLMA-028]', async () => {
    const { vendor, loop } = await start(() => ({ text: 'hi there' }))
    const tools = [{ name: 'mine', input_schema: { type: 'object' }, cache_control: { type: 'ephemeral' } }]
    const body = await whole(loop, ask('hello', { tools, odd_field: { a: 1 } }))
    expect(namesOf(vendor.asked[0]?.body)).toEqual([
      'mine',
      'web_search',
      'code_exec',
      'file_read',
      'web_fetch',
      'file_write',
    ])
    expect(vendor.asked[0]?.body).toMatchObject({
      odd_field: { a: 1 },
      model: 'model-1',
      tools: [tools[0], {}, {}, {}, {}, {}],
    })
    expect(body).toMatchObject({
      content: [{ type: 'text', text: 'hi there' }],
      stop_reason: 'end_turn',
      container: { id: 'c1' },
    })
  })

  it('runs server tools, feeds the results back and sums usage [LLMA-002, LLMA-027, PROXY-010]', async () => {
    const says: Say[] = [{ calls: [write] }, { calls: [read] }, { text: 'It says tulip.' }]
    const { vendor, loop } = await start((_body, count) => says[count - 1] ?? {})
    const body = await whole(loop, ask())
    expect(body.content).toEqual([{ type: 'text', text: 'It says tulip.' }])
    expect(body.usage).toMatchObject({ input_tokens: 30, cache_read_input_tokens: 6, output_tokens: 15 })
    const results = vendor.asked[2]?.body.messages as Json[]
    expect(JSON.stringify(results.at(-1))).toContain('tulip')
    expect(loop.served).toHaveLength(3)
  })

  it('runs code under the identity of its caller, within a fair share of the sandboxes', async () => {
    const ran: (string | undefined)[] = []
    const ended = { exitCode: 0, signal: null, stdoutTruncated: false, stderrTruncated: false, timedOut: false }
    const sandbox: Sandbox = {
      check: async () => ({ available: true, kind: 'none', languages: ['bash'] }),
      async run({ caller }) {
        ran.push(caller)
        return { ...ended, stdout: '', stderr: '' }
      },
    }
    const code = { id: 'toolu_1', name: 'code_exec', args: { language: 'bash', code: 'true' } }
    const { loop } = await start((_body, count) => (count === 1 ? { calls: [code] } : { text: 'ran' }), { sandbox })
    await whole(loop, ask())
    expect(ran).toEqual(['token:tester'])
  })

  it('streams one message with rising indexes, results as text blocks and one end [LLMA-029, LLMA-030, LLMA-031, LLMA-032, LLMA-033, PROXY-008, PROXY-009, PROXY-013]', async () => {
    const says: Say[] = [
      { thinking: 'plan', text: 'I write now.', calls: [write] },
      { thinking: 'look', text: 'All done.' },
    ]
    const { loop } = await start((_body, count) => says[count - 1] ?? {})
    const frames = await stream(loop, ask())
    const types = frames.map((frame) => frame.type)
    expect(types.filter((type) => type === 'message_start')).toHaveLength(1)
    expect(types.slice(-2)).toEqual(['message_delta', 'message_stop'])
    const starts = frames.filter((frame) => frame.type === 'content_block_start') as Json[]
    expect(starts.map((frame) => frame.index)).toEqual([0, 1, 2, 3, 4, 5])
    expect(starts.map((frame) => frame.content_block.type)).toEqual([
      'thinking',
      'text',
      'tool_use',
      'text',
      'thinking',
      'text',
    ])
    expect(starts[2]?.content_block).toMatchObject({
      name: 'file_write',
      id: expect.stringMatching(/^svc_[0-9a-f]{12}_toolu_1$/),
    })
    const result = frames.find((frame: Json) => frame.index === 3 && frame.delta) as Json
    expect(result.delta.text).toMatch(/^\[Tool file_write result\]: \{"success":true/)
    expect(frames.at(-2)).toMatchObject({
      delta: { stop_reason: 'end_turn' },
      usage: { input_tokens: 20, output_tokens: 10 },
    })
    expect(frames[0]).toMatchObject({ message: { usage: { input_tokens: 10 }, id: 'msg_v' } })
    const stops = frames.filter((frame) => frame.type === 'content_block_stop')
    expect(stops.map((frame) => frame.index)).toEqual([0, 1, 2, 3, 4, 5])
  })

  it('gives each conversation a scratch root, which it finds again when it continues [BUILT-027]', async () => {
    const says: Say[] = [
      { calls: [write] },
      { text: 'ok' },
      { calls: [read] },
      { text: 'seen' },
      { calls: [{ ...read, id: 'toolu_9' }] },
      { text: 'not seen' },
    ]
    const { vendor, loop } = await start((_body, count) => says[count - 1] ?? {})
    const frames = await stream(loop, ask('first'))
    const blocks = collectBlocks(frames)
    await stream(
      loop,
      ask('first', {
        messages: [
          { role: 'user', content: 'first' },
          { role: 'assistant', content: blocks },
          { role: 'user', content: 'and now?' },
        ],
      }),
    )
    expect(JSON.stringify(lastOf(vendor, 3))).toContain('tulip')
    await stream(loop, ask('other'))
    expect(JSON.stringify(lastOf(vendor, 5))).toContain('not_found')
  })

  it('keeps thinking blocks and signatures in place when a conversation continues [LLMA-018, PROXY-014, PROXY-015]', async () => {
    const says: Say[] = [{ thinking: 'plan', calls: [write] }, { thinking: 'end', text: 'done' }, { text: 'again' }]
    const { vendor, loop } = await start((_body, count) => says[count - 1] ?? {})
    const blocks = collectBlocks(await stream(loop, ask()))
    await whole(
      loop,
      ask('x', {
        messages: [
          { role: 'user', content: 'hello' },
          { role: 'assistant', content: blocks },
          { role: 'user', content: 'more' },
        ],
      }),
    )
    const messages = vendor.asked[2]?.body.messages as Json[]
    expect(messages.map((message) => message.role)).toEqual(['user', 'assistant', 'user', 'assistant', 'user'])
    expect(messages[1]?.content).toMatchObject([
      { type: 'thinking', signature: 'sig:plan' },
      { type: 'tool_use', id: 'toolu_1', input: write.args },
    ])
    expect(messages[2]?.content).toMatchObject([
      { type: 'tool_result', tool_use_id: 'toolu_1', content: expect.stringContaining('"success":true') },
    ])
    expect(messages[3]?.content).toMatchObject([
      { type: 'thinking', signature: 'sig:end' },
      { type: 'text', text: 'done' },
    ])
  })

  it('runs server tools of a turn first, then ends it with the calls of the client [PROXY-011]', async () => {
    const mine = { id: 'toolu_c', name: 'mine', args: { q: 1 } }
    const { loop } = await start(() => ({ text: 'both', calls: [write, mine] }))
    const tools = [{ name: 'mine', input_schema: { type: 'object' } }]
    const body = await whole(loop, ask('hello', { tools }))
    expect(body.stop_reason).toBe('tool_use')
    expect(body.content.filter((block: Json) => block.type === 'tool_use')).toEqual([
      { type: 'tool_use', id: 'toolu_c', name: 'mine', input: { q: 1 } },
    ])
    expect(JSON.stringify(body.content)).toContain('[Tool file_write result]: ')
    const frames = await stream(loop, ask('hello', { tools }))
    expect(frames.at(-2)).toMatchObject({ delta: { stop_reason: 'tool_use' } })
    expect(JSON.stringify(frames)).toContain('[Tool file_write result]: ')
  })

  it('prefers the tool of the client when two have the same name [PROXY-012]', async () => {
    const { vendor, loop } = await start(() => ({ calls: [read] }))
    const tools = [{ name: 'file_read', input_schema: { type: 'object', properties: { mine: {} } } }]
    const body = await whole(loop, ask('hello', { tools }))
    expect(body).toMatchObject({ stop_reason: 'tool_use', content: [{ type: 'tool_use', id: 'toolu_2' }] })
    expect(namesOf(vendor.asked[0]?.body).filter((name: string) => name === 'file_read')).toHaveLength(1)
  })

  it('warns after three identical calls and takes five iterations off [LLMA-035]', async () => {
    const { vendor, loop } = await start(
      (body, count) => (body.tools ? { calls: [{ ...read, id: `toolu_${count}` }] } : { text: 'summary' }),
      { loop: { maxIterations: 12 } },
    )
    const body = await whole(loop, ask())
    expect(body.content).toEqual([{ type: 'text', text: 'summary' }])
    expect(JSON.stringify(vendor.asked[3]?.body.messages)).toContain('different approach')
    expect(vendor.asked.length).toBeLessThan(7)
  })

  it('makes the last of N calls without tools, with a prompt for a summary [LLMA-034]', async () => {
    const { vendor, loop } = await start(
      (body, count) =>
        body.tools
          ? { calls: [{ ...write, id: `toolu_${count}`, args: { path: `${count}`, content: 'x' } }] }
          : { text: 'summary' },
      { loop: { maxIterations: 3 } },
    )
    const frames = await stream(loop, ask())
    expect(vendor.asked).toHaveLength(3)
    expect(vendor.asked[2]?.body.tools).toBeUndefined()
    expect(JSON.stringify(frames)).toContain('summary')
    expect(frames.at(-2)).toMatchObject({ delta: { stop_reason: 'end_turn' } })
  })

  it('tells a failing tool as success:false and goes on [LLMA-036]', async () => {
    const says: Say[] = [{ calls: [read, { id: 'toolu_s', name: 'web_search', args: { query: 'x' } }] }, { text: 'ok' }]
    const { vendor, loop } = await start((_body, count) => says[count - 1] ?? {})
    await whole(loop, ask())
    const results = lastOf(vendor, 1).content
    expect(results).toMatchObject([
      { is_error: true, content: expect.stringContaining('"success":false') },
      { content: expect.stringContaining('not_configured') },
    ])
  })

  it('leaves out tools that cannot run with --hide-unavailable-tools', async () => {
    const { vendor, loop } = await start(() => ({ text: 'ok' }), { hideUnavailable: true })
    await whole(loop, ask())
    expect(namesOf(vendor.asked[0]?.body)).toEqual(['file_read', 'web_fetch', 'file_write'])
  })

  it('cuts a conversation that is too long to about half and asks once more [LLMA-037]', async () => {
    const long = Array.from({ length: 12 }, (_, at) => ({
      role: at % 2 ? 'assistant' : 'user',
      content: `${at} ${'word '.repeat(200)}`,
    }))
    const messages = [...long, { role: 'user', content: 'and now?' }]
    const tooLong = { status: 400, error: 'prompt is too long: 250000 tokens > 200000 maximum' }
    const { vendor, loop } = await start((_body, count) => (count === 1 ? tooLong : { text: 'fits' }))
    const body = await whole(loop, ask('', { messages }))
    expect(body.content[0].text).toBe('fits')
    const kept = JSON.stringify(vendor.asked[1]?.body.messages).length / JSON.stringify(messages).length
    expect(kept).toBeGreaterThan(0.3)
    expect(kept).toBeLessThan(0.65)
    const again = await start(() => tooLong)
    await expect(whole(again.loop, ask('', { messages }))).rejects.toMatchObject({ status: 400 })
    expect(again.vendor.asked).toHaveLength(2)
  })

  it('returns the progress so far when the time is over [LLMA-039]', async () => {
    const says: Say[] = [
      { text: 'Step one.', calls: [write] },
      { text: 'I was about to', stall: true },
    ]
    const { loop } = await start((_body, count) => says[count - 1] ?? {}, { loop: { maxDurationMs: 2_500 } })
    const frames = await stream(loop, ask())
    expect(frames.at(-2)).toMatchObject({ delta: { stop_reason: 'end_turn' } })
    const text = collectBlocks(frames).map((block) => block.text)
    expect(text).toEqual([
      'Step one.',
      undefined,
      expect.stringContaining('[Tool file_write result]'),
      'I was about to',
      expect.stringContaining('time limit'),
    ])
    const stops = frames.filter((frame) => frame.type === 'content_block_stop').length
    expect(frames.filter((frame) => frame.type === 'content_block_start')).toHaveLength(stops)
  })

  it.each([
    [401, 502],
    [403, 502],
    [404, 404],
    [413, 413],
    [429, 429],
    [529, 529],
    [500, 502],
  ])(
    "answers a vendor's %i as %i, streamed or not [LLMA-038, PROXY-017, PROXY-018, PROXY-019, PROXY-020, PROXY-021]",
    async (given, expected) => {
      const { loop, vendor } = await start(() => ({
        status: given,
        error: given === 404 ? 'model: x' : 'no',
        headers: { 'retry-after': '7' },
      }))
      const shown = expected === 429 || expected === 529 ? { retryAfterSeconds: 7 } : {}
      await expect(whole(loop, ask())).rejects.toMatchObject({ status: expected, ...shown })
      await expect(stream(loop, ask())).rejects.toMatchObject({ status: expected, ...shown })
      // A vendor that said when to come back is not asked before.
      expect(vendor.asked).toHaveLength('retryAfterSeconds' in shown ? 1 : 2)
    },
  )

  it('reports an error after the first frame within the stream, without an end event', async () => {
    const { loop } = await start(() => ({ text: 'one two three four', breakOff: true }))
    const frames = await stream(loop, ask())
    expect(frames.at(-1)).toMatchObject({ type: 'error', error: { type: 'api_error' }, request_id: 'req-1' })
    expect(frames.some((frame) => frame.type === 'message_stop')).toBe(false)
  })

  it('cancels the call of the vendor when the client goes away', async () => {
    const { loop, vendor } = await start(() => ({ text: 'a b c', stall: true }))
    const answer = await loop.loop(loop.makeCall({ ...ask(), stream: true }))
    if (!('send' in answer)) throw new Error('not streamed')
    const leave = () => {
      throw new Error('the client has gone')
    }
    await expect(answer.send(leave)).rejects.toThrow('the client has gone')
    await vendor.asked[0]?.closed
    const gone = new AbortController()
    const pending = loop.loop(loop.makeCall(ask(), { signal: gone.signal })).catch((error: Error) => error)
    await Promise.resolve()
    gone.abort()
    expect(await pending).toMatchObject({ reason: 'ClientClosed' })
  })

  it("sends the caller's beta headers, but not its credentials, upstream [PROXY-005]", async () => {
    const { loop, vendor } = await start(() => ({ text: 'ok' }))
    await loop.loop(loop.makeCall(ask(), { headers: { 'anthropic-beta': 'new-thing', 'x-api-key': 'mine' } }))
    expect(vendor.asked[0]?.headers).toMatchObject({
      'anthropic-beta': 'new-thing',
      'x-api-key': 'vendor-key-of-the-tests',
    })
  })

  it('applies a forced tool choice to the first call only', async () => {
    const { loop, vendor } = await start((_body, count) => (count === 1 ? { calls: [write] } : { text: 'ok' }))
    await whole(loop, ask('x', { tool_choice: { type: 'tool', name: 'file_write', disable_parallel_tool_use: true } }))
    expect(vendor.asked.map(({ body }) => body.tool_choice)).toEqual([
      { type: 'tool', name: 'file_write', disable_parallel_tool_use: true },
      { type: 'auto', disable_parallel_tool_use: true },
    ])
  })

  it('names what is wrong with a request', async () => {
    const { loop } = await start(() => ({ text: 'ok' }))
    await expect(whole(loop, { model: 'm', messages: [] })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('messages'),
    })
  })
})

describe('the loop for llmo callers and across families', () => {
  const askLlmo = (messages: Json[] = [{ role: 'user', content: 'hello' }], more: object = {}) => ({
    model: 'm',
    messages,
    ...more,
  })
  const deltasOf = (frames: Json[]) =>
    frames.flatMap((frame) => frame.choices?.map((choice: Json) => choice.delta) ?? [])
  const textOf = (frames: Json[]) =>
    deltasOf(frames)
      .map((delta) => delta.content ?? '')
      .join('')

  it('passes the answer of a vendor of the family on as it is [LLMO-002, LLMO-005]', async () => {
    const { loop, vendor } = await start(() => ({ text: 'hi' }), { type: 'llmo' })
    const body = await whole(loop, askLlmo(undefined, { seed: 7, n: 1 }))
    expect(body).toMatchObject({ service_tier: 'default', choices: [{ message: { content: 'hi' }, logprobs: null }] })
    expect(vendor.asked[0]?.body).toMatchObject({ seed: 7, stream: false })
    expect(namesOf(vendor.asked[0]?.body)).toHaveLength(5)
  })

  it('streams in the order of the family, with usage when it is asked for [LLMO-003, PROXY-008, PROXY-010]', async () => {
    const says: Say[] = [{ text: 'I write.', calls: [write] }, { text: 'All done.' }]
    const { loop } = await start((_body, count) => says[count - 1] ?? {}, { type: 'llmo' })
    const body = askLlmo(undefined, { stream_options: { include_usage: true }, stream: true })
    const raw = await readFrames(await loop.loop(loop.makeCall(body)))
    expect(raw.at(-1)).toBe('data: [DONE]')
    const frames = parseFrames(raw)
    expect(frames[0]).toMatchObject({ choices: [{ delta: { role: 'assistant' } }], system_fingerprint: 'fp_1' })
    expect(frames.at(-2)).toMatchObject({ choices: [{ finish_reason: 'stop' }] })
    expect(frames.at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 24, completion_tokens: 10, total_tokens: 34 },
    })
    expect(deltasOf(frames).some((delta) => delta.tool_calls !== undefined)).toBe(false)
    expect(textOf(frames)).toMatch(
      /^I write\.\n\n\[Tool file_write call svc_\w+\]: \{.*\}\n\[Tool file_write result\]: .*\n\nAll done\.$/,
    )
  })

  it('recognizes its own calls in a text that the client sends back [PROXY-014]', async () => {
    const says: Say[] = [{ text: 'I write.', calls: [write] }, { calls: [read] }, { text: 'done' }, { text: 'again' }]
    const { loop, vendor } = await start((_body, count) => says[count - 1] ?? {}, { type: 'llmo' })
    const text = textOf(await stream(loop, askLlmo()))
    await whole(
      loop,
      askLlmo([
        { role: 'user', content: 'hello' },
        { role: 'assistant', content: text },
        { role: 'user', content: 'more' },
      ]),
    )
    const messages = vendor.asked[3]?.body.messages as Json[]
    expect(messages).toMatchObject([
      { role: 'user' },
      {
        role: 'assistant',
        content: 'I write.',
        tool_calls: [{ id: 'toolu_1', function: { name: 'file_write', arguments: JSON.stringify(write.args) } }],
      },
      { role: 'tool', tool_call_id: 'toolu_1', content: expect.stringContaining('"success":true') },
      { role: 'assistant', content: null, tool_calls: [{ id: 'toolu_2' }] },
      { role: 'tool', tool_call_id: 'toolu_2', content: expect.stringContaining('tulip') },
      { role: 'assistant', content: 'done' },
      { role: 'user', content: 'more' },
    ])
  })

  it('translates an llma conversation for an llmo provider, tools and stream included [PROXY-006, PROXY-016]', async () => {
    const mine = { id: 'call_m', name: 'mine', args: { q: 1 } }
    const { loop, vendor } = await start(() => ({ thinking: 'hm', text: 'Calling.', calls: [mine] }), {
      type: 'llmo',
      family: 'llma',
    })
    const tools = [{ name: 'mine', description: 'd', input_schema: { type: 'object', properties: { q: {} } } }]
    const messages = [
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'x', signature: 's' },
          { type: 'tool_use', id: 'toolu_0', name: 'mine', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'toolu_0', content: [{ type: 'text', text: 'r' }] },
          { type: 'text', text: 'on' },
        ],
      },
    ]
    const more = {
      tools,
      messages,
      system: 'be brief',
      top_p: 0.5,
      stop_sequences: ['X'],
      tool_choice: { type: 'any' },
    }
    const frames = await stream(loop, ask('', more))
    expect(vendor.asked[0]?.body).toMatchObject({
      top_p: 0.5,
      stop: ['X'],
      tool_choice: 'required',
      max_tokens: 100,
      messages: [
        { role: 'system', content: 'be brief' },
        { role: 'user', content: 'go' },
        { role: 'assistant', tool_calls: [{ id: 'toolu_0' }] },
        { role: 'tool', tool_call_id: 'toolu_0', content: 'r' },
        { role: 'user', content: 'on' },
      ],
    })
    expect(collectBlocks(frames)).toMatchObject([
      { type: 'thinking', thinking: 'hm' },
      { type: 'text', text: 'Calling.' },
      { type: 'tool_use', id: 'call_m', input: { q: 1 } },
    ])
    expect(frames.at(-2)).toMatchObject({
      delta: { stop_reason: 'tool_use' },
      usage: { input_tokens: 10, cache_read_input_tokens: 2, output_tokens: 5 },
    })
  })

  it('translates an llmo conversation for an llma provider, tools and stream included [PROXY-006]', async () => {
    const says: Say[] = [
      { thinking: 'hm', calls: [write] },
      { text: 'ok', calls: [{ id: 'toolu_m', name: 'mine', args: { q: 1 } }] },
    ]
    const { loop, vendor } = await start((_body, count) => says[count - 1] ?? {}, { type: 'llma', family: 'llmo' })
    const tools = [{ type: 'function', function: { name: 'mine', parameters: { type: 'object' } } }]
    const messages = [
      { role: 'system', content: 'be brief' },
      { role: 'user', content: 'go' },
    ]
    const frames = await stream(loop, askLlmo(messages, { tools, stop: 'X', max_completion_tokens: 50 }))
    expect(vendor.asked[0]?.body).toMatchObject({
      system: [{ type: 'text', text: 'be brief' }],
      stop_sequences: ['X'],
      max_tokens: 50,
    })
    const parts = deltasOf(frames).flatMap((delta) => delta.tool_calls ?? [])
    expect(parts[0]).toMatchObject({ index: 0, id: 'toolu_m', type: 'function', function: { name: 'mine' } })
    expect(parts.map((part: Json) => part.function.arguments).join('')).toBe('{"q":1}')
    expect(frames.at(-1)).toMatchObject({ choices: [{ finish_reason: 'tool_calls' }] })
  })

  it.each([
    ['llma', 'llmo', { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } }, 'image'],
    ['llma', 'llmo', { type: 'document', source: { type: 'text', data: 'x' } }, 'document'],
    ['llmo', 'llma', { type: 'image_url', image_url: { url: 'https://example.com/x.png' } }, 'image_url'],
  ] as const)(
    'refuses for an %s caller of an %s provider what has no translation, and names it [PROXY-007, LLMA-024, LLMA-025]',
    async (family, type, block, name) => {
      const { loop, vendor } = await start(() => ({ text: 'ok' }), { type, family })
      const body = ask([{ type: 'text', text: 'see' }, block])
      await expect(whole(loop, body)).rejects.toMatchObject({
        status: 400,
        message: expect.stringContaining(`"${name}"`),
      })
      await expect(stream(loop, body)).rejects.toMatchObject({ status: 400 })
      expect(vendor.asked).toHaveLength(0)
    },
  )

  it('passes images and documents within a family [PROXY-005]', async () => {
    const { loop, vendor } = await start(() => ({ text: 'ok' }))
    const image = {
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: 'AA==' },
      cache_control: { type: 'ephemeral' },
    }
    const body = ask([image, { type: 'document', source: { type: 'text', data: 'x' }, citations: { enabled: true } }], {
      thinking: { type: 'enabled', budget_tokens: 50 },
    })
    await whole(loop, body)
    expect(vendor.asked[0]?.body).toMatchObject({
      messages: body.messages,
      thinking: { type: 'enabled', budget_tokens: 50 },
    })
  })

  it('refuses several choices while it runs tools', async () => {
    const { loop } = await start(() => ({ text: 'ok' }), { type: 'llmo' })
    await expect(whole(loop, askLlmo(undefined, { n: 2 }))).rejects.toMatchObject({ status: 400 })
  })
})

async function createTool(loop: LoopInstance, name: string, spec: object): Promise<void> {
  await loop.ports.resources.create('Tool', { metadata: { namespace: 'default', name }, spec: ToolSpec.parse(spec) })
}

describe('the Tool resources of a namespace', () => {
  const servers: Server[] = []
  afterEach(() => {
    for (const server of servers.splice(0)) server.close()
  })
  async function startEndpoint(): Promise<{ url: string; seen: Json[] }> {
    const seen: Json[] = []
    const server = createServer(async (request, response) => {
      let text = ''
      for await (const part of request) text += part
      seen.push({ headers: request.headers, body: JSON.parse(text || '{}') })
      response.end(JSON.stringify({ weather: 'mild', leaked: request.headers.authorization ?? JSON.parse(text).token }))
    })
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, seen }
  }

  it.each(['header', 'body'])(
    'are called with their token in the %s, which no result shows [LLMA-026]',
    async (authInject) => {
      const endpoint = await startEndpoint()
      const { loop, vendor } = await start((_body, count) =>
        count % 2 ? { calls: [{ id: 'toolu_1', name: 'weather', args: { city: 'Ulm' } }] } : { text: 'mild' },
      )
      await loop.ports.secrets.create({
        namespace: 'default',
        name: 'weather',
        stringData: { key: 'weather-secret-123' },
      })
      const auth = {
        authSecretRef: { name: 'weather', key: 'key' },
        authInject,
        ...(authInject === 'body' ? { authBodyKey: 'token' } : {}),
      }
      const spec = {
        description: 'tells it',
        parameters: { type: 'object', properties: { city: { type: 'string' } } },
        http: { url: endpoint.url, ...auth },
      }
      await createTool(loop, 'weather', spec)
      const frames = await stream(loop, ask())
      expect(namesOf(vendor.asked[0]?.body)).toContain('weather')
      expect(endpoint.seen[0]).toMatchObject(
        authInject === 'header'
          ? { headers: { authorization: 'Bearer weather-secret-123' }, body: { city: 'Ulm' } }
          : { body: { city: 'Ulm', token: 'weather-secret-123' } },
      )
      expect(JSON.stringify(vendor.asked[1]?.body) + JSON.stringify(frames)).not.toContain('weather-secret-123')
      expect(JSON.stringify(frames)).toContain('mild')
    },
  )

  it('appear and disappear as they are created and removed', async () => {
    const { loop, vendor } = await start(() => ({ text: 'ok' }))
    await whole(loop, ask())
    const spec = { description: 'd', http: { url: 'https://example.com/' } }
    await createTool(loop, 'later', spec)
    const lists = async () => {
      await whole(loop, ask())
      return namesOf(vendor.asked.at(-1)?.body).includes('later')
    }
    await expect.poll(lists).toBe(true)
    await loop.ports.resources.remove('Tool', { namespace: 'default', name: 'later' })
    await expect.poll(lists).toBe(false)
  })
})
