// Every field of a request of one family at a provider of the other: what the vendor gets for it, or why it is refused.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { crossings } from '../../src/llm/messages/crossing.ts'
import { type Proxied, readError, simpleMessage, startProxied } from '../fixtures/proxy/proxied.ts'
import { answerJson, llmaAnswer, type Received } from '../fixtures/proxy/upstream.ts'

const messages = '/llma/v1/messages'
const completions = '/llmo/v1/chat/completions'
const responses = '/llmo/v1/responses'

let proxied: Proxied
beforeAll(async () => {
  proxied = await startProxied({ builtinTools: ['file_read'] })
  await proxied.addProvider('a')
  await proxied.addProvider('o', { type: 'llmo' })
  await proxied.addProvider('first', {
    baseURL: 'http://127.0.0.1:1',
    fallbacks: [{ providerRef: { name: 'o' }, model: 'm' }],
  })
  await proxied.addProvider('crossed', { type: 'llmo', fallbacks: [{ providerRef: { name: 'a' }, model: 'm' }] })
})
afterAll(() => proxied.stop())
afterEach(() => proxied.upstream.reset())

type Json = Record<string, unknown>

const llmoAnswer = {
  id: 'c',
  object: 'chat.completion',
  model: 'm',
  usage: { prompt_tokens: 4, completion_tokens: 2 },
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
}
const answerEither = (received: Received) =>
  answerJson(received.path.endsWith('/messages') ? llmaAnswer : llmoAnswer)(received)

const schema = { type: 'object', properties: { q: { type: 'string' } } }
const llmaTool = { name: 'mine', description: 'd', input_schema: schema }
const llmoTool = { type: 'function', function: { name: 'mine', description: 'd', parameters: schema } }

/** A value, and what the other family's vendor gets for it; 'refused'; 'idle': it gets a body as without the field. */
type Case = [unknown, Json | 'refused' | 'idle']

const fromLlma: Record<string, Case[]> = {
  model: [['o/other', { model: 'other' }]],
  max_tokens: [[33, { max_tokens: 33 }]],
  messages: [[[{ role: 'user', content: 'yes' }], { messages: [{ role: 'user', content: 'yes' }] }]],
  system: [
    [
      'be brief',
      {
        messages: [
          { role: 'system', content: 'be brief' },
          { role: 'user', content: 'hi' },
        ],
      },
    ],
  ],
  stream: [[true, { stream: true, stream_options: { include_usage: true } }]],
  temperature: [[0.5, { temperature: 0.5 }]],
  top_p: [[0.5, { top_p: 0.5 }]],
  stop_sequences: [[['X'], { stop: ['X'] }]],
  tools: [
    [[llmaTool], { tools: [llmoTool] }],
    [[{ type: 'bash_20250124', name: 'bash' }], 'refused'],
    [[{ type: 'web_search_20250305', name: 'web_search' }], 'idle'],
    [[{ type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' }], 'idle'],
    [[{ type: 'mcp_toolset', mcp_server_name: 'x' }], 'idle'],
    [
      [{ ...llmaTool, defer_loading: true, eager_input_streaming: true, allowed_callers: ['direct'] }],
      { tools: [llmoTool] },
    ],
  ],
  tool_choice: [
    [{ type: 'any' }, { tool_choice: 'required' }],
    [
      { type: 'auto', disable_parallel_tool_use: true },
      { tool_choice: 'auto', parallel_tool_calls: false },
    ],
  ],
  top_k: [[7, 'refused']],
  thinking: [
    [{ type: 'enabled', budget_tokens: 1024 }, { reasoning_effort: 'low' }],
    [{ type: 'enabled', budget_tokens: 5000 }, { reasoning_effort: 'medium' }],
    [{ type: 'enabled', budget_tokens: 32_000 }, { reasoning_effort: 'high' }],
    [{ type: 'adaptive' }, 'idle'],
    [{ type: 'adaptive', display: 'omitted' }, 'idle'],
    [{ type: 'disabled' }, 'idle'],
    [{ type: 'dreaming' }, 'refused'],
  ],
  metadata: [
    [{ user_id: 'u-1' }, { user: 'u-1' }],
    [{ other: 'x' }, 'refused'],
  ],
  output_config: [
    [{ effort: 'max' }, { reasoning_effort: 'high' }],
    [{ effort: 'low', task_budget: { type: 'tokens', total: 64_000 } }, { reasoning_effort: 'low' }],
    [
      { format: { type: 'json_schema', schema } },
      { response_format: { type: 'json_schema', json_schema: { schema } } },
    ],
    [{ effort: 'dazzling' }, 'refused'],
    [{ colour: 'red' }, 'refused'],
    [5, 'refused'],
  ],
  output_format: [
    [{ type: 'json_schema', schema }, { response_format: { type: 'json_schema', json_schema: { schema } } }],
    [{ type: 'poem' }, 'refused'],
  ],
  cache_control: [[{ type: 'ephemeral' }, 'idle']],
  context_management: [[{ edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] }, 'idle']],
  betas: [[['effort-2025-11-24'], 'idle']],
  diagnostics: [[{ previous_message_id: null }, 'idle']],
  fallbacks: [[[{ model: 'other' }], 'idle']],
  safeguards: [[[{ type: 'x' }], 'idle']],
  of_tomorrow: [[{ x: 1 }, 'idle']],
  service_tier: [['auto', 'idle']],
  speed: [['fast', 'idle']],
  mcp_servers: [
    [[], 'idle'],
    [[{ url: 'https://mcp.example.com' }], 'refused'],
  ],
  container: [['c-1', 'refused']],
  inference_geo: [['eu', 'refused']],
}

const format = { type: 'json_schema', json_schema: { name: 'a', schema } }
const fromLlmo: Record<string, Case[]> = {
  model: [['a/other', { model: 'other' }]],
  messages: [
    [[{ role: 'user', content: 'yes' }], { messages: [{ role: 'user', content: [{ type: 'text', text: 'yes' }] }] }],
  ],
  stream: [[true, { stream: true }]],
  stream_options: [[{ include_usage: true }, 'idle']],
  max_tokens: [[33, { max_tokens: 33 }]],
  max_completion_tokens: [[34, { max_tokens: 34 }]],
  temperature: [[0.5, { temperature: 0.5 }]],
  top_p: [[0.5, { top_p: 0.5 }]],
  stop: [['X', { stop_sequences: ['X'] }]],
  tools: [
    [[llmoTool], { tools: [llmaTool] }],
    [[{ type: 'custom', custom: { name: 'mine' } }], 'refused'],
  ],
  tool_choice: [['required', { tool_choice: { type: 'any' } }]],
  n: [[1, 'idle']],
  parallel_tool_calls: [
    [false, { tool_choice: { type: 'auto', disable_parallel_tool_use: true } }],
    [true, 'idle'],
  ],
  reasoning_effort: [
    ['minimal', { output_config: { effort: 'low' } }],
    ['xhigh', { output_config: { effort: 'max' } }],
    ['none', 'idle'],
    ['dazzling', 'refused'],
  ],
  response_format: [
    [{ type: 'text' }, 'idle'],
    [format, { output_config: { format: { type: 'json_schema', schema } } }],
    [{ type: 'json_object' }, 'refused'],
  ],
  user: [['u-1', { metadata: { user_id: 'u-1' } }]],
  safety_identifier: [['u-2', { metadata: { user_id: 'u-2' } }]],
  metadata: [[{ label: 'x' }, 'idle']],
  prediction: [[{ type: 'content', content: 'x' }, 'idle']],
  prompt_cache_key: [['k', 'idle']],
  prompt_cache_retention: [['24h', 'idle']],
  service_tier: [['flex', 'idle']],
  store: [
    [false, 'idle'],
    [true, 'refused'],
  ],
  frequency_penalty: [
    [0, 'idle'],
    [1, 'refused'],
  ],
  presence_penalty: [
    [0, 'idle'],
    [1, 'refused'],
  ],
  logit_bias: [
    [{}, 'idle'],
    [{ 50256: -100 }, 'refused'],
  ],
  logprobs: [
    [false, 'idle'],
    [true, 'refused'],
  ],
  top_logprobs: [
    [0, 'idle'],
    [3, 'refused'],
  ],
  seed: [[7, 'refused']],
  modalities: [
    [['text'], 'idle'],
    [['text', 'audio'], 'refused'],
  ],
  verbosity: [
    ['medium', 'idle'],
    ['low', 'refused'],
  ],
  top_k: [[7, 'refused']],
  functions: [[[{ name: 'mine' }], 'refused']],
  web_search_options: [[{}, 'refused']],
  function_call: [['auto', 'refused']],
  audio: [[{ voice: 'x' }, 'refused']],
  of_tomorrow: [[{ x: 1 }, 'idle']],
}

const lastBody = (): Json => JSON.parse(proxied.upstream.last().body.toString())

async function send(path: string, body: object): Promise<Response> {
  proxied.upstream.reset()
  proxied.upstream.script.answer = answerEither
  return proxied.ask(path, body)
}

const flatten = (cases: Record<string, Case[]>) =>
  Object.entries(cases).flatMap(([field, list]) => list.map(([value, expected]) => [field, value, expected] as const))

const ways = [
  { family: 'llma', path: messages, model: 'o/m', tool: llmaTool, cases: fromLlma },
  { family: 'llmo', path: completions, model: 'a/m', tool: llmoTool, cases: fromLlmo },
] as const

describe.each(ways)(
  'a request of $family at a provider of the other family',
  ({ family, path, model, tool, cases }) => {
    it.each(flatten(cases))('%s: %j [PROXY-016]', async (field, value, expected) => {
      // A choice of tools means something only beside tools.
      const more = /^(tool_choice|parallel)/.test(field) ? { tools: [tool] } : {}
      const plain = simpleMessage(model, more)
      await (await send(path, plain)).text()
      const usual = lastBody()
      const answer = await send(path, { ...plain, [field]: value })
      if (expected === 'refused') {
        expect(answer.status).toBe(400)
        expect((await readError(answer)).error.message).toMatch(new RegExp(`${field}.*type ${family}\\b`))
        expect(proxied.upstream.received).toEqual([])
        return
      }
      expect([answer.status, (await answer.text()) !== '']).toEqual([200, true])
      if (expected === 'idle') expect(lastBody()).toEqual(usual)
      else expect(lastBody()).toMatchObject(expected)
    })

    it('has a rule for every known field', () => {
      expect(Object.keys(crossings[family]).filter((field) => cases[field] === undefined)).toEqual([])
    })

    it('is cut to about half and sent once more when it is too long [LLMA-037]', async () => {
      const long = Array.from({ length: 12 }, (_, at) => ({
        role: at % 2 ? 'assistant' : 'user',
        content: `${at} ${'word '.repeat(200)}`,
      }))
      const body = { ...simpleMessage(model), messages: [...long, { role: 'user', content: 'and now?' }] }
      const refuse = answerJson(
        family === 'llma'
          ? { error: { message: 'This is too long.', type: 'invalid_request_error', code: 'context_length_exceeded' } }
          : {
              type: 'error',
              error: { type: 'invalid_request_error', message: 'prompt is too long: 9 tokens > 8 maximum' },
            },
        400,
      )
      proxied.upstream.reset()
      proxied.upstream.script.answer = (received) =>
        (proxied.upstream.received.length === 1 ? refuse : answerEither)(received)
      expect((await proxied.ask(path, body)).status).toBe(200)
      const [first = 0, second = 0] = proxied.upstream.received.map((one) => one.body.length)
      expect(second / first).toBeGreaterThan(0.3)
      expect(second / first).toBeLessThan(0.65)
      proxied.upstream.reset()
      proxied.upstream.script.answer = refuse
      expect((await proxied.ask(path, body)).status).toBe(400)
      expect(proxied.upstream.received).toHaveLength(2)
    })
  },
)

describe('fields that the other family does not have', () => {
  it('are sent to a provider that has them: a fallback of the own family answers', async () => {
    const answer = await send(messages, simpleMessage('crossed/m', { top_k: 7 }))
    expect(answer.status).toBe(200)
    expect(lastBody()).toMatchObject({ top_k: 7 })
  })

  it('are refused when only a fallback of the other family is left', async () => {
    const answer = await send(messages, simpleMessage('first/m', { top_k: 7 }))
    expect(answer.status).toBeGreaterThanOrEqual(400)
    expect(proxied.upstream.received).toEqual([])
  })

  it('of tomorrow, and tools that only its vendor runs, are left out, which a header tells', async () => {
    const search = { type: 'web_search_20250305', name: 'web_search' }
    const more = { of_tomorrow: 1, tools: [llmaTool, search], tool_choice: { type: 'tool', name: 'web_search' } }
    const answer = await send(messages, simpleMessage('o/m', more))
    expect([answer.status, answer.headers.get('x-svc-left-out')]).toEqual([200, 'tool web_search, of_tomorrow'])
    expect(lastBody()).toMatchObject({ tools: [llmoTool] })
    expect(lastBody()).not.toHaveProperty('tool_choice')
    const own = await send(messages, simpleMessage('a/m', more))
    expect([own.status, own.headers.get('x-svc-left-out')]).toEqual([200, null])
    expect(lastBody()).toMatchObject(more)
  })

  it('of a coding agent are understood: tools that it has searched for, a system message between the turns', async () => {
    const call = { type: 'tool_use', id: 't-1', name: 'ToolSearch', input: {} }
    const result = { type: 'tool_result', tool_use_id: 't-1', content: [{ type: 'tool_reference', tool_name: 'mine' }] }
    const turns = [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: [call] },
      { role: 'user', content: [result] },
      { role: 'system', content: [{ type: 'text', text: 'be brief' }] },
    ]
    const answer = await send(`${messages}?beta=true`, simpleMessage('o/m', { messages: turns }))
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('hello')])
    expect(lastBody().messages).toMatchObject([
      { role: 'user', content: 'hi' },
      { role: 'assistant', tool_calls: [{ id: 't-1' }] },
      { role: 'tool', tool_call_id: 't-1', content: 'Tool mine can be called.' },
      { role: 'user', content: 'be brief' },
    ])
    await send(messages, simpleMessage('a/m', { messages: turns }))
    expect(lastBody()).toMatchObject({ messages: turns })
  })

  it('of the responses API are those of its completion', async () => {
    const ask = (more: object) => send(responses, { model: 'a/m', input: 'hi', ...more })
    expect((await ask({ reasoning: { effort: 'high' }, user: 'u-1' })).status).toBe(200)
    expect(lastBody()).toMatchObject({ output_config: { effort: 'high' }, metadata: { user_id: 'u-1' } })
    const refused = await ask({ text: { verbosity: 'low' } })
    expect([refused.status, (await readError(refused)).error.message]).toEqual([
      400,
      expect.stringContaining('verbosity'),
    ])
  })
})
