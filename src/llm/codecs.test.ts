import { describe, expect, it } from 'vitest'
import { answerWith, askText, makeClient } from '../../test/fixtures/llm/wire.ts'
import { createHastyClock } from '../../test/fixtures/time.ts'
import { createLlmaClient, vendorAddress } from './llma/client.ts'
import { decodeRequest as decodeLlma } from './llma/decode-request.ts'
import { encodeRequest as encodeLlma } from './llma/encode.ts'
import { LlmaRequestBody } from './llma/schema.ts'
import { completionsUrl } from './llmo/client.ts'
import { decodeRequest as decodeLlmo } from './llmo/decode-request.ts'
import { encodeRequest as encodeLlmo } from './llmo/encode.ts'
import { LlmoRequestBody } from './llmo/schema.ts'
import { collectTurn } from './messages/collect.ts'
import type { Family, Message, ModelRequest } from './messages/messages.ts'

const open = new AbortController().signal
const wire = { model: 'model-1', maxTokensField: 'max_tokens' } as const

const exchange: Message[] = [
  { role: 'user', content: [{ type: 'text', text: 'read both' }] },
  {
    role: 'assistant',
    content: [
      { type: 'thinking', text: 'hm', signature: 'c2ln' },
      { type: 'thinking', text: 'unsigned' },
      { type: 'text', text: 'I will.' },
      { type: 'tool_use', id: 'call.1', name: 'file_read', args: { path: 'a' } },
      { type: 'tool_use', id: 'call.2', name: 'file_read', args: { path: 'b' } },
    ],
  },
  {
    role: 'user',
    content: [
      { type: 'tool_result', toolUseId: 'call.1', content: 'A', isError: false },
      { type: 'tool_result', toolUseId: 'call.2', content: 'no file', isError: true },
      { type: 'text', text: 'a warning' },
    ],
  },
]

const tool = { name: 'file_read', description: 'reads', parameters: { properties: { path: { type: 'string' } } } }

const full: ModelRequest = {
  system: [{ type: 'text', text: 'be brief' }],
  messages: exchange,
  tools: [tool],
  maxTokens: 100,
  temperature: 0.5,
  topP: 0.9,
  stopSequences: ['END'],
  toolChoice: { type: 'any' },
}

describe('a neutral request in llma', () => {
  it('has every field in its place, and keeps tool results together', () => {
    const body = encodeLlma(full, 'model-1')
    expect(body).toMatchObject({
      model: 'model-1',
      stream: true,
      max_tokens: 100,
      temperature: 0.5,
      top_p: 0.9,
      stop_sequences: ['END'],
      tool_choice: { type: 'any' },
      system: [{ type: 'text', text: 'be brief' }],
      tools: [{ name: 'file_read', input_schema: { type: 'object' } }],
    })
    expect(body.messages).toMatchObject([
      { role: 'user' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
          { type: 'text', text: 'I will.' },
          { type: 'tool_use', id: 'call_1', input: { path: 'a' } },
          { type: 'tool_use', id: 'call_2' },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'call_1', content: 'A' },
          { type: 'tool_result', tool_use_id: 'call_2', is_error: true },
          { type: 'text', text: 'a warning' },
        ],
      },
    ])
  })

  it('always names a limit of output tokens, larger than the budget for thinking', () => {
    expect(encodeLlma(askText('x'), 'm').max_tokens).toBe(4096)
    expect(encodeLlma({ ...askText('x'), maxTokens: 1000, thinking: { budgetTokens: 2000 } }, 'm')).toMatchObject({
      max_tokens: 6096,
      thinking: { type: 'enabled', budget_tokens: 2000 },
    })
  })

  it('puts neighbouring messages of one role together', () => {
    const twice = [...exchange, { role: 'user' as const, content: [{ type: 'text' as const, text: 'go on' }] }]
    expect(encodeLlma({ ...full, messages: twice }, 'm').messages).toHaveLength(3)
  })
})

describe('a neutral request in llmo', () => {
  it('has every field in its place, and one message per tool result', () => {
    const body = encodeLlmo(full, wire)
    expect(body).toMatchObject({
      model: 'model-1',
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: 100,
      temperature: 0.5,
      top_p: 0.9,
      stop: ['END'],
      tool_choice: 'required',
      tools: [{ type: 'function', function: { name: 'file_read', parameters: { type: 'object' } } }],
    })
    expect(body.messages).toEqual([
      { role: 'system', content: 'be brief' },
      { role: 'user', content: 'read both' },
      {
        role: 'assistant',
        content: 'I will.',
        tool_calls: [
          { id: 'call.1', type: 'function', function: { name: 'file_read', arguments: '{"path":"a"}' } },
          { id: 'call.2', type: 'function', function: { name: 'file_read', arguments: '{"path":"b"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'call.1', content: 'A' },
      { role: 'tool', tool_call_id: 'call.2', content: 'no file' },
      { role: 'user', content: 'a warning' },
    ])
  })

  it('goes to the vendor itself when no address is given [NAME-005]', async () => {
    const asked: string[] = []
    const fetch = async (url: unknown) => {
      asked.push(String(url))
      return new Response('{}', { status: 500 })
    }
    const target = { provider: 'p', model: 'm', host: 'api.anthropic.com', hasKey: true }
    const options = { fetch: fetch as typeof globalThis.fetch, target, clock: createHastyClock(), idleTimeoutMs: 1000 }
    const request = { model: 'm', system: [], messages: [], tools: [] }
    const turn = await collectTurn(createLlmaClient(options), request, new AbortController().signal)
    expect(turn.error).toBeDefined()
    expect(asked).toEqual([`${vendorAddress}/v1/messages`])
    expect(vendorAddress).toBe('https://api.anthropic.com')
  })

  it('goes to the address of each kind of server [NAME-008]', () => {
    expect(completionsUrl({})).toBe('https://api.openai.com/v1/chat/completions')
    expect(completionsUrl({ baseUrl: 'http://127.0.0.1:11434/' })).toBe('http://127.0.0.1:11434/v1/chat/completions')
    expect(completionsUrl({ baseUrl: 'http://host/api/v2/' })).toBe('http://host/api/v2/chat/completions')
    const azure = { deploymentName: 'my gpt', apiVersion: '2024-02-15-preview' }
    expect(completionsUrl({ baseUrl: 'https://x.example/', azure })).toBe(
      'https://x.example/openai/deployments/my%20gpt/chat/completions?api-version=2024-02-15-preview',
    )
  })
})

const llmaBody = {
  model: 'default/model-1',
  max_tokens: 50,
  stream: true,
  service_tier: 'auto',
  system: [{ type: 'text', text: 'be brief', cache_control: { type: 'ephemeral' } }],
  thinking: { type: 'enabled', budget_tokens: 30, display: 'omitted' },
  tools: [
    { name: 'mine', input_schema: { type: 'object' }, cache_control: { type: 'ephemeral' } },
    { type: 'bash_1', name: 'bash' },
  ],
  tool_choice: { type: 'auto', disable_parallel_tool_use: true },
  messages: [
    {
      role: 'user',
      content: [
        { type: 'image', source: { type: 'url', url: 'https://x.example/i.png' } },
        { type: 'text', text: 'see' },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'hm', signature: 's' },
        { type: 'tool_use', id: 't', name: 'mine', input: { a: 1 } },
      ],
    },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 't',
          content: [{ type: 'text', text: 'ok' }],
          cache_control: { type: 'ephemeral' },
        },
      ],
    },
    { role: 'assistant', content: 'done' },
    { role: 'user', content: 'again' },
  ],
}

const llmoBody = {
  model: 'default/model-1',
  stream: true,
  max_completion_tokens: 50,
  seed: 7,
  response_format: { type: 'json_object' },
  tools: [{ type: 'function', function: { name: 'mine', strict: true, parameters: { type: 'object' } } }],
  messages: [
    { role: 'developer', content: 'be brief' },
    {
      role: 'user',
      name: 'eve',
      content: [
        { type: 'text', text: 'see' },
        { type: 'image_url', image_url: { url: 'https://x.example/i.png' } },
      ],
    },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 't', type: 'function', function: { name: 'mine', arguments: '{"a":1}' } }],
    },
    { role: 'tool', tool_call_id: 't', content: 'ok' },
    { role: 'system', content: 'remember' },
    { role: 'user', content: 'again' },
  ],
}

describe('a request of a client', () => {
  it('reaches an upstream of its own family with every field it had [LLMA-012] [LLMA-013]', () => {
    const back = encodeLlma(decodeLlma(LlmaRequestBody.parse(llmaBody)), 'model-1')
    expect(back).toEqual({ ...llmaBody, model: 'model-1' })
    const other = encodeLlmo(decodeLlmo(LlmoRequestBody.parse(llmoBody)), wire)
    expect(other).toEqual({ ...llmoBody, model: 'model-1', stream_options: { include_usage: true } })
  })

  it('is read in neutral form', () => {
    const request = decodeLlma(LlmaRequestBody.parse(llmaBody))
    expect(request).toMatchObject({ maxTokens: 50, thinking: { budgetTokens: 30 }, toolChoice: { type: 'auto' } })
    expect(request.messages[2]?.content).toMatchObject([
      { type: 'tool_result', toolUseId: 't', content: 'ok', isError: false },
    ])
    const other = decodeLlmo(LlmoRequestBody.parse(llmoBody))
    expect(other.system).toMatchObject([{ text: 'be brief' }])
    expect(other.messages.map((message) => message.role)).toEqual(['user', 'assistant', 'user', 'user', 'user'])
    expect(other.messages[1]?.content).toMatchObject([{ type: 'tool_use', args: { a: 1 } }])
  })

  // Fields and tools that have no translation are another matter (test/http/proxy-crossing.test.ts).
  const { tools: _tools, ...llmaBlocks } = llmaBody
  const { seed: _seed, response_format: _format, ...llmoBlocks } = llmoBody

  it('is translated for the other family, except for blocks that have no translation', () => {
    const request = decodeLlma(LlmaRequestBody.parse(llmaBlocks))
    expect(() => encodeLlmo(request, wire)).toThrow(/"image"/)
    const other = decodeLlmo(LlmoRequestBody.parse(llmoBlocks))
    expect(() => encodeLlma(other, 'model-1')).toThrow(/"image_url"/)
    const plain = { ...other, messages: other.messages.slice(1) }
    expect(encodeLlma(plain, 'model-1')).toMatchObject({
      max_tokens: 50,
      system: [{ type: 'text', text: 'be brief' }],
      messages: [
        { role: 'assistant', content: [{ type: 'tool_use', id: 't', input: { a: 1 } }] },
        { role: 'user', content: [{ type: 'tool_result', content: 'ok' }, { text: 'remember' }, { text: 'again' }] },
      ],
    })
  })

  it('that cannot be translated fails as an event that names the block', async () => {
    const request = decodeLlma(LlmaRequestBody.parse(llmaBlocks))
    const turn = await collectTurn(makeClient('llmo', answerWith('')), request, open)
    expect(turn.error).toMatchObject({ reason: 'RequestUnsupported', message: expect.stringContaining('"image"') })
  })
})

function frame(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`
}

async function readStream(family: Family, ...frames: object[]) {
  const turn = await collectTurn(makeClient(family, answerWith(frames.map(frame).join(''))), askText('x'), open)
  return { ...turn, content: turn.message.content }
}

describe('unusual llma answers', () => {
  const end = [
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ]

  it('keep citations and the vendor’s own tools for the way back', async () => {
    const { content } = await readStream(
      'llma',
      { type: 'message_start', message: { model: 'm', usage: { input_tokens: 1 } } },
      {
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
      },
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"q":1}' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_start', index: 1, content_block: { type: 'redacted_thinking', data: 'xyz' } },
      { type: 'content_block_stop', index: 1 },
      { type: 'content_block_start', index: 2, content_block: { type: 'text', text: '', citations: [] } },
      { type: 'content_block_delta', index: 2, delta: { type: 'text_delta', text: 'so' } },
      { type: 'content_block_delta', index: 2, delta: { type: 'citations_delta', citation: { url: 'u' } } },
      { type: 'content_block_stop', index: 2 },
      ...end,
    )
    const back = encodeLlma({ ...askText('x'), messages: [{ role: 'assistant', content }] }, 'm').messages
    expect(back).toMatchObject([
      {
        content: [
          { type: 'server_tool_use', id: 's', input: { q: 1 } },
          { type: 'redacted_thinking', data: 'xyz' },
          { type: 'text', text: 'so', citations: [{ url: 'u' }] },
        ],
      },
    ])
  })

  it.each([
    ['pause_turn', 'pause'],
    ['refusal', 'refusal'],
    ['max_tokens', 'max_tokens'],
    ['model_context_window_exceeded', 'max_tokens'],
    ['stop_sequence', 'stop_sequence'],
  ])('with stop reason %s end as %s', async (wireReason, reason) => {
    const { stopReason } = await readStream(
      'llma',
      { type: 'message_delta', delta: { stop_reason: wireReason } },
      { type: 'message_stop' },
    )
    expect(stopReason).toBe(reason)
  })

  it('with a stop reason that nobody knows are not finished', async () => {
    const { stopReason, error } = await readStream(
      'llma',
      { type: 'message_delta', delta: { stop_reason: 'something_new' } },
      { type: 'message_stop' },
    )
    expect(stopReason).toBeUndefined()
    expect(error).toMatchObject({ reason: 'AnswerBrokenOff', message: expect.stringContaining('"something_new"') })
  })

  it('with an error frame fail with its meaning', async () => {
    const { error } = await readStream('llma', {
      type: 'error',
      error: { type: 'overloaded_error', message: 'Overloaded' },
    })
    expect(error).toMatchObject({ reason: 'ProviderOverloaded', message: expect.stringContaining('Overloaded') })
  })
})

describe('unusual llmo answers', () => {
  const stop = { choices: [{ delta: {}, finish_reason: 'stop' }] }

  it('with several tool calls interleaved, without indexes, ids or a fitting stop reason, become tool calls', async () => {
    const calls = (...tool_calls: object[]) => ({ choices: [{ delta: { tool_calls } }] })
    const woven = await readStream(
      'llmo',
      calls(
        { index: 0, id: 'a', function: { name: 'one', arguments: '{"x"' } },
        { index: 1, id: 'b', function: { name: 'two' } },
      ),
      calls({ index: 1, function: { arguments: '{}' } }, { index: 0, function: { arguments: ':1}' } }),
      stop,
    )
    expect(woven.content).toMatchObject([
      { id: 'a', name: 'one', args: { x: 1 } },
      { id: 'b', name: 'two', args: {} },
    ])
    expect(woven.stopReason).toBe('tool_use')
    const bare = await readStream(
      'llmo',
      calls({ function: { name: 'one', arguments: { x: 1 } } }, { function: { name: 'two', arguments: '{}' } }),
      stop,
    )
    expect(bare.content).toMatchObject([
      { name: 'one', args: { x: 1 } },
      { name: 'two', args: {} },
    ])
    const ids = bare.content.map((block) => (block.type === 'tool_use' ? block.id : ''))
    expect(new Set(ids).size).toBe(2)
    expect(ids[0]).toMatch(/^call_[0-9a-f]{24}$/)
  })

  it('give back what a vendor wants to see again beside a tool call', async () => {
    const extra = { extra_content: { google: { thought_signature: 'sig' } } }
    const { content } = await readStream(
      'llmo',
      {
        choices: [
          { delta: { tool_calls: [{ index: 0, id: 'a', ...extra, function: { name: 'one', arguments: '{}' } }] } },
        ],
      },
      stop,
    )
    expect(encodeLlmo({ ...askText('x'), messages: [{ role: 'assistant', content }] }, wire).messages).toMatchObject([
      { tool_calls: [{ id: 'a', ...extra }] },
    ])
  })

  it('with arguments that are not a JSON object are kept as they were written', async () => {
    const { content } = await readStream(
      'llmo',
      { choices: [{ delta: { tool_calls: [{ index: 0, id: 'a', function: { name: 'one', arguments: '{"x": ' } }] } }] },
      { choices: [{ delta: {}, finish_reason: 'length' }] },
    )
    expect(content).toMatchObject([{ args: {}, invalidArgs: '{"x": ' }])
  })

  it('that refuse say so', async () => {
    const refusal = await readStream('llmo', { choices: [{ delta: { refusal: 'No.' } }] }, stop)
    expect(refusal).toMatchObject({ stopReason: 'refusal', content: [{ text: 'No.' }] })
    const filtered = await readStream('llmo', { choices: [{ delta: {}, finish_reason: 'content_filter' }] })
    expect(filtered.stopReason).toBe('refusal')
  })

  it('with an error in the stream fail with its meaning', async () => {
    const { error } = await readStream('llmo', {
      error: { message: 'too many tokens', code: 'context_length_exceeded' },
    })
    expect(error?.reason).toBe('ContextTooLong')
  })

  it('learn which fields a server knows, and remember it', async () => {
    const bodies: Record<string, unknown>[] = []
    const picky: typeof fetch = async (_url, init) => {
      const body = JSON.parse(String(init?.body)) as Record<string, unknown>
      bodies.push(body)
      const refuse = (message: string) =>
        Response.json({ error: { message, type: 'invalid_request_error' } }, { status: 400 })
      if ('stream_options' in body) return refuse('Unrecognized request argument supplied: stream_options')
      if ('max_tokens' in body)
        return refuse("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
      return new Response(frame({ choices: [{ delta: { content: 'ok' }, finish_reason: 'stop' }] }))
    }
    const client = makeClient('llmo', picky)
    const turn = await collectTurn(client, { ...askText('x'), maxTokens: 9 }, open)
    expect(turn.stopReason).toBe('end_turn')
    await collectTurn(client, { ...askText('x'), maxTokens: 9 }, open)
    expect(bodies).toHaveLength(4)
    expect(bodies.at(-1)).toMatchObject({ max_completion_tokens: 9 })
  })
})
